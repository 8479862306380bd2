# hits — runs inside gdb: notes every entry of the bodies in a plan, silently, and lets the program go on.
#
# $COUNTS_PLAN is a JSON object: "program", "arguments", "environment"; "main", the address of main; "bodies", a list of
# [image, address, size]; "merged", a list of [image, address] of merged bodies; "out", where the entries go.
# Addresses of the plan are those of the image's file. What is written holds addresses of the process:
#
#   OUT        one line per entry, in order: body thread rsp return-address [rdi rsi rdx rcx r8 r9 of merged bodies]
#   OUT.json   "bias" of each image; "thunks": bodies that only set argument registers and jump to a merged body
import json
import os
import re
import shlex

import gdb

plan = json.load(open(os.environ["COUNTS_PLAN"]))
out = open(plan["out"], "w", buffering=1 << 20)
ARGUMENTS = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"]
NARROW = {"edi": "rdi", "esi": "rsi", "edx": "rdx", "ecx": "rcx", "r8d": "r8", "r9d": "r9"}


def quiet(*commands):
    for command in commands:
        gdb.execute(command, to_string=True)


quiet("set pagination off", "set confirm off", "set breakpoint pending off", "set breakpoint always-inserted on",
      "set print thread-events off", "set print inferior-events off", "handle SIGPIPE nostop noprint pass",
      "set disable-randomization on", "set debuginfod enabled off", "set startup-with-shell off")
# The program's code alone: reading symbols and debug information would take longer than the run.
quiet("set auto-solib-add off", "exec-file " + plan["program"], "set args " + " ".join(shlex.quote(a) for a in plan["arguments"]),
      "unset environment", *("set environment %s %s" % each for each in plan["environment"].items()), "starti")
process = gdb.selected_inferior()
program = os.path.realpath(plan["program"])


def base(image):
    """What to add to the file's addresses; None while the image is not loaded."""
    for line in open("/proc/%d/maps" % process.pid):
        parts = line.split()
        if len(parts) > 5 and os.path.realpath(parts[5]) == image:
            return int(parts[0].split("-")[0], 16) - int(parts[2], 16)
    return None


quiet("tbreak *%#x" % (base(program) + plan["main"]), "continue")  # libraries are loaded and relocated then
bias = {image: base(image) for image in {each[0] for each in plan["bodies"]} | {program}}
merged = {bias[image] + address for image, address in plan["merged"] if bias.get(image) is not None}


class Entry(gdb.Breakpoint):
    """One body; never stops."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.address = address
        self.merged = address in merged
        self.silent = True

    def stop(self):
        frame = gdb.newest_frame()
        rsp = int(frame.read_register("rsp")) & (1 << 64) - 1
        back = int.from_bytes(bytes(process.read_memory(rsp, 8)), "little")
        line = "%d %d %d %d" % (self.address, gdb.selected_thread().num, rsp, back)
        if self.merged:
            line += "".join(" %d" % (int(frame.read_register(r)) & (1 << 64) - 1) for r in ARGUMENTS)
        out.write(line + "\n")
        return False


def thunk(start, size):
    """The merged body that this one only jumps to, and the constants it passes; None when it is no such thunk."""
    code = gdb.selected_frame().architecture().disassemble
    constants, unknown = {}, []
    for each in code(start, start + size - 1):
        text = re.sub(r"\s+", " ", each["asm"].split("<")[0].split("#")[0]).strip()
        after = each["addr"] + each["length"]
        jump = re.fullmatch(r"jmp 0x([0-9a-f]+)", text)
        if jump:
            target = int(jump[1], 16)
            if target not in merged:
                return None
            return {"target": target, "constants": constants, "unknown": unknown}
        if re.fullmatch(r"(push|pop) %rbp|mov %rsp,%rbp|endbr64|nop.*", text):
            continue
        match = re.fullmatch(r"(\S+) (.*),%(\w+)", text)
        if not match or match[1] not in ("mov", "movl", "movabs", "movq", "lea", "xor"):
            return None
        register = NARROW.get(match[3], match[3])
        if register not in ARGUMENTS:
            return None
        constants.pop(register, None)
        source = match[2]
        if match[1] == "xor" and source == "%" + match[3]:
            constants[register] = 0
        elif re.fullmatch(r"\$-?0x[0-9a-f]+", source):
            value = int(source[1:], 16) & ((1 << 32) - 1 if match[3] in NARROW else (1 << 64) - 1)
            constants[register] = value
        else:
            relative = re.fullmatch(r"(-?0x[0-9a-f]+)\(%rip\)", source)
            if relative:
                address = after + int(relative[1], 16)
                if match[1] != "lea":
                    address = int.from_bytes(bytes(process.read_memory(address, 8)), "little")
                constants[register] = address
            else:
                unknown.append(register)
    return None


bodies, thunks = {}, []
for image, address, size in plan["bodies"]:
    if bias[image] is not None:
        bodies[bias[image] + address] = size
for address, size in list(bodies.items()):
    found = thunk(address, size) if 5 <= size <= 128 else None
    if found:
        thunks.append(dict(found, address=address))
        bodies.setdefault(found["target"], 0)
with open(plan["out"] + ".json", "w") as facts:
    json.dump({"bias": bias, "thunks": thunks}, facts)
for address in bodies:
    Entry(address)
quiet("continue")
out.close()
