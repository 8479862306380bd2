"""check.py MODE RECORDS [COUNT]: what spans and metrics of a run say about each other."""
import json
import sys

from checks import *

mode, path = sys.argv[1], sys.argv[2]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 0
records = [json.loads(line) for line in open(path)]
spans = [dict(r["fields"], name=r["name"]) for r in records if r["kind"] == "span"]
by_id = {s["span"]: s for s in spans}
check("identifiers are of one span each", len(by_id) == len(spans), len(spans))
for s in spans:
    if "parent" in s and s["parent"] in by_id:
        p = by_id[s["parent"]]
        if p["trace"] != s["trace"]:
            check("a child is in its parent's trace", False, s)
if mode == "calls":
    plans = [s for s in spans if s["name"].startswith("plan ")]
    stops = [s for s in spans if s["name"] == "stop"]
    check("spans are named by values", sorted(s["name"] for s in plans) == ["plan a", "plan bc"], plans)
    check("four stops", len(stops) == 4, spans)
    check("each under its plan", [by_id[s["parent"]]["name"] for s in stops] == ["plan a"] * 2 + ["plan bc"] * 2, stops)
    check("inside its parent's time", all(by_id[s["parent"]]["start_ns"] <= s["start_ns"] and s["start_ns"] + s["duration_ns"] <= by_id[s["parent"]]["start_ns"] + by_id[s["parent"]]["duration_ns"] for s in stops))
    check("roots have no parent", all("parent" not in s for s in plans), plans)
    check("attributes of the end", [s["attributes"]["sum"] for s in plans] == [5, 7], plans)
    check("attributes of the begin, with the context", [s["attributes"] for s in stops] == [{"trip": t, "number": n} for t in ("a", "bc") for n in (1, 2)], stops)
    check("a kind", {s["kind"] for s in plans} == {"server"}, plans)
    fails = [s for s in spans if s["name"] == "fail"]
    check("an error is the status", [(s["status"], s["message"]) for s in fails] == [("error", "Lost")], fails)
    rested = [r["fields"] for r in records if r["name"] == "rested"]
    check("events have the context of calls around them", [r.get("trip") for r in rested] == ["a", "a", "bc", "bc", None, None, None], rested)
    check("and the span they are in", [by_id[r["span"]]["name"] for r in rested] == ["stop"] * 4 + ["fail"] + ["take"] * 2, rested)
    takes = [s for s in spans if s["name"] == "take"]
    check("a message's sender is a link, where it names itself", [s.get("links") for s in takes] == [[{"trace": "0af7651916cd43dd8448eb211c80319c", "span": "b7ad6b7169203331"}], None], takes)
    check("a span with a link is in a trace of its own", all("parent" not in s and s["trace"] != "0af7651916cd43dd8448eb211c80319c" for s in takes), takes)
elif mode == "slow":
    check("the slow trace and the one that failed alone, and whole", sorted(s["name"] for s in spans) == ["crawl slow", "fail", "linger slow", "rest", "rest", "rest"], spans)
    for root in ("linger slow", "crawl slow", "fail"):
        trace = next((s["trace"] for s in spans if s["name"] == root), None)
        check(f"{root}: its child is in it", sorted(s["name"] for s in spans if s["trace"] == trace) == sorted([root, "rest"]), spans)
elif mode == "queues":
    rested = {r["fields"]["name"]: r["fields"] for r in records if r["name"] == "rested"}
    owner = {name: by_id.get(r.get("span"), {}).get("name") for name, r in rested.items()}
    check("queue.sync carries span and context", owner["errand sync"] == "errand" and rested["errand sync"]["trip"] == "errand", rested)
    check("queue.async carries neither", owner["errand async"] is None and "trip" not in rested["errand async"], rested)
    check("nor does the work behind a continuation", owner["fetch callback"] is None and "trip" not in rested["fetch callback"], rested)
    check("what awaits it goes on with both", owner["fetch after"] == "fetch" and rested["fetch after"]["trip"] == "fetch", rested)
    check("what is about people in a context is hashed", len(rested["fetch after"]["buyer"]) == 16 and rested["fetch after"]["buyer"] != "fetch", rested)
    check("of a class and its subclass, the subclass's call is one span", [s["name"] for s in spans if s["name"] == "hike"] == ["hike"], spans)
