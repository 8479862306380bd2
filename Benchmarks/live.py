"""live.py SCRIPTHOST TOOLCHAIN SUBJECT WORK ROUNDS: what a person waits for, and what being watched costs. Prints samples for bench: `S`, name, value.

Reloads and completion are times that went by, on programs that nobody here wrote; what top costs is processor time of the whole process."""
import json
import os
import socket
import subprocess
import sys
import time

scripthost, toolchain, subject, work, rounds = *sys.argv[1:5], int(sys.argv[5])
environment = {key: value for key, value in os.environ.items() if key != "XDG_RUNTIME_DIR"}


def sample(name, value): print("S", name, value, sep="\t", flush=True)


def write(name, text):
    path = os.path.join(work, name)
    with open(path + "~", "w") as file: file.write(text)
    os.rename(path + "~", path)
    return path


class Control:
    """A connection to the control socket of a process: docs/control-protocol.md."""

    def __init__(self, state, process):
        path = os.path.join(state, "control", f"{process.pid}.sock")
        while not os.path.exists(path):
            if process.poll() is not None: sys.exit(f"the program ended: {process.args}")
            time.sleep(0.01)
        self.socket, self.rest, self.id = socket.socket(socket.AF_UNIX), b"", 0
        self.socket.connect(path)

    def ask(self, do, **members):
        """The first line that answers; a request may have more of them."""
        self.id += 1
        self.socket.sendall(json.dumps({"id": self.id, "do": do, **members}).encode() + b"\n")
        while True:
            while b"\n" not in self.rest: self.rest += self.socket.recv(65536)
            line, self.rest = self.rest.split(b"\n", 1)
            if json.loads(line).get("id") == self.id: return json.loads(line)


def run(*words, state=os.path.join(work, "state-live"), **more):
    return subprocess.Popen([scripthost, "run", "--state", state, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment, **more)


def cost(process):
    """Processor time until it ends, in nanoseconds."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0: sys.exit(f"status {process.returncode}: {process.args}")
    return (usage.ru_utime + usage.ru_stime) * 1e9


state = os.path.join(work, "state-live")

# MARK: Reloads, in swift-format while it waits for its input

os.makedirs(os.path.join(work, "watched"), exist_ok=True)
text = 'patch { id = "banner", version = "%d" }\nmethod "SwiftFormat.PrettyPrinter.prettyPrint()":around(function(call) return "// %d\\n" .. call:original() end)\n'
write("watched/banner.lua", text % (0, 0))
process = run("--watch", "--patches", os.path.join(work, "watched"), "--", toolchain + "/swift-format")
control = Control(state, process)
version = lambda: control.ask("patches")["patches"][0].get("version")
for number in range(1, 4 * rounds + 1):
    begun = time.monotonic()
    write("watched/banner.lua", text % (number, number))
    while version() != str(number): time.sleep(0.001)
    # The first one makes what later ones find.
    if number > 1: sample("reload saved", (time.monotonic() - begun) * 1e3)
    begun = time.monotonic()
    control.ask("reload", patch="banner")
    if number > 1: sample("reload asked", (time.monotonic() - begun) * 1e3)
process.communicate(b"let a = 1\n")

# MARK: Completion, in swift-package, which is held before its main

lines = [("first", 'method "Workspace.Works'), ("type", 'method "PackageModel.Manif'), ("member", 'method "Workspace.Workspace.load'), ("again", 'method "Workspace.Works')]
for number in range(2 * rounds + 1):
    # The first one leaves the index on disk. Every second one has none, and is asked a second after the prompt: sooner than a person types a name.
    is_new = number % 2 == 1
    place = os.path.join(work, f"state-new-{number}") if is_new else state
    process = run("--hold", "--", toolchain + "/swift-package", "--version", state=place)
    control = Control(place, process)
    session = control.ask("console.open", completes=True)["session"]
    if is_new: time.sleep(1)
    for name, line in [("new", lines[0][1])] if is_new else lines:
        begun = time.monotonic()
        words = control.ask("console.complete", session=session, text=line)["words"]
        if not words: sys.exit(f"nothing completes {line}")
        if number > 0: sample("complete " + name, (time.monotonic() - begun) * 1e3)
    control.ask("go")
    process.stdin.close()
    process.wait()

# MARK: top, on calls with a handler

calls = 4_000_000
hooks = os.path.join(work, "hooks")
for number in range(rounds):
    for name in ["alone", "watched"]:
        process = run("--patches", hooks, "--", subject, "only", "before", str(calls))
        if name == "watched":
            Control(state, process)
            top = subprocess.Popen([scripthost, "top", "--state", state, "-d", "250ms", "-n", "100000", str(process.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            begun = time.monotonic()
        sample("top " + name, cost(process) / calls)
        if name == "watched":
            spent = time.monotonic() - begun
            _, _, usage = os.wait4(top.pid, 0)
            sample("top command", (usage.ru_utime + usage.ru_stime) * 1e3 / spent)
