#!/usr/bin/env python3
# generate.py SOURCE EXPECTED: a module of async functions of every isolation, and what a trace shows of their arguments.
#
# Which of them take their callers' actors is in no name; the program passes every function arguments that are known here.
# A function reads all of its arguments, the first, the last or none, waits or does not.
import itertools
import sys

SHAPES = [
    [("Int", "7")],
    [("String", '"a text of some length"')],
    [("Int", "1"), ("String", '"short"')],
    [("String", '"one"'), ("Int", "2"), ("Double", "2.5")],
    [("Pair", "Pair(a: 3, b: 4)"), ("Int", "5")],
    [("Int", str(n)) for n in range(11, 18)],
    [("String", '"x"'), ("String", '"y"'), ("Int", "1"), ("String", '"z"')],
]
KINDS = {
    "plain": "", "sending": "nonisolated(nonsending) ", "apart": "@concurrent ", "main": "@MainActor ",
}
WAITS = {"after": "{0}; await Task.yield()", "before": "await Task.yield(); {0}", "never": "{0}"}
READS = ["all", "first", "last", "none"]


def use(count, reads):
    chosen = {"all": range(count), "first": [0], "last": [count - 1], "none": []}[reads]
    return "; ".join("sink(a%d)" % i for i in chosen) or "sink(0)"


def main(source, expected):
    functions, calls, told = [], [], []
    number = 0
    for (kind, spelling), (wait, body), reads, shape in itertools.product(KINDS.items(), WAITS.items(), READS, SHAPES):
        number += 1
        # A third of all that there can be, of every kind with every shape.
        if number % 3 or reads in ("first", "last") and len(shape) == 1:
            continue
        parameters = ", ".join("_ a%d: %s" % (i, t) for i, (t, _) in enumerate(shape))
        text = body.format(use(len(shape), reads))
        where, receiver = [("free", ""), ("K", "k."), ("A", "a."), ("P", "p."), ("G", "g.")][number % 5]
        if where == "A" and kind == "main":
            where, receiver = "free", ""
        if where == "A":
            spelling = {"plain": "", "sending": spelling, "apart": "@concurrent nonisolated "}[kind]
        functions.append((where, "  @inline(never) %spublic func f%d(%s) async { %s }" % (spelling, number, parameters, text)))
        calls.append("await %sf%d(%s)" % (receiver, number, ", ".join(v for _, v in shape)))
        told.append("f%d(%s)" % (number, ", ".join(v for _, v in shape)))
    # Generic ones, which ask for metadata of types that they make of theirs: accessors of that pass on registers that nobody has set.
    for (kind, spelling), (wait, body), shape in itertools.product(KINDS.items(), WAITS.items(), SHAPES):
        number += 1
        if kind == "main" or number % 2:
            continue
        parameters = ", ".join("_ a%d: %s" % (i, "T" if i == 0 else t) for i, (t, _) in enumerate(shape))
        text = body.format("sink(pack(a0).size())")
        functions.append(("free", "  @inline(never) %spublic func f%d<T: Sendable>(%s) async { %s }" % (spelling, number, parameters, text)))
        calls.append("await f%d(%s)" % (number, ", ".join(v for _, v in shape)))
        told.append("f%d(%s)" % (number, ", ".join(v for _, v in shape)))
    with open(source, "w") as out:
        print("public struct Bag<T: Sendable>: Sendable { var item: T; @inline(never) func size() -> Int { MemoryLayout<T>.size } }", file=out)
        print("@inline(never) func pack<T: Sendable>(_ item: T) -> Bag<T> { Bag(item: item) }", file=out)
        print("public struct Pair: Sendable { var a, b: Int }", file=out)
        print("@inline(never) @_optimize(none) func sink<T>(_ value: T) { if CommandLine.arguments.count > 5 { print(value) } }", file=out)
        for where, head in [("K", "public final class K: Sendable"), ("A", "public actor A"), ("P", "extension Q"), ("G", "public final class G<T: Sendable>: Sendable")]:
            print(head + " {\n" + ("  init() {}\n" if where in "KG" else "") + "\n".join(t for w, t in functions if w == where) + "\n}", file=out)
        print("public protocol Q: Sendable {}\nextension K: Q {}", file=out)
        print("\n".join(t for w, t in functions if w == "free"), file=out)
        print("@main struct Main { static func main() async {\n  let k = K(), a = A(), g = G<Int>(); let p: any Q = k", file=out)
        print("  " + "\n  ".join(calls) + '\n  print("end")\n} }', file=out)
    with open(expected, "w") as out:
        print("\n".join(told), file=out)


main(*sys.argv[1:])
