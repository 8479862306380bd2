"""console.py SCRIPTHOST SERVER WORK: `scripthost attach` by pipes and on a pseudo-terminal, and clients of the socket that misbehave."""
import json, os, pty, select, signal, socket, subprocess, sys, time
from control import *

# Where this runs in the background, Ctrl-C is ignored; what is started here gets it.
signal.signal(signal.SIGINT, signal.default_int_handler)

scripthost, server, work = sys.argv[1:4]


def start(name):
    state = os.path.join(work, "state-" + name)
    os.makedirs(state)
    return Hosted(scripthost, state, [server]), state


def attach(*options, text):
    done = subprocess.run([scripthost, "attach", "--state", state, *options, str(hosted.process.pid)], input=text, capture_output=True, text=True, timeout=4 * LIMIT)
    return done.returncode, done.stdout, done.stderr


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, *options):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(NO_COLOR="1", TERM="xterm")
            os.execv(scripthost, [scripthost, "attach", "--state", state, *options, str(hosted.process.pid)])
        self.seen = b""

    def wait(self, text, since=0):
        """Waits until the terminal shows `text`; answers what was shown."""
        end = time.monotonic() + LIMIT
        while text.encode() not in self.seen[since:] and time.monotonic() < end:
            if not select.select([self.terminal], [], [], 0.5)[0]:
                continue
            try:
                more = os.read(self.terminal, 65536)
            except OSError:
                break
            if not more:
                break
            self.seen += more
        return self.seen[since:].decode(errors="replace")

    def type(self, keys, expected):
        since = len(self.seen)
        os.write(self.terminal, keys.encode())
        shown = self.wait(expected, since)
        return expected in shown, shown

    def ended(self):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return True
            if select.select([self.terminal], [], [], 0.05)[0]:
                try:
                    os.read(self.terminal, 65536)
                except OSError:
                    pass
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return False


hosted, state = start("main")
hosted.control().close()
check("a process that nobody records leaves no journal", not os.path.exists(os.path.join(state, "journal")))

# MARK: Pipes

found = attach(text="1 + 1\n")
check("a value is shown", found[:2] == (0, "2\n"), found)
found = attach(text="local n = 0\nfor i = 1, 4 do\n  n = n + i\nend\nreturn n\n")
check("lines of a pipe are one snippet", found[:2] == (0, "10\n"), found)
found = attach(text="print('said')\nerror('broken here')\n")
check("a failure tells its line, and is the status", found[0] == 1 and "said" in found[1] and "console:2:" in found[1] and "broken here" in found[1], found)
for text, line in [("x = \n", 1), ("x = 1\nx = \n\n", 2), (":hooks\n\nerror('y')\n:hooks\n", 3), (":hooks\n1 + 1\n:hooks\nlocal t = nil\nreturn t.x\n", 5)]:
    found = attach(text=text)
    check(f"a failure has the line of the input: {text!r}", found[0] == 1 and f"console:{line}: " in found[1], found)
found = attach(text="local = 3\n")
check("a mistake of syntax tells its line", found[0] == 1 and "console:1:" in found[1], found)
found = attach("--json", text="6 * 7\n")
check("an answer for tools is JSON", found[0] == 0 and json.loads(found[1].splitlines()[-1])["text"] == "42", found)
found = attach(text=":help\n:types Server.*\n:methods Server.Shop.a*\n:nothing\n")
check("a command that is not there is told, and is the status", found[0] == 1, found)
check("commands", all(word in found[1] for word in (":explain SELECTOR", "Server.Cart", "Server.Shop.answer(_:", "no command ':nothing'")), found)
for text, said in [(f":save {work}/nowhere/x.lua", "nothing of this session"), (":heap Server.Nope", "no type 'Server.Nope'"), (":types Nope", "no type matches 'Nope'"),
                   (":methods Nope.*", "no selector matches"), (":explain Server.Nope.x()", "no selector 'Server.Nope.x()'"), (":page x", ":page takes a number"),
                   (":page 0", ":page takes a number"), (":events x", ":events takes a number"), (":go", "runs already"), (":trace Server.Shop.name(_:)", "--write")]:
    found = attach(text=text + "\n1 + 1\n")
    check(f"'{text}' fails: it is told, the input goes on, and the status is 1", found[0] == 1 and said in found[1] and found[1].endswith("\n2\n"), found)
