#!/usr/bin/env python3
"""Stages point one way: a file of one stage names nothing that a later stage declares.

    stages.py SOURCES KNOWN        prints a line "WRONG   …" for each upward name, and one for each exception that is over

A module's stages are its folders, lowest first; a Swift file beside them may name all of them, and none may name what it declares.
KNOWN lists the exceptions that are left, one a line: MODULE FROM TO NAME.
In Swift, types, functions and variables declared at a file's top level count, and members of extensions; in C and assembly, functions, variables,
types and macros that other files can name, where they are defined: headers beside the folders (include, and those at the module's top) speak for all
stages. Names that several stages declare cannot be told apart and are skipped. So are members whose names the user's file, a stage up to its own, another
module or the standard library has, too.
"""
import os, re, sys

STAGES = {"HookRuntime": ["Support", "Model", "Patching", "Discover", "Values", "Register", "Intercept", "Dispatch", "Call", "NewTypes", "Observe", "API"],
          "ScriptHost": ["Conditions", "Record", "Header", "Policy", "Host", "Survey", "Scopes", "Script", "Telemetry", "Guard", "Globals", "Patches", "Canary",
                         "Trace", "Reference", "Console", "Control", "Boot"],
          "CHookTrampoline": ["Reading", "Process", "Dispatch", "Containment", "Patching"],
          "CLuaShim": ["Lua", "Library", "Border"]}
BESIDE = {"include"}  # the headers of a C module
TOP = "the module's top"  # the stage of files beside the folders: after all others
DECLARED = re.compile(r"^(?P<indent> *)(?:@\w+(?:\([^)]*\))? )*(?P<words>(?:(?:public|package|internal|fileprivate|private|final|indirect|nonisolated(?:\(unsafe\))?) )*)"
                      r"(?:class|struct|enum|protocol|actor|typealias) (?P<name>[A-Z]\w*)", re.M)
# Functions and variables at a file's top level, and members at the first indentation of an extension.
WORDS = r"(?:@\w+(?:\([^)]*\))? )*(?P<words>(?:(?:public|package|internal|fileprivate|private|static|mutating|nonmutating|final|nonisolated)(?:\(\w+\))? )*)"
FREE = re.compile(rf"^{WORDS}(?:func|var|let) `?(?P<name>[A-Za-z]\w*)", re.M)
MEMBER = re.compile(rf"^  {WORDS}(?:func|var|let) `?(?P<name>[A-Za-z]\w*)", re.M)
EXTENSION = re.compile(r"^(?P<words>[\w@() ]*)\bextension [^\n{]*\{(?P<body>(?:[^\n]*\}$|(?:\n(?!\}).*)*))", re.M)
# What a file has names for: declarations of any depth, parameters, and what closures are given.
ANYWHERE = re.compile(r"\b(?:func|var|let|case|for|inout) +`?(\w+)|\b(\w+) *:|[{(,] *(\w+)(?: *, *\w+)* in\b|, *\.?(\w+)(?=\)? *[,(=\n]| in\b)")
INTERFACE = re.compile(r"\b(?:func|var|let|case) +`?(\w+)((?:, *`?\w+)*)")
# Names of the standard library that members of ours have, too.
STANDARD = set("""close contains distance dropFirst dropLast first flush index initialize insert isEmpty isSubset last load map prefix release remove removeAll
                  reset retain sorted starts store union wait write""".split())
# What a C or assembly file defines for other files, by the prefix that all such names have. A declaration that ends in ';' is another file's.
PREFIXED = r"(?:hkt_|HKT|shl_|Shl|SHL_|self_)\w+"
DEFINED = re.compile(rf"^(?!typedef|extern|static (?!inline))\w[^;{{}}=\n]*?\b(?P<function>{PREFIXED})\([^;{{}}]*\)\s*\{{"
                     rf"|^(?!typedef|extern|static)(?=\w)(?:_Atomic\([^)\n]*\)|[^(;{{}}=\n])*?\b(?P<variable>{PREFIXED})(?:\[[^\]\n]*\])*(?: __attribute__[^;\n]*)? *(?:=|;)"
                     rf"|^\}} (?P<type>{PREFIXED});|^#define (?P<macro>{PREFIXED})|^\s*\.globl\s+(?P<symbol>{PREFIXED})", re.M)
NAME = {False: r"(?<![\w.])[A-Z]\w+", True: rf"\b{PREFIXED}"}  # by whether the file is one of C
C = (".c", ".h", ".S")
SWIFT = (".swift",)


def declared(path, text):
    """Each name that the file declares at its top level, and whether only its own stage may mean it by that name."""
    if not path.endswith(C):
        for found in DECLARED.finditer(text): yield found["name"], bool(found["indent"]) or "private" in found["words"].split()
        return
    for found in DEFINED.finditer(text):
        # A type or a macro of a .c file is nobody else's.
        yield next(filter(None, found.groups())), not path.endswith(".h") and bool(found["type"] or found["macro"])


