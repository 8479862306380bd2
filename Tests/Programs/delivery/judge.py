"""What is there of the ticks of eight threads.

    judge.py kept FILE COUNT              of a collector: each once, when doubles are left out by their ids
    judge.py all FILE COUNT               of a journal: each once, in the order of its thread
    judge.py killed FILE PROGRESS         as far as each thread came before the process was killed
    judge.py full FILE COUNT TOLD GAPS    as many are missing as are told to be, by the reader and by the records of gaps
"""
import json, struct, sys
from checks import *

what, path, *rest = sys.argv[1:]


def events():
    """The numbers of each thread, in the order of the journal."""
    numbers = {thread: [] for thread in range(8)}
    for line in open(path):
        fields = json.loads(line)["fields"]
        numbers[fields["thread"]].append(fields["number"])
    return numbers


if what == "kept":
    each, doubles, ids = int(rest[0]) // 8, 0, {}
    for line in open(path):
        uid, thread, number = line.split()
        if uid in ids: doubles += 1
        ids[uid] = (thread, number)
    ticks = {uid: (int(t), int(n)) for uid, (t, n) in ids.items() if t != "-"}
    check(f"all {8 * each} came to the collector", set(ticks.values()) == {(t, n) for t in range(8) for n in range(each)}, len(set(ticks.values())))
    check(f"each once when doubles are left out by their ids ({doubles} came again)", len(ticks) == len(set(ticks.values())), len(ticks))
    # A sequence rises on each thread of the program.
    ordered = sorted(ticks, key=lambda uid: int(uid.rsplit("-", 1)[1], 16))
    last, wrong = [-1] * 8, []
    for uid in ordered:
        thread, number = ticks[uid]
        if number != last[thread] + 1: wrong.append((uid, ticks[uid], last[thread]))
        last[thread] = number
    check("by their sequence in the order of their threads", not wrong, wrong[:3])
elif what == "all":
    numbers, each = events(), int(rest[0]) // 8
    wrong = {t: (len(n), n[:4]) for t, n in numbers.items() if n != list(range(each))}
    check(f"{8 * each} events: none lost, none doubled, in the order of their threads", not wrong, wrong)
elif what == "killed":
    numbers, progress = events(), struct.unpack("8q", open(rest[0], "rb").read()[:64])
    wrong = {t: (len(n), progress[t]) for t, n in numbers.items() if n != list(range(len(n))) or len(n) not in (progress[t], progress[t] + 1)}
    check(f"all {sum(progress)} events until the process was killed are there", sum(progress) > 0 and not wrong, wrong)
elif what == "full":
    numbers, (count, told, gaps) = events(), map(int, rest)
    found = sum(map(len, numbers.values()))
    check(f"{count - found} of {count} did not fit, the others are in order, once", 0 < found < count and all(n == sorted(set(n)) for n in numbers.values()), found)
    check("events come again when there is room", all(n and n[-1] == count // 8 - 1 for n in numbers.values()), {t: n[-1:] for t, n in numbers.items()})
    # Records of others than the rule may be among them.
    check(f"as many are told to be lost ({told})", 0 <= told - (count - found) <= 20, told, count - found)
    same("and the records of gaps add up to that", gaps, told)
finish()
