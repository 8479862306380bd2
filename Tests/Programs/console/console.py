"""console.py SCRIPTHOST SERVER WORK: `scripthost attach` by pipes and on a pseudo-terminal, and clients of the socket that misbehave."""
import json, os, pty, select, signal, socket, subprocess, sys, time
from control import *

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
found = attach(text="local = 3\n")
check("a mistake of syntax tells its line", found[0] == 1 and "console:1:" in found[1], found)
found = attach("--json", text="6 * 7\n")
check("an answer for tools is JSON", found[0] == 0 and json.loads(found[1].splitlines()[-1])["text"] == "42", found)
found = attach(text=":help\n:types Server.*\n:methods Server.Shop.a*\n:nothing\n")
check("a command that is not there is told, and is the status", found[0] == 1, found)
check("commands", all(word in found[1] for word in (":explain SELECTOR", "Server.Cart", "Server.Shop.answer(_:", "no command ':nothing'")), found)
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
# That a client is gone is noticed when somebody asks something of the console.
until(lambda: attach(text="1\n") and client.ask("hooks")["count"] == 0, "the end of the hook")
check("the hook goes with the session", True)

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
method "Server.Shop.answer(_:)":around(function(call) return plus(call:original()) end)
:track Server.Shop.stock(_:)
:trace Server.Shop.price(_:)
method "Server.Shop.nothing()":before(print)
1 + 1
:save {saved}
:save {saved}
"""
found = attach("--write", text=session)
text = open(saved).read()
check(":save writes a file, and keeps one that is there", f"wrote {saved}" in found[1] and "is there already" in found[1], found)
check("it has the helper, the global, the hook and the rule", all(word in text for word in ("function plus", "extra = 500", "plus(call:original())", 'track("Server.Shop.stock(_:)")')), text)
check("and nothing that was looked at, traced, or failed", not any(word in text for word in ("print(extra)", "Server.Shop.price", "nothing()", "1 + 1")), text)
done = subprocess.run([scripthost, "check", saved, server], capture_output=True, text=True, timeout=4 * LIMIT)
check("check finds no mistake in it", done.returncode == 0, done.stdout, done.stderr)
done = subprocess.run([scripthost, "test", saved, server], capture_output=True, text=True, timeout=4 * LIMIT)
check("its test passes", done.returncode == 0 and "ok      saved is in place" in done.stdout, done.stdout, done.stderr)
# That the session is over is noticed when somebody asks something of the console.
until(lambda: attach(text="1\n") and client.ask("hooks")["count"] == 0, "the end of the session's hooks")
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
found = attach("--write", text=f"1 + 1\n:save {work}/none.lua\n")
check("a session without a change is not saved", "nothing of this session changed the program" in found[1] and not os.path.exists(f"{work}/none.lua"), found)

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

    def complete(self, text):
        return self.control.ask("console.complete", session=self.number, text=text)["words"]

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
lines = open(history).read().splitlines()
check("what was typed is kept between sessions, for its owner only", "twice(321)" in lines and os.stat(history).st_mode & 0o777 == 0o600, lines)
check("a line that begins with a space is not kept", not any("cret" in line for line in lines), lines)
check("a line of the session before comes back", *terminal.type("\x1b[A\x1b[A", "'ced')"))
terminal.type("\x15\x0b", "> ")
check("a session before the end", *terminal.type("4 + 5\r", "9\r\n"))
hosted.process.stdin.write("end\n")
hosted.process.stdin.flush()
check("the program ends while somebody is attached", hosted.process.wait(LIMIT) == 0)
os.write(terminal.terminal, b"1\r")
check("the command ends after it", terminal.ended())