def functions_and_members(text):
    """Each function, variable and member of an extension that other files can name, and whether it is a member."""
    extensions = [each for each in EXTENSION.finditer(text) if not {"private", "fileprivate"} & set(each["words"].split())]
    bodies = [each["body"] if "\n" in each["body"] else "  " + each["body"].lstrip() for each in extensions]
    for pattern, scope in [(FREE, text)] + [(MEMBER, body) for body in bodies]:
        for found in pattern.finditer(scope):
            # `private(set)` is a variable that all can read.
            if not {"private", "fileprivate"} & set(found["words"].split()): yield found["name"], pattern is MEMBER


def without_text(source):
    """Comments and literals speak of other stages freely; what a literal interpolates is code."""
    literal = lambda found: '""' + "".join(f" ({each})" for each in re.findall(r"\\\(((?:[^()\n]|\([^()\n]*\))*)\)", found[0]))
    source = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    source = re.sub(r'"""(?:.|\n)*?"""', literal, source)
    return re.sub(r"//.*", "", re.sub(r'"(?:\\\((?:[^()\n]|\([^()\n]*\))*\)|\\.|[^"\\\n])*"', literal, source))


def declared_anywhere(text):
    """The names of functions, variables and cases, `case first, second` among them."""
    return {name for first, rest in INTERFACE.findall(text) for name in [first, *re.findall(r"\w+", rest)]}


def texts_below(folder, endings):
    for folder, _, names in os.walk(folder):
        for name in names:
            if name.endswith(endings): yield os.path.join(folder, name), without_text(open(os.path.join(folder, name)).read())


def texts_by_stage(module, stages, sources):
    files = [(stage, path, text) for stage in stages for path, text in texts_below(os.path.join(sources, module, stage), SWIFT + C)]
    top = os.path.join(sources, module)
    return files + [(TOP, os.path.join(top, name), without_text(open(os.path.join(top, name)).read())) for name in os.listdir(top) if name.endswith(SWIFT)]


def upward_types(module, order, files):
    owner, nested, shared = {}, {}, set()
    for stage, path, text in files:
        for name, is_own in declared(path, text):
            if is_own:
                nested.setdefault(stage, set()).add(name)
            elif owner.setdefault(name, stage) != stage: shared.add(name)
    for stage, path, text in files:
        for name in sorted(set(re.findall(NAME[path.endswith(C)], text))):
            home = owner.get(name)
            if home and name not in shared and name not in nested.get(stage, ()) and order.index(home) > order.index(stage):
                yield (module, stage, home, name), path


def upward_members(module, order, files, foreign):
    files = [each for each in files if each[1].endswith(SWIFT)]
    homes, members, known = {}, set(), {stage: set() for stage in order}
    for stage, path, text in files:
        for name, is_member in functions_and_members(text):
            homes.setdefault(name, set()).add(stage)
            if is_member: members.add(name)
        for name in declared_anywhere(text):
            for later in order[order.index(stage):]: known[later].add(name)
    # Another module's names hide members only: a function without a receiver is the module's own.
    late = {name: min(stages, key=order.index) for name, stages in homes.items() if name not in members or name not in STANDARD | foreign}
    for stage, path, text in files:
        own = None
        for name in sorted(set(re.findall(r"(?<![\w#@`])[a-z]\w+\b(?! *:(?!:)| +\w+ *:)", text))):
            home = late.get(name)
            if not home or order.index(home) <= order.index(stage) or name in known[stage]: continue
            own = own or {each for groups in ANYWHERE.findall(text) for each in groups}
            if name in own and not re.search(rf"\.{name}\b", text): continue
            if name in members or re.search(rf"(?<!\.)\b{name}\b", text): yield (module, stage, home, name), path


def names_of_other_modules(module, sources):
    """What a member may be of besides the module itself: the C headers' fields, other modules' members."""
    names = set()
    for other in os.listdir(sources):
        if other == module: continue
        for path, text in texts_below(os.path.join(sources, other), SWIFT): names |= declared_anywhere(text)
        for path, text in texts_below(os.path.join(sources, other, "include"), (".h",)): names.update(re.findall(r"\b[a-z]\w+", text))
    return names


sources, known_file = sys.argv[1:3]
known = {tuple(line.split()) for line in open(known_file) if line.strip() and not line.startswith("#")}
seen = set()
for module, stages in STAGES.items():
    folders = {each for each in os.listdir(os.path.join(sources, module)) if os.path.isdir(os.path.join(sources, module, each)) and not each.endswith(".docc")} - BESIDE
    for folder in sorted(folders - set(stages)): print(f"WRONG   {module}/{folder} is no stage; give it a place in stages.py")
    for name in os.listdir(os.path.join(sources, module)):
        if name.endswith((".c", ".S")): print(f"WRONG   {module}/{name} lies beside the stages; give it a folder")
    order, files = stages + [TOP], texts_by_stage(module, stages, sources)
    for use, path in [*upward_types(module, order, files), *upward_members(module, order, files, names_of_other_modules(module, sources))]:
        seen.add(use)
        if use not in known: print(f"WRONG   {os.path.relpath(path, sources)} names '{use[3]}' of {use[2]}, which comes after {use[1]}; move the noun down, or the use up")
for use in sorted(known - seen): print(f"WRONG   the exception '{' '.join(use)}' is over; take it off the list")
print(f"ok      stages point one way, {len(known & seen)} exceptions left")
