"""abuse.py SCRIPTHOST SERVER WORK [SEED]: clients of the control socket that do what they should not; the program never waits for them."""
import os, random, socket, subprocess, sys, time
from control import *

scripthost, server, work = sys.argv[1:4]
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 7
random.seed(seed)
state = os.path.join(work, "abuse")
os.makedirs(state)
host = Hosted(scripthost, state, [server])
good = host.control()


def raw():
    client = socket.socket(socket.AF_UNIX)
    client.connect(host.path)  # waits while the queue of the socket is full, which one with a timeout does not
    client.settimeout(LIMIT)
    return client


def closed(client):
    """The process ended the connection."""
    try:
        while True:
            if not client.recv(65536):
                return True
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def alive(name):
    check(name + ": others are served", good.ask("status")["ok"])


client = raw()
client.sendall(b"\x00\xff\xfe garbage \x1b[2J\n{\"id\":5,\"do\":\"status\"}\n")
answers = Control.__new__(Control)
answers.socket, answers.rest = client, b""
first, second = answers.line(), answers.line()
check("binary garbage is answered in a sentence, and the next line is read", first["ok"] is False and "no JSON" in first["error"] and second["ok"] and second["id"] == 5, first, second)
client.close()
alive("garbage")

for name, line in [
    ("nothing but a number", b"7"), ("no verb", b"{}"), ("a verb that is no text", b'{"do":7}'), ("half an object", b'{"id":1,'),
    ("deep nesting", b"[" * 100000), ("a string without an end", b'"abc'), ("bad UTF-8", b'{"do":"\xff"}'), ("trailing text", b'{"do":"status"} x'),
    ("a lone surrogate", b'{"do":"\\ud800"}'), ("a huge number", b'{"do":"status","n":1e999}'), ("load without a path", b'{"do":"load"}'),
    ("a relative path", b'{"do":"load","path":"x.lua"}'), ("a path that is an object", b'{"do":"load","path":{}}'),
    ("stop of nothing", b'{"do":"stop","request":99}'), ("reload of a number", b'{"do":"reload","patch":1}'),
    ("a limit below 0", b'{"do":"hooks","limit":-1}'), ("a limit that is a text", b'{"do":"costs","limit":"x"}'), ("a reason that is a number", b'{"do":"disable","patch":"x","why":7}'),
    ("a time below 0", b'{"do":"top","hold_ms":-5}'), ("hooks of no patch", b'{"do":"hooks","patch":"nope"}'), ("a session by name", b'{"do":"console.eval","session":"1","text":"1"}'),
    ("a page before the first", b'{"do":"console.page","session":1,"from":0}'), ("a right that is a text", b'{"do":"console.open","write":"yes"}'), ("a path that ends in nothing", b'{"do":"load","path":null}'),
]:
    good.socket.sendall(line + b"\n")
    answer = good.line()
    check(f"{name}: refused in a sentence", answer["ok"] is False and len(answer["error"]) > 10, answer)

for name, line in [("limit", b'{"do":"hooks","limit":-1}'), ("hold_ms", b'{"do":"top","hold_ms":"1s"}'), ("why", b'{"do":"disable","patch":"x","why":7}')]:
    good.socket.sendall(line + b"\n")
    answer = good.line()["error"]
    check(f"a member of another type is told by its name, with what was found: {name}", f"'{name}' of '{json.loads(line)['do']}' is " in answer and f"found {json.dumps(json.loads(line)[name])}" in answer, answer)
check("null stands for what is not there", good.ask("hooks", patch=None, limit=None)["ok"])

for size in ((1 << 20) + 1, 3 << 20):
    client = raw()
    client.sendall(b'{"do":"status","x":"' + b"a" * size + b'"}\n')
    answers = Control.__new__(Control)
    answers.socket, answers.rest = client, b""
    first = answers.line()
    check(f"a line of {size} bytes is answered in a sentence, then the connection is closed", first["ok"] is False and "at most 1048576 bytes" in first["error"] and closed(client), first)
    client.close()
client = raw()
client.sendall(b'{"id":1,"do":"status","x":"' + b"a" * (1_000_000) + b'"}\n')
answers.socket, answers.rest = client, b""
check("one of a million bytes is read", answers.line()["ok"])
client.close()

client = raw()
try:
    for _ in range(64):
        client.sendall(b"x" * 65536)
    check("a line without an end: the client is dropped", closed(client))
except (BrokenPipeError, ConnectionResetError):
    check("a line without an end: the client is dropped", True)
client.close()
alive("a huge line")

client = raw()
client.sendall(b'{"id":1,"do":"patches"}')
client.shutdown(socket.SHUT_WR)
text = b""
while True:
    more = client.recv(65536)
    if not more:
        break
    text += more
check("a client that writes no more gets its answer, and is closed", json.loads(text)["ok"], text)

