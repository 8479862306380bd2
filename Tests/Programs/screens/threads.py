"""threads.py EVENTS: handlers of several threads at once, and jobs in tasks: paths, durations, one session."""
import json, sys
from checks import *

events = [json.loads(line) for line in open(sys.argv[1])]
over = [e["fields"] for e in events if e["kind"] == "screen" and e["fields"]["phase"] == "disappear"]
paths = sorted(s["path"] for s in over)
wanted = sorted([f"/GET /outer{n}" for n in range(4)] + [f"/GET /outer{n}/GET /inner{n}" for n in range(4)])
check("each thread has a path of its own", [p for p in paths if "GET" in p] == wanted, paths)
jobs = {s["path"].split("/")[-1]: s for s in over if "job" in s["path"]}
check("a job in a task is one screen, although it goes on to its base", sorted(jobs) == ["job bread", "job cake"] and len([p for p in paths if "job" in p]) == 2, paths)
check("its result is known when it is over", {n: j["attributes"]["answer"] for n, j in jobs.items()} == {"job bread": 5, "job cake": 4}, jobs)
long = [s for s in over if "inner" not in s["path"]]
check("durations are those that were planted", all(30e6 <= s["duration_ns"] < 10e9 for s in long), long)
check("all screens are of one session", len({s["session"] for s in over}) == 1, over)
finish()
