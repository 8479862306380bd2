"""edges.py EVENTS TIMES: which calls of `shop edges` are recorded, by its own clock and what rules say: `same` (100 ms) and `rate` (2/500ms).
Prints right, wrong, or again where a busy machine put a call so near to a border that either is right."""
import json, sys

times = [int(line) / 1e6 for line in open(sys.argv[2])]
found = [json.loads(line)["name"] for line in open(sys.argv[1])]
near = 4.0  # milliseconds between the program's look at the clock and the rule's


def judge(name, wanted, unsure):
    if unsure: return "again"
    return "right" if found.count(name) == wanted else f"wrong {name}: {found.count(name)} of {wanted}, {times}"


count, last, unsure = 0, None, False
for time in times:
    if last is None or time - last >= 100: count, last, fresh = count + 1, time, True
    else: fresh = False
    unsure = unsure or not fresh and time - last > 100 - near or fresh and count > 1 and time - before < 100 + near
    before = last
same = judge("edge", count, unsure)
count, due, unsure = 0, 0.0, False
for time in times[::2]:
    room = time + 500 - (max(due, time) + 250)
    unsure = unsure or abs(room) < near and max(due, time) != time
    if room >= 0: count, due = count + 1, max(due, time) + 250
rated = judge("slowly", count, unsure)
print(same if same != "right" else rated)
