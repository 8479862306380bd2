"""below.py EVENTS SEEN SAMPLED: requests are below the spans they were resumed in, in the records and in their headers."""
import json, sys
from checks import *

events = [json.loads(line) for line in open(sys.argv[1])]
seen = [json.loads(line) for line in open(sys.argv[2])]
sampled = sys.argv[3] == "yes"
requests = {"/" + e["fields"]["url"].split("/", 3)[3]: e["fields"] for e in events if e["kind"] == "network"}
spans = {e["name"].split(".")[1].split("(")[0]: e["fields"] for e in events if e["kind"] == "span"}
headers = {s["path"]: (s["trace"] or "").split("-") for s in seen}
check("all are recorded", len(requests) == 4 and len(spans) == (2 if sampled else 0), (requests, spans))
for path, owner in {"/to/wait/1/0": "orders", "/wait/2/0": "asks", "/wait/2/0/child": "asks"}.items():
    request, header = requests.get(path, {}), headers.get(path, [""] * 4)
    if sampled:
        span = spans.get(owner, {})
        check(f"{path} is below {owner}", (request.get("trace"), request.get("parent")) == (span.get("trace"), span.get("span")) and "span" in request, (request, span))
        check(f"{path}: so its header says", header[1:] == [request.get("trace"), request.get("span"), "01"], (request, header))
    else:
        check(f"{path} is in no trace", "trace" not in request and "parent" not in request, request)
        check(f"{path}: its header says that it is not recorded", len(header) == 4 and header[3] == "00", header)
check("a redirection has the same header", headers.get("/wait/1/0") == headers.get("/to/wait/1/0"), headers)
other = requests.get("/wait/3/0", {})
check("below no span it begins a trace", "parent" not in other and headers["/wait/3/0"][1:] == [other.get("trace"), other.get("span"), "01"], other)
finish()
