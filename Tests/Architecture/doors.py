#!/usr/bin/env python3
"""doors.py ROOT: what the sources declare they use; what only tests use stands in ARCHITECTURE.md, "Doors of the tests".

A name of Swift that the sources have once, and a function of a C header that they have but in the header and where it is defined, is used by nobody.
Public names of the libraries that programs import are for them."""
import os, re, sys

root = sys.argv[1]
PROGRAMS = ("Sources/HookRuntime/", "Sources/ScriptHost/")  # the libraries that programs import
SWIFT = re.compile(r"\b(?:func|var|let|class|struct|enum|protocol|typealias) +`?([A-Za-z]\w+)|\bcase +([a-z]\w+)")
C = re.compile(r"^(?!typedef|static|return|#)[\w *]+\b((?:hkt|shl|ccrash)_\w+)\(", re.M)


def without_comments(text):
    return re.sub(r"(?<![:\"])//.*", "", re.sub(r"/\*.*?\*/", " ", text, flags=re.S))


def unused(files):
    counts = {}
    for _, text in files:
        for each in re.findall(r"[A-Za-z_]\w*", text): counts[each] = counts.get(each, 0) + 1
    for path, text in files:
        if path.endswith(".h"): yield from ((name, path) for name in C.findall(text) if counts[name] <= 2)
        if not path.endswith(".swift"): continue
        for line in text.split("\n"):
            if re.search(r"\b(?:override|_cdecl)\b", line) or path.startswith(PROGRAMS) and re.search(r"\bpublic\b", line): continue
            yield from ((name or case, path) for name, case in SWIFT.findall(line) if counts[name or case] == 1)


files = []
for folder, _, names in os.walk(os.path.join(root, "Sources")):
    for name in sorted(names):
        if name.endswith((".swift", ".c", ".h", ".S")):
            path = os.path.join(folder, name)
            files.append((os.path.relpath(path, root), without_comments(open(path).read())))
page = open(os.path.join(root, "ARCHITECTURE.md")).read()
section = re.search(r"^## Doors of the tests\n(.*?)(?=^## |\Z)", page, re.M | re.S)
doors = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", section[1], re.M)))) if section else set()
found = dict(unused(files))
for name in sorted(set(found) - doors): print(f"WRONG   {found[name]} declares '{name}', which the sources do not use; delete it, move it to the tests, or say in ARCHITECTURE.md why it stays")
for name in sorted(doors - set(found)): print(f"WRONG   the door '{name}' is gone, or is used by the sources; take it off the list of ARCHITECTURE.md")
if doors <= set(found) and set(found) <= doors: print(f"ok      the sources use what they declare, but for {len(doors)} doors of the tests")
