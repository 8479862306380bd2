# oracle — runs inside gdb: counts the entries of swift-format's functions in a run without hooks, by the class of self and by
# the file that is being formatted.
#
# $LIVE_PLAN is a JSON object: "program", "arguments", "functions" {name: [address]}, "classes" {address: name}, "next", the
# function that is entered when the rules of a file are done with, and calls "inside"; "out", where the counts go:
# FUNCTION<tab>FILE<tab>CLASS<tab>COUNT. Addresses are the file's.
import json
import os
import shlex
from collections import Counter

import gdb

plan = json.load(open(os.environ["LIVE_PLAN"]))
counts = Counter()
entered = [0]


def quiet(*commands):
    for command in commands:
        gdb.execute(command, to_string=True)


quiet("set pagination off", "set confirm off", "set debuginfod enabled off", "set startup-with-shell off", "set auto-solib-add off",
      "set print thread-events off", "set print inferior-events off", "exec-file " + plan["program"],
      "set args " + " ".join(shlex.quote(a) for a in plan["arguments"]), "starti")
process = gdb.selected_inferior()
base = min(int(line.split("-")[0], 16) for line in open("/proc/%d/maps" % process.pid) if plan["program"] in line)
classes = {base + int(address): name for address, name in plan["classes"].items()}


class Entry(gdb.Breakpoint):
    def __init__(self, name, address):
        super().__init__("*%#x" % (base + address), internal=True)
        self.name = name
        self.silent = True

    def stop(self):
        if self.name == plan["next"]:
            entered[0] += 1
            return False
        this = int(gdb.newest_frame().read_register("r13")) & (1 << 64) - 1
        metadata = int.from_bytes(bytes(process.read_memory(this, 8)), "little")
        counts[self.name, entered[0] + (self.name != plan["inside"]), classes.get(metadata, "?")] += 1
        return False


for name, addresses in plan["functions"].items():
    for address in addresses:
        Entry(name, address)
quiet("continue")
with open(plan["out"], "w") as out:
    for (name, file, of), count in sorted(counts.items()):
        out.write("%s\t%d\t%s\t%d\n" % (name, file, of, count))