found = attach("--json", text=":heap Server.Nope\n")
check("with --json as any failure", found[0] == 1 and "no type 'Server.Nope'" in json.loads(found[1])["failed"], found)
found = attach(text='class "Server.Cart"\n')
check("a class is shown by its name", found[:2] == (0, 'class "Server.Cart"\n'), found)
found = attach(text=":types Cart\n:methods Server.Shop\n")
check("names need not be whole", all(word in found[1] for word in ("Server.Cart", "Server.Shop.answer(_:")), found)
# The server's threads call it all the time; a session may end before one of them has.
end = time.monotonic() + LIMIT
while time.monotonic() < end:
    found = attach("--write", text=":track Server.Shop.name(_:)\nlocal sum = 0\nfor n = 1, 100000 do sum = sum + n end\n")
    recorded = subprocess.run([scripthost, "events", "--state", state, "--kind", "event", "--json"], capture_output=True, text=True).stdout
    if '"name":"Server.Shop.name(_:)"' in recorded: break
check(":track records each call", found[0] == 0 and '"name":"Server.Shop.name(_:)","fields":{"duration":' in recorded, (found, recorded[:300]))
check("without --write it is refused", "--write" in attach(text=":track Server.Shop.name(_:)\n")[1], attach(text=":track Server.Shop.name(_:)\n"))
hook = 'method "Server.Shop.answer(_:)":around(function(call, n) return call:original() + 500 end)'
found = attach(text=hook + "\n")
check("a session that only reads installs nothing", found[0] == 1 and "--write" in found[1], found)
for snippet in ('span { on = "Server.Shop.answer(_:)" }', "startup {}", 'stalls { main = "1s" }', "profile { hz = 99 }", "profile(false)", "network {}", 'use "startup"',
                'delegates "Server.Shop.delegate" {}', 'notification.on("told", function() end)', 'timer.after("1s", function() end)', 'guard { "containers" }'):
    found = attach(text=snippet + "\n")
    check(f"nor does it {snippet}", found[0] == 1 and "attach with --write" in found[1], found)

# MARK: A terminal