elif mode == "sample":
    plans = sum(s["name"] == "plan" for s in spans)
    check("about a tenth of the traces", count / 20 < plans < count / 5, plans)
    check("each of them whole", sum(s["name"] == "stop" for s in spans) == 2 * plans, plans)
elif mode == "tasks":
    per = {name: [s for s in spans if s["name"] == name] for name in ("journey", "leg", "step", "note")}
    check("all of them", {n: len(v) for n, v in per.items()} == {"journey": count, "leg": 5 * count, "step": 5 * count, "note": 5 * count}, {n: len(v) for n, v in per.items()})
    strays = [s for n in ("leg", "step", "note") for s in per[n] if by_id.get(s.get("parent"), {}).get("attributes", {}).get("id") != s["attributes"]["id"]]
    check("each under its own parent, none adopted", not strays, (len(strays), strays[:2]))
    lost = [s for n in ("leg", "step", "note") for s in per[n] if s["attributes"].get("owner") != s["attributes"]["id"]]
    check("the context follows each call across await, into child tasks and Task { }", not lost, (len(lost), lost[:2]))
    check("legs under journeys", all(by_id[s["parent"]]["name"] == "journey" for s in per["leg"] if s.get("parent") in by_id))
    check("steps and notes under legs", all(by_id[s["parent"]]["name"] == "leg" for n in ("step", "note") for s in per[n] if s.get("parent") in by_id))
    check("steps under the leg of their number", all(by_id[s["parent"]]["attributes"]["number"] == s["attributes"]["number"] for s in per["step"] if s.get("parent") in by_id))
    check("journeys are roots", all("parent" not in s for s in per["journey"]))
    check("a trace for each journey", len({s["trace"] for s in per["journey"]}) == count)
elif mode == "metrics":
    last = {}
    for r in records:
        if r["kind"] == "metric":
            last[r["name"], json.dumps(r["fields"].get("attributes", {}), sort_keys=True)] = r["fields"]
    check("a counter by an argument", last['plans', '{"1": "m"}']["value"] == count, last)
    check("a counter of a value", last["numbers", "{}"]["value"] == 3 * count, last)
    rest = last["rest", "{}"]
    check("a histogram", (rest["count"], rest["sum"], rest["min"], rest["max"], sum(rest["buckets"])) == (2 * count, 2 * count, 1, 1, 2 * count), rest)
    def borders(m): return [(2 ** ((m["offset"] + i) / 2 ** m["scale"]), 2 ** ((m["offset"] + i + 1) / 2 ** m["scale"])) for i, n in enumerate(m["buckets"]) if n]
    check("all of its values are in the bucket that holds them", len(borders(rest)) == 1 and borders(rest)[0][0] < 1 <= borders(rest)[0][1] * 1.0000001, rest)
    few = [(k[1], f) for k, f in last.items() if k[0] == "few"]
    check("more keys than are allowed are counted together", sorted((f.get("overflow", False), f["value"]) for k, f in few) == [(False, count), (True, count)], few)
    time = last["time", "{}"]
    check("buckets of times reach from the least to the most", borders(time)[0][0] <= time["min"] <= borders(time)[0][1] * 1.0000001 and borders(time)[-1][0] <= time["max"] <= borders(time)[-1][1] * 1.0000001, time)
    check("a histogram of times", time["unit"] == "ns" and time["count"] == 2 * count and 0 < time["min"] <= time["max"], time)
    check("a gauge", last["last", "{}"]["value"] == 2, last)
    check("the last ones say so", all(f.get("last") for f in last.values()), last)
finish()
