#!/usr/bin/env python3
"""Prints what the runs of run.sh compared: type kind x position, type kind x kind of function, reasons.

    report.py COUNT SEEDS COUNTS…
    report.py --refused COUNTS      what one program was refused without a justification

SEEDS are separated by commas; each made COUNT functions. COUNTS are what check.py wrote.

Fails when a cell that can exist has no function, or when a value was left opaque for a reason that is not in ALLOWED.
"""
import collections, json, re, sys
from functions import FILLS
from generate import GROUP_OF, GROUPS, POSITIONS, WITHOUT, Generator

COLUMNS = POSITIONS + ["thrown", "self"] + list(FILLS)
# Why a value may be opaque: (a pattern of the reason, why that is right).
ALLOWED = [
    (r"^no reading of (p|buffer|v\d+)\b", "scripts pass addresses and vectors on (docs/values.md)"),
    (r"^no reading of an Optional in an Optional in a list", "scripts have no way into it (docs/values.md)"),
    (r"^<consumed>|taken from <consumed>|consumed this|cannot be released without it", "the original ends the value"),
    (r"<optimized out>|optimised out", "the value is not there"),
    (r"cannot run twice", "its first run took what cannot be copied, or may have: a method's name does not say that it consumes self"),
    (r"^<not decoded> (OptionalIntType|IntType)", "a metatype without bits: its variable's address leads nowhere, its Optional is a case number"),
    (r"^<not decoded> of a body that may take its actor", "whether an async body that another module made takes its caller's actor its code does not show, which explain tells"),
    (r"^<not decoded> of an opaque result|the handler'…'some'…'s", "which type an opaque result is, no name tells: how it, and an error beside it, come back is not known, nor, of an async function, where its arguments are"),
    (r"^<not decoded> self of protocol extension", "specialised for a class: its reference, and the address of a variable that holds one, come in the same register"),
    (r"must run where not all of its arguments are known", "which of them are not is counted above"),
    (r"this Any holds a value of type", "the callee's cast would fail with another type"),
    (r"StaticString|its text is part of the program's code", "a script has no text in the program's code"),
    (r"taken from <not decoded>", "what would take its place is counted above"),
    (r"cannot be copied", "a value that cannot be kept is no other's"),
    (r"merged it with the bodies|merged with other selectors|the body is opaque", "the compiler merged bodies, which explain tells"),
    (r"built for library evolution", "how a value of a type is passed that its module may change is not known for certain"),
    (r"a pack of values", "how many values a pack has only its caller says"),
    (r"no handler after a coroutine", "what it yields is gone by then"),
]


def impossible(generator, kind, position):
    """Why no value of the kind can stand there."""
    types = generator.by_kind[kind]
    if position == "thrown": return None if any(t.may("thrown") and t.fits for t in types) else "no error"
    if position == "self": return None if any(t.may("self") and t.fits for t in types) else "declares no functions of its own"
    if position in FILLS: return "no value to pass" if kind == "Void" else None
    if kind == "Void" and position not in ("borrowed", "result"): return "no value to pass"
    if kind == "closure, not escaping" and position != "borrowed": return "only parameters"
    if kind == "non-copyable" and position in ("borrowed", "index", "variadic", "yield"): return "needs its ownership spelled"
    if kind == "non-copyable" and position == "owned": return "spelled `consuming`"
    return None


def justification(mode, reason):
    """Why the refusal is right; None where nothing says so."""
    # What a private body passes is nobody's business: it is flagged, which is all that counts.
    if mode == "private": return "flagged"
    return next((because for pattern, because in ALLOWED if re.search(pattern, reason)), None)


def unjustified(path):
    """What was refused in one program without a reason, and how often."""
    with open(path) as f: reasons = json.load(f)["reasons"]
    for mode, what, reason, n in reasons:
        if not justification(mode, reason): print(f"{mode}: {n} times refused {what}: {reason[:80]}")


def table(title, rows, columns, cell):
    width = max(len(r) for r in rows)
    print(f"\n{title}\n{'':{width}} " + " ".join(f"{c[:9]:>9}" for c in columns))
    for r in rows: print(f"{r:{width}} " + " ".join(f"{cell(r, c):>9}" for c in columns))


