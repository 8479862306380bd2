# compare.py TRACE LEAST: calls of functions that return what they are passed show the same value twice, so many at least, or do not show one of them.
import re
import sys

wrong, seen, compared, least = 0, 0, 0, int(sys.argv[2])
for line in open(sys.argv[1]):
    found = re.search(r"\bpass\((.*)\) -> (.*?)\s*$", line)
    if not found:
        continue
    seen += 1
    passed, returned = found.groups()
    if "?" in (passed, returned) or "<" in passed + returned:
        continue
    if passed != returned:
        wrong += 1
        print(line, end="")
    compared += 1
print(f"{seen} calls, {compared} of them shown in full")
sys.exit(wrong != 0 or compared < least)
