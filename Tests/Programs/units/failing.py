"""failing.py SCRIPTHOST SERVER WORK: handlers that fail too often are switched off, say what calls do then, and stay where one looks for them."""
import os, subprocess, sys
from control import *

scripthost, server, work = sys.argv[1:4]
directory = os.path.join(work, "state-failing")
os.makedirs(directory)


def write(name, text):
    path = os.path.join(work, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def command(*words):
    done = subprocess.run([scripthost, *words, "--state", directory, str(host.process.pid)], capture_output=True, text=True, timeout=4 * LIMIT)
    return done.stdout


def hooks(id):
    return control.ask("hooks", patch=id)["hooks"]


def patch(id):
    return [each for each in control.ask("patches")["patches"] if each["id"] == id][0]


host = Hosted(scripthost, directory, [server])
control = host.control()


def load(id, text):
    answer = control.ask("load", path=write(f"{id}.lua", f'patch {{ id = "{id}" }}\n{text}\n'))
    if not answer["ok"]:
        check(f"{id} is loaded", False, answer)
        finish()


def said(words):
    return [line for line in host.said().splitlines() if words in line]


# MARK: What calls do

answers = 'method "Server.Shop.answer(_:)":around(function() error "no" end%s)'
throws = 'method "Server.Till.sell(_:)":around(function() error "no" end, { on_failure = "throw" })'
for id, text, sentence in [
    ("plain", answers % "", "the program runs on with the original"),
    ("valued", answers % ", { on_failure = { value = 42 } }", "the original answers from now on, 'on_failure' no more"),
    ("throwing", throws, "the original answers from now on, 'on_failure' no more"),
]:
    load(id, text)
    told = until(lambda: said(f"{id}.lua: around 'Server."), f"{id} to be switched off")
    check(f"{id}: the line on stderr says what calls do from then on", told[0].endswith(f"failed 5 times in 60 s and is switched off; {sentence}"), told)
    # Calls in flight end with what they began with.
    time.sleep(0.2)
    host.command("expect 0 1")
    thrown = host.command("report").split()[7]
    time.sleep(0.2)
    now = host.command("report")
    check(f"{id}: and the original does answer", " wrong 0 " in now and now.split()[7] == thrown, now, thrown)
    host.command(f"expect {-2**62} {2**62}")

    # MARK: Where it is seen

    found = hooks(id)
    check(f"{id}: the hook is listed as off, with the reason", len(found) == 1 and not found[0]["enabled"] and found[0]["limited"] == "switched off: it failed 5 times in 60 s", found)
    check(f"{id}: the patch tells of it", patch(id)["switched_off"] == 1 and patch(id)["hooks"] == 1, patch(id))
    rows = control.ask("top", hold_ms=0)
    check(f"{id}: top keeps the failures", [each["failures"] >= 5 for each in rows["patches"] if each["id"] == id] == [True], rows["patches"])
    shown = command("hooks", "--patch", id)
    check(f"{id}: hooks prints both", " off " in shown and f"{id}: around Server." in shown and "switched off: it failed 5 times" in shown, shown)
    for words in [("patch", "list"), ("status",)]:
        shown = command(*words)
        check(f"{id}: {' '.join(words)} prints it", f"{id}: 1 handler is switched off" in shown, shown)
    control.ask("disable", patch=id)
    control.ask("enable", patch=id)
    check(f"{id}: what is switched on again with its patch is not what failed", not hooks(id)[0]["enabled"], hooks(id))
    check(f"{id}: a reload begins anew", control.ask("reload", patch=id)["ok"] and until(lambda: len(said(f"{id}.lua: around 'Server.")) == 2, "the second time"))
    control.ask("unload", patch=id)

# MARK: One handler on many functions

load("many", 'method "Server.*.*(_:)":before(function(call) if call.selector ~= "Server.Safe.open(_:)" then error("no") end end)')
until(lambda: patch("many")["switched_off"] > 0 and said("on several functions"), "the handler to be switched off")
found = hooks("many")
check("a handler that fails on many functions is off on all of them", len(found) > 6 and not any(each["enabled"] for each in found), found)
check("each says why", all(each["limited"].startswith("switched off: it") for each in found) and any("on several functions" in each["limited"] for each in found), found)

# MARK: Its own script

load("own", """
local hook = method "Server.Shop.price(_:)":before(function() error "no" end)
timer.every("20ms", function()
  for _, each in ipairs(hooks "Server.Shop.price(_:)") do
    if each.owner == "own" and not each.enabled then log.info("seen", { why = each.limited, again = hook:enable(), now = hooks("Server.Shop.price(_:)")[1].enabled }) end
  end
end)
""")
until(lambda: 'again=false' in subprocess.run([scripthost, "logs", "--state", directory], capture_output=True, text=True, timeout=LIMIT).stdout, "the script to see it")
check("its script sees it and cannot switch it on", True)
check("the program runs on", host.command("report").startswith("calls "))
control.close()
host.end()
finish()
