#!/usr/bin/env python3
"""targets.py ROOT: ARCHITECTURE.md draws the package as it is.

Its lines `Target ──► Target, Target` are the dependencies of Package.swift, each with targets on lower lines only; a target imports no other one; and the
page's tables name every target, every folder of a target and every file that lies beside folders of the journal and the crash handlers. Folders of unit tests have the name of what they test."""
import os, re, sys

root = sys.argv[1]
page = open(os.path.join(root, "ARCHITECTURE.md")).read()
package = re.sub(r"//.*", "", open(os.path.join(root, "Package.swift")).read())
sources = os.path.join(root, "Sources")
TARGET = re.compile(r"\.(?:target|executableTarget|systemLibrary)\(\s*name: \"([\w-]+)\"((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
LINE = re.compile(r"^    (\w+) +(──|┄┄)► (.*)$", re.M)
wrong = []

targets = {name for name in os.listdir(sources) if os.path.isdir(os.path.join(sources, name))}
declared = {}
for name, rest in TARGET.findall(package):
    if "path:" in rest: continue
    listed = re.search(r"dependencies: \[([^\]]*)\]", rest)
    declared[name] = set(re.findall(r'"(\w+)"', listed[1])) if listed else set()
    declared[name] |= set(re.findall(r'linkedLibrary\("(\w+)"', rest))
drawn, order = {}, []
for name, arrow, others in LINE.findall(page):
    order.append(name)
    if arrow == "──": drawn[name] = set(re.split(r", *", others.split("   ")[0].strip()))

for name in sorted(set(declared) | set(drawn)):
    there, page_has = declared.get(name, set()), drawn.get(name, set())
    if there != page_has:
        wrong.append(f"ARCHITECTURE.md draws {name} with {', '.join(sorted(page_has)) or 'nothing'} below it, and Package.swift says {', '.join(sorted(there)) or 'nothing'}")
for at, name in enumerate(order):
    for other in drawn.get(name, ()):
        if other in order[:at + 1]: wrong.append(f"ARCHITECTURE.md draws {other} above {name}, which depends on it")
for name in sorted(declared):
    for folder, _, files in os.walk(os.path.join(sources, name)):
        for file in files:
            if not file.endswith(".swift"): continue
            imports = set(re.findall(r"^(?:@\w+ )*(?:\w+ )?import (?:\w+ )?(\w+)", open(os.path.join(folder, file)).read(), re.M))
            for other in sorted(imports & targets - declared[name]): wrong.append(f"{name}/{file} imports {other}, on which {name} does not depend in Package.swift")

rows = "\n".join(line.split("|")[1] for line in page.split("\n") if line.startswith("| ") and "|" in line[2:])
cells = set(re.findall(r"`([\w./]+)`", rows)) | set(re.findall(r"^ (\w+(?:, \w+)*) $", rows, re.M))
cells = {each for cell in cells for each in cell.split(", ")}
named = {each.rstrip("/").split("/")[-1] for each in cells}
for name in sorted(targets):
    if name not in named: wrong.append(f"no table of ARCHITECTURE.md has a row for {name}")
    for each in sorted(os.listdir(os.path.join(sources, name))):
        stem = each.removesuffix(".swift")
        is_folder = os.path.isdir(os.path.join(sources, name, each)) and each != "include" and not each.endswith(".docc")
        is_file = name == "Journal" and each.endswith(".swift") or name == "CCrash" and each.endswith(".c")
        if (is_folder or is_file) and stem not in named: wrong.append(f"no table of ARCHITECTURE.md has a row for {name}/{each}")

tests = os.path.join(root, "Tests")
for suite in sorted(os.listdir(tests)) if os.path.isdir(tests) else []:
    if not suite.endswith("Tests"): continue
    for folder, below, files in os.walk(os.path.join(tests, suite)):
        at = os.path.relpath(folder, os.path.join(tests, suite))
        tested = os.path.join(sources, suite.removesuffix("Tests"), at)
        if at not in {"Fuzz", "Support"} | targets and not os.path.isdir(tested): wrong.append(f"Tests/{suite}/{at} tests no folder of {suite.removesuffix('Tests')}, and no target, of that name")

for line in wrong: print("WRONG   " + line)
if not declared or not drawn: print("WRONG   no targets were found; the page or the package is written otherwise")
elif not wrong: print(f"ok      ARCHITECTURE.md draws the {len(declared)} targets of the package as they are, and has a row for each of their folders")