terminal = Terminal("--write")
check("the prompt comes", "> " in terminal.wait("> "), terminal.seen)
check("a value on the terminal", *terminal.type("20 + 22\r", "42\r\n"))
check("input that ends too early goes on", *terminal.type("function twice(n)\r", ". "))
terminal.type("return 2 * n end\r", "> ")
check("what was written in two lines runs", *terminal.type("twice(321)\r", "642"))
check("Tab completes the names of commands", *terminal.type(":unt\t", ":untrace"))
terminal.type("\x15\x0b", "> ")
check("and the type that a command is about", *terminal.type(":heap Server.Ca\t", ":heap Server.Cart"))
terminal.type("\x15\x0b", "> ")
check("or the selector", *terminal.type(":explain Server.Shop.ans\t", "answer(_:"))
terminal.type("\x15\x0b", "> ")
check("Tab completes a selector", *terminal.type('method "Server.Shop.ans\t', "answer(_:"))
terminal.type("\x15\x0b", "> ")
check("the line before comes back", *terminal.type("\x1b[A\r", "642"))
os.write(terminal.terminal, b"print('running') while true do end\r")
shown = terminal.wait("\r\nrunning")
check("an endless snippet runs", "\r\nrunning" in shown, shown)
check("the program goes on meanwhile", hosted.command("report").startswith("calls "))
check("Ctrl-C stops the snippet", *terminal.type("\x03", "stopped"))
check("the session goes on", *terminal.type("300 + 33\r", "333\r\n"))
# The prompt is drawn when the terminal takes single keys again.
check("a hook is made", *terminal.type(hook + " print('pla' .. 'ced')\r", "placed\r\n\r\x1b[K> "))
client = hosted.control()
until(lambda: client.ask("hooks")["count"] == 1, "the hook of the console")
check("a hook of the console is installed", True)
until(lambda: any(h["calls"] > 0 for h in client.ask("hooks")["hooks"]), "calls through the hook")
check("it is called", True)
os.write(terminal.terminal, b"\x04")
check("Ctrl-D ends the session", terminal.ended())
events = subprocess.run([scripthost, "events", "--state", state, "--json"], capture_output=True, text=True, timeout=4 * LIMIT).stdout
check("what a session changed is in the journal, of a process without patches, too", '"console change"' in events and "around Server.Shop.answer(_:)" in events, events[-600:])
until(lambda: client.ask("hooks")["count"] == 0, "the end of the hook")
check("the hook goes with the session", True)
terminal = Terminal("--write")
terminal.wait("> ")
check("a hook of a client that is going to be killed", *terminal.type(hook + " print('pla' .. 'ced')\r", "placed"))
os.kill(terminal.pid, signal.SIGKILL)
os.waitpid(terminal.pid, 0)
os.close(terminal.terminal)
began = time.monotonic()
until(lambda: client.ask("hooks")["count"] == 0, "the end of the hook of a killed client")
check("the hook of a client that is killed goes by itself, soon", time.monotonic() - began < 5, time.monotonic() - began)
found = attach("--write", text=hook + "\n")
check("when a piped session has ended, its hooks are out", found[0] == 0 and client.ask("hooks")["count"] == 0, found)
asked = client.ask
client.send(do="console.open", write=True)
number = client.line()["session"]
asked("console.eval", session=number, text=hook)
opened = client.id - 1
check("a session ends with the request that opened it, too", asked("hooks")["count"] == 1 and asked("stop", request=opened)["ok"])
until(lambda: asked("hooks")["count"] == 0, "the end of the hook of a request that was stopped")

# A client may go, or ask to stop, before its snippet has begun.
slowest = 0
for _ in range(40):
    going, asking = hosted.control(), hosted.control()
    going.send(do="console.open", write=True)
    number = going.line()["session"]
    asking.ask("console.eval", session=number, text=hook)
    asking.send(do="console.eval", session=number, text="while true do end")
    going.close()
    asking.close()
    began = time.monotonic()
    until(lambda: asked("hooks")["count"] == 0, "the end of a session whose client went as a snippet was to begin")
    slowest = max(slowest, time.monotonic() - began)
check(f"a client that goes as its snippet begins takes its session along: {slowest:.2f} s", slowest < 10, slowest)
client.send(do="console.open", write=True)
number = client.line()["session"]
late = []
for _ in range(40):
    snippet = client.send(do="console.eval", session=number, text="while true do end")
    client.send(do="console.interrupt", session=number)
    answers = [client.line(), client.line()]
    late += [each for each in answers if each["id"] == snippet]
check("a snippet that is stopped as it begins is stopped", all(each.get("stopped") for each in late), [each for each in late if not each.get("stopped")])
check("and the next one runs", asked("console.eval", session=number, text="300 + 21")["text"] == "321")
# What waits behind a snippet is answered when the session is closed.
running = client.send(do="console.eval", session=number, text="while true do end")
waiting = [client.send(do="console.eval", session=number, text="1"), client.send(do="console.complete", session=number, text="pri")]
closing = client.send(do="console.close", session=number)
got = {}
while len(got) < 4:
    each = client.line()
    if each["id"] in (running, *waiting, closing) and not each.get("more"):
        got[each["id"]] = each
