"""server.py SCRIPTHOST REQUESTS COMMAND [PATH…]: requests a second of a server on SwiftNIO, started by the command with its PORT replaced by a free
port, asked for the paths in turn (each must be answered with 200): without the host, with the host alone, with the rules of the preset nio.http, with
--apm. The runs take turns; shown is the middle of five, and the processor time of the server for each request. It starts in a directory that has a
small Doc.docc."""
import os
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

scripthost, requests, program = sys.argv[1], int(sys.argv[2]), shlex.split(sys.argv[3])
paths = sys.argv[4:] or ["/"]
if os.path.exists(program[0]): program[0] = os.path.abspath(program[0])
client = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client.c")


def processor_time(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drive(port, count):
    """Asks so often from four threads, each time on a connection of its own (docc resets those that are kept); the requests a second."""
    return float(subprocess.run(["./client", str(port), str(count), "4", *paths], check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout)


def measure(command):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    words = command + [word.replace("PORT", str(port)) for word in program]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=open("server.err", "w"), start_new_session=True)
    try:
        while True:
            try:
                socket.create_connection(("localhost", port), 1).close()
                break
            except OSError:
                if server.poll() is not None: sys.exit(f"'{shlex.join(words)}' did not start: {open('server.err').read()[-500:]}")
                time.sleep(0.1)
        drive(port, 100)
        before = processor_time(server.pid)
        rate = drive(port, requests)
        return rate, (processor_time(server.pid) - before) / requests * 1e6
    finally:
        if server.poll() is None: os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    os.mkdir("Doc.docc")
    # In C: a client in Python would be what is measured.
    subprocess.run(["clang", "-O2", "-pthread", client, "-o", "client"], check=True)
    open("Doc.docc/Doc.md", "w").write("# Doc\n\n@Metadata { @TechnologyRoot }\n\nText.\n")
    hosted = [scripthost, "run", "--state", "state"]
    runs = {"without": [], "host alone": hosted + ["--"], "nio.http": hosted + ["--preset", "nio.http", "--"], "--apm": hosted + ["--apm", "--"]}
    found = {name: [] for name in runs}
    for turn in range(5):
        for name, command in runs.items(): found[name].append(measure(command))
    print("server                  requests/s, us of its processor time for each request (the middle of five; the host's part over the run without)")
    alone = statistics.median(v[1] for v in found["without"])
    for name, values in found.items():
        rate, spent = statistics.median(v[0] for v in values), statistics.median(v[1] for v in values)
        print(f"  {name:20}{rate:12.0f}{spent:12.0f} us{spent - alone:+12.0f} us")