def main():
    generators = [Generator(int(seed), int(sys.argv[1])) for seed in sys.argv[2].split(",")]
    g = generators[0]
    places, groups = collections.Counter(), collections.Counter()
    for f in [f for each in generators for f in each.functions]:
        for p in f.parameters:
            if not p.type.generic: places[(p.type.kind, p.convention)] += 1
            if p.fill: places[(p.type.kind, p.fill)] += 1
            groups[(p.type.kind, GROUP_OF[f.kind])] += 1
        if f.result:
            places[(f.result.kind, "yield" if f.form in ("modify", "read") else "result")] += 1
            groups[(f.result.kind, GROUP_OF[f.kind])] += 1
        if f.error_type: places[(f.error_type.kind, "thrown")] += 1
        if f.self_type:
            places[(f.self_type.kind, "self")] += 1
            groups[(f.self_type.kind, GROUP_OF[f.kind])] += 1
    kinds, empty, reasons = list(dict.fromkeys(kind for each in generators for kind in each.by_kind)), [], set()
    def place(kind, column):
        n = places[(kind, column)]
        why = impossible(g, kind, column)
        if why: reasons.add(f"{column} of {kind}: {why}")
        elif not n: empty.append((kind, column))
        return str(n) if n else "-" if why else "EMPTY"
    table("Signatures: type kind x position and ownership", kinds, COLUMNS, place)
    def group(kind, column):
        n = groups[(kind, column)]
        wide = kind in ("SIMD", "128-bit integer", "odd float") and column in ("async", "actor")
        alone = kind in ("Void", "closure, not escaping", "non-copyable") and column in ("accessor", "subscript", "coroutine")
        if kind == "Void" and column == "init": alone = True
        if wide: reasons.add(f"{column} {kind}: the compiler itself loses the stack of async functions that take 16-byte alignment there")
        if alone: reasons.add(f"{column} {kind}: no such property")
        if not n and not wide and not alone: empty.append((kind, column))
        return str(n) if n else "-" if wide or alone else "EMPTY"
    table("Signatures: type kind x kind of function", kinds, [name for name in GROUPS if name not in WITHOUT], group)
    for reason in sorted(reasons): print(f"  - {reason}")

    totals, why, own = collections.Counter(), collections.Counter(), 0
    for path in sys.argv[3:]:
        with open(path) as f: data = json.load(f)
        own += data["own"]
        for kind, position, what, n in data["counts"]: totals[(kind, position, what)] += n
        for mode, what, reason, n in data["reasons"]: why[(mode, what, reason)] += n
    def compared(kind, column):
        decoded, opaque, replaced = (totals[(kind, column, w)] for w in ("decoded", "opaque", "replaced"))
        return f"{decoded}/{opaque}/{replaced}" if decoded + opaque + replaced else "-"
    rows = list(dict.fromkeys([*kinds, "generic parameter", *(kind for kind, position, _ in totals if position == "self")]))
    table("Values decoded/opaque/replaced in all levels", rows, [c for c in COLUMNS if c not in FILLS], compared)
    decoded, opaque, replaced = (sum(n for (_, _, w), n in totals.items() if w == what) for what in ("decoded", "opaque", "replaced"))
    print(f"\n{decoded} values decoded, {opaque} opaque, {replaced} replaced; {own} functions that the compiler itself gets wrong")
    print("\nWhat was refused, and how often")
    unjustified = 0
    for (mode, what, reason), n in why.most_common():
        allowed = justification(mode, reason)
        if not allowed: unjustified += n
        if n >= 1: print(f"{n:7} {mode:8} {what:10} {reason[:110]}{'   (allowed: ' + allowed + ')' if allowed else ''}")
    print(f"{unjustified} refusals without a justification")
    if empty: print("empty cells:", empty)
    limit = int(__import__("os").environ.get("VALUES_UNJUSTIFIED", "0"))
    sys.exit(1 if empty or unjustified > limit else 0)


if __name__ == "__main__":
    if sys.argv[1] == "--refused": unjustified(sys.argv[2])
    else: main()
