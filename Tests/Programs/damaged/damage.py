"""damage.py SEED COUNT FILE DIRECTORY [quiet]: writes COUNT damaged copies of an ELF image, and prints what was done to each.

With `quiet`, only in sections that the program itself does not need to run: names, types, debug information.
"""
import os
import random
import struct
import sys

ODD = [0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF,
       0xFFFFFFFFFFFFFFF0, 0x7FFFFFFFFFFFFFF0]
QUIET = ("swift5_typeref", "swift5_reflstr", "swift5_fieldmd", "swift5_capture", "swift5_assocty", "swift5_builtin", ".debug", ".symtab", ".strtab",
         ".swift_modhash", ".comment")


def sections(data):
    """Offset and size of the rows, and (name, type, offset, size) of each."""
    (offset,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]

    def name(at):
        start = rows[names][4] + at
        return data[start : data.index(b"\0", start)].decode()

    return offset, size, [(name(row[0]), row[1], row[4], row[5]) for row in rows]


def put(r, data, at, width):
    if at + width <= len(data):
        data[at : at + width] = (r.choice(ODD + [r.getrandbits(64), r.randrange(len(data))]) & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def damage(r, data, quiet):
    data = bytearray(data)
    table, row, found = sections(data)
    inside = [s for s in found if s[1] != 8 and s[3] > 0 and (not quiet or s[0].startswith(QUIET))]
    told = []
    for _ in range(r.randint(1, 3)):
        kind = "section" if quiet else r.choice(["cut", "row", "row", "segment", "header"] + ["section"] * 12)
        if kind == "cut":
            del data[r.randrange(64, len(data)) :]
            return bytes(data), ", ".join(told + [f"cut to {len(data)}"])
        if kind == "header":
            at = r.randrange(16, 64)
            data[at] = r.randrange(256)
            told.append(f"header byte {at}")
        elif kind == "segment":
            (offset,), (count,) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<H", data, 56)
            at = offset + 56 * r.randrange(max(1, count)) + 8 * r.randrange(7)
            put(r, data, at, 8)
            told.append(f"segment word {at}")
        elif kind == "row":
            at = table + row * r.randrange(len(found)) + r.choice([4, 8, 16, 24, 32, 40, 48, 56])
            put(r, data, at, 8)
            told.append(f"section row word {at}")
        else:
            # Small sections as often as large ones.
            name, _, offset, size = r.choice(inside)
            for _ in range(r.choice([1, 1, 4, 32])):
                put(r, data, offset + r.randrange(max(1, size)), r.choice([1, 2, 4, 8]))
            told.append(name)
    return bytes(data), ", ".join(told)


if __name__ == "__main__":
    seed, count, path, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    with open(path, "rb") as file:
        data = file.read()
    os.makedirs(out, exist_ok=True)
    for i in range(count):
        made, told = damage(random.Random(seed * 1000 + i), data, "quiet" in sys.argv[5:])
        with open(f"{out}/{i}", "wb") as file:
            file.write(made)
        os.chmod(f"{out}/{i}", 0o755)
        print(i, told)
