"""The control protocol as any program may speak it, and the program it is spoken to. Used by the suites beside this file."""
import json, os, random, socket, subprocess, sys, time
from checks import *

LIMIT = 60  # seconds that anything may take on a busy machine


class Control:
    """A connection to a control socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        # Blocking: the queue of the socket may be full for a moment.
        self.socket.connect(path)
        self.socket.settimeout(LIMIT)
        self.rest = b""
        self.id = 0

    def send(self, **request):
        self.id += 1
        self.socket.sendall(json.dumps({"id": self.id, **request}).encode() + b"\n")
        return self.id

    def line(self):
        while b"\n" not in self.rest:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError("the process closed the connection")
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, do, **members):
        wanted = self.send(do=do, **members)
        while True:
            answer = self.line()
            if answer.get("id") == wanted and not answer.get("more"):
                return answer

    def close(self):
        self.socket.close()


class Hosted:
    """A program under `scripthost run` that takes commands on stdin and answers with a line each."""

    def __init__(self, scripthost, state, program, patches=(), options=()):
        words = [scripthost, "run", "--state", state, *options]
        for path in patches:
            words += ["--patches", path]
        environment = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
        self.errors = open(os.path.join(state, "errors"), "w+")
        self.process = subprocess.Popen(words + ["--", *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=environment, text=True)
        self.first = self.process.stdout.readline().strip()
        self.path = os.path.join(state, "control", f"{self.process.pid}.sock")

    def control(self):
        until(lambda: os.path.exists(self.path), f"the socket {self.path}")
        return Control(self.path)

    def command(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def said(self):
        self.errors.flush()
        return open(self.errors.name).read()

    def memory(self):
        """Kilobytes in memory that is in no file: pages of the journal come with what is recorded."""
        for line in open(f"/proc/{self.process.pid}/smaps_rollup"):
            if line.startswith("Anonymous:"):
                return int(line.split()[1])

    def end(self):
        self.process.stdin.write("end\n")
        self.process.stdin.flush()
        return self.process.wait(LIMIT)


def until(condition, what):
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise SystemExit(f"WRONG   waited {LIMIT} s for {what}")
