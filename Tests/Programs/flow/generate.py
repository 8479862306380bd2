#!/usr/bin/env python3
"""Writes a module of COUNT functions that nobody outside it can call, with arguments and results that are not all used.

    generate.py SEED COUNT >Private.swift
"""
import random, sys

seed, count = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)

# type: (an opaque value, a constant, how it is used whole, how an Int is made of a part of it)
TYPES = {
    "Int": ("someInt()", "17", "takeInt({})", "{}"),
    "Int32": ("Int32(truncatingIfNeeded: someInt())", "5", "takeInt32({})", "Int({})"),
    "UInt8": ("UInt8(truncatingIfNeeded: someInt())", "9", "takeByte({})", "Int({})"),
    "Bool": ("someBool()", "true", "takeBool({})", "({} ? 1 : 2)"),
    "Double": ("Double(someInt())", "2.5", "takeDouble({})", "Int(truncatingIfNeeded: {}.bitPattern)"),
    "Float": ("Float(someInt())", "0.5", "takeFloat({})", "Int({}.bitPattern)"),
    "String": ('String(someInt())', '"constant text"', "takeString({})", "{}.utf8.count"),
    "Node": ("someNode()", None, "takeNode({})", "{}.value"),
    "Node?": ("(someBool() ? someNode() : nil)", "nil", "takeNodeOrNil({})", "({}?.value ?? 4)"),
    "[Int]": ("[someInt(), 2]", "[]", "takeInts({})", "{}.count"),
    "Int?": ("(someBool() ? someInt() : nil)", "nil", "takeIntOrNil({})", "({} ?? 6)"),
    "Big": ("Big(someInt())", None, "takeBig({})", "{}.c"),
    "Pair": ("Pair(someInt())", None, "takePair({})", "{}.count"),
    "Any": ("(someInt() as Any)", None, "takeAny({})", "({} is Int ? 1 : 0)"),
}
RESULTS = {
    "Int": "{}", "Double": "Double({})", "Bool": "({} > 3)", "String": "String({})", "(Int, Int)": "({0}, {0} ^ 5)",
    "(Double, Int)": "(Double({0}), {0})", "Node": "Node({})", "Int?": "({0} > 3 ? {0} : nil)", "Big": "Big({})", "Pair": "Pair({})", "Void": "()",
}
KINDS = ["private func"] * 4 + ["fileprivate func"] * 2 + ["internal func"] * 3 + ["class", "class", "static", "struct", "mutating", "local", "private type"]

out = ["import Sinks", ""]
members = {k: [] for k in ("class", "static", "struct", "mutating", "private type")}
calls = []


