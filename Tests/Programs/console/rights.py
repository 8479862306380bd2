"""rights.py SCRIPTHOST SERVER WORK: D3, D5 and D9 of docs/behaviours.md as console input: all or nothing, replaced and recalled; two on one
method; what a policy denies."""
import os, subprocess, sys
from control import *

scripthost, server, work = sys.argv[1:4]
home = os.path.join(work, "rights")
patches = os.path.join(home, "patches")
state = os.path.join(home, "state")
os.makedirs(patches)
os.makedirs(state)
with open(os.path.join(patches, "first.lua"), "w") as file:
    file.write('patch { id = "first" }\nmethod "Server.Shop.answer(_:)":around(function(call) return call:original() + 1000 end)\n')
policy = os.path.join(home, "policy.lua")
with open(policy, "w") as file:
    file.write('policy {\n  selectors = { deny = { "Server.Shop.tax(_:)" } },\n  types = { deny = { "Server.Safe", "Server.Person" } },\n  capabilities = { "call", "write" },\n  budgets = { hooks = 30 },\n}\n')
hosted = Hosted(scripthost, state, [server], patches=[patches], options=["--policy", policy, "-v"])
control = hosted.control()
ANY = f"expect {-2**62} {2**62}"
ANSWER = 'method "Server.Shop.answer(_:)":around(function(call) return call:original() %s end)'


def console(text, *options):
    """The status and what was written, of a piped snippet."""
    done = subprocess.run([scripthost, "attach", "--state", state, *options, str(hosted.process.pid)], input=text + "\n", capture_output=True, text=True, timeout=4 * LIMIT)
    return done.returncode, done.stdout + done.stderr


def owners():
    return sorted(each["owner"] for each in control.ask("hooks")["hooks"])


def answers(low):
    """All answers are `low` from now on: at least one is looked at."""
    hosted.command(f"expect {low} {low + 1}")
    before = hosted.command("report").split()
    after = until(lambda: (now := hosted.command("report").split())[1] != before[1] and now, "calls")
    hosted.command(ANY)
    return after[3] == before[3]


class Session:
    """A console that stays open, as on a terminal."""

    def __init__(self):
        self.control = hosted.control()
        self.open = hosted.control()
        self.open.send(do="console.open", write=True)
        self.number = self.open.line()["session"]

    def run(self, text):
        return self.control.ask("console.eval", session=self.number, text=text)

    def end(self):
        self.control.ask("console.close", session=self.number)
        until(lambda: f"console-{self.number}" not in owners(), "the end of the session's hooks")
        self.control.close()
        self.open.close()


check("the patch is there before any console", answers(1000) and owners() == ["first"], owners())

# MARK: D3

status, said = console(ANSWER % "+ 500" + '\ntrack "sold" { on = "Server.Shop.price(_:)" }\nmethod("Server.Later.run()", { wait = true }):before(print)\nerror("half way")', "--write")
check("D3 a snippet that fails half way says so, and that what it installed is taken out", status == 1 and "console:4: half way; what the snippet installed is taken out" in said, said)
session = Session()
result = session.run('kept = 1\n' + ANSWER % "+ 500" + '\ntrack "sold" { on = "Server.Shop.price(_:)" }\nmethod("Server.Later.run()", { wait = true }):before(print)\nerror("half way")')
found = control.ask("hooks")
check("D3 at once: in a session that stays, nothing of it is installed or waited for", "half way" in result["failed"] and owners() == ["first"] and found["waits"] == [], (result, found))
check("D3 and calls have the patch's answers alone", answers(1000))
check("D3 what it had put into globals is there", session.run("kept")["text"] == "1")
result = session.run("local n = nil + 1")
check("D3 a snippet that fails and installed nothing says nothing of that", "taken out" not in result["failed"], result)
session.run("one = " + ANSWER % "+ 500")
check("D3 a hook of a snippet is live", answers(1500) and owners() == [f"console-{session.number}", "first"], owners())
result = session.run(ANSWER % "+ 7" + "\nerror('again')")
check("D3 a later snippet that fails leaves what earlier ones made", "again" in result["failed"] and answers(1500), result)
session.run("one:remove() one = " + ANSWER % "+ 600")
check("D3 what replaces it takes its place: no call has both", answers(1600) and owners() == [f"console-{session.number}", "first"], owners())
result = session.run('local call = function() return swift.new("Server.Shop", "init()"):answer(1) end\nlocal before = call()\none:remove()\nreturn before, call()')
check("D3 recall is live, for a call that was made before in the same snippet, too", result.get("text") == "1600\t1000", result)
check("D3 and for the program's threads; the patch's hook is untouched", answers(1000) and owners() == ["first"], owners())
session.run(ANSWER % "+ 600")
control.ask("unload", patch="first")
check("D3 recall of the patch beside a session's hook", answers(600) and owners() == [f"console-{session.number}"], owners())
control.ask("load", path=os.path.join(patches, "first.lua"))
session.end()
check("D3 what a session installed ends with it, the patch stays", answers(1000) and owners() == ["first"], owners())