check("a snippet that waits is told that it is stopped when its session is closed", got[running].get("stopped") and got[waiting[0]].get("stopped"), got)
check("other requests that wait are answered", got[waiting[1]].get("words") == ["print"] and got[closing]["ok"], got)

# MARK: What hooks print while nothing runs

TRACED = "Server.Shop.name(_:)\t"
terminal = Terminal("--write")
terminal.wait("> ")
since = len(terminal.seen)
os.write(terminal.terminal, b":trace Server.Shop.name(_:)\r")
check("a trace is shown at the prompt, without a key", "\r\x1b[K" + TRACED in terminal.wait("\r\x1b[K" + TRACED, since), terminal.seen[since:][-300:])
since = len(terminal.seen)
os.write(terminal.terminal, b"400 + ")
shown = terminal.wait("> 400 + \r", since)
shown = terminal.wait("\r\x1b[K" + TRACED, len(terminal.seen))
check("above the line that is typed, which is drawn again", TRACED in shown and "> 400 + \r" in terminal.wait("> 400 + \r", len(terminal.seen)), shown[-300:])
check("and goes on", *terminal.type("56\r", "456\r\n"))
terminal.type(":untrace\r", "> ")
# Those that were on their way; a busy machine may show none of them for a while.
for _ in range(5):
    while select.select([terminal.terminal], [], [], 2)[0]:
        terminal.seen += os.read(terminal.terminal, 65536)
    quiet = terminal.type("'qui' .. 'et'\r", '"quiet"\r\n\r\x1b[K> ')
    if quiet[0]:
        break
check("after :untrace nothing comes", *quiet)
os.write(terminal.terminal, b"\x04")
check("the session ends", terminal.ended())


