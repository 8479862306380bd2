"""top.py SCRIPTHOST SERVER WORK: what hooks take of the process's time is measured, shown and limited."""
import json, os, subprocess, sys, time
from control import *

scripthost, server, work = sys.argv[1:4]


def write(name, text):
    path = os.path.join(work, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def state(name):
    path = os.path.join(work, "state-" + name)
    os.makedirs(path)
    return path


def command(host, directory, *words):
    done = subprocess.run([scripthost, *words, "--state", directory, str(host.process.pid)], capture_output=True, text=True, timeout=4 * LIMIT)
    return done.returncode, done.stdout, done.stderr


slow = 'method "Server.Shop.answer(_:)":around(function(call, n) local x = 0 for i = 1, 3000 do x = x + i end return call:original() end)\n'
patches = [
    write("slow.lua", 'patch { id = "slow" }\n' + slow),
    write("light.lua", 'patch { id = "light", max_share = "90%" }\nlocal n = 0\nmethod "Server.Shop.stock(_:)":before(function(call) n = n + 1 if n == 3 then error("once") end end)\n'),
    write("rule.lua", 'patch { id = "rule" }\ntrack "sold" { on = "Server.Shop.price(_:)", fields = { n = "args.1" }, sample = "1%" }\n'),
]

# MARK: Shown

directory = state("top")
host = Hosted(scripthost, directory, [server], patches)
control = host.control()
status, out, err = command(host, directory, "top", "-n", "2", "-d", "400ms", "--json")
lines = [json.loads(line) for line in out.splitlines()]
check("top prints one object for each interval", status == 0 and len(lines) == 2, status, out[:300], err)
last = lines[-1]
rows = {each["id"]: each for each in last["patches"]}
hooks = {each["patch"]: each for each in last["hooks"]}
check("each patch has its sum", set(rows) == {"slow", "light", "rule"} and all(each["interval_calls"] > 0 for each in rows.values()), rows)
check("the slow handler takes most of the handlers' time", rows["slow"]["interval_time_ns"] > 4 * rows["light"]["interval_time_ns"] > 0, rows)
check("runs are the calls, and have a mean, a median and a tail", all(each["interval_runs"] > 0 and 0 < each["p50_ns"] <= each["p99_ns"] <= each["longest_ns"] for each in hooks.values()), hooks)
# 3,000 additions of Lua are some microseconds on any machine; the time of the original and of waiting threads is not the handler's.
check("a handler's time is its own", hooks["slow"]["p50_ns"] > 5_000, hooks["slow"])
check("the failure of a handler is counted", rows["light"]["failures"] == 1 and hooks["light"]["failures"] == 1, rows["light"])
check("what a rule's sample leaves out is counted", rows["rule"]["skipped"] > 0, rows["rule"])
check("a hook is named by its place, a rule by its name", hooks["slow"]["title"] == "slow.lua:2" and "track 'sold'" == hooks["rule"]["title"], hooks)
check("memory of each patch is told", all(each["memory"] > 10_000 for each in rows.values()), rows)
status, out, err = command(host, directory, "top", "-d", "200ms")
lines = out.splitlines()
check("without a terminal the table is printed once", status == 0 and lines[0].startswith(os.path.realpath(server)) and "handlers took" in lines[0] and sum("SHARE" in line for line in lines) == 2, out, err)
check("the table is ordered by share", [line.split()[-1] for line in lines if line.endswith(("slow", "light", "rule"))][0] == "slow", out)
status, out, err = command(host, directory, "top", "--patches", "-d", "100ms")
check("sums only", status == 0 and "HANDLER" not in out and "slow" in out, out)
status, out, err = command(host, directory, "status")
check("status tells the memory of each patch", all(any(line.startswith(id) and "KiB" in line for line in out.splitlines()) for id in ("slow", "light", "rule")), out)


def totals():
    hooks = control.ask("top", hold_ms=0)["hooks"]
    return sum(each["calls"] for each in hooks), sum(each["runs"] for each in hooks)


# A question measures until the control thread has looked again, at most a second later.
begun = totals()
time.sleep(2)
ended = totals()
check("handlers are measured only while somebody asks", ended[1] - begun[1] < 0.8 * (ended[0] - begun[0]), begun, ended)
status, out, err = command(host, directory, "top", "--delay", "1ns")
check("a wrong interval is refused in a sentence", status == 2 and "10ms to 1h" in err, err)
check("the program runs on", " wrong 0 " in host.command("report"))
control.close()
host.end()

# MARK: Limited

directory = state("limited")
sampled = write("sampled.lua", 'patch { id = "sampled", max_share = "1%", over_share = "sample" }\n' + slow.replace("answer(_:)", "price(_:)"))
host = Hosted(scripthost, directory, [server], [patches[0], sampled, patches[1]], ["--max-share", "3%"])
control = host.control()


def hook(id):
    return [each for each in control.ask("hooks")["hooks"] if each["owner"] == id][0]


until(lambda: not hook("slow")["enabled"], "the slow hook to be switched off")
check("a hook over its share is switched off", "its share is 3%" in hook("slow")["limited"], hook("slow"))
until(lambda: hook("sampled")["one_in"] > 1, "the sampled hook to be made rarer")
check("or takes part in some calls, where its header says so", hook("sampled")["enabled"] and "its share is 1%" in hook("sampled")["limited"], hook("sampled"))
check("one below its share stays as it is", hook("light")["enabled"] and hook("light")["one_in"] == 1, hook("light"))
time.sleep(1.2)
said = [line for line in host.said().splitlines() if "share" in line]
check("it is told once for each, with file and line", len(said) == 2 and any("slow.lua:2: around 'Server.Shop.answer(_:)' took" in line for line in said), said)
host.command("expect 0 1")
time.sleep(0.05)
check("the original runs alone then", " wrong 0 " in host.command("report"))
status, out, err = command(host, directory, "top", "-d", "200ms")
check("top shows what is limited and why", any(" off " in line and "slow.lua" in line for line in out.splitlines()) and "1 of " in out and "its share is 3%" in out, out)
check("a new text begins anew", control.ask("reload", patch="slow")["ok"] and hook("slow")["enabled"])
for text, word in [('max_share = "5"', "is a percentage"), ("max_share = 5", "is a text"), ('max_share = "0%"', "is a percentage"), ('over_share = "maybe"', 'is "off" or "sample"')]:
    path = write("wrong.lua", "patch { id = \"wrong\", %s }\n" % text)
    check(f"a header with {text} is refused", word in control.ask("load", path=path).get("error", ""), control.ask("load", path=path))
control.close()
host.end()
done = subprocess.run([scripthost, "run", "--max-share", "none", "--", server], capture_output=True, text=True, timeout=LIMIT)
check("a wrong share of the command line is refused", done.returncode == 2 and "needs a percentage" in done.stderr, done.stderr)
finish()
