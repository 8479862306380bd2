# table — docs/hooks.md's tables out of what reach-cases printed.
#
#   table.py DEBUG RELEASE DOCUMENT [--update]
import re
import sys
from collections import defaultdict

WAYS = ["direct", "virtual", "super", "protocol", "key-path", "closure"]
LEVELS = ["-Onone", "-O"]
BEGIN, END = "<!-- made by Tests/Programs/reach/run.sh --update -->", "<!-- to here -->"


def read(path):
    """{kind: {back end: {(module, way): (claim, seen, ran)} or a refusal's code}}, kinds in order."""
    table = defaultdict(dict)
    for line in open(path):
        parts = line.rstrip("\n").split("\t")
        if len(parts) != 7:
            continue
        kind, back_end, module, way, claim, seen, ran = parts
        if claim in ("refused", "gone"):
            table[kind][back_end] = seen
        elif module != "-":
            table[kind].setdefault(back_end, {})[module, way] = claim, int(seen), int(ran)
    return table


def cell(claim, seen, ran):
    """What happened, and what was said: ● all, ◐ some, ○ none; a dot behind it when all was claimed."""
    happened = "●" if seen == ran else "○" if seen == 0 else "◐"
    return happened + {"all": "!", "some": "", "none": "-"}[claim]


def tables(runs):
    lines = []
    for back_end in ["entry", "vtable", "class-switch", "dynamic-replacement", "witness"]:
        lines += ["", "### " + back_end, "", "| kind | level | module | " + " | ".join(WAYS) + " |", "|" + "---|" * (3 + len(WAYS))]
        refused = defaultdict(list)
        for kind in runs[0]:
            for level, run in zip(LEVELS, runs):
                found = run[kind].get(back_end)
                if found is None or isinstance(found, str):
                    refused[found or "gone"].append((kind, level))
                    continue
                for module in ["same module", "other module"]:
                    cells = [cell(*found[module, way]) if (module, way) in found else "" for way in WAYS]
                    if any(cells):
                        lines.append("| %s | %s | %s | %s |" % (kind, level, module.split()[0], " | ".join(cells)))
        for code, kinds in refused.items():
            both = [k for k in dict.fromkeys(k for k, _ in kinds) if len([1 for x, _ in kinds if x == k]) == 2]
            one = ["%s at %s" % each for each in kinds if each[0] not in both]
            lines += ["", "Refused, `%s`: %s." % (code, ", ".join(both + one))]
    return "\n".join(lines[1:]) + "\n"


def main():
    debug, release, document = sys.argv[1:4]
    text = open(document).read()
    made = tables([read(debug), read(release)])
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    new = text[:start] + "\n" + made + "\n" + text[end:]
    if "--update" in sys.argv:
        open(document, "w").write(new)
    elif new != text:
        before, after = text.split("\n"), new.split("\n")
        changed = [line for line in after if line not in before][:20]
        sys.exit("docs/hooks.md is not what the run shows; run.sh --update writes it:\n  " + "\n  ".join(changed))


main()
