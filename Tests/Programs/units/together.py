"""together.py SCRIPTHOST SERVER WORK MEETINGS RELOADS: patches that are in each other's way while four threads call: what on_busy says, and one that is at its end beside one at work."""
import os, subprocess, sys, time
from control import *

scripthost, server, work, meetings, rules = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
home = os.path.join(work, "together")
os.makedirs(home)
host = Hosted(scripthost, home, [server])
control = host.control()


def load(id, text):
    path = os.path.join(home, id + ".lua")
    with open(path, "w") as file:
        file.write(f'patch {{ id = "{id}" }}\n{text}')
    result = control.ask("load", path=path)
    if not result["ok"]:
        check(f"{id} is loaded", False, result)
        finish()


def hook(id, selector, type="Shop"):
    return next(each for each in control.ask("top", hold_ms=0)["hooks"] if each["patch"] == id and each["selector"] == f"Server.{type}.{selector}")


def report():
    words = host.command("report").split()
    return dict(zip(words[::2], words[1::2]))


# MARK: Lists, while a patch is being loaded

# Some seconds, less than a load may take, between one hook and the next.
slow = "local x = 0 for i = 1, 30 do for j = 1, 300000 do x = x + j end end\n"
text = lambda version: (f'patch {{ id = "slow", version = "{version}" }}\nmethod "Server.Shop.answer(_:)":before(function() end)\n{slow}method "Server.Shop.price(_:)":before(function() end)\n')
path, seen = os.path.join(home, "slow.lua"), set()
for version in (1, 2, 3):
    with open(path, "w") as file:
        file.write(text(version))
    wanted = Control(host.path)
    wanted.send(do="load", path=path)
    wanted.socket.setblocking(False)
    while True:
        patches = [(each["version"], each["hooks"]) for each in control.ask("patches")["patches"]]
        # Of a patch that is not there yet the request is refused.
        hooks = control.ask("hooks", patch="slow").get("count", 0)
        seen.add((version, "patches", tuple(patches)))
        seen.add((version, "hooks", hooks))
        try:
            if wanted.socket.recv(65536): break
        except BlockingIOError:
            pass
allowed = {(1, "patches", ()), (1, "hooks", 0)}
for version in (1, 2, 3):
    allowed |= {(version, "hooks", 2), (version, "patches", ((str(version), 2),))}
    if version > 1: allowed.add((version, "patches", ((str(version - 1), 2),)))
check("the lists have a patch as it was or as it is, and its hooks", seen <= allowed, seen - allowed)
control.ask("unload", patch="slow")

# MARK: What a rule that was replaced referred to

texts = " or ".join(f"result == '{letter * 1000}'" for letter in "abcdefghijklmnopqrstuvwxyz")
load("rule", f'track "named" {{ on = "Server.Shop.name(_:)", where = "{texts}", fields = {{ count = "result.count" }} }}\n')
def reloads(count):
    for _ in range(count):
        answer = control.ask("reload", patch="rule")
        if not answer["ok"]:
            check("the rule is reloaded", False, answer)
            finish()
reloads(100)
before = host.memory()
reloads(rules)
# The texts alone are 26 kB each time.
grown = host.memory() - before
check(f"a rule that is replaced gives its memory back: {grown} kB more after {rules} times", grown < 10 * rules)
control.ask("unload", patch="rule")

# MARK: on_busy