def function(n):
    kind = rng.choice(KINDS)
    parameters = [rng.choice(list(TYPES)) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 7]))]
    result = rng.choice(list(RESULTS))
    throws = rng.random() < 0.2
    inouts = [t == "Int" and rng.random() < 0.2 for t in parameters]
    body = []
    used_all = rng.random() < 0.6
    parts = ["3"]
    branch = rng.random() < 0.3
    for i, t in enumerate(parameters):
        if not used_all and rng.random() < 0.4: continue
        how = rng.random()
        if how < 0.55: body.append(TYPES[t][2].format(f"p{i}"))
        if how > 0.4: parts.append(TYPES[t][3].format(f"p{i}"))
        if inouts[i] and rng.random() < 0.7: body.append(f"p{i} &+= 1")
    rng.shuffle(body)
    if branch and len(body) > 1: body[-1] = f"if someBool() {{ {body[-1]} }}"
    if kind in ("class", "struct", "mutating") and rng.random() < 0.6: parts.append("base")
    if kind == "mutating": body.append("base &+= 1")
    if throws and rng.random() < 0.6: body.append("if someBool() { throw Oops() }")
    if rng.random() < 0.12 and kind.endswith("func") and parameters and not any(inouts):
        again = ", ".join(f"p{i}" for i in range(len(parameters)))
        body.append(f"if someBool() {{ _ = {'try? ' if throws else ''}f{n}({again}) }}")
    value = " &+ ".join(parts) if rng.random() < 0.85 else "11"
    if len(parts) > 3:  # the type checker gives up on long sums
        body.append("var sum = 3")
        body += [f"sum = sum &+ {p}" for p in parts[1:]]
        value = "sum" if value != "11" else value
    body.append("takeInt(1)")
    if result != "Void": body.append(f"let r: Int = {value}")
    body.append("return " + RESULTS[result].format("r"))
    listed = ", ".join(f"_ p{i}: {'inout ' if inouts[i] else ''}{t}" for i, t in enumerate(parameters))
    access = kind if kind.endswith("func") else "func" if kind in ("local", "private type") else {"class": "private func", "static": "private static func", "struct": "private func", "mutating": "private mutating func"}[kind]
    access = access.replace("internal ", "")
    text = [f"@inline(never) {access} f{n}({listed}){' throws' if throws else ''} -> {result} {{"] + ["  " + b for b in body] + ["}"]
    site = []
    same = [rng.random() < 0.25 for _ in parameters]
    ignored = rng.random() < 0.25
    for c in range(rng.choice([1, 1, 2, 3])):
        arguments = []
        for i, t in enumerate(parameters):
            if inouts[i]:
                site.append(f"var v{n}_{c}_{i} = {TYPES[t][0]}")
                arguments.append(f"&v{n}_{c}_{i}")
            elif t == "Int" and rng.random() < 0.3: arguments.append("n")
            else: arguments.append(TYPES[t][1] if same[i] and TYPES[t][1] else TYPES[t][0])
        receiver = {"class": "subject.", "static": "Subject.", "struct": "holder.", "mutating": "holder.", "private type": "secret."}.get(kind, "")
        call = f"{'try? ' if throws else ''}{receiver}f{n}({', '.join(arguments)})"
        if ignored or result == "Void": site.append(f"_ = {call}")
        else: site.append(f"takeAny({call} as Any)" if throws or rng.random() < 0.3 else f"do {{ let r = {call}; {use(result)} }}")
    return kind, text, site


def use(result):
    return {"(Int, Int)": rng.choice(["takeInt(r.0)", "takeInt(r.1)", "takeInt(r.0); takeInt(r.1)"]),
            "(Double, Int)": rng.choice(["takeDouble(r.0)", "takeInt(r.1)", "takeDouble(r.0); takeInt(r.1)"]),
            "Big": "takeBig(r)", "Pair": "takePair(r)", "Node": "takeNode(r)", "Int": "takeInt(r)", "Int?": "takeIntOrNil(r)",
            "Double": "takeDouble(r)", "Bool": "takeBool(r)", "String": "takeString(r)"}[result]


sites = {}
for n in range(count):
    kind, text, site = function(n)
    group = "free" if kind.endswith("func") or kind == "local" else kind
    if kind == "local": calls.append(text + site)
    elif group == "free": out += text; calls.append(site)
    else: members[kind].append(text); sites.setdefault(kind, []).append(site)


def member(header, groups, stored="var base = 1"):
    out.append(header + " {")
    out.append("  " + stored)
    for g in groups:
        for text in members[g]: out.extend("  " + line for line in text)


def run(groups, before):
    lines = []
    for g in groups:
        for site in sites.get(g, []): lines += site
    out.append("  public func run(_ n: Int) {")
    out.append("    " + before)
    out.extend("    " + line for line in lines)
    out.append("  }")
    out.append("}")


member("public class Subject", ["class", "static"])
out.append("  public init() { base = someInt() }")
run(["class", "static"], "let subject = someBool() ? self : Subject()")
member("public struct Holder", ["struct", "mutating"], "var base = 1; var name = String(someInt())")
out.append("  public init() { base = someInt() }")
run(["struct", "mutating"], "var holder = self")
member("private final class Secret", ["private type"])
out.append("  init() { base = someInt() }")
out.append("}")
out.append("public func runSecret(_ n: Int) {\n  let secret = Secret()")
for site in sites.get("private type", []): out.extend("  " + line for line in site)
out.append("}")
for k in range(0, len(calls), 8):
    out.append(f"public func run{k}(_ n: Int) {{")
    for block in calls[k:k + 8]: out.extend("  " + line for line in block)
    out.append("}")
print("\n".join(out))
