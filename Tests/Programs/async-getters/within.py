"""within.py LESS MORE: the lines of LESS are some of those of MORE, in their order."""
import sys

less, more = (open(path).read().splitlines() for path in sys.argv[1:])
rest = iter(more)
for line in less:
    if line not in rest:
        sys.exit(f"'{line}' is not what the program says there")
sys.exit(0 if less else "nothing was seen")
