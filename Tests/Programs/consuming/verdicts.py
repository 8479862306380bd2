# verdicts — is what the plans say of self true, and how often do they say something?
#
#   verdicts.py PLANS UNKNOWN     as call-plans --evidence prints them, of generate.py's library; where to write what nothing is said of
# Of the methods of structs and enums it writes those that are told to the file `told`, for the script that calls them.
import re
import sys
from collections import Counter

KINDS = {
    "B": " by words", "G": " by address", "D": " generic", "E": " of an enum", "S": " of an enum with one payload", "M": " of an enum of objects",
    "X": " of an enum of anything", "W": " of a large enum", "K": " of an indirect enum", "H": " of a generic enum", "N": " of an Optional",
    "A": " getter", "U": " getter by words", "Y": " getter by address", "Z": " getter of an enum", "L": " getter of an enum with one payload",
    "R": " getter of what cannot be copied",
}
GETTERS = "AUYZLR"
count, wrong, unknown, told_ones = Counter(), 0, [], []
for line in open(sys.argv[1]):
    columns = line.rstrip("\n").split("\t")
    name = re.fullmatch(r"\$s(?:6Things\d[A-Z][a-z]+[CVO]|Sq6Things.*E)\d+((?:kept|used)\d+(?:[ITOVCPBGDESMXWKHN](?=y.*F$)|[AUYZLR](?=.*vg$))).*", columns[0])
    # Local functions carry the name of the one they are in.
    if not name or re.search(r"L\d*_", columns[0]):
        continue
    mark = columns[3].removeprefix("value:")[0]
    use, told = name[1][:4], {"!": "used", "~": "unknown"}.get(mark, "kept")
    on_value = columns[3].startswith("value:")
    kind = KINDS.get(name[1][-1], "")
    count[use + kind, told] += 1
    if on_value and told == "unknown":
        continue
    # Scripts are not given Optionals; what getters consume they do without the name's help.
    if on_value and name[1][-1] not in "N" + GETTERS:
        told_ones.append(name[1])
    if told == "unknown":
        unknown.append(name[1])
    elif told == "kept" and name[1][-1] in GETTERS.replace("A", "") and use == "used":
        pass  # of values it is presumed where the code does not tell
    elif told != use:
        wrong += 1
        print("%s reads as %s" % (name[1], told))
print(", ".join("%s as %s: %d" % (*key, number) for key, number in sorted(count.items())))
with open(sys.argv[2], "w") as out:
    out.writelines(name + "\n" for name in sorted(unknown))
with open("told", "w") as out:
    out.writelines('  "%s",\n' % name for name in told_ones)
sys.exit(wrong != 0 or not count)