def piped(*options):
    return subprocess.Popen([scripthost, "attach", "--state", state, *options, str(hosted.process.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


there = piped("--write")
there.stdin.write(":trace Server.Shop.price(_:)\n")
line = there.stdout.readline()
check("an input that has not ended: commands run as they come, and calls are shown meanwhile", line.startswith("Server.Shop.price(_:)\t"), line)
there.stdin.write(":untrace\n")
there.stdin.close()
rest = there.stdout.read()
check("its end ends the session", there.wait(LIMIT) == 0 and client.ask("hooks")["count"] == 0, rest[-300:])
there = piped("--write", "--json")
there.stdin.write(":trace Server.Shop.price(_:)\n")
there.stdin.close()
lines = [json.loads(there.stdout.readline()) for _ in range(5)]
time.sleep(0.3)
check("an input that ends with :trace goes on with the calls; with --json as objects", all(each.get("print", "Server.Shop.price(_:)\t").startswith("Server.Shop.price(_:)\t") for each in lines) and any("print" in each for each in lines) and there.poll() is None, lines)
there.send_signal(signal.SIGINT)
there.stdout.close()
check("until Ctrl-C", there.wait(LIMIT) == -signal.SIGINT)
until(lambda: client.ask("hooks")["count"] == 0, "the end of the trace")

# MARK: Commands of a session that changes the program

found = attach("--write", text=":explain Server.Shop.answer(_:)\n:track Server.Shop.stock(_:)\n:trace Server.Shop.answer(_:)\nlocal n = 0 for i = 1, 1000000 do n = n + i end return n\n:untrace\n:hooks\n:patches\n:top\n:events 50\n")
check(":explain tells how far hooks reach", "Server.Shop.answer(_:)" in found[1] and "entry" in found[1], found)
traced = [line for line in found[1].split("\n") if line.startswith("Server.Shop.answer(_:)\t")]
check(":trace prints calls", len(traced) > 0, found[1][:1500])
hooks = found[1].split("500000500000")[-1]
check(":untrace ends that, :track goes on", "Server.Shop.stock(_:)" in hooks and "after 'Server.Shop.answer(_:)'" not in hooks, hooks[:1500])
check(":top shows the session's hooks", any("Server.Shop.stock(_:)" in line and "%" in line for line in hooks.split("\n")), hooks[:1500])
check(":events has what is tracked", "Server.Shop.stock(_:)" in hooks.split("SHARE")[-1], hooks[-1500:])
found = attach(text=":patches\n:hooks\n")
check("nothing of it is left behind", found == (0, "no patches\nno hooks\n", ""), found)

# MARK: :save

saved = os.path.join(work, "saved.lua")
session = f"""function plus(n)
  return n + extra
end
:hooks
extra = 500
:hooks
print(extra)
:hooks
local hidden = 7
function looked() return 5 end
:hooks
looked()
:hooks
local t = {{}} for i = 1, 200 do t[i] = i end return t
:hooks
print(("y"):rep(100))
:hooks
x = "seen" return x
:hooks
function prepare() table.insert(rates, 3) end
rates = {{}}
:hooks
prepare()
:hooks
method "Server.Shop.answer(_:)":around(function(call) return plus(call:original()) + #rates - 1 end)
:track Server.Shop.stock(_:)
:trace Server.Shop.price(_:)
method "Server.Shop.nothing()":before(print)
1 + 1
:save {work}/nowhere/saved.lua
:save {saved}
:save {saved}
"""
found = attach("--write", text=session)
text = open(saved).read()
check(":save writes a file, and keeps one that is there", f"wrote {saved}" in found[1] and "is there already" in found[1], found)
check("and tells where it cannot", f"'{work}/nowhere/saved.lua' cannot be written" in found[1], found)
check("it has the helper, the global, the hook and the rule", all(word in text for word in ("function plus", "extra = 500", "plus(call:original())", 'track("Server.Shop.stock(_:)")')), text)
check("and what changed a table that the hook reads, by a function of the session", "rates = {}" in text and "function prepare()" in text and "prepare()\n" in text.split("function prepare()")[1], text)
check("nothing that calls a function which keeps nothing, fills a table of its own, or shows a text", not any(word in text for word in ("looked", "200", "rep(100)", "seen")), text)
check("and nothing that was looked at, traced, or failed", not any(word in text for word in ("print(extra)", "Server.Shop.price", "nothing()", "1 + 1")), text)
done = subprocess.run([scripthost, "check", saved, server], capture_output=True, text=True, timeout=4 * LIMIT)
check("check finds no mistake in it", done.returncode == 0, done.stdout, done.stderr)
done = subprocess.run([scripthost, "test", saved, server], capture_output=True, text=True, timeout=4 * LIMIT)
check("its test passes", done.returncode == 0 and "ok      saved is in place" in done.stdout, done.stdout, done.stderr)
until(lambda: client.ask("hooks")["count"] == 0, "the end of the session's hooks")
client.ask("load", path=saved)
hosted.command("expect 500 501")
calls = hosted.command("report").split()[1]
until(lambda: hosted.command("report").split()[1] != calls, "calls")
report = hosted.command("report")
check("as a patch it does what the session did", " wrong 0 " in report and client.ask("hooks")["count"] == 2, report)
hosted.command(f"expect {-2**62} {2**62}")
client.ask("unload", patch="saved")
found = attach("--write", text=f":track Server.Shop.stock(_:)\n:save {work}/rule only.lua\n")
done = subprocess.run([scripthost, "test", f"{work}/rule only.lua", server], capture_output=True, text=True, timeout=4 * LIMIT)
check("a session with a rule alone, in a file whose name is no id", done.returncode == 0, found, done.stdout, done.stderr)
found = attach("--write", text=f"{hook}\n:save {saved}\n")
check("a :save that fails is the status", found[0] == 1 and "is there already" in found[1], found)
found = attach("--write", text=f"method 'Server.Shop.stock(_:)':before(function() return rate end)\n:hooks\nrate = 5\n:hooks\nunused = 6\n:save {work}/later.lua\n")
later = open(f"{work}/later.lua").read()
check("a global that a handler reads is saved when it was set later", "rate = 5" in later and "unused" not in later, later)
found = attach("--write", text=f"1 + 1\n:save {work}/none.lua\n")
check("a session without a change is not saved", found[0] == 1 and "nothing of this session changed the program" in found[1] and not os.path.exists(f"{work}/none.lua"), found)

# MARK: Values of the program, and their members


class Session:
    """A session, as the command opens one."""

    def __init__(self, write=True):
        self.standing, self.control = hosted.control(), hosted.control()
        self.standing.send(do="console.open", write=write)
        self.number = self.standing.line()["session"]

    def run(self, text):
        answer = self.control.ask("console.eval", session=self.number, text=text)
        return answer.get("text") or answer

    def complete(self, text, **more):
        return self.control.ask("console.complete", session=self.number, text=text, **more)["words"]

    def end(self):
        self.control.ask("console.close", session=self.number)


one = Session()
one.run('ann = swift.new("Server.Person", "init(_:)", "Ann") bob = swift.new("Server.Person", "init(_:)", "Bob")')
WIDE = "Server.Person {\n  name = \"Ann\",\n  password = <masked>,\n  place = Server.Place { street = \"Elm\", number = 4 },\n  mood = Server.Mood.loud(7),\n  friend = "
shown = one.run("ann")
check("an object: its stored fields, nested, a secret masked, none as nil", shown.startswith(WIDE + "nil,\n  numbers = Swift.Array<Swift.Int> (100000) [\n    1,\n    2,"), shown[:600])
check("a list in it: its first forty, and how many more", "    40,\n    … 99960 more, from 41\n  ]" in shown, shown[-600:])
check("dictionary and set", shown.endswith('counts = Swift.Dictionary<Swift.String, Swift.Int> (1) [ tea = 3 ],\n  tags = Swift.Set<Swift.String> (1) [ "new" ]\n}'), shown[-300:])
for snippet, expected in [("ann.place", 'Server.Place { street = "Elm", number = 4 }'), ("ann.mood", "Server.Mood.loud(7)"), ("ann.friend", "nil"), ("ann.place.number", "4"),
                          ("{ ann.place, ann.mood }", '{ Server.Place { street = "Elm", number = 4 }, Server.Mood.loud(7) }'), ("ann.password", '"sesame"')]:
    check(f"{snippet} is shown", one.run(snippet) == expected, one.run(snippet))
one.run("return ann.numbers")
page = one.control.ask("console.page", session=one.number, **{"from": 99_999})["text"]
check("a page of 100,000 elements", page == "Swift.Array<Swift.Int> (100000) [ 99999, 100000 ]", page)
one.run('swift.send(ann, "greet(_:)", bob) swift.send(bob, "greet(_:)", ann)')
shown = one.run("ann")
check("a cycle of objects ends", 'friend = Server.Person {\n    name = "Bob",' in shown and "friend = <Server.Person, shown above>" in shown, shown[:900])
check("showing them ran nothing of the program", hosted.command("report").startswith("calls "))
check("members of a live value: its fields", one.complete("ann.pl") == ["place"] and one.complete("ann.place.str") == ["street"], one.complete("ann.pl"), one.complete("ann.place."))
check("its methods", one.complete("ann:gre") == ["greet"], one.complete("ann:"))
check("through what it holds", one.complete("ann.friend.na") == ["name"], one.complete("ann.friend."))
check("no computed property is among them, and none ran", one.complete("ann.gree") == [] and hosted.command("report").startswith("calls "), one.complete("ann."))

# MARK: What stands before a name

METHOD = ["after", "around", "before", "contain", "explain"]
check("behind a method: its members alone", one.complete('method "Server.Shop.name(_:)":') == METHOD and one.complete('local m = method("Server.Shop.name(_:)"):') == METHOD, one.complete('method "Server.Shop.name(_:)":'))
check("behind a class: its own, and the type's static methods", one.complete('class "Server.Cart":') == METHOD[:4], one.complete('class "Server.Cart":'))
check("behind a hook that is made: a hook's", "remove" in (found := one.complete('method "Server.Shop.name(_:)":before(function(call) return ")" end):')) and "before" not in found, found)
one.run('kept = method "Server.Shop.name(_:)":before(function() end)')
check("behind a global with a hook, too", "remove" in (found := one.complete("kept:")) and "before" not in found, found)
rows = one.run("local names = {} for _, row in ipairs(hooks()) do for name in pairs(row) do names[name] = true end end local list = {} for name in pairs(names) do list[#list + 1] = name end print(table.concat(list, ' ')) return #list")
found = one.complete("hooks()[1].")
check("behind an element of hooks(): what it has, no globals", one.complete("hooks()[1].sel") == ["selector"] and "calls" in found and int(rows) <= len(found), rows, found)
one.run("kept:remove() kept = nil")
check("behind what nothing is known of: nothing", one.complete("unknown()[1].sel") == [] and one.complete("(1 + 2).s") == [])
check("behind a text: its functions", "rep" in one.complete('("x"):'))
check("types alone, for commands that take one", "Server.Cart" in (found := one.complete("Server.", of="types")) and not any("(" in each for each in found), found)
check("selectors", "Server.Shop.answer(_:)" in one.complete("Server.Shop.", of="selectors"))

# MARK: Who reads too slowly

slow = Session()
slow.run('method "Server.Shop.answer(_:)":around(function(call) print(("y"):rep(3000)) return call:original() end)')
before = client.ask("hooks")["hooks"][0]["calls"]
# Beyond what waits for it: what the socket holds, and 2 MiB.
until(lambda: client.ask("hooks")["hooks"][0]["calls"] > before + 10_000, "calls of a handler that prints")
check("a client that does not read has its session, and its hooks", slow.run("6 * 7") == "42" and client.ask("hooks")["count"] == 1, client.ask("hooks"))
lines, lost = 0, 0
while not lost:
    line = slow.standing.line()
    lines += "print" in line
    lost = line.get("lost", 0)
check("it reads what waited, then how many lines were left out, then what came since", lines > 100 and "print" in slow.standing.line(), lines, lost)
slow.end()
until(lambda: client.ask("hooks")["count"] == 0, "the end of the hook that prints")
slow.standing.close()
slow.control.close()

# MARK: Several sessions

two = Session()
one.run("shared = 1 return 11")
two.run("return 22")
check("each session has globals and last values of its own", one.run("return _, shared") == "11\t1" and two.run("return _, shared") == "22\tnil")
one.run(hook)
two.run('method "Server.Shop.price(_:)":before(function() end)')
check("each has hooks of its own", sorted(h["owner"] for h in client.ask("hooks")["hooks"]) == sorted(f"console-{each.number}" for each in (one, two)))
one.control.send(do="console.eval", session=one.number, text="print('turning') while true do end")
one.control.line()
two.control.send(do="console.eval", session=two.number, text="print('turning') while true do end")
two.control.line()
client.ask("console.interrupt", session=one.number)
check("Ctrl-C stops the snippet of its own session", one.control.line().get("stopped") is True)
check("the other one's goes on", client.ask("console.eval", session=one.number, text="1")["text"] == "1" and not select.select([two.control.socket], [], [], 0.2)[0])
client.ask("console.interrupt", session=two.number)
check("until it is stopped itself", two.control.line().get("stopped") is True)
one.end()
until(lambda: client.ask("hooks")["count"] == 1, "the end of the first session's hooks")
check("the end of a session takes its hooks, and no others", [h["owner"] for h in client.ask("hooks")["hooks"]] == [f"console-{two.number}"])

# MARK: Every change is in the journal

two.run('ann = swift.new("Server.Person", "init(_:)", "Ann") ann.name = "Anna" swift.send(ann, "greet(_:)", ann)')
two.end()
events = [json.loads(line) for line in subprocess.run([scripthost, "events", "--state", state, "--json"], capture_output=True, text=True, timeout=4 * LIMIT).stdout.splitlines()]
acts = [(each["fields"]["act"], each["fields"]["subject"]) for each in events if each["name"] == "console change" and each["fields"]["session"] == f"console-{two.number}"]
audit = [json.loads(line) for line in subprocess.run([scripthost, "events", "--state", state, "--kind", "audit", "--json"], capture_output=True, text=True, timeout=4 * LIMIT).stdout.splitlines()]
mine = [each for each in audit if each["fields"].get("session") == f"console-{two.number}"]
check("as acts of the user and the process that asked", [each["name"] for each in mine][0] == "console opened" and all(each["fields"]["user"] == os.getuid() and each["fields"]["process"] == os.getpid() and each["fields"]["allowed"] for each in mine), mine[:3])
check("beside those of clients that loaded and removed patches", [each["name"] for each in audit if each["fields"].get("detail", "").startswith("saved")] == ["patch load", "patch unload"], [each["name"] for each in audit])
check("calls and writes of stored properties too", any("greet" in subject for _, subject in acts) and any("name" in subject for _, subject in acts) and any("init(_:)" in subject for _, subject in acts), acts)

# MARK: Clients that misbehave


def raw(data, shut=False):
    there = socket.socket(socket.AF_UNIX)
    there.connect(hosted.path)
    there.settimeout(LIMIT)
    try:
        there.sendall(data)
        if shut:
            there.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return there


garbage = raw(bytes(range(256)) * 64 + b"\n")
huge = raw(b'{"do":"' + b"x" * (2 << 20))
half = raw(b'{"id":7,"do":"status"}\n', shut=True)
text = b""
while more := half.recv(65536):
    text += more
check("a half-closed client gets its answer, then the end", json.loads(text)["id"] == 7, text[:200])
slow = raw(b"".join(b'{"id":%d,"do":"hooks"}\n' % n for n in range(40)))
found = attach(text="7 * 8\n")
check("the console answers beside clients that send garbage, too much, or do not read", found[:2] == (0, "56\n"), found)
check("the program goes on beside them", hosted.command("report").startswith("calls "))
found = attach(text="return #'" + "x" * 100_000 + "'\n")
check("a line of 100,000 bytes", found[:2] == (0, "100000\n"), (found[0], found[1][:100], found[2][:200]))
found = attach(text="return #'" + "x" * 300_000 + "'\n")
check("a snippet over the limit is refused in a sentence", found[0] == 1 and "at most 131072 are allowed" in found[1], (found[0], found[1][:100], found[2][:200]))
for each in (garbage, huge, half, slow):
    each.close()

# MARK: The program ends

terminal = Terminal()
terminal.wait("> ")
os.write(terminal.terminal, b" 'se' .. 'cret'\r")
terminal.wait('"secret"')
history = os.path.join(state, "console-history")
lines = open(history).read().rstrip("\n").split("\n")
check("what was typed is kept between sessions, for its owner only", "twice(321)" in lines and os.stat(history).st_mode & 0o777 == 0o600, lines)
check("a line that begins with a space is not kept", not any("cret" in line for line in lines), lines)
several = "function twice(n)\x1ereturn 2 * n end"
# The line with a space is known as long as the session.
back = len(lines) - lines.index(several) + 1 if several in lines else 1
check("an input of several lines of an earlier session comes back as one", *terminal.type("\x1b[A" * back, "> function twice(n)↵return 2 * n end"))
check("and runs", *terminal.type("\rtwice(5) + 8000\r", "8010\r\n"))
check("a session before the end", *terminal.type("4 + 5\r", "9\r\n"))
hosted.process.stdin.write("end\n")
hosted.process.stdin.flush()
check("the program ends while somebody is attached", hosted.process.wait(LIMIT) == 0)
os.write(terminal.terminal, b"1\r")
check("the command ends after it", terminal.ended())
