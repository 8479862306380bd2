# check — are the events of selectors whose bodies were merged as many as the program's own counts?
#
#   check.py SCRIPTHOST PROGRAM SOURCE WORK
#
# Three runs: track rules, `before` handlers, and `around` handlers that run the original, which copies its stack arguments.
# What is claimed to be hooked whole must count right, and the program must end as it does alone.
import json
import os
import re
import subprocess
import sys
from collections import Counter

scripthost, program, source, work = sys.argv[1:5]
RULES = {
    "track": 'track "s%d" { on = %s }',
    "before": 'method(%s):before(function() log.info("s%d") end)',
    "around": 'method(%s):around(function(call) log.info("s%d"); return call:original() end)',
}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def run_patched(name, chosen):
    """Events by selector's number of one run, and what the program wrote."""
    directory = os.path.join(work, name)
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "patch.lua"), "w") as out:
        out.write('patch { id = "%s", version = "1.0.0", api = 1 }\n' % name)
        for number, selector in chosen:
            values = (number, json.dumps(selector))
            out.write(RULES[name] % (values if name == "track" else values[::-1]) + "\n")
    path = os.path.join(work, name + ".jsonl")
    if os.path.exists(path):
        os.remove(path)
    done = run(scripthost, "run", "--patches", directory, "--events", path, "--state", os.path.join(work, "state"), "--", program)
    count = Counter()
    for line in open(path):
        event = json.loads(line)
        if event["kind"] == "event":
            count[event["name"]] += 1
        elif event["kind"] == "log":
            count[event["fields"]["message"]] += 1
        elif event["kind"] in ("failure", "gap"):
            raise RuntimeError("%s: %s" % (name, event["fields"]))
    return count, done


def events(name, chosen):
    """The same in as many runs as patches of bearable length take. On a busy machine a patch may run out of its time."""
    count, wrong = Counter(), 0
    for start in range(0, len(chosen), 60):
        for attempt in range(5):
            try:
                more, done = run_patched(name, chosen[start:start + 60])
                break
            except RuntimeError as problem:
                if attempt == 4 or " ms" not in str(problem):
                    sys.exit(str(problem))
        count += more
        if (done.stdout, done.returncode) != (alone.stdout, alone.returncode):
            print("the program ends differently under %s: %d %s" % (name, done.returncode, done.stderr[-300:]))
            wrong += 1
    return count, wrong


alone = run(program)
truth = {int(a): int(b) for a, b in re.findall(r"^(\d+) (\d+)$", alone.stdout, re.M)}
selectors = [(int(n), s) for n, s in re.findall(r"^// selector (\d+) (.*)$", open(source).read(), re.M)]
listed = [json.loads(line) for line in run(scripthost, "coverage", "--list", "--json", program).stdout.splitlines()]
names = {re.sub(r" (throws )?->.*| throws$", "", re.sub(r"_: [^,()]*(, )?", "_:", each["selector"])): each for each in listed}
chosen = [(n, s) for n, s in selectors if s in names]
# Of some there is nothing left: every call was inlined, and a hook on them is refused.
whole = {n for n, s in chosen if names[s]["symbols"] and not names[s]["refused"]}
merged = {n for n, s in chosen if any(symbol.endswith("Tm") for symbol in names[s]["symbols"])}
wrong = 0
for name in RULES:
    count, different = events(name, [each for each in chosen if each[0] in whole])
    wrong += different
    for number, selector in chosen:
        # Closures may be inlined into some of the places that make them.
        found = count["s%d" % number]
        right = 0 < found <= truth[number] if selector.startswith("closure") and truth[number] else found == truth[number]
        if number in whole and not right:
            wrong += 1
            print("%s %s: %d events, %d calls, bodies %s" % (name, selector, found, truth[number], names[selector]["symbols"]))
calls = sum(truth[n] for n in whole)
print("%d selectors, %d with a merged body, %d of them hooked whole, %d calls, %d wrong" % (
    len(chosen), len(merged), len(whole & merged), calls, wrong))
sys.exit(1 if wrong or calls == 0 else 0)
