# share — of how many methods the code tells whether they use up their self, and why not of the others.
#
#   call-plans --self LIBRARY… | share.py [TRUTH…]
#
# Methods that can be called: base bodies. TRUTH is what `swift-api-digester -dump-sdk -module M` writes of the libraries' modules: what
# is told is held against what is declared there.
import json
import re
import sys
from collections import Counter

declared = {}


def read(node):
    if "mangledName" in node and "funcSelfKind" in node:
        declared[node["mangledName"]] = node["funcSelfKind"]
    for child in node.get("children", []):
        read(child)


for path in sys.argv[1:]:
    read(json.load(open(path))["ABIRoot"])
share, reasons, right, wrong = Counter(), Counter(), Counter(), 0
for line in sys.stdin:
    name, form, use, reason, selector, body = line.rstrip("\n").split("\t")
    if body != "base":
        continue
    share[form, use] += 1
    if use == "unknown":
        # The first word of self that leaves it open, and by what: a call (the kind of function), or an instruction.
        steps = [each for each in reason.removeprefix("generic ").split("; ") if not each.endswith("no single step")] or ["no single step"]
        step = re.sub(r"^(-?\d+: )?\+[0-9a-f]+ ", "", steps[0])
        kind = re.search(r"(T[A-Za-z]|W[A-Za-z]{1,2}|[A-Za-z])(Tm)?$", step)
        reasons[form, "a call of …" + kind[0] if step.startswith("$s") and kind else step] += 1
    kind = declared.get(name, "")
    if use == "unknown" or not kind:
        continue
    # A mutating method leaves a value in the copy, which is the caller's to end.
    is_right = (use == "consumed") == kind.lower().endswith("consuming")
    right[form, use] += is_right
    wrong += not is_right
    if not is_right:
        print("%s reads as %s, and is %s" % (selector, use, kind))
for key, number in sorted(share.items()):
    print("%6d  %s: %s" % (number, *key))
for key, number in reasons.most_common(20):
    print("%6d  open, %s: %s" % (number, *key))
if declared:
    print(", ".join("%s %s: %d as declared" % (*key, number) for key, number in sorted(right.items())) + ", %d not" % wrong)
sys.exit(wrong != 0 or not share)
