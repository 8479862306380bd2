"""resumed.py TAKEN SPANS: the collector's bodies together have every span; one that came twice has the same ids."""
import json
import sys

from checks import *

taken, wanted = sys.argv[1], int(sys.argv[2])
spans = []
for line in open(taken):
    for resource in json.loads(line)["body"].get("resourceSpans", []):
        for scope in resource["scopeSpans"]: spans += scope["spans"]
ids = {s["spanId"] for s in spans}
check(f"all {wanted} spans came", len(ids) == wanted, len(ids), len(spans))
finish()
