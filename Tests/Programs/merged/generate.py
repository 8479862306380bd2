# generate — a program whose functions the compiler merges, with its own count of their calls.
#
#   generate.py SEED GROUPS >Merged.swift
#
# The members of a group have equal code but for constants, so that one body is left of them, with extra arguments: in
# registers, or on the stack behind many arguments. Some members are called from the module alone, others are public.
import random
import sys

seed, groups = int(sys.argv[1]), int(sys.argv[2])
pick = random.Random(seed)
TYPES = [("Int", "{i}"), ("String", '"text \\({i})"'), ("Double", "Double({i})"), ("Pair", "Pair({i})"), ("Item", "Item({i})"), ("Bool", "({i} & 1 == 0)")]
VALUE = {"Int": "{n}", "String": "{n}.utf8.count", "Double": "Int({n})", "Pair": "{n}.a &+ {n}.b", "Item": "{n}.n", "Bool": "({n} ? 3 : 5)"}
KINDS = ["free", "free", "static", "method", "object", "mutating", "closure", "setter", "setter"]
total = 0
calls = []
out = ["""// Made by generate.py.
nonisolated(unsafe) public var counts = [Int](repeating: 0, count: LIMIT)
nonisolated(unsafe) public var sum = 0
struct Failure: Error { var code: Int }
public struct Pair { var a: Int; var b: Int; init(_ n: Int) { a = n; b = n &* 7 } }
public final class Item { var n: Int; init(_ n: Int) { self.n = n } }
@inline(never) func bump(_ index: Int) { counts[index] += 1 }
"""]
for name in ("one", "two", "three"):
    out.append("@inline(never) func %s(_ n: Int) -> Int { sum = sum &* 31 &+ n; return sum & %d }" % (name, 0xff if name == "one" else 0xfff))

out.append("@inline(never) func kept(_ c: @escaping (Int) -> Int) -> (Int) -> Int { sum = sum &+ c(1); return c }")
out.append("@inline(never) func real(_ x: Double, _ n: Int) -> Int { sum = sum &+ Int(x * 4); return sum & n }")

for group in range(groups):
    kind = pick.choice(KINDS)
    arguments = [pick.choice(TYPES) for _ in range(pick.choice([0, 1, 2, 3, 4, 5, 6, 7, 9]))]
    throws = pick.random() < 0.3
    result = pick.choice(["Int", "Int", "String", "Pair", "Void"])
    constants = pick.randrange(1, 5)
    if kind == "closure":
        arguments, throws, result = [TYPES[0]], False, "Int"
    if kind == "setter":
        arguments, throws, result = [pick.choice(TYPES)], False, "Void"
    own = {"free": "", "closure": "", "static": "enum Group%d {" % group, "method": "struct Group%d { var x = %d; var y = 2; var z = \"z\"" % (group, group),
           "object": "final class Group%d { var x = %d" % (group, group), "mutating": "struct Group%d { var x = %d; var y = 2" % (group, group),
           "setter": "final class Group%d { var x = %d" % (group, group)}[kind]
    if own:
        out.append("public " + own)
        if kind != "static":
            out.append("  init() {}")
    for member in range(pick.randrange(2, 5)):
        access = pick.choice(["public", "internal", "internal"])
        prefix = {"free": "", "closure": "", "static": "static ", "method": "", "object": "", "mutating": "mutating ", "setter": ""}[kind]
        name = "run%d_%d" % (group, member)
        signature = ", ".join("_ p%d: %s" % (n, t) for n, (t, _) in enumerate(arguments))
        lines = ["bump(%d)" % total, "var s = %s" % ("x" if kind in ("method", "object", "mutating", "setter") else "0")]
        if kind == "mutating":
            lines.append("x &+= 1; y &+= s")
        for n, (t, _) in enumerate(arguments):
            lines.append("s = s &* 3 &+ (%s)" % VALUE[t].format(n="p%d" % n))
        for n in range(constants - 1):
            # Another callee, or another number.
            callee = ["one", "two", "three"][(member + n) % 3] if n % 2 else "one"
            if n == 2:
                lines.append("s = s &+ real(%s, 15)" % (member + 0.5))
                continue
            lines.append("s = s &+ %s(%d)" % (callee, member * 1000 + n if n % 2 == 0 else n))
        lines.append("for i in 0..<(s & 3) { s = s &+ two(i &* s) }")
        if throws:
            lines.append("if s & 7 == 1 { throw Failure(code: s) }")
        lines.append({"Int": "return s", "String": 'return "r\\(s)"', "Pair": "return Pair(s)", "Void": "sum = sum &+ s"}[result])
        if kind == "closure":
            out.append("@inline(__always) %s func %s(_ k: Int, _ item: Item) -> (Int) -> Int { { p0 in %s; return s &+ k &+ item.n } }" % (
                access, name, "; ".join(lines[:-1])))
            calls.append((total, "let c = kept(%s(n, Item(n))); let d = kept(%s(n &+ 1, Item(3))); let r = c(n &+ 3) &+ d(n); sum = sum &+ r" % (name, name), "closure #1 in Merged.%s(_:_:)" % name))
            total += 1
            continue
        if kind == "setter":
            (t, value), = arguments
            out.append("  %s var %s: %s { get { %s } @inline(never) set(p0) { %s } }" % (access, name, t, value.format(i="x"), "; ".join(lines)))
            calls.append((total, "let g = Group%d(); g.%s = %s; sum = sum &+ g.x" % (group, name, value.format(i="n")), "Merged.Group%d.%s.set" % (group, name)))
            total += 1
            continue
        out.append("  @inline(never) %s %sfunc %s(%s)%s -> %s { %s }" % (access, prefix, name, signature, " throws" if throws else "", result, "; ".join(lines)))
        values = ", ".join(v.format(i="(n &+ %d)" % k) for k, (_, v) in enumerate(arguments))
        target = {"free": "", "closure": "", "static": "Group%d." % group, "method": "Group%d()." % group, "object": "Group%d()." % group, "mutating": "g."}[kind]
        call = "%s%s(%s)" % (target, name, values)
        read = {"Int": "let r = {c}; sum = sum &+ r", "String": "let r = {c}; sum = sum &+ r.utf8.count", "Pair": "let r = {c}; sum = sum &+ r.b", "Void": "{c}"}[result]
        text = read.format(c=("try " if throws else "") + call)
        if throws:
            text = "do { %s } catch { sum = sum &* 5 &+ ((error as? Failure)?.code ?? -1) }" % text
        if kind == "mutating":
            text = "var g = Group%d(); %s; sum = sum &+ g.x" % (group, text)
        selector = "Merged." + ("" if kind == "free" else "Group%d." % group) + name + "(" + "_:" * len(arguments) + ")"
        calls.append((total, text, selector))
        total += 1
    if own:
        out.append("}")

# Several callers each, so that nothing is inlined into one of them.
for index, text, _ in calls:
    out.append("@inline(never) func call%d(_ n: Int) { %s }" % (index, text))
order = [pick.randrange(total) for _ in range(3 * total)]
out.append("@main struct Main { static func main() {\n  for n in 0..<3 {")
for at, index in enumerate(order):
    out.append("    call%d(n &+ %d)" % (index, at))
out.append("  }\n  for index in 0..<%d { print(index, counts[index]) }\n  print(\"sum\", sum)\n} }" % total)
print("\n".join(out).replace("LIMIT", str(total)))
for index, _, selector in calls:
    print("// selector %d %s" % (index, selector))
