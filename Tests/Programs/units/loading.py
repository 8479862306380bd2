"""loading.py SCRIPTHOST SERVER WORK: what a patch does before it is live, and what becomes of one that never is: nothing, but a line in the list."""
import os, subprocess, sys, time
from control import *

scripthost, server, work = sys.argv[1:4]
state = os.path.join(work, "state-loading")
os.makedirs(state)


def write(name, text):
    path = os.path.join(work, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


# Long enough for a thread that does not wait.
busy = "for i = 1, 3e6 do end\n"
acts = 'timer.after(0, function() print "the timer acted" end)\nmethod "Server.Shop.answer(_:)":around(function(call) return call:original() + 7 end)\n'

# MARK: At the start

begun = os.path.join(work, "state-begun")
os.makedirs(begun)
host = Hosted(scripthost, begun, [server], [write("begin/refused.lua", acts + busy + 'error("refused")\n'), write("begin/good.lua", 'timer.after(0, function() print "the good one acted" end)\n' + busy + 'print "loaded"\n')], ["-v"])
until(lambda: "the good one acted" in host.said(), "a timer that is due")
said = host.said()
check("a timer waits until the text that made it is loaded", 0 < said.index("good.lua:3: loaded") < said.index("the good one acted"), said)
check("one of a text that is refused never calls", "refused.lua:4: refused" in said and "the timer acted" not in said, said)
host.command("expect 0 1")
time.sleep(0.05)
check("nor is a call hooked by it", " wrong 0 " in host.command("report"))
host.end()

# MARK: While threads call

host = Hosted(scripthost, state, [server], options=["-v"])
control = host.control()
host.command("expect 0 1")
path = write("late.lua", 'patch { id = "late", version = "0.7" }\n' + acts + busy + 'error("refused")\n')
for _ in range(5):
    answer = control.ask("load", path=path)
    if answer["ok"]:
        break
time.sleep(0.05)
check("a text that is loaded into a running program and refused", not answer["ok"] and "late.lua:5: refused" in answer["error"], answer)
report = host.command("report")
check("no call saw a hook of it", " wrong 0 " in report, report)
check("no timer of it called", "the timer acted" not in host.said(), host.said())

# MARK: Its id

listed = control.ask("patches")["patches"]
check("it is listed by the id and the version of its header", [(p["id"], p.get("version"), p["state"]) for p in listed] == [("late", "0.7", "refused")], listed)
write("late.lua", 'patch { id = "late", version = "0.8" }\nprint "late"\n')
answer = control.ask("reload", patch="late")
check("which names it for a reload", answer["ok"] and answer["patch"]["state"] == "loaded", answer)
listed = control.ask("patches")["patches"]
check("then it is loaded, and nothing else is listed", [(p["id"], p["state"]) for p in listed] == [("late", "loaded")], listed)
check("and can be named by its file", control.ask("unload", patch="late.lua")["ok"])
over = write("over.lua", 'patch { id = "over", expires = "2020-01-01" }\n')
control.ask("load", path=over)
listed = control.ask("patches")["patches"]
check("one that has expired is listed by its id", [(p["id"], p["state"]) for p in listed] == [("over", "expired")], listed)
control.ask("load", path=write("text.lua", "this is no Lua"))
check("one whose header cannot be read, or that has none, by its file", "text.lua" in [p["id"] for p in control.ask("patches")["patches"]])
for name in ("over", "text.lua"):
    control.ask("unload", patch=name)

# MARK: Two of one id

first, second = write("both/a.lua", 'patch { id = "same", version = "1" }\n'), write("both/b.lua", 'patch { id = "same", version = "2" }\n')
sentence = f"id 'same' is taken by '{first}'; give each patch its own"


def versions():
    return sorted((p["id"], p.get("version"), p["state"]) for p in control.ask("patches")["patches"])


both = [("same", "1", "loaded"), ("same", "2", "refused")]
answer = control.ask("load", path=os.path.join(work, "both"))
check("of two patches of one id in a directory the second is refused", sentence in str(answer) and versions() == both, answer, versions())
answer = control.ask("reload", patch="same")
check("a reload reads the one that is loaded", answer["ok"] and versions() == both, answer, versions())
answer = control.ask("reload", patch=second)
check("the other one does not take its place when it is read again", not answer["ok"] and sentence in answer["error"] and versions() == both, answer, versions())
answer = control.ask("disable", patch="same")
check("what is said by the id is said of the one that is loaded", answer["ok"] and versions() == [("same", "1", "disabled"), ("same", "2", "refused")], versions())
control.ask("enable", patch="same")
answer = control.ask("load", path=second)
check("a file that is named alone takes the place of the one of its id", answer["ok"] and versions() == [("same", "2", "loaded")], answer, versions())
control.close()
host.end()

watched = os.path.join(work, "both")
host = Hosted(scripthost, os.path.join(work, "state-begun"), [server], [watched], ["-v", "--watch"])
control = host.control()
check("at the start the second is refused", sentence in host.said() and versions() == both, versions())
write("both/b.lua", 'patch { id = "same", version = "3" }\n')
until(lambda: host.said().count(sentence) == 2, "the second to be tried again")
check("and when it is saved", versions() == [("same", "1", "loaded"), ("same", "3", "refused")], versions())
os.unlink(first)
write("both/b.lua", 'patch { id = "same", version = "4" }\n')
until(lambda: versions() == [("same", "4", "loaded")], "the second in the place of the first, which is gone")
check("when the first is gone the second is loaded", True)
control.close()
host.end()
finish()
