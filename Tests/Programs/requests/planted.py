"""planted.py EVENTS SEEN LOG: phases of requests against planted delays, as long as the client's own calls took, and the server's own clock: the middle one of
several deviates by 2 ms or 5 %, and by what a busy machine adds."""
import json
import statistics
import sys

from busy import lateness
from checks import *

late = 4 * lateness()
records = [json.loads(line) for line in open(sys.argv[1])]
records = [r["fields"] for r in records if r["kind"] == "network"]
seen = [json.loads(line) for line in open(sys.argv[2])]
same("one record for each request", len(records), len(seen))
ms = 1e6
planted = {}
for line in open(sys.argv[3]):
    what, begun, over = line.split()
    planted.setdefault(what, []).append((int(begun), int(over)))
for what in ("lookup", "connect"): same(f"one {what} for each request", len(planted.get(what, [])), len(records))


def took(what): return [(over - begun) / ms for begun, over in planted[what]]


def phase(name, mine, theirs):
    # The machine's own part of a phase (a thread made, a packet sent) is within the tolerance where it is not busy; the middle is.
    off = statistics.median(m - t for m, t in zip(mine, theirs))
    allowed = max(2.0, 0.05 * statistics.median(theirs)) + late
    check(f"{name}: {statistics.median(mine):.2f} ms, {off:+.2f} ms off", abs(off) <= allowed)


# Foundation makes handles of libcurl for other purposes, too: those of before the transfer count.
queued = [(r["start_ns"], r["start_ns"] + r["queued_ns"]) for r in records]
phase("waiting for the transfer library", [(to - since) / ms for since, to in queued],
      [sum(over - begun for begun, over in planted["queue"] if since <= begun and over <= to) / ms for since, to in queued])
check("with a delay of its own", all(to - since > 30 * ms for since, to in queued), queued)
phase("looking the name up", [(r["dns_ns"] - r["queued_ns"]) / ms for r in records], took("lookup"))
phase("the name is there when it is", [(r["start_ns"] + r["dns_ns"] - p[0]) / ms for r, p in zip(records, planted["lookup"])], took("lookup"))
phase("connecting", [(r["connect_ns"] - r["dns_ns"]) / ms for r in records], took("connect"))
agreed = [s["tls"] / ms for s in seen]
check("TLS is a phase where there is TLS", all(("tls_ns" in r) == (s["tls"] > 0) for r, s in zip(records, seen)), records)
if all(agreed): phase("agreeing on TLS", [(r["tls_ns"] - r["connect_ns"]) / ms for r in records], agreed)
phase("the first byte", [(r["start_ns"] + r["first_byte_ns"] - s["begun"]) / ms for r, s in zip(records, seen)], [(s["first"] - s["begun"]) / ms for s in seen])
phase("the body", [(r["start_ns"] + r["duration_ns"] - s["first"]) / ms for r, s in zip(records, seen)], [(s["done"] - s["first"]) / ms for s in seen])
finish()
