"""ticks.py EVENTS COUNT: each thread's events are all there, once, in the order of its calls."""
import json
import sys

numbers = {}
for line in open(sys.argv[1]):
    fields = json.loads(line)["fields"]
    numbers.setdefault(fields["thread"], []).append(fields["number"])
count = int(sys.argv[2])
each = count // 8
wrong = [t for t in range(8) if numbers.get(t) != list(range(each))]
if wrong:
    print("wrong", {t: (len(numbers.get(t, [])), numbers.get(t, [])[:5]) for t in wrong})
else:
    print("right", sum(map(len, numbers.values())))
