#!/usr/bin/env python3
"""Stages point one way: a file of one stage names no type that a later stage declares.

    stages.py SOURCES KNOWN        prints a line "WRONG   …" for each upward name, and one for each exception that is over

A module's stages are its folders, lowest first. KNOWN lists the exceptions that are left, one a line: MODULE FROM TO NAME.
Only types declared at a file's top level count; names that several stages declare cannot be told apart and are skipped.
"""
import os, re, sys

STAGES = {"HookRuntime": ["Support", "Model", "Patching", "Discover", "Values", "Register", "Intercept", "Dispatch", "Call", "NewTypes", "Observe", "API"],
          "ScriptHost": ["Conditions", "Record", "Header", "Policy", "Host", "Survey", "Scopes", "Script", "Telemetry", "Guard", "Globals", "Patches", "Canary",
                         "Trace", "Boot", "Control", "Reference", "Console"]}
DECLARED = re.compile(r"^(?P<indent> *)(?:@\w+(?:\([^)]*\))? )*(?P<words>(?:(?:public|package|internal|fileprivate|private|final|indirect|nonisolated(?:\(unsafe\))?) )*)"
                      r"(?:class|struct|enum|protocol|actor|typealias) (?P<name>[A-Z]\w*)", re.M)


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
                if name.endswith(".swift"): files.append((stage, os.path.join(folder, name)))
    texts = {path: without_text(open(path).read()) for _, path in files}
    for stage, path in files:
        for found in DECLARED.finditer(texts[path]):
            name = found["name"]
            if found["indent"] or "private" in found["words"].split():
                nested.setdefault(stage, set()).add(name)
            elif owner.setdefault(name, stage) != stage: shared.add(name)
    for stage, path in files:
        for name in sorted(set(re.findall(r"(?<![\w.])[A-Z]\w+", texts[path]))):
            home = owner.get(name)
            if home and name not in shared and name not in nested.get(stage, ()) and stages.index(home) > stages.index(stage):
                yield (module, stage, home, name), os.path.relpath(path, sources)


sources, known_file = sys.argv[1:3]
known = {tuple(line.split()) for line in open(known_file) if line.strip() and not line.startswith("#")}
seen, checked = set(), 0
for module, stages in STAGES.items():
    folders = {each for each in os.listdir(os.path.join(sources, module)) if os.path.isdir(os.path.join(sources, module, each)) and not each.endswith(".docc")}
    for folder in sorted(folders - set(stages)): print(f"WRONG   {module}/{folder} is no stage; give it a place in stages.py")
    for use, path in upward(module, stages, sources):
        seen.add(use)
        if use not in known: print(f"WRONG   {path} names '{use[3]}' of {use[2]}, which comes after {use[1]}; move the noun down, or the use up")
for use in sorted(known - seen): print(f"WRONG   the exception '{' '.join(use)}' is over; take it off the list")
print(f"ok      stages point one way, {len(known & seen)} exceptions left")
