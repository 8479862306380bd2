# loads.py EVENTS: the spans of screens that load, with what is nested in them.
import json
import sys

spans = [json.loads(line) for line in open(sys.argv[1])]
spans = [{**s["fields"], "name": s["name"]} for s in spans if s["kind"] == "span"]
loads = [s for s in spans if s["name"].startswith("viewDidLoad")]
names = [s["name"] for s in loads]
wrong = []
if names != ["viewDidLoad App.HomeController", "viewDidLoad App.CartController", "viewDidLoad Later.LateController"]: wrong.append(f"loads {names}")
ids = {s["span"]: s for s in loads}
nested = [(s["name"], ids[s["parent"]]["name"]) for s in spans if s["name"].startswith("fetch") and s.get("parent") in ids]
wanted = [("fetch home", "viewDidLoad App.HomeController"), ("fetch cart", "viewDidLoad App.CartController"), ("fetch home", "viewDidLoad App.CartController")]
if nested != wanted: wrong.append(f"nested {nested}")
for s in spans:
    if s.get("parent") in ids:
        around = ids[s["parent"]]
        if not around["start_ns"] <= s["start_ns"] or s["start_ns"] + s["duration_ns"] > around["start_ns"] + around["duration_ns"]: wrong.append(f"{s['name']} is not within {around['name']}")
if any("parent" in s for s in loads): wrong.append("a super call is a span of its own")
print("; ".join(wrong) or f"{len(loads)} loads, {len(nested)} parts within them")
sys.exit(1 if wrong else 0)
