"""captured.py EVENTS PACKETS: phases of requests against the packets that the kernel saw: the middle one of several deviates by 2 ms or 5 %, and by
what a busy machine adds."""
import json
import statistics
import sys

from busy import lateness
from checks import *

late = 4 * lateness()
records = [json.loads(line) for line in open(sys.argv[1])]
records = sorted((r["fields"] for r in records if r["kind"] == "network"), key=lambda r: r["start_ns"])
flows = {}
for line in open(sys.argv[2]):
    time, client, sent, flags, payload = map(int, line.split())
    flow = flows.setdefault(client, {"answer": 0})
    SYN, ACK = 2, 16
    if flags & SYN and flags & ACK: flow["connected"] = time
    if payload == 0: continue
    flow.setdefault("asked" if sent else "first", time)
    if not sent:
        flow["last"] = time
        flow["answer"] += payload
# A connection each; whoever only looked whether the server listens asked nothing.
flows = sorted((f for f in flows.values() if "first" in f), key=lambda f: f["connected"])
same("a connection for each request", len(flows), len(records))


def phase(name, mine, theirs, length):
    off = statistics.median((m - t) / 1e6 for m, t in zip(mine, theirs))
    check(f"{name}: {off:+.2f} ms off the packets", abs(off) <= max(2.0, 0.05 * length) + late)


first = statistics.median((f["first"] - f["asked"]) / 1e6 for f in flows)
body = statistics.median((f["last"] - f["first"]) / 1e6 for f in flows)
phase("connected", [r["start_ns"] + r["connect_ns"] for r in records], [f["connected"] for f in flows], 0)
phase("the first byte", [r["start_ns"] + r["first_byte_ns"] for r in records], [f["first"] for f in flows], first)
phase("the end", [r["start_ns"] + r["duration_ns"] for r in records], [f["last"] for f in flows], body)
check("what was received", all(0 <= f["answer"] - r["response_bytes"] < 1000 for r, f in zip(records, flows)), [(f["answer"], r["response_bytes"]) for r, f in zip(records, flows)])
finish()
