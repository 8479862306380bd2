# hits — runs inside gdb: notes every entry of the bodies in a plan, silently, and lets the program go on.
#
# $COUNTS_PLAN is a JSON object: "program", "arguments", "environment"; "main", the address of main; "bodies", a list of
# [image, address, size]; "merged", a list of [image, address] of merged bodies; "out", where the entries go.
# Addresses of the plan are those of the image's file. What is written holds addresses of the process:
#
#   OUT        one line per entry, in order: body thread rsp return-address [of merged bodies rdi rsi rdx rcx r8 r9, stack words, xmm0-7]
#   OUT.json   "bias" of each image; "thunks": bodies that only add arguments and go on to a merged body
import json
import os
import re
import shlex

import gdb

plan = json.load(open(os.environ["COUNTS_PLAN"]))
out = open(plan["out"], "w", buffering=1 << 20)
ARGUMENTS = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"]
SLOTS = 16
# Every name of a register's low half, and its own.
WIDE = {n: "r" + n for n in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp")}
WIDE = {form: wide for n, wide in WIDE.items() for form in ("e" + n, wide)} | {"r%d%s" % (i, d): "r%d" % i for i in range(8, 16) for d in ("", "d")}


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
            words = bytes(process.read_memory(rsp + 8, 8 * SLOTS))
            line += "".join(" %d" % int.from_bytes(words[8 * i:8 * i + 8], "little") for i in range(SLOTS))
            line += "".join(" %d" % (int(frame.read_register("xmm%d" % i)["v2_int64"][0]) & (1 << 64) - 1) for i in range(8))
        out.write(line + "\n")
        return False


class Thunk:
    """What a function passes that only fills places behind its own arguments and goes on to a merged body.

    Values are ("own", place), ("is", constant), ("at", distance from rsp at entry) or None.
    """

    def __init__(self):
        self.registers = {r: ("own", r) for r in list(WIDE.values()) + ["xmm%d" % i for i in range(16)]}
        self.registers["rsp"] = ("at", 0)
        self.stack, self.stored, self.target = {}, set(), None

    def word(self, distance):
        return self.stack.get(distance, ("own", distance) if distance > 0 else None)

    def address(self, text, after):
        """("memory", address) or ("stack", distance) of an operand, None for others."""
        match = re.fullmatch(r"(-?0x[0-9a-f]+)?\(%(\w+)\)", text)
        if not match:
            return None
        offset = int(match[1] or "0", 16)
        if match[2] == "rip":
            return "memory", after + offset
        base = self.registers.get(match[2])
        return ("stack", base[1] + offset) if base and base[0] == "at" else None

    def value(self, text, after, size):
        if text.startswith("$"):
            return "is", int(text[1:], 16) & (1 << 8 * size) - 1
        if text.startswith("%"):
            return self.registers.get(WIDE.get(text[1:], text[1:]))
        place = self.address(text, after)
        if place and place[0] == "stack":
            return self.word(place[1])
        if place:
            return "is", int.from_bytes(bytes(process.read_memory(place[1], size)), "little")
        return ("own", "protector") if text == "%fs:0x28" else None

    def set(self, text, after, value):
        """False when it is memory that is no stack."""
        if text.startswith("%"):
            self.registers[WIDE.get(text[1:], text[1:])] = value
            return True
        place = self.address(text, after)
        if place and place[0] == "stack":
            self.stack[place[1]] = value
        return bool(place) and place[0] == "stack"

    def push(self, value):
        self.registers["rsp"] = ("at", self.registers["rsp"][1] - 8)
        self.stack[self.registers["rsp"][1]] = value

    def step(self, name, operands, after):
        """False at what is not understood."""
        size = 8
        if name in ("movl", "pushq") or operands and re.fullmatch(r"%(e\w\w|r\d+d)", operands[-1]):
            size = 4 if name != "pushq" else 8
        if name in ("movss",):
            size = 4
        if re.fullmatch(r"nop\w*|endbr64|cmp\w*|jne", name):
            return True
        if name in ("push", "pushq"):
            self.push(self.value(operands[0], after, 8))
        elif name in ("pop", "leave"):
            if name == "leave":
                self.registers["rsp"] = self.registers["rbp"]
            self.set(operands[0] if operands else "%rbp", after, self.word(self.registers["rsp"][1]))
            self.registers["rsp"] = ("at", self.registers["rsp"][1] + 8)
        elif name in ("mov", "movl", "movq", "movabs", "movss", "movsd", "movzbl", "movzwl"):
            value = self.value(operands[0], after, size)
            if name in ("mov", "movl", "movzbl", "movzwl") and size == 4 and value and value[0] == "is":
                value = "is", value[1] & 0xffffffff
            return self.set(operands[1], after, value)
        elif re.fullmatch(r"mov[ua]p[sd]|movdq[ua]", name):
            # Two words; constants come as zeros only.
            source, to = operands
            if source.startswith("%"):
                words, _ = self.registers[source[1:]], self.stored.add(source[1:])
                words = words if words and words[0] == "pair" else ("pair", words if words == ("is", 0) else None, words if words == ("is", 0) else None)
                place = self.address(to, after)
                if to.startswith("%") or not place or place[0] != "stack":
                    return False
                self.stack[place[1]], self.stack[place[1] + 8] = words[1:]
            else:
                place = self.address(source, after)
                if not place or place[0] != "stack":
                    return False
                self.registers[to[1:]] = ("pair", self.word(place[1]), self.word(place[1] + 8))
        elif name == "lea":
            place = self.address(operands[0], after)
            self.set(operands[1], after, place and (("is", place[1]) if place[0] == "memory" else ("at", place[1])))
        elif name in ("xor", "xorps", "pxor") and operands[0] == operands[1]:
            self.stored.discard(operands[0][1:])
            return self.set(operands[1], after, ("is", 0))
        elif name.startswith("and") and operands[0] == "$0x0":
            return self.set(operands[1], after, ("is", 0))
        elif name.startswith("or") and operands[0] == "$0xffffffffffffffff":
            return self.set(operands[1], after, ("is", (1 << 8 * size) - 1))
        elif name in ("add", "sub") and operands[1] == "%rsp":
            self.registers["rsp"] = ("at", self.registers["rsp"][1] + (1 if name == "add" else -1) * int(operands[0][1:], 16))
        else:
            return False
        return True

    def passed(self, by_call):
        """{place: constant}, or None when something else is passed than was given."""
        found = {}
        rsp = self.registers["rsp"][1]
        for register in ARGUMENTS + ["xmm%d" % i for i in range(8)]:
            value = self.registers[register]
            if value == ("own", register) or value and value[0] == "pair" or register in self.stored:
                continue
            if not value or value[0] != "is":
                return None
            found[register] = value[1]
        for slot in range(SLOTS):
            distance = rsp + 8 * slot
            if by_call and distance >= 0:
                break
            value = self.stack.get(distance) if by_call else self.stack.get(8 + 8 * slot)
            if value is None or value[0] == "own" and isinstance(value[1], str):
                continue
            if value[0] == "own" and value[1] == 8 + 8 * slot:
                continue
            if value[0] != "is":
                return None
            found["slot%d" % slot] = value[1]
        return found


def thunk(start, size):
    """The merged body that this one only goes on to, and the constants it passes; None when it is no such thunk."""
    code = gdb.selected_frame().architecture().disassemble
    state, found = Thunk(), None
    try:
        for each in code(start, start + size - 1):
            text = re.sub(r"\s+", " ", each["asm"].split("<")[0].split("#")[0]).strip()
            after = each["addr"] + each["length"]
            name, _, rest = text.partition(" ")
            operands = re.findall(r"[^,(]*\([^)]*\)|[^,]+", rest)
            if name in ("jmp", "call"):
                target = int(operands[0], 16)
                if found:
                    break  # the stack protector's
                if target not in merged:
                    return None
                constants = state.passed(name == "call")
                if constants is None:
                    return None
                found = {"target": target, "constants": constants, "unknown": []}
                if name == "jmp":
                    return found
            elif name == "ret":
                return found
            elif found and name not in ("pop", "add", "leave", "nop") or not state.step(name, operands, after):
                return None
    except (ValueError, TypeError, KeyError, IndexError):
        return None
    return found


bodies, thunks = {}, []
for image, address, size in plan["bodies"]:
    if bias[image] is not None:
        bodies[bias[image] + address] = size
for address, size in list(bodies.items()):
    found = thunk(address, size) if 5 <= size <= 512 else None
    if found:
        thunks.append(dict(found, address=address))
        bodies.setdefault(found["target"], 0)
with open(plan["out"] + ".json", "w") as facts:
    json.dump({"bias": bias, "thunks": thunks}, facts)
for address in bodies:
    Entry(address)
quiet("continue")
out.close()
