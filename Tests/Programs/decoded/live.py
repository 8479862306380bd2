"""Runs inside gdb: what the registers and memory hold whenever one of the bodies is entered, and when it returns.

$DECODED_PLAN is a JSON object: "command", "environment", "program"; "main", the address of main; "bodies", the addresses of
bodies; "limit", how many entries of each are noted; "out". Addresses are those of the file. The command starts the program
in its own place, with the hooks in it: at main they are installed, and the breakpoints are set on top of them.

OUT has one JSON line per entry: {"body", "stack", "arguments": [{"name", "size", "location", "bytes", "text", "class"}],
"returned"}. "location" is the one of debugger.py; "bytes" what is there; "text" the string, if it is one; "class"
the address of the class of the object, if it is one; "returned" the registers on return. Without debug information
there are "i", "strings" and "f": the argument registers, and the strings that two of them hold.
"""
import gdb, json, os, shlex, sys

plan = json.load(open(os.environ["DECODED_PLAN"]))
os.environ["LOCATIONS_IN"] = os.environ["LOCATIONS_OUT"] = "/dev/null"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "locations"))
sys.dont_write_bytecode = True
import debugger

REGISTERS = {notation: name for name, notation in debugger.INTEGER.items()}
BEHIND = 1 << 12


def quiet(*commands):
    for command in commands: gdb.execute(command, to_string=True)


def word(name): return int(gdb.selected_frame().read_register(name)) & (1 << 64) - 1


def vector(index):
    value = gdb.selected_frame().read_register("xmm%d" % index)["v2_int64"]
    return b"".join((int(value[i]) & (1 << 64) - 1).to_bytes(8, "little") for i in (0, 1))


def memory(address, size):
    try: return bytes(process.read_memory(address, size)) if address else None
    except (gdb.MemoryError, OverflowError): return None


def at(place, rsp):
    """The bytes in a register or stack slot."""
    if place in REGISTERS: return word(REGISTERS[place]).to_bytes(8, "little")
    if place[0] == "f": return vector(int(place[1:]))
    return memory(rsp + 8 + 8 * int(place[1:]), 64)


def text(bits):
    """The UTF-8 of a Swift string by its two words, or None (StringObject.swift: the discriminator is the top byte)."""
    count, top = int.from_bytes(bits[:8], "little"), bits[15]
    if top & 0xE0 == 0xE0: return bits[:top & 15]
    if top & 0x10: return None  # foreign
    address = int.from_bytes(bits[8:], "little") & (1 << 60) - 1
    return memory(address + 32, count & (1 << 48) - 1) if count & (1 << 48) - 1 < 1 << 20 else None


def found(argument, rsp):
    """The value of an argument at entry: its first bytes, as many as the location tells, and what they may lead to."""
    note = dict(argument)
    location = argument["location"]
    if not location or any(place is None or place.startswith(("?", "*?")) for place, _ in location): return note
    data = b""
    for place, size in location:
        held = at(place.lstrip("*"), rsp)
        if held is None: return note
        if place.startswith("*"):
            address = int.from_bytes(held[:8], "little")
            held = memory(address, size or argument["size"] or BEHIND)
            # The end of a page may come first.
            held = held or memory(address, BEHIND - address % BEHIND)
            if held is None: return note
        data += held[:size] if size else held
    note["bytes"] = data[:argument["size"] or BEHIND].hex()
    if len(data) >= 16:
        string = text(data[:16])
        if string is not None: note["text"] = string.hex()
    if len(data) >= 8:
        isa = memory(int.from_bytes(data[:8], "little"), 8)
        if isa: note["class"] = int.from_bytes(isa, "little") - bias
    return note


quiet("set pagination off", "set confirm off", "set breakpoint pending off", "set breakpoint always-inserted on", "set print thread-events off",
      "set print inferior-events off", "handle SIGPIPE nostop noprint pass", "set disable-randomization on", "set debuginfod enabled off",
      "set auto-solib-add off")
quiet("exec-file " + shlex.quote(plan["command"][0]), "set args " + " ".join(shlex.quote(a) for a in plan["command"][1:]),
      "unset environment", *("set environment %s %s" % each for each in plan["environment"].items()), "catch exec", "run")
process = gdb.selected_inferior()
bias = min(int(line.split("-")[0], 16) for line in open("/proc/%d/maps" % process.pid) if line.rstrip().endswith(plan["program"]))
quiet("delete", "tbreak *%#x" % (bias + plan["main"]), "continue")

entries, returning, back = [], {}, {}


class Entry(gdb.Breakpoint):
    """The first byte of a body."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.address, self.left, self.silent = address, plan["limit"], True
        try: self.arguments = debugger.arguments(address)
        except (gdb.error, RuntimeError): self.arguments = None

    def note(self):
        rsp = word("rsp")
        entry = {"body": self.address - bias, "stack": rsp, "sret": word("rax"),
                 "arguments": [found(each, rsp) for each in self.arguments] if self.arguments is not None else None}
        if self.arguments is None:
            words = [word(r) for r in ("rdi", "rsi", "rdx", "rcx")]
            pairs = [text(b"".join(w.to_bytes(8, "little") for w in words[i:i + 2])) for i in range(3)]
            entry |= {"i": words, "strings": [None if p is None else p.hex() for p in pairs], "f": [vector(i)[:8].hex() for i in range(8)]}
        entries.append(entry)
        self.left -= 1
        if self.left == 0: self.enabled = False
        address = int.from_bytes(memory(rsp, 8), "little")
        if address not in back: back[address] = Return(address)
        back[address].wait(rsp, entry)


class Return(gdb.Breakpoint):
    """Where calls come back to."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.silent, self.waiting, self.idle = True, [], 0

    def wait(self, rsp, entry):
        # Some places see thousands of other calls return.
        if self.idle > 100: return
        self.waiting.append((rsp, entry))
        self.enabled = True

    def note(self):
        rsp = word("rsp")
        # A body that forwards its call has the same frame as the one it calls.
        for each in [each for each in self.waiting if each[0] + 8 == rsp]:
            each[1]["returned"] = {"i": [word(r) for r in ("rax", "rdx", "rcx", "r8")], "f": [vector(i)[:8].hex() for i in range(4)],
                                   "thrown": word("r12"), "memory": (memory(each[1]["sret"], 256) or b"").hex()}
            if (string := text(b"".join(word(r).to_bytes(8, "little") for r in ("rax", "rdx")))) is not None:
                each[1]["returned"]["text"] = string.hex()
        self.waiting = [each for each in self.waiting if each[0] >= rsp]
        self.idle += 1
        if not self.waiting or self.idle > 100: self.enabled = False


at_address = {bias + address: Entry(bias + address) for address in plan["bodies"]}
while True:
    quiet("continue")
    try: address = word("rip")
    except gdb.error: break
    if address not in at_address and address not in back: break
    # The return of one call may be the entry of none, but be safe.
    if address in back and back[address].enabled: back[address].note()
    if address in at_address and at_address[address].enabled: at_address[address].note()
with open(plan["out"], "w") as out:
    for entry in entries: out.write(json.dumps(entry) + "\n")
