"""Writes docs/types.md from what a run of the generated program and patch said.  table.py OUT ERR

A cell is yes only where the value read was the right one, or the program itself printed the replaced value. What is no comes
with the sentence that ScriptHost gave.
"""
import collections, re, sys
from kinds import TYPES
from functions import FUNCTIONS

said, out = collections.defaultdict(list), collections.defaultdict(list)
for line in open(sys.argv[1]):
    if line.count("|") >= 1:
        *key, text = line.rstrip("\n").split("|", 2) if line.count("|") > 1 else line.rstrip("\n").split("|")
        out["|".join(key)].append(text)
# tell() prints what|step|text.
for line in open(sys.argv[2]):
    found = re.search(r"@(f?\d+)\|([\w-]+)\|(.*)", line)
    if found: said[found[1], found[2]].append(found[3])
problems = []
NAMES = {"A", "S", "E", "G", "H", "W", "f", "g", "arg", "in", "res", "clo", "id", "called"}


def shorten(text):
    text = re.sub(r"^(argument|result|cannot call|closure)( \d+)?( '[^']*')?( of (closure )?'[^']*')?:? ", "", text)
    text = re.sub(r"^(an error in |its result: )", "", text)
    text = re.sub(r"'?\b(Kinds|Swift)\.(\w)", lambda m: m[0].replace("Kinds.", "").replace("Swift.", ""), text)
    text = re.sub(r"\b([A-Za-z]+)(\d+)\b", lambda m: m[1] if m[1] in NAMES else m[0], text)
    text = text.replace("of this body cannot be replaced: it is <optimized out>, not decoded, or somebody else's; see explain", "cannot be replaced")
    # Not a tag of the page.
    return re.sub("<(.*?)>", r"`<\1>`", text[:160]).replace("|", "/")


def answer(what, step):
    """None when it worked, otherwise why not."""
    lines = said.get((what, step))
    if not lines: return "it is never reached"
    bad = [line for line in lines if line != "ok"]
    if bad and bad[0].startswith("WRONG"): problems.append(f"{what} {step}: {bad[0]}")
    return bad[0] if bad else None


def summary(results, limits):
    """yes, no, or where not; reasons are collected."""
    failed = {place: why for place, why in results.items() if why}
    for place, why in failed.items(): limits.setdefault(shorten(why), []).append(place)
    if not failed: return "yes"
    return "no" if len(failed) == len(results) else "not " + ", ".join(failed)


def limit_text(limits): return "; ".join(why for why in limits)


def types():
    rows = []
    for i, t in enumerate(TYPES):
        what, limits = str(i), {}
        copyable = t["type"] != "Only"
        places = ["argument", "inout", "result", "field", "property"]
        reads = {p: answer(what, p + "-read") for p in places}
        if copyable and answer(what, "closure-write") is None: reads["closure"] = answer(what, "closure-read")
        a, b = out[f"{i}|A"][0], out[f"{i}|B"][0]
        writes = {}
        for p in places + (["closure"] if copyable else []):
            why = answer(what, p + "-write")
            printed = out.get(f"{i}|{p}", ["?"])[0]
            if why is None and printed != b: why = "the original value went on"; 
            if printed not in (a, b): problems.append(f"{t['title']}: {p} printed {printed}, neither {a} nor {b}")
            writes[p] = why
        calls = {"call": answer(what, "call")}
        if copyable: calls["closure"] = answer(what, "closure-call")
        rows.append((t["group"], t["title"], summary(reads, limits), summary(writes, limits), summary(calls, limits), limit_text(limits)))
    return rows


def functions():
    rows = []
    for i, f in enumerate(FUNCTIONS):
        what, limits = f"f{i}", {}
        reads, writes = {}, {}
        plain, argument, result = f["printed"]
        shown = [out.get(f"f{i}|{k}", ["?"])[0] for k in range(3)]
        if shown[0] not in (plain, ""): problems.append(f"{f['title']}: printed {shown[0]}, expected {plain}")
        if f["args"]: reads["arguments"] = answer(what, "read")
        if f["read_result"]: reads["result"] = answer(what, "result")
        if f["set"]: writes["arguments"] = answer(what, "write") or (None if shown[1] == argument or not f["args"] else f"the program went on with {shown[1]}")
        if f["new"]: writes["result"] = answer(what, "new") or (None if shown[2] == result else f"the program went on with {shown[2]}")
        call = summary({"call": answer(what, "call")}, limits) if f["call"] else "–"
        rows.append((f["group"], f["title"], summary(reads, limits) if reads else "–", summary(writes, limits) if writes else "–", call, limit_text(limits)))
    return rows


def section(rows):
    text, group = "", None
    for row in rows:
        if row[0] != group:
            group = row[0]
            text += f"\n### {group}\n\n| kind | decodable | replaceable | callable | limit |\n|---|---|---|---|---|\n"
        text += "| " + " | ".join(row[1:]) + " |\n"
    return text


type_rows, function_rows = types(), functions()
print("""# What can be read, replaced and called

Made by `Tests/Programs/types-table/run.sh --write`, and checked by every run of the tests: a program with one function per kind, compiled with
`-O`, is patched by a script that reads, replaces and calls each. *yes* means that the value read was the right one, or that the
program printed the one it was given. Otherwise the limit is what ScriptHost says.

## Types

*decodable*: as argument, `inout` argument, result, stored field, computed property, and argument of a Lua function that is a closure.
*replaceable*: the same places, and the closure's result. *callable*: given to a function, and to a closure, that a script calls.
""" + section(type_rows) + """
## Functions

*decodable*: `self` and arguments at entry, and the result. *replaceable*: an argument (of accessors without one, a field of `self`), and the
result. *callable*: from a script.
""" + section(function_rows), end="")
for each in dict.fromkeys(problems): print("WRONG   " + each, file=sys.stderr)
print(f"{2 * len(type_rows) + len(function_rows)} rows and {sum(map(len, said.values()))} checks, {len(set(problems))} wrong", file=sys.stderr)
sys.exit(1 if problems else 0)
