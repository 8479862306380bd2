#!/usr/bin/env python3
# compare.py EXPECTED TRACE: fails where a call shows another argument than it was passed. What is not told is counted.
import re
import sys

expected, trace = sys.argv[1:]
wanted = dict((line.split("(")[0], line.strip()) for line in open(expected))
seen, wrong, untold = set(), 0, 0
for line in open(trace, errors="replace"):
    call = re.search(r"\b(f\d+)\(.*?\)(?=\s*(\{|->|\(async\)|$))", line)
    if not call:
        continue
    name = call[1]
    seen.add(name)
    left = re.sub(r"<[^>]*>|\?", "?", call[0])
    passed, shown = wanted[name][len(name) + 1:-1].split(", "), left[len(name) + 1:-1].split(", ")
    if "?" in shown:
        untold += 1
        if "(?" in left and len(shown) != len(passed):
            continue
    if len(shown) != len(passed) and "Pair" not in left or any(b not in ("?", a) for a, b in zip(passed, shown)):
        print("%s: %s, passed %s" % (name, call[0], wanted[name]))
        wrong += 1
missed = len(wanted) - len(seen)
if missed:
    print("not seen: " + " ".join(sorted(set(wanted) - seen)[:10]))
print("%d calls, %d with arguments that are not told" % (len(seen), untold))
sys.exit(1 if wrong or missed else 0)
