#!/usr/bin/env python3
"""Compares call plans with the compiler's own debug information, which says where each argument is at entry.

    locations.py SCRIPTHOST PROGRAM SEED COUNT WORK

Of COUNT random bodies whose plan knows places, the first place of every argument and of self must be the one that the
debug information names. Both are silent at times: what only one of them says is counted, not judged.
"""
import collections, json, os, random, subprocess, sys

scripthost, program, seed, count, work = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
here = os.path.dirname(os.path.abspath(__file__))


def first(notation):
    """The first place of a planned value, '*' before it when it holds the address; None when there is none."""
    if notation.startswith(("?", "[")) or notation in ("-", "()"): return None
    return notation.split("+")[0].split(":")[0]


def size(notation):
    """The bytes of a planned value; None when they are elsewhere."""
    if notation.startswith(("?", "[", "*")) or notation in ("-", "()"): return None
    return sum(int(piece.split(":")[1].split("@")[0]) for piece in notation.split("+"))


listed = subprocess.run([scripthost, "coverage", "--state", work + "/state", "--list", "--json", "--places", program], capture_output=True, text=True, check=True).stdout
bodies = []
for line in listed.splitlines():
    row = json.loads(line)
    for body, symbol in zip(row["places"], row["symbols"]):
        body["selector"], body["symbol"], body["kind"] = row["selector"], symbol, row["kind"]
        places = [first(a[2]) for a in body["arguments"]] + [first(body["self"])]
        # Debug information of async functions speaks of their contexts.
        if any(places) and not body["merged"] and ") async" not in row["selector"]: bodies.append(body)
random.Random(seed).shuffle(bodies)
bodies = bodies[:count]
with open(work + "/in", "w") as file: file.writelines("%x\n" % b["address"] for b in bodies)
environment = dict(os.environ, LOCATIONS_IN=work + "/in", LOCATIONS_OUT=work + "/out")
subprocess.run(["gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-x", here + "/debugger.py", program], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
told = {row["address"]: row["arguments"] for row in map(json.loads, open(work + "/out"))}

counts, wrong = collections.Counter(), []
for body in bodies:
    known = told.get(body["address"])
    if not known: counts["bodies without debug information"] += 1; continue
    counts["bodies compared"] += 1
    named = [a for a in known if a["name"] != "self"]
    if len(named) == len(body["arguments"]):
        pairs = [(f"argument {i + 1}", plan[2], info) for i, (plan, info) in enumerate(zip(body["arguments"], named))]
    else:
        counts["bodies with other arguments than declared"] += 1
        pairs = []
    pairs += [("self", body["self"], a) for a in known if a["name"] == "self"]
    speaks_of_parts = any(info["size"] and size(notation) not in (None, info["size"]) for what, notation, info in pairs if what != "self")
    for what, notation, info in pairs:
        ours, theirs = first(notation), info["location"][0][0] if info["location"] else None
        if ours is None or theirs is None or theirs.startswith("?"):
            counts["only planned" if ours else "only in the debug information" if theirs else "in neither"] += 1
        # The value of a generic type is behind its address, or is a reference: both are one register.
        elif ours == theirs or info["size"] == 0 and "*" + ours == theirs: counts["agree"] += 1
        # In some initialisers the debug information speaks of parts.
        elif speaks_of_parts: counts["of another size in the debug information"] += 1
        else: wrong.append(f"{body['selector']} [{body['symbol']}] {what}: planned {notation}, debug information {info['location']} of {info['size']} bytes")
for line in wrong[:40]: print("WRONG   " + line)
print("; ".join(f"{n} {what}" for what, n in sorted(counts.items())) + f"; {len(wrong)} differ")
print(f"seed {seed}")
print(f"{counts['agree'] + len(wrong)} checks")
sys.exit(1 if wrong or counts["agree"] < count // 4 else 0)
