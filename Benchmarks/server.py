"""server.py SCRIPTHOST DOCC [REQUESTS]: requests a second of docc's preview server (SwiftNIO): without the host, with the host alone, with the rules of
the preset nio.http, with --apm. The runs take turns; shown is the middle of five, and the processor time of the server for each request."""
import http.client
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

scripthost, docc = sys.argv[1:3]
requests = int(sys.argv[3]) if len(sys.argv) > 3 else 2000


def processor_time(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drive(port, count):
    for number in range(count):
        connection = http.client.HTTPConnection("localhost", port, timeout=60)
        connection.request("GET", ["/documentation/doc", "/data/documentation/doc.json"][number % 2])
        connection.getresponse().read()
        connection.close()


def measure(command, place):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(command + [docc, "preview", "Doc.docc", "--port", str(port), "--output-path", place],
                              stdout=subprocess.DEVNULL, stderr=open("server.err", "w"), start_new_session=True)
    try:
        while True:
            try:
                socket.create_connection(("localhost", port), 1).close()
                break
            except OSError:
                if server.poll() is not None: sys.exit(f"'{' '.join(command)}' did not start: {open('server.err').read()[-500:]}")
                time.sleep(0.1)
        drive(port, 100)
        before, begun = processor_time(server.pid), time.monotonic()
        threads = [threading.Thread(target=drive, args=(port, requests // 2)) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        return requests / (time.monotonic() - begun), (processor_time(server.pid) - before) / requests * 1e6
    finally:
        if server.poll() is None: os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    os.mkdir("Doc.docc")
    open("Doc.docc/Doc.md", "w").write("# Doc\n\n@Metadata { @TechnologyRoot }\n\nText.\n")
    hosted = [scripthost, "run", "--state", "state"]
    runs = {"without": [], "host alone": hosted + ["--"], "nio.http": hosted + ["--preset", "nio.http", "--"], "--apm": hosted + ["--apm", "--"]}
    found = {name: [] for name in runs}
    for turn in range(5):
        for name, command in runs.items(): found[name].append(measure(command, f"out{turn}{re.sub(r'[^a-z]', '', name)}"))
    print("server                  requests/s, us of its processor time for each request (the middle of five; the host's part over the run without)")
    alone = statistics.median(v[1] for v in found["without"])
    for name, values in found.items():
        rate, spent = statistics.median(v[0] for v in values), statistics.median(v[1] for v in values)
        print(f"  {name:20}{rate:12.0f}{spent:12.0f} us{spent - alone:+12.0f} us")
