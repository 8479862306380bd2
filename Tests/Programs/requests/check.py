"""check.py EVENTS SEEN TRACED: the records of requests against what the server saw, by its own clock (CLOCK_MONOTONIC, as the records')."""
import json, sys
from checks import *

records = [json.loads(line) for line in open(sys.argv[1])]
records = [r["fields"] for r in records if r["kind"] == "network"]
seen = [json.loads(line) for line in open(sys.argv[2])]
traced = sys.argv[3] == "yes"


def find(path):
    found = [r for r in records if r["url"].endswith(path)]
    return found[0] if len(found) == 1 else {}


check("one record for each task, and for each time that it is sent", len(records) == 19, [r["url"] for r in records])
wanted = {"/wait/80/120": ("GET", 200), "/missing": ("GET", 404), "/wait/40/0": ("GET", 200), "/wait/0/0": ("POST", 200), "/wait/10/10": ("GET", 200),
          "/to/to/wait/10/0": ("GET", 200), "/wait/20/0": ("GET", 200), "/wait/5/0": ("GET", 200), "/wait/1/0": ("PUT", 200), "/wait/2/0": ("PUT", 200),
          "/wait/3/0": ("GET", 200), "/wait/4/0": ("PUT", 200), "/wait/6/0": ("PUT", 200), "/wait/7/0": ("PUT", 200), "/wait/8/0": ("GET", 200)}
for path, (method, status) in wanted.items():
    r = find(path)
    check(f"{path}: method and status", (r.get("method"), r.get("status")) == (method, status), r)
    check(f"{path}: no error", "error" not in r, r)
check("the query is not kept", not any("token" in r["url"] for r in records))
check("an upload's bytes", find("/wait/0/0").get("request_bytes") == 3000, find("/wait/0/0"))
for path, size in {"/wait/1/0": 1000, "/wait/2/0": 1500, "/wait/4/0": 1500, "/wait/6/0": 1200}.items():
    check(f"{path}: the body that was sent", find(path).get("request_bytes") == size, find(path))
check("/wait/7/0: a stream's bytes, with what marks its parts", 1100 <= find("/wait/7/0").get("request_bytes", 0) < 1200, find("/wait/7/0"))
check("the server got them", [s["sent"] for s in seen if s["path"] == "/wait/7/0"] == [1100], [s for s in seen if s["path"] == "/wait/7/0"])
secret = sorted((r for r in records if "/secret/" in r["url"]), key=lambda r: r["start_ns"])
check("a request that is sent again for its credentials", [(r.get("status"), r.get("retries")) for r in secret] == [(401, None), (200, 1)], secret)
check("a download's bytes", find("/wait/10/10").get("response_bytes") == 2000, find("/wait/10/10"))
check("redirections are counted", find("/to/to/wait/10/0").get("redirects") == 2, find("/to/to/wait/10/0"))
check("a refused connection has its error", "NSURLErrorDomain -1004" in find("/refused").get("error", ""), find("/refused"))
check("a cancelled task has its error", "NSURLErrorDomain -999" in find("/wait/5000/0").get("error", ""), find("/wait/5000/0"))
worst = 0
for r in records:
    own = [s for s in seen if s["done"] and r["url"].endswith(s["path"].split("?")[0]) and s["path"].startswith("/wait")]
    if len(own) != 1 or "error" in r or r.get("redirects"): continue
    first, end = r["start_ns"] + r.get("first_byte_ns", 0), r["start_ns"] + r["duration_ns"]
    # A request with a body may be answered "100 Continue" first.
    for name, mine, theirs in [] if r["method"] in ("POST", "PUT") else [("first byte", first, own[0]["first"]), ("end", end, own[0]["done"])]:
        # Loaded machines take their time; nothing is received before it is written. libcurl counts from its own start, which comes behind the one that
        # the record has: a loaded machine may put the thread off between the two.
        check(f"{own[0]['path']}: {name} after the server's own time", -25_000_000 <= mine - theirs < 5_000_000_000, (mine - theirs) / 1e6)
        worst = max(worst, abs(mine - theirs))
    check(f"{own[0]['path']}: phases are in their order", 0 < r.get("queued_ns", 0) and r["queued_ns"] <= r.get("dns_ns", 1 << 62) <= r.get("connect_ns", 1 << 62) <= 1 << 62 and r["first_byte_ns"] <= r["duration_ns"], r)
print(f"        furthest from the server's clock: {worst / 1e6:.2f} ms")
for s in seen:
    r = find(s["path"].split("?")[0])
    if s["path"] == "/wait/20/0":
        check("a header of the program's own stays", s["trace"].startswith("00-0123456789abcdef0123456789abcdef-1111111111111111"), s)
        if traced: check("and is the record's parent", r.get("trace") == "0123456789abcdef0123456789abcdef" and r.get("parent") == "1111111111111111", r)
    elif traced and r:
        check(f"{s['path']}: the header is the record's span", s["trace"] == f"00-{r.get('trace')}-{r.get('span')}-01", (s, r))
    elif not traced:
        check(f"{s['path']}: no header is put in", s["trace"] is None, s)
finish()
