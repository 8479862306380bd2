# preview.py OUT REQUESTS COMMAND…: docc preview on a free port (the command's PORT), asked so many times, then ended by SIGTERM.
import os
import signal
import socket
import subprocess
import sys
import time

out, requests, command = sys.argv[1], sys.argv[2], sys.argv[3:]
for attempt in range(5):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    child = subprocess.Popen([word.replace("PORT", port) for word in command], stdout=subprocess.DEVNULL, stderr=open(out + ".err", "w"), start_new_session=True)
    try:
        deadline = time.time() + 60
        while time.time() < deadline and child.poll() is None:
            try:
                socket.create_connection(("localhost", int(port)), 1).close()
            except OSError:
                time.sleep(0.1)
                continue
            done = subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "client.py"), port, requests, out], capture_output=True, text=True)
            print(done.stdout.strip(), done.stderr[-500:])
            sys.exit(done.returncode)
    finally:
        try: os.killpg(child.pid, signal.SIGTERM)
        except ProcessLookupError: pass
        try: child.wait(20)
        except subprocess.TimeoutExpired: os.killpg(child.pid, signal.SIGKILL)
sys.exit("the server did not start: " + open(out + ".err").read()[-500:])
