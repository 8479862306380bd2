"""ends.py SIGNAL TABLE COMMAND…: starts it, waits until it is ready (with --for: until the table is written), and sends the signal."""
import os, signal, subprocess, sys, time

name, table, command = sys.argv[1], sys.argv[2], sys.argv[3:]
if os.path.exists(table): os.remove(table)
# Whatever started this may ignore the signals that a terminal sends.
for each in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM): signal.signal(each, signal.SIG_DFL)
process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
for line in process.stdout:
    print(line, end="")
    if line == "ready\n": break


def is_written(): return os.path.exists(table) and "selectors;" in open(table).read()


limit = time.monotonic() + 20
if "--for" in command:
    while not is_written() and time.monotonic() < limit: time.sleep(0.02)
    print("table before the end:", is_written() and process.poll() is None)
process.send_signal(getattr(signal, "SIG" + name))
status = process.wait(60)
print("ended by", signal.Signals(-status).name if status < 0 else status)