client = raw()
client.shutdown(socket.SHUT_WR)
check("a half-closed client without a request is closed", closed(client))

client = raw()
client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
client.settimeout(2)
sent = 0
try:
    while sent < 400000:
        client.sendall(b'{"id":1,"do":"help"}\n' * 100)
        sent += 100
    check("a client that never reads is dropped", False, sent)
except (BrokenPipeError, ConnectionResetError):
    check("a client that never reads is dropped", True)
except TimeoutError:
    check("a client that never reads is dropped", False, sent)
client.close()
alive("a slow client")

clients = [raw() for _ in range(60)]
time.sleep(0.05)
alive("sixty clients")
turned = 0
for client in clients:
    client.settimeout(0.02)
    try:
        turned += b"clients are connected" in client.recv(4096)
    except (TimeoutError, ConnectionResetError):
        pass
check("those over the limit are turned away", turned >= 20, turned)
for client in clients:
    client.close()

verbs = ["status", "patches", "hooks", "help", "load", "reload", "unload", "enable", "stop", "nothing"]
ended = 0
for round in range(300):
    try:
        client = raw()
        client.settimeout(LIMIT)
        for _ in range(random.randint(1, 4)):
            what = random.random()
            if what < 0.4:
                line = json.dumps({"id": random.choice([1, "x", None, [], {}]), "do": random.choice(verbs), "patch": "x" * random.randint(0, 300), "path": "/" * random.randint(0, 300)}).encode()
                cut = random.randint(0, len(line))
                client.sendall(line[:cut] + bytes([random.randrange(256)]) + line[cut:] + b"\n")
            elif what < 0.8:
                client.sendall(bytes(random.randrange(256) for _ in range(random.randint(0, 3000))) + b"\n")
            else:
                client.sendall(b'{"id":1,"do":"hooks"}\n')
        if random.random() < 0.5:
            client.shutdown(socket.SHUT_WR)
        client.close()
    except OSError:
        ended += 1
alive(f"300 clients with random requests (seed {seed}, {ended} turned away)")
report = host.command("report")
check("the program ran on, and finds no descriptor that it did not open", int(report.split()[1]) > 0 and report.endswith("descriptors 43"), report)
check("nothing was loaded", good.ask("patches")["patches"] == [])

# MARK: Who may connect

sockets = {os.readlink(f"/proc/{host.process.pid}/task/{task}/fd/{number}")
           for task in os.listdir(f"/proc/{host.process.pid}/task") for number in os.listdir(f"/proc/{host.process.pid}/task/{task}/fd")}
sockets = {each[8:-1] for each in sockets if each.startswith("socket:[")}
inode = {"tcp": 9, "tcp6": 9, "udp": 9, "udp6": 9, "raw": 9, "unix": 6}
known = {kind: {line.split()[column] for line in open(f"/proc/{host.process.pid}/net/{kind}").readlines()[1:] if len(line.split()) > column} for kind, column in inode.items() if os.path.exists(f"/proc/{host.process.pid}/net/{kind}")}
check(f"of its {len(sockets)} sockets all are Unix sockets, and none has a network address",
      len(sockets) > 0 and sockets <= known["unix"] and not any(sockets & found for kind, found in known.items() if kind != "unix"), sockets)

connecting = """
import os, socket, sys
if int(sys.argv[2]): os.setgid(int(sys.argv[2])), os.setuid(int(sys.argv[2]))
client = socket.socket(socket.AF_UNIX)
client.settimeout(20)
try:
    client.connect(sys.argv[1])
    client.sendall(b'{"id":1,"do":"status"}\\n')
    print(client.recv(65536).decode() or "closed")
except PermissionError: print("no permission")
except (ConnectionResetError, BrokenPipeError): print("closed")
"""


def connecting_as(user):
    # Not sys.executable, which another user may not be able to run.
    return subprocess.run(["/usr/bin/env", "python3", "-c", connecting, host.path, str(user)], capture_output=True, text=True, timeout=4 * LIMIT).stdout.strip()


if os.geteuid() != 0:
    print("who connects is not tested: only root can become another user")
else:
    check("root is answered", '"ok":true' in connecting_as(0))
    found = connecting_as(65534)
    check("another user does not come to the socket", found == "no permission", found)
    # The modes are no protection any more: what is left is that the process asks who connects.
    opened, folder = [], host.path
    while folder != "/":
        opened.append((folder, os.stat(folder).st_mode & 0o7777))
        os.chmod(folder, opened[-1][1] | 0o777 if folder == host.path else opened[-1][1] | 0o5)
        folder = os.path.dirname(folder)
    found = connecting_as(65534)
    for path, mode in opened: os.chmod(path, mode)
    check("whoever gets past the modes is asked who they are, and gets no answer", found == "closed", found)
    alive("a stranger")
check("and ends as it does alone", host.end() == 0)
finish()