# So long that four threads meet in it, and far from a handler's budget.
spin = "local x = 0 for i = 1, 1500000 do x = x + i end"
around = lambda options: f'method "Server.Shop.answer(_:)":around(function(call) {spin} return call:original() + 1000 end{options})\n'
before = lambda options: f'method "Server.Shop.answer(_:)":before(function(call) {spin} end{options})\n'
for name, text, low, high, skips in [
    ("around: wait is the default", around(""), 1000, 1001, False),
    ("around: wait, written out", around(', { on_busy = "wait" }'), 1000, 1001, False),
    ("around: the original alone", around(', { on_busy = "original" }'), 0, 1001, True),
    ("before: the original alone is the default", before(""), 0, 1, True),
    ("before: wait", before(', { on_busy = "wait" }'), 0, 1, False),
]:
    load("busy", text)
    host.command(f"expect {low} {high}")
    first = hook("busy", "answer(_:)")
    until(lambda: hook("busy", "answer(_:)")["calls"] > first["calls"] + meetings, "calls that meet")
    if skips:
        # One waits for 200 ms at most, in which not half of them have their turn.
        host.command("crowd 100")
        until(lambda: hook("busy", "answer(_:)")["skipped"] > 0, "a call that is skipped")
        host.command("crowd 0")
    found, told = hook("busy", "answer(_:)"), report()
    check(f"{name}: {found['skipped']} of {found['calls']} calls are skipped, and the answers say so", (found["skipped"] > 0) == skips and told["wrong"] == "0", found, told)
    host.command(f"expect {-2**62} {2**62}")
    control.ask("unload", patch="busy")

# What threads wait for each other is no time of the handler's: one at a time is in it.
load("busy", around(""))
host.command("crowd 8")
top = lambda: control.ask("top", hold_ms=60_000)
row = lambda answer: [each for each in answer["hooks"] if each["patch"] == "busy"][0]
first = top()
until(lambda: row(top())["runs"] > row(first)["runs"] + meetings, "runs that are measured")
last = top()
host.command("crowd 0")
took, waited = (row(last)[name] - row(first)[name] for name in ("time_ns", "waited_ns"))
passed = last["now_ns"] - first["now_ns"]
check(f"waiting for the patch is told apart from the handler's time: {took / passed:.2f} and {waited / passed:.2f} of the time", took < 1.3 * passed < waited, row(last))
check("top shows it", "WAIT" in subprocess.run([scripthost, "top", "-d", "100ms", "--state", home, str(host.process.pid)], capture_output=True, text=True, timeout=LIMIT).stdout)
control.ask("unload", patch="busy")
thrown = int(report()["thrown"])
load("busy", f'method "Server.Till.sell(_:)":around(function(call) {spin} return call:original() end, {{ on_busy = "throw" }})\n')
host.command("crowd 100")
until(lambda: int(report()["thrown"]) > thrown, "a call that throws")
host.command("crowd 0")
found = hook("busy", "sell(_:)", "Till")
check("around: throw gives the program an error to catch", found["calls"] > 0 and found["failures"] == 0, found)
control.ask("unload", patch="busy")
# Calls in flight end with what they began with.
until(lambda: (lambda before: time.sleep(0.05) or report()["thrown"] == before)(report()["thrown"]), "the end of the errors")
check("and none when the patch is gone", True)

# MARK: The end of one patch

load("good", 'method "Server.Shop.answer(_:)":around(function(call) return call:original() + 1000 end)\n')
host.command("expect 1000 1001")
for id, selector, body, sentence in [
    ("endless", "stock(_:)", "while true do end", "switched off"),
    ("greedy", "tax(_:)", 'local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1000) .. i end', "switched off"),
    ("failing", "price(_:)", 'error("on purpose")', "switched off"),
]:
    load(id, f'method "Server.Shop.{selector}":before(function(call) {body} end)\n')
    until(lambda: f"{id}.lua" in host.said() and any(sentence in line and id in line for line in host.said().split("\n")), f"{id} to be switched off")
    good, told = hook("good", "answer(_:)"), report()
    check(f"{id}: it is switched off, and the handlers of another patch never failed or were left out", told["wrong"] == "0" and good["failures"] == 0 and good["skipped"] == 0, good, told)
    states = {each["id"]: (each["state"], each["hooks"]) for each in control.ask("patches")["patches"]}
    check(f"{id}: the other is loaded as before", states["good"] == ("loaded", 1), states)
    calls = report()["calls"]
    until(lambda: report()["calls"] != calls, "calls after it")
    check(f"{id}: it is unloaded while they call", control.ask("unload", patch=id)["ok"] and hook("good", "answer(_:)")["enabled"])
check("no call of the program saw any of it", report()["wrong"] == "0", report())
control.close()
check("the program ends as it does alone", host.end() == 0)
finish()
