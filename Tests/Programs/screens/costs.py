"""costs.py SCRIPTHOST APP PATCH STATE: what screens, controls and exposure take is in `top` while the program runs, and told when it ends."""
import json, subprocess, sys
from checks import *
from control import *

scripthost, app, patch, state = sys.argv[1:5]
os.makedirs(state)
host = Hosted(scripthost, state, [app, "living"], [patch])
host.control().close()
rows = {}
# The exposed view is looked at each time; a busy machine may take longer than one interval for one round.
for _ in range(20):
    done = subprocess.run([scripthost, "top", "-n", "1", "-d", "300ms", "--json", "--state", state, str(host.process.pid)], capture_output=True, text=True, timeout=4 * LIMIT)
    for each in json.loads(done.stdout)["hooks"] if done.returncode == 0 else []:
        if each["interval_runs"] > 0: rows[(each["title"] or each["patch"]).split(" ")[0], each["selector"].split(".")[-1]] = each
    if ("delegate", "delegate") in rows and len(rows) >= 5: break
wanted = {("screen", "viewDidAppear(_:)"), ("screen", "viewDidDisappear(_:)"), ("control", "sendAction(_:to:for:)"), ("exposure", "layout()")}
check("top has each rule on what it hooks", wanted <= set(rows), sorted(rows), done.stderr)
check("with what a run of it takes", all(0 < rows[each]["p50_ns"] <= rows[each]["p99_ns"] for each in wanted & set(rows)), rows)
proxied = rows.get(("delegate", "delegate"), {})
check("and what proxies call", proxied.get("position") == "proxy" and proxied["interval_calls"] > 0 and proxied["interval_time_ns"] > 0, proxied, sorted(rows))
check("the program ends well", host.end() == 0)


def told(name):
    done = subprocess.run(
        [scripthost, "query", "--state", state, "--format", "csv",
         f"SELECT attributes ->> 'verb', sum(value) FROM metrics WHERE name = 'scripthost.hook.{name}' GROUP BY 1"], capture_output=True, text=True)
    return {line.split(",")[0]: float(line.split(",")[1]) for line in done.stdout.splitlines()[1:]}


for name in ("calls", "time"):
    check(f"the end tells the {name} of each kind", all(told(name).get(verb, 0) > 0 for verb in ("screen", "control", "exposure", "delegate")), told(name))
subprocess.run([scripthost, "report", "--state", state, "-o", state + "/report.html"], capture_output=True)
page = open(state + "/report.html").read()
check("the report has them", all(f'"{verb}"' in page for verb in ("screen", "control", "exposure", "delegate")))
finish()