# MARK: D5

status, said = console(ANSWER % "* 2" + '\nreturn swift.new("Server.Shop", "init()"):answer(1)', "--write")
check("D5 of equal priorities the console's hook, made later, is outside", status == 0 and "2000" in said, said)
SAME = "scripthost: console: 'Server.Shop.answer(_:)' is also hooked by 'first', which runs inside of it: of the same priority (0) the one made later is outside"
before = hosted.said().count(SAME)
status, said = console((ANSWER % "* 2" + "\n") * 2, "--write")
check("D5 and the log says so, once for each session and patch", status == 0 and hosted.said().count(SAME) == before + 1, hosted.said())
with open(os.path.join(home, "high.lua"), "w") as file:
    file.write('patch { id = "high", priority = 5 }\n' + ANSWER % "+ 1" + "\n")
control.ask("load", path=file.name)
status, said = console(ANSWER % "* 2" + '\nreturn swift.new("Server.Shop", "init()"):answer(1)', "--write")
check("D5 it is inside of a patch with a higher priority, and outside of the other", status == 0 and "2001" in said, said)
check("D5 and the log says that", "scripthost: console: 'Server.Shop.answer(_:)' is also hooked by 'high', which runs outside of it: its priority is 5, this one's 0" in hosted.said(), hosted.said())
control.ask("unload", patch="high")

# MARK: D9

for name, text, line, words in [
    ("a hook on a denied selector", 'method "Server.Shop.tax(_:)":before(function() end)', 2, 'selectors.deny has "Server.Shop.tax(_:)"'),
    ("a rule on one", 'track "taxes" { on = "Server.Shop.tax(_:)" }', 2, "selectors.deny"),
    ("a hook on a denied type's method", 'method "Server.Safe.open(_:)":before(function() end)', 3, 'types.deny has "Server.Safe"'),
    ("a call of a denied selector", 'return swift.new("Server.Shop", "init()"):tax(2.0)', 2, "selectors.deny"),
    ("a value of a denied struct", 'return swift.new("Server.Safe", "init()")', 3, "types.deny"),
    ("an object of a denied class", 'return swift.new("Server.Person", "init(_:)", "Ann")', 3, "types.deny"),
    ("a capability that it has not, timers,", 'timer.after("1s", function() end)', 4, "does not grant 'timers'"),
    ("a capability that it has not, a preset,", 'use "startup"', 4, "does not grant 'presets'"),
]:
    status, said = console(text, "--write")
    check(f"D9 {name} is refused in the console, with the policy's line", status == 1 and f"policy.lua:{line}" in said and words in said, (status, said))
status, said = console('for n = 1, 31 do method "Server.Shop.price(_:)":before(function() end) end', "--write")
check("D9 more hooks than the budget are refused, and the others of the snippet go", status == 1 and "policy.lua:5" in said and "taken out" in said, (status, said))
until(lambda: owners() == ["first"], "the end of the sessions")
check("D9 nothing of it is installed", answers(1000), owners())
control.close()
check("the program ends as it does alone", hosted.end() == 0)
finish()
