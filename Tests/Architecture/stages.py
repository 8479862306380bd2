#!/usr/bin/env python3
"""Stages point one way: a file of one stage names no type that a later stage declares.

    stages.py SOURCES KNOWN        prints a line "WRONG   …" for each upward name, and one for each exception that is over

A module's stages are its folders, lowest first. KNOWN lists the exceptions that are left, one a line: MODULE FROM TO NAME.
In Swift, types declared at a file's top level count; in C and assembly, functions, variables, types and macros that other files can name,
where they are defined: headers beside the folders (include, and those at the module's top) speak for all stages.
Names that several stages declare cannot be told apart and are skipped.
"""
import os, re, sys

STAGES = {"HookRuntime": ["Support", "Model", "Patching", "Discover", "Values", "Register", "Intercept", "Dispatch", "Call", "NewTypes", "Observe", "API"],
          "ScriptHost": ["Conditions", "Record", "Header", "Policy", "Host", "Survey", "Scopes", "Script", "Telemetry", "Guard", "Globals", "Patches", "Canary",
                         "Trace", "Boot", "Control", "Reference", "Console"],
          "CHookTrampoline": ["Reading", "Process", "Dispatch", "Containment", "Patching"],
          "CLuaShim": ["Lua", "Library", "Border"]}
BESIDE = {"include"}  # the headers of a C module
DECLARED = re.compile(r"^(?P<indent> *)(?:@\w+(?:\([^)]*\))? )*(?P<words>(?:(?:public|package|internal|fileprivate|private|final|indirect|nonisolated(?:\(unsafe\))?) )*)"
                      r"(?:class|struct|enum|protocol|actor|typealias) (?P<name>[A-Z]\w*)", re.M)
# What a C or assembly file defines for other files, by the prefix that all such names have. A declaration that ends in ';' is another file's.
PREFIXED = r"(?:hkt_|HKT|shl_|Shl|SHL_|self_)\w+"
DEFINED = re.compile(rf"^(?!typedef|extern|static (?!inline))\w[^;{{}}=\n]*?\b(?P<function>{PREFIXED})\([^;{{}}]*\)\s*\{{"
                     rf"|^(?!typedef|extern|static)(?=\w)(?:_Atomic\([^)\n]*\)|[^(;{{}}=\n])*?\b(?P<variable>{PREFIXED})(?:\[[^\]\n]*\])*(?: __attribute__[^;\n]*)? *(?:=|;)"
                     rf"|^\}} (?P<type>{PREFIXED});|^#define (?P<macro>{PREFIXED})|^\s*\.globl\s+(?P<symbol>{PREFIXED})", re.M)
NAME = {False: r"(?<![\w.])[A-Z]\w+", True: rf"\b{PREFIXED}"}  # by whether the file is one of C
C = (".c", ".h", ".S")


def declared(path, text):
    """Each name that the file declares at its top level, and whether only its own stage may mean it by that name."""
    if not path.endswith(C):
        for found in DECLARED.finditer(text): yield found["name"], bool(found["indent"]) or "private" in found["words"].split()
        return
    for found in DEFINED.finditer(text):
        # A type or a macro of a .c file is nobody else's.
        yield next(filter(None, found.groups())), not path.endswith(".h") and bool(found["type"] or found["macro"])


def without_text(source):
    """Comments and literals speak of other stages freely."""
    source = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    source = re.sub(r'"""(?:.|\n)*?"""', '""', source)
    return re.sub(r"//.*", "", re.sub(r'"(?:\\.|[^"\\\n])*"', '""', source))


def upward(module, stages, sources):
    files, owner, nested, shared = [], {}, {}, set()
    for stage in stages:
        for folder, _, names in os.walk(os.path.join(sources, module, stage)):
            for name in names:
                if name.endswith((".swift",) + C): files.append((stage, os.path.join(folder, name)))
    texts = {path: without_text(open(path).read()) for _, path in files}
    for stage, path in files:
        for name, is_own in declared(path, texts[path]):
            if is_own:
                nested.setdefault(stage, set()).add(name)
            elif owner.setdefault(name, stage) != stage: shared.add(name)
    for stage, path in files:
        for name in sorted(set(re.findall(NAME[path.endswith(C)], texts[path]))):
            home = owner.get(name)
            if home and name not in shared and name not in nested.get(stage, ()) and stages.index(home) > stages.index(stage):
                yield (module, stage, home, name), os.path.relpath(path, sources)


sources, known_file = sys.argv[1:3]
known = {tuple(line.split()) for line in open(known_file) if line.strip() and not line.startswith("#")}
seen, checked = set(), 0
for module, stages in STAGES.items():
    folders = {each for each in os.listdir(os.path.join(sources, module)) if os.path.isdir(os.path.join(sources, module, each)) and not each.endswith(".docc")} - BESIDE
    for folder in sorted(folders - set(stages)): print(f"WRONG   {module}/{folder} is no stage; give it a place in stages.py")
    for name in os.listdir(os.path.join(sources, module)):
        if name.endswith((".c", ".S")): print(f"WRONG   {module}/{name} lies beside the stages; give it a folder")
    for use, path in upward(module, stages, sources):
        seen.add(use)
        if use not in known: print(f"WRONG   {path} names '{use[3]}' of {use[2]}, which comes after {use[1]}; move the noun down, or the use up")
for use in sorted(known - seen): print(f"WRONG   the exception '{' '.join(use)}' is over; take it off the list")
print(f"ok      stages point one way, {len(known & seen)} exceptions left")
