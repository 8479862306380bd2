#!/usr/bin/env python3
"""Compares what a generated program and its patch printed with what they must print.

    check.py DIRECTORY MODE STRICT

Reads MODE.out (the program), MODE.err (the patch and the host). With STRICT 0 a body may lack values that the optimiser
took apart: the host must then say so, by selector, and the call must be as if there was no patch.
"""
import os, re, sys


def read(path):
    with open(path, errors="replace") as f: return f.read().splitlines()


def by_function(lines):
    found = {}
    for line in lines:
        m = re.match(r"[<>@=] (?:set )?(f\d+)\b", line)
        found.setdefault(m.group(1) if m else "", []).append(line)
    return found


def main():
    directory, mode, strict = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
    at = lambda name: os.path.join(directory, name)
    selectors = dict(reversed(line.split("\t")) for line in read(at("selectors")))
    errors = read(at(mode + ".err"))
    excused = set()
    for line in errors:
        if "cannot be decoded here" in line or "cannot be made in a script yet" in line or "optimized out" in line or "cannot be released" in line:
            m = re.search(r"\(in \w+ '(.*?)';", line)
            if m and m.group(1) in selectors: excused.add(selectors[m.group(1)])
    problems = []
    expected, plain, found = by_function(read(at(mode + ".expected"))), by_function(read(at("plain.expected"))), by_function(read(at(mode + ".out")))
    for function in dict.fromkeys(list(expected) + list(found)):
        wanted = plain.get(function, []) if function in excused else expected.get(function, [])
        if found.get(function, []) != wanted: problems.append((function, wanted, found.get(function, [])))
    said, spoken = by_function(read(at(mode + ".said"))), by_function(
        m.group(0) for m in (re.search(r"[@=] f\d+ .*$", line) for line in errors) if m)
    for function in dict.fromkeys(list(said) + list(spoken)):
        if function and function not in excused and sorted(said.get(function, [])) != sorted(spoken.get(function, [])):
            problems.append((function, said.get(function, []), spoken.get(function, [])))
    if mode == "instead": strict = False  # a consumed value that cannot be placed forbids standing in
    if strict and excused: problems.append(("", [], sorted(excused)))
    for function, wanted, got in problems[:10]:
        print(f"{mode}: {function}")
        for line in wanted: print("  expected", line[:400])
        for line in got: print("  found   ", line[:400])
    print(f"  {mode}: {len(expected)} calls, {len(excused)} with values out of reach, {len(problems)} wrong")
    sys.exit(1 if problems else 0)


main()
