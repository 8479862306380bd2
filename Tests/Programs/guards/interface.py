#!/usr/bin/env python3
"""Holds the members of Foundation's collections that take an index, a range or a number against what the guard watches.

    interface.py SYMBOLS HOOKS UNWATCHED

SYMBOLS is the symbol graph of Foundation, HOOKS what `scripthost hooks --json` printed, UNWATCHED the members that are not watched, each with its
reason behind a tab. Fails for a member that is neither watched nor listed, and for one that is listed without need.
"""
import json, sys

symbols, hooks, listed = sys.argv[1:4]
TYPES = {"NSArray", "NSMutableArray", "NSOrderedSet", "NSMutableOrderedSet", "NSSet", "NSMutableSet", "NSCountedSet", "NSDictionary",
         "NSMutableDictionary", "NSString", "NSMutableString", "NSAttributedString", "NSMutableAttributedString", "NSData", "NSMutableData", "NSCache"}
KINDS = {"swift.method", "swift.subscript", "swift.init"}
# By the mangled names of types, and as the interface spells those that are aliases.
INT, BOUNDS = "s:Si", {"NSRange", "IndexSet"}


def takes_bounds(symbol):
    """A parameter is an Int, an NSRange or an IndexSet itself: what a closure gets is no bound."""
    for parameter in symbol.get("functionSignature", {}).get("parameters", []):
        parts = parameter["declarationFragments"]
        text = "".join(part["spelling"] for part in parts)
        if "->" in text or "Pointer<" in text or "[" in text: continue
        if any(part.get("preciseIdentifier") == INT or part["spelling"] in BOUNDS for part in parts): return True
    return False


with open(symbols) as file: graph = json.load(file)
# What comes from protocols of the standard library with a default is generic code of that library's.
members, known = {}, set()
for symbol in graph["symbols"]:
    path = symbol["pathComponents"]
    if len(path) != 2 or path[0] not in TYPES or symbol["kind"]["identifier"] not in KINDS: continue
    if "::SYNTHESIZED::" in symbol["identifier"]["precise"]: continue
    name = f"{path[0]}.{path[1]}"
    known.add(name)
    if symbol["kind"]["identifier"] == "swift.subscript" or takes_bounds(symbol): members.setdefault(name, []).append("".join(part["spelling"] for part in symbol["declarationFragments"]))
with open(hooks) as file: text = file.read()
watched = set()
for line in text.splitlines():
    for each in (json.loads(line).get("hooks") or [json.loads(line)]) if line.strip() else []:
        selector = each.get("selector", "")
        # An accessor is its subscript.
        for ending in (".get", ".set", ".modify", ".read"): selector = selector.removesuffix(ending)
        watched.add(selector.removeprefix("Foundation.").replace("__allocating_init", "init"))
with open(listed) as file: reasons = dict(line.rstrip("\n").split("\t", 1) for line in file if line.strip() and not line.startswith("#"))

problems = [f"not watched and not listed: {name}: {' / '.join(members[name])}" for name in sorted(members) if name not in watched and name not in reasons]
problems += [f"listed, and watched: {name}" for name in sorted(reasons) if name in watched]
problems += [f"listed, and not in the interface: {name}" for name in sorted(reasons) if name not in known]
problems += [f"listed without a reason: {name}" for name in sorted(reasons) if not reasons[name].strip()]
if not members or not watched: problems.append(f"nothing to compare: {len(members)} members, {len(watched)} watched")
print("\n".join(problems) or f"{len(members)} members, {len(watched & set(members))} watched, {len(reasons)} listed")
sys.exit(1 if problems else 0)
