"""garbage.py SCRIPTHOST SERVER WORK SEED SECONDS: requests made of kept ones by chance, and connections that misbehave. The process answers honest
clients all the time, and its program never waits."""
import json, os, random, select, socket, sys, time
from control import *

scripthost, server, work, seed, seconds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])
state = os.path.join(work, "state-garbage")
os.makedirs(state)
draw = random.Random(seed)
patch = os.path.join(work, "kept.lua")
with open(patch, "w") as file:
    file.write('patch { id = "kept" }\nmethod "Server.Shop.answer(_:)":before(function(call) end)\n')
host = Hosted(scripthost, state, [server], [patch])
honest = host.control()
verbs = [each["do"] for each in honest.ask("help")["requests"]]
seeds = [{"do": each} for each in verbs] + [
    {"id": 1, "do": "load", "path": patch}, {"do": "reload", "patch": "kept"}, {"do": "enable", "patch": "kept"}, {"do": "hooks", "limit": -1}, {"do": "hooks", "patch": "x" * 200},
    {"do": "load", "path": "/"}, {"do": "load", "path": "relative"}, {"do": "load", "path": "/dev/zero"}, {"do": "load", "path": "/proc/self/mem"}, {"do": "load", "path": "/etc"},
    {"do": "stop", "request": {"a": [1, 2]}}, {"do": "console.open", "write": True}, {"do": "console.open", "write": "yes"}, {"do": "console.eval", "session": 1, "text": "return 1"},
    {"do": "console.eval", "session": -(2**63), "text": "x"}, {"do": "console.complete", "session": 1, "text": "swift."}, {"do": "console.command", "session": 1, "command": "types", "argument": "**"},
    {"do": "console.page", "session": 1, "from": 2**63 - 1}, {"do": "top", "hold_ms": -5, "limit": -9}, {"do": "top", "hold_ms": 2**62}, {"id": [[[[]]]], "do": None}, {"do": 7}, [], 3, "text", None,
]
# What would change what the check below looks at, or wait for the whole program.
harmless = lambda request: not (isinstance(request, dict) and request.get("do") in ("unload", "disable", "load", "go"))


def mutated():
    request = draw.choice(seeds)
    if isinstance(request, dict) and draw.random() < 0.5:
        request = dict(request)
        for _ in range(draw.randint(1, 3)):
            key = draw.choice(["id", "do", "path", "patch", "session", "text", "limit", "request", "\u0000", ""])
            request[key] = draw.choice([None, True, -1, 2**63 - 1, -(2**63), 1e308, "", "a" * draw.randint(1, 5000), "\ud83d\ude00", [], {}, [[]] * 50, verbs[draw.randrange(len(verbs))]])
        if not harmless(request):
            request["do"] = "status"
    elif not harmless(request):
        request = {"do": "status"}
    line = bytearray(json.dumps(request).encode())
    for _ in range(draw.choice([0, 0, 1, 2, 8])):
        if not line:
            break
        at = draw.randrange(len(line))
        kind = draw.randrange(4)
        if kind == 0:
            line[at] = draw.randrange(256)
        elif kind == 1:
            del line[at:at + draw.randint(1, 9)]
        elif kind == 2:
            line[at:at] = bytes(draw.randrange(256) for _ in range(draw.randint(1, 9)))
        else:
            line[at:at] = line[at:at + draw.randint(1, 40)]
    # The words that would unload, load or switch may come about by chance: those lines are left out.
    if any(word in line for word in (b"unload", b"disable", b"load", b'"go"')) and b"reload" not in line:
        return b"{}\n"
    return bytes(line) + draw.choice([b"\n", b"\n", b"\r\n", b"", b"\n\n\n", b"\0"])


def connect():
    there = socket.socket(socket.AF_UNIX)
    there.settimeout(LIMIT)
    there.connect(host.path)
    there.setblocking(False)
    return there


def push(there, data):
    try:
        there.send(data)
        return True
    except (BlockingIOError, BrokenPipeError, ConnectionResetError, OSError):
        return False


end = time.monotonic() + seconds
sent = connections = 0
worst = 0.0
open_ones = []
trouble = None
while time.monotonic() < end and trouble is None:
    if len(open_ones) < 12:
        open_ones.append((connect(), draw.choice(["reads", "reads", "deaf", "half"])))
        connections += 1
    for there, kind in list(open_ones):
        data = b"".join(mutated() for _ in range(draw.randint(1, 6)))
        sent += 1
        alive = push(there, data)
        if kind == "half" and alive:
            try:
                there.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        if kind != "deaf":
            try:
                while there.recv(65536):
                    pass
                alive = False
            except BlockingIOError:
                pass
            except OSError:
                alive = False
        if not alive or draw.random() < 0.05:
            there.close()
            open_ones.remove((there, kind))
    if draw.random() < 0.1:
        began = time.monotonic()
        try:
            hooks = honest.ask("hooks")
        except Exception as problem:
            trouble = ("an honest client got no answer", problem, host.process.poll(), host.said()[-1000:])
            break
        worst = max(worst, time.monotonic() - began)
        if [each["owner"] for each in hooks["hooks"] if not each["owner"].startswith("console")] != ["kept"]:
            trouble = ("the hooks changed", hooks)
for there, _ in open_ones:
    there.close()
check(f"{sent} writes of garbage in {connections} connections (seed {seed}): an honest client is answered, worst {worst * 1000:.0f} ms", trouble is None, trouble)
# A thread of the host's may have a file open for a moment.
for _ in range(20):
    report = host.command("report")
    if report.endswith("descriptors 43"):
        break
    time.sleep(0.05)
check("the program ran on", report.startswith("calls ") and " wrong 0 " in report and report.endswith("descriptors 43"), report)
honest.close()
check("the program ends as it does alone", host.end() == 0)
finish()
