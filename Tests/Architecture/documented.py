#!/usr/bin/env python3
"""Helpers on raw memory are documented, in each module: four of five of those that take or give pointers have a comment above them.

    documented.py SOURCES SHARE [all]     prints "ok      …" or "WRONG   …" for each module, with the files that lack most; `all`: each that lacks one

In Swift those that are not public and have an unsafe pointer in their signature count; an override speaks for what it overrides and is left
out. In C all functions with a pointer count, where they are defined; a comment above a function's declaration in a header is one. A comment
stands for all functions of one line each, and all declarations, that follow it without an empty line.
"""
import collections, os, re, sys

sources, share, lists = sys.argv[1], int(sys.argv[2]), "all" in sys.argv[3:]
FUNCTION = re.compile(r"\s*(?:@[\w()]+ )*(?P<words>(?:(?:public|package|private|fileprivate|static|mutating|final|internal|override|nonisolated) )*)func (?P<name>\w+)")
# At the margin: a return type, a name and what it takes, up to a body. Headers' declarations end in ';'.
C_FUNCTION = re.compile(r"^(?!typedef|return|else|extern|#)(?P<signature>[A-Za-z_][^;{}=#\n]*?\b(?P<name>\w+)\((?:[^;{}]|\n)*?\)\s*)\{", re.M)
C_DECLARED = re.compile(r"^(?!typedef|#)[A-Za-z_][^={}\n]*?\b(\w+)\([^{}]*$")
ONE_LINE = re.compile(r"^[A-Za-z_].*(\{.*\}|;)$")  # a comment stands for several of these
C_MODULES = ("CFrame", "CHookTrampoline", "CLuaShim", "CHandler", "CCrash")
KEYWORDS = {"if", "for", "while", "switch", "defined", "__attribute__"}


def texts(module, *endings):
    for folder, _, names in os.walk(os.path.join(sources, module)):
        for name in sorted(names):
            if name.endswith(endings):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, sources), open(path, encoding="utf-8").read()


def swift(module):
    """Each helper of the module: its file, line, name and whether it has a comment."""
    for path, text in texts(module, ".swift"):
        lines = text.split("\n")
        for at, line in enumerate(lines):
            found = FUNCTION.match(line)
            if not found or {"public", "override"} & set(found["words"].split()): continue
            signature = " ".join(lines[at:at + 8]).split("{")[0]
            if "Unsafe" not in signature: continue
            above = at - 1
            while above >= 0 and lines[above].strip().startswith("@"): above -= 1
            yield path, at + 1, found["name"], above >= 0 and lines[above].strip().startswith("///")


def is_comment(line): return line.lstrip().startswith(("//", "*", "/*"))


def declared(module):
    """The functions that the module's headers have a comment for."""
    names = set()
    for _, text in texts(module, ".h"):
        lines, speaks = text.split("\n"), False
        for line in lines:
            if is_comment(line): speaks = True
            elif not line.strip(): speaks = False
            elif speaks and (found := C_DECLARED.match(line)): names.add(found[1])
    return names


def c(module):
    known = declared(module)
    for path, text in texts(module, ".c", ".h"):
        for found in C_FUNCTION.finditer(text):
            if found["name"] in KEYWORDS or "*" not in found["signature"]: continue
            above = text[:found.start()].split("\n")[:-1]
            line = len(above) + 1
            while above and ONE_LINE.match(above[-1]): above.pop()
            yield path, line, found["name"], found["name"] in known or bool(above) and is_comment(above[-1])


for module in sorted(os.listdir(sources)):
    if not os.path.isdir(os.path.join(sources, module)): continue
    helpers = list(c(module) if module in C_MODULES else swift(module))
    if not helpers: continue
    bare = [each for each in helpers if not each[3]]
    documented, enough = len(helpers) - len(bare), 100 * (len(helpers) - len(bare)) >= share * len(helpers)
    most = collections.Counter(path for path, *_ in bare).most_common(5)
    print(f"{'ok     ' if enough else 'WRONG  '} {module}: {documented} of {len(helpers)} helpers on raw memory are documented"
          + ("" if enough else "; most are missing in " + ", ".join(f"{file} ({count})" for file, count in most)))
    if lists:
        for path, line, name, _ in bare: print(f"        {path}:{line} {name}")
