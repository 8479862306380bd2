# check.py EVENTS ROUNDS: the spans of bus.swift are one for each request, as they were answered.
import collections
import json
import sys

spans = [json.loads(line) for line in open(sys.argv[1])]
rounds = int(sys.argv[2])
rides = [s["fields"] for s in spans if s["name"] == "ride"]
wrong = []
paths = collections.Counter(r["attributes"]["url.path"] for r in rides)
wanted = [f"/{n}/{r}/{h}" for n in range(4) for r in range(rounds) for h in range(2)] + [f"/{n}/left" for n in range(4)]
if paths != collections.Counter(wanted): wrong.append(f"{len(rides)} rides of {len(paths)} paths, expected {len(wanted)}, each once")
for ride in rides:
    parts = ride["attributes"]["url.path"].split("/")[1:]
    if parts[1] == "left":
        right = ride["status"] == "error" and "close()" in ride["message"]
    elif parts[2] == "0":
        trace = "%016x%016x" % (int(parts[0]) + 1, int(parts[1]) + 1)
        right = ride["status"] == "unset" and ride["attributes"]["code"] == 1 and ride["trace"] == trace and ride["parent"] == "%016x" % 7
    else:
        right = ride["status"] == "error" and ride["attributes"]["code"] == 503 and "parent" not in ride
    if not right: wrong.append(str(ride))
ids = {r["span"]: r for r in rides}
below = [s["fields"] for s in spans if s["name"] != "ride"]
if len(below) < 4 or any(b.get("parent") not in ids for b in below[:1]): wrong.append(f"{len(below)} spans below, {below[:1]}")
for each in wrong[:5]: print(each)
print(f"{len(rides)} requests, {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
