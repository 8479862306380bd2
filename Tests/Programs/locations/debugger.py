"""Runs inside gdb: says where the compiler's debug information has each argument when a body is entered.

Reads addresses (hexadecimal, one per line) from $LOCATIONS_IN and writes one JSON line per address to $LOCATIONS_OUT:
{"address": …, "arguments": [{"name", "size", "location"}]}, the location in the notation of `coverage --places`.
"""
import gdb, json, os, re

INTEGER = {"rdi": "i0", "rsi": "i1", "rdx": "i2", "rcx": "i3", "r8": "i4", "r9": "i5", "r13": "self", "rax": "sret", "r14": "r14", "r12": "r12"}


def register(name):
    if name in INTEGER: return INTEGER[name]
    if re.fullmatch(r"xmm[0-7]", name): return "f" + name[3:]
    return "?" + name


def operations(lines):
    """The location that a DWARF expression at entry describes, or None when it is no plain place."""
    pieces, current = [], None
    for line in lines:
        line = line.strip()
        m = re.match(r"\d+: DW_OP_reg\w* \[\$(\w+)\]", line) or re.match(r"\d+: DW_OP_regx \d+ \[\$(\w+)\]", line)
        if m: current = register(m.group(1)); continue
        m = re.match(r"\d+: DW_OP_breg\d+ (-?\d+) \[\$(\w+)\]", line)
        if m:
            base, offset = m.group(2), int(m.group(1))
            if base == "rsp": current = "s%d" % ((offset - 8) // 8)
            elif offset == 0: current = "*" + register(base)
            else: return None
            continue
        if "DW_OP_deref" in line:
            if current and current.startswith("s") and current != "self": current = "*" + current
            else: return None
            continue
        m = re.match(r"\d+: DW_OP_piece (\d+)", line)
        if m: pieces.append([current, int(m.group(1))]); current = None; continue
        m = re.match(r"a variable in \$(\w+)", line)
        if m: current = register(m.group(1)); continue
        m = re.match(r"a variable at frame base reg \$(\w+) offset (\d+)", line)
        if m and m.group(1) == "rsp": current = "s%d" % ((int(m.group(2)) - 8) // 8); continue
        if re.match(r"(DW_OP_(LLVM|stack_value|nop|bit)|\d+: DW_OP_(stack_value|entry_value))", line): return None
        if line and not line.startswith(","): return None
    if pieces: return pieces if current is None else None
    return [[current, None]] if current else None


def scope(address):
    """Name -> (size, location at entry) of everything the block at the address declares."""
    text = gdb.execute("info scope *0x%x" % address, to_string=True)
    found = {}
    for part in re.split(r"^Symbol ", text, flags=re.M)[1:]:
        name, rest = part.split(" is ", 1)
        size = re.search(r"length (\d+)\.", rest)
        size = int(size.group(1)) if size else 0
        if "optimized out" in rest: found[name] = (size, None); continue
        if rest.startswith("multi-location"):
            location = None
            for m in re.finditer(r"Range 0x([0-9a-f]+)-0x([0-9a-f]+): (.*?)(?=\n\s*(?:Base address \S+\s+)?Range |\n, length|\Z)", rest, flags=re.S):
                if int(m.group(1), 16) == address and int(m.group(2), 16) > address:
                    body = m.group(3).replace("a complex DWARF expression:", "")
                    location = operations(body.split("\n"))
            found[name] = (size, location)
        else:
            body = re.sub(r", length \d+\.\s*", "", rest).replace("a complex DWARF expression:", "")
            found[name] = (size, operations(body.split("\n")))
    return found


def arguments(address):
    block = gdb.block_for_pc(address)
    while block and not block.function: block = block.superblock
    if not block: return None
    names = [s.name for s in block if s.is_argument]
    if len(set(names)) != len(names): return None
    known = scope(address)
    return [{"name": n, "size": known.get(n, (0, None))[0], "location": known.get(n, (0, None))[1]} for n in names]


def main():
    with open(os.environ["LOCATIONS_IN"]) as wanted, open(os.environ["LOCATIONS_OUT"], "w") as out:
        for line in wanted:
            address = int(line, 16)
            try: found = arguments(address)
            except (gdb.error, RuntimeError) as problem: found = None
            out.write(json.dumps({"address": address, "arguments": found}) + "\n")


if __name__ == "__main__": main()
