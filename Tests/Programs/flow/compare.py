#!/usr/bin/env python3
"""Holds plans that were checked against machine code against what LLVM really made of each function.

    compare.py PLANS IRGEN IR

PLANS is what `call-plans --evidence` prints; IRGEN is made with `-emit-irgen`, before LLVM's passes, IR with `-emit-ir`,
after them. A function's signature is unchanged when both list the same machine values. What a plan claims to know must
be there in both, and no call may pass `poison` or `undef` for it.
"""
import collections, os, re, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "values"))
from compare_plans import place, returned, signatures, split


def poisoned(path):
    """Per function: positions of parameters that some call leaves unset."""
    found = collections.defaultdict(set)
    for line in open(path):
        for m in re.finditer(r'call (?:[^@]*?)@"?(\$s[^"(]*)"?\(', line):
            depth, end = 1, m.end()
            while depth and end < len(line):
                depth += {"(": 1, ")": -1}.get(line[end], 0)
                end += 1
            for i, argument in enumerate(split(line[m.end():end - 1])):
                # The context of a function without one is never passed.
                if argument.split()[-1] in ("poison", "undef"): found[m.group(1)].add(i)
    return found


def places_of(text):
    """The places a column of a plan names, in all their spellings."""
    return re.findall(r"(?<!\w)([ifs]\d+|self):\d", text) + re.findall(r"(?:\*|^object:|^metatype:)(\w+)", text)


def kind(p): return p[0] if p in ("self", "sret") else p[0][0] if isinstance(p, tuple) else p[0]


def main():
    plans, before, after, unset = sys.argv[1], signatures([sys.argv[2]]), signatures([sys.argv[3]]), poisoned(sys.argv[3])
    counts = collections.Counter()
    reasons = collections.Counter()
    unsound = []
    for line in open(plans):
        name, _, _, self_plan, result, thrown, *arguments = line.rstrip("\n").split("\t")
        if name not in after: continue
        is_private = "LL" in name or re.search(r"L\d*_", name)
        if name not in before: counts["made by LLVM"] += 1; continue
        (old_result, old), (new_result, new) = before[name], after[name]
        old_places, _ = place(old)
        new_places, _ = place(new)
        old_flat = [p for ps in old_places for p in ps]
        new_flat = [p for ps in new_places for p in ps]
        unchanged = [kind(p) for p in old_flat] == [kind(p) for p in new_flat] and old_flat == new_flat
        if is_private and returned(old_result) != returned(new_result) and unchanged: counts["private, result changed"] += 1
        hidden = {p[0] for i in unset[name] if i < len(new_places) for p in new_places[i]}
        claims = []
        gone = [a for a in arguments if a.lstrip("!&") == "-"]
        unknown = [a for a in arguments if a.lstrip("!&").startswith("?")]
        for a in arguments:
            a = a.lstrip("!&")
            if a.startswith("?") or a in ("-", "()"): continue
            claims += places_of(a)
        if not self_plan.startswith("?"): claims += places_of(self_plan)
        problems = []
        for c in claims:
            if c not in [p[0] for p in new_flat]: problems.append(f"{c} is not in the signature")
            if c in hidden: problems.append(f"{c} is not passed by some call")
            # Registers of a kind move up when one before them goes.
            of_kind = lambda flat: [p for p in flat if re.match(r"s\d", p[0]) or c[0] in "if" and p[0][0] == c[0]]
            if c not in ("self", "sret") and of_kind(old_flat) != of_kind(new_flat): problems.append(f"{c}: {old_flat} became {new_flat}")
        if "?" not in result and result not in ("-", "()"):
            theirs = [("sret", 8)] if any("sret" in a for _, a in new) else returned(new_result)
            ours = [(result[1:], 8)] if result.startswith("*") else [(p.split(":")[0], int(p.split(":")[1].split("@")[0])) for p in result.split("+")]
            # A coroutine yields behind its continuation.
            if ours[0][0].startswith("r"): ours, theirs = [("i" + p[1:], n) for p, n in ours], theirs[1:]
            if ours != theirs: problems.append(f"result {ours}, but {theirs}")
        has_error = any("swifterror" in a for _, a in new)
        if is_private and not unknown and thrown == "throws" and not has_error: problems.append("cannot throw any more")
        if thrown == "never" and has_error: problems.append("can throw")
        if problems: unsound.append((name, line.rstrip(), old, new, problems))
        if not is_private:
            counts["others"] += 1
            if gone: counts["others, some argument not passed for certain"] += 1
            continue
        counts["private"] += 1
        if not unchanged:
            counts["private, changed"] += 1
            continue
        counts["private, unchanged"] += 1
        if unknown:
            for u in set(unknown): reasons[u.lstrip("!&?")] += 1
        elif self_plan == "?" and not arguments: counts["private, unchanged, known"] += 1
        else: counts["private, unchanged, known"] += 1
    for name, line, old, new, problems in unsound[:20]:
        print(name, "\n  plan", line[len(name):].replace("\t", " "), "\n  before", [t for t, _ in old], "\n  after ", [t for t, _ in new], "\n  ", "; ".join(problems))
    for k in sorted(counts): print(f"  {counts[k]:6}  {k}")
    for k, n in reasons.most_common(8): print(f"          {n:5} opaque: {k}")
    known, all_unchanged = counts["private, unchanged, known"], counts["private, unchanged"]
    print(f"  {len(unsound)} unsound; {known} of {all_unchanged} unchanged private functions known ({100 * known // max(all_unchanged, 1)}%)")
    sys.exit(1 if unsound else 0)


main()
