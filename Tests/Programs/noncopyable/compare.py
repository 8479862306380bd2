# compare.py TRACE: calls of functions that return what they are passed show the same value twice, or do not show one of them.
import re
import sys

wrong, seen = 0, 0
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
print(f"{seen} calls")
sys.exit(wrong != 0)
