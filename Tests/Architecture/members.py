"""members.py ROOT: what is registered for scripts and what the reference says, name by name: members of handles, fields of the header.

Globals are compared by the unit tests, in a Lua state; members and fields have no list there that could be read. Prints `ok` and `WRONG` lines."""
import os, re, sys
sys.path.insert(0, os.path.join(sys.argv[1], "Tests/Programs/support"))
from checks import *

sources = os.path.join(sys.argv[1], "Sources/ScriptHost")
texts = {}
for folder, _, names in os.walk(sources):
    for name in names:
        if name.endswith(".swift"):
            path = os.path.join(folder, name)
            texts[os.path.relpath(path, sources)] = open(path).read()
reference = "\n".join(text for path, text in texts.items() if path.startswith("Reference/"))


def text_of(name):
    return next(text for path, text in texts.items() if os.path.basename(path) == name)


# MARK: Members of handles

owners = {"method": "Method", "type": "Class", "hook": "Hook", "rule": "Rule", "call": "Call", "observation": "Observation", "delegates": "Delegates",
          "timer": "Timer", "subscription": "Subscription", "preset": "Preset"}
registered = {owner: set() for owner in owners.values()}
register = text_of("PatchAPI.swift")
register = register[register.index("for (handleClass, members) in ["):]
for kind, place, name in re.findall(r"\((?:classes\.|UInt32\()(\w+)\)?, (?:(\w+)\.)?(\w+)\)", register[:register.index("] {")]):
    kind = "call" if kind == "SHL_CLASS_CALL" else kind
    if kind not in owners:
        check(f"the reference has a type for handles of '{kind}'", False, "add it to ScriptReference.types and to this table")
        continue
    found = re.search(rf"static let {name} = NamedFunctions\((.*?)\)\n", text_of(f"{place or 'PatchAPI'}.swift") , re.S)
    registered[owners[kind]] |= set(re.findall(r"\(\"(\w+)\",", found[1]))
calls = text_of("CallAPI.swift")
cases = re.search(r"enum Member: .*?\n\s*case (.*?)\n", calls)[1]
spelled = dict(re.findall(r"case \.(\w+): \"(\w+)\"", calls[:calls.index("private static let fields")]))
registered["Call"] |= {spelled.get(case, case) for case in re.split(r",\s*", cases)}

for owner, names in registered.items():
    known = set(re.findall(rf'ScriptEntry\(\s*"{owner}", "(\w+)"', reference))
    check(f"{owner}: {len(names)} members are registered, and all of them are in the reference", len(names) > 0 and names <= known, sorted(names - known))
    check(f"{owner}: the reference has no other ones", known <= names, sorted(known - names))

# MARK: Fields of the header

header = text_of("PatchHeader.swift")
forms = set(re.findall(r'"(\w+)":', re.search(r"private static let forms = \[(.*?)\n  \]", header, re.S)[1]))
begin = reference.index('"", "patch", .function')
options = set(re.findall(r'ScriptOption\(\s*"(\w+)"', reference[begin:reference.index("],", begin)]))
check(f"patch: its {len(forms)} fields are in the reference, and no other ones", forms == options, sorted(forms ^ options))
sentence = set(re.split(r",\s*", re.search(r"unknown field '.*?known are ([\w, ]+)", header)[1]))
check("patch: the sentence about an unknown field names the same", sentence == forms, sorted(sentence ^ forms))
page = open(os.path.join(sys.argv[1], "docs/patches.md")).read()
missing = [field for field in forms - {"target"} if f"`{field}`" not in page]
check("patch: docs/patches.md has a row for each", not missing, missing)
fields = set(re.findall(r"'(\w+)'", re.search(r"unknown target field '.*?known are ([^\"]*)", header)[1]))
line = re.search(r'ScriptOption\(\s*"target",[^)]*', reference)[0]
missing = [field for field in fields if f"`{field}`" not in line or f"`target.{field}`" not in page]
check(f"patch: the {len(fields)} fields of target are in the reference and on the page", len(fields) == 5 and not missing, missing)
finish()
