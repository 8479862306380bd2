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
check("commands", all(word in found[1] for word in (":explain SELECTOR", "Server.Cart", "Server.Shop.answer(_:", "no command ':nothing'")), found)
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
