#!/usr/bin/env python3
"""generate.py SEED COUNT DIRECTORY: random closure types, functions that take them in both forms, and a patch.

Module Random has for each type a function that takes the closure as itself (natural form), one that takes it in a
generic class (general form), and one that takes a closure of such a closure in a generic class (a Lua function becomes
a closure of the general form). The program calls each with a closure that prints what it is given. The patch wraps
every closure in a Lua function that prints the plain values and passes everything on, so the program prints the same
with and without it, and the patch what the program prints.
"""
import os, random
import sys

seed, count, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = random.Random(seed)

# Swift type: (makes a literal, how Lua shows it or None)
def integer(low, high):
    def make():
        n = rng.choice([low, high, rng.randint(low, high), 0])
        # Not a literal Swift can write when it is the least Int.
        return (f"({n} as {{}})", str(n))
    return make

def floating():
    n = rng.choice([0.5, -2.25, 1024.125, 3.0])
    return (f"({n} as {{}})", repr(n))

def text():
    s = rng.choice(["", "a", "fifteen bytes !", "longer than fifteen bytes, so on the heap", "é∆"])
    return (f'"{s}"', s)

def boolean():
    b = rng.choice(["true", "false"])
    return (b, b)

SCALARS = {
    "Int": integer(-2**63 + 1, 2**63 - 1), "Int8": integer(-128, 127), "Int16": integer(-2**15, 2**15 - 1),
    "Int32": integer(-2**31, 2**31 - 1), "UInt8": integer(0, 255), "UInt16": integer(0, 2**16 - 1), "UInt32": integer(0, 2**32 - 1),
    "UInt": integer(0, 2**63 - 1), "Bool": boolean, "Double": floating, "Float": floating, "String": text,
}
STRUCTS = {
    "Empty": "Empty()", "Small": "Small(a: 1, b: 2, c: 300)", "Mixed": 'Mixed(x: 1.5, s: "in a struct", n: 7)',
    "Floats": "Floats(a: 1, b: 2, c: 3)", "Large": 'Large(a: 1, b: 2.5, c: "large one", d: 4, e: 5)', "Choice": 'Choice.text("payload")',
    "Thing": 'Thing(9)', "AnyBox": 'AnyBox(any: 12)',
}

def type_and_value(depth=0):
    """Swift type, expression, what Lua's tostring shows (None: not compared)."""
    roll = rng.random()
    if roll < 0.55:
        name = rng.choice(list(SCALARS))
        expression, shown = SCALARS[name]()
        return name, expression.replace("{}", name), shown
    if roll < 0.64:
        return "Inner", '({ "inner \\($0)" } as Inner)', None
    if roll < 0.8:
        name = rng.choice(list(STRUCTS))
        return name, STRUCTS[name], None
    if roll < 0.9 or depth > 1:
        name, expression, shown = type_and_value(2)
        while name.endswith("?"):  # nil of a nested Optional says not which level
            name, expression, shown = type_and_value(2)
        if rng.random() < 0.3:
            return f"{name}?", f"(nil as {name}?)", "nil"
        return f"{name}?", f"({expression} as {name}?)", shown
    elements = [type_and_value(2) for _ in range(rng.randint(2, 3))]
    return "(" + ", ".join(e[0] for e in elements) + ")", "(" + ", ".join(e[1] for e in elements) + ")", None

module = ['''public struct Empty { public init() {} }
public struct Small { public var a: UInt8, b: Int8, c: Int32; public init(a: UInt8, b: Int8, c: Int32) { self.a = a; self.b = b; self.c = c } }
public struct Mixed { public var x: Double, s: String, n: Int16; public init(x: Double, s: String, n: Int16) { self.x = x; self.s = s; self.n = n } }
public struct Floats { public var a: Float, b: Float, c: Double; public init(a: Float, b: Float, c: Double) { self.a = a; self.b = b; self.c = c } }
public struct Large { public var a: Int, b: Double, c: String, d: Int, e: Int
  public init(a: Int, b: Double, c: String, d: Int, e: Int) { self.a = a; self.b = b; self.c = c; self.d = d; self.e = e } }
public struct AnyBox { public var any: Any; public init(any: Any) { self.any = any } }
public enum Choice { case none, number(Int), text(String) }
public final class Thing: CustomStringConvertible { public let n: Int; public init(_ n: Int) { self.n = n }; public var description: String { "Thing \\(n)" } }
public struct Failure: Error { public init() {} }
public enum Which: Error { case first, second }
public struct Numbered: Error { public var n: Int, text: String; public init(n: Int, text: String) { self.n = n; self.text = text } }
public struct Measured: Error { public var x: Double; public init(x: Double) { self.x = x } }
public struct Long: Error { public var a = 1, b = 2, c = 3, d = 4, e = "five"; public init() {} }
public final class Holder<T> { public var value: T; public init(_ value: T) { self.value = value } }
public typealias Inner = (Int) -> String
/// Calls closures, in whatever form they come.
public func shown(_ value: Any) -> String {
  switch value {
  case let f as Inner: f(7)
  case let f as Inner?: f.map { $0(8) } ?? "nil"
  default: "\\(value)"
  }
}
''']
program = ["import Random\nfunc show(_ values: Any...) { print(values.map(shown).joined(separator: \" | \")) }\n"]
patch = ['''local function shown(...)
  local parts = {}
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    parts[i] = type(v) == "userdata" and "?" or tostring(v)
  end
  return table.concat(parts, " | ")
end
local function wrap(name, f)
  return function(...)
    print(name .. " <- " .. shown(...))
    return f(...)
  end
end
''']
expected = []

for i in range(count):
    parameters = [type_and_value() for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4, 6, 8]))]
    result = type_and_value() if rng.random() < 0.8 else ("Void", "()", "")
    throws = rng.random() < 0.3
    fails = throws and rng.random() < 0.5
    owned = [rng.random() < 0.15 for _ in parameters]
    # Closures that are arguments themselves escape or not.
    borrows = [p[0] == "Inner" and rng.random() < 0.5 for p in parameters]
    owned = [o and p[0] != "Inner" for o, p in zip(owned, parameters)]
    spelled = ", ".join(("@escaping " if p[0] == "Inner" and not l else "") + ("consuming " if o else "") + p[0]
                        for o, l, p in zip(owned, borrows, parameters))
    error = rng.choice([None, "Failure()", "Which.second", 'Numbered(n: 4, text: "long enough to be on the heap")', "Measured(x: 2.5)", "Long()"])
    throwing = f"throws({error.split('(')[0].split('.')[0]}) " if error else "throws "
    closure = f"({spelled}) {throwing if throws else ''}-> {result[0]}"
    arguments = ", ".join(p[1] for p in parameters)
    call = f"try f({arguments})" if throws else f"f({arguments})"
    # Equal bodies would be merged, and hooks reach merged ones in part.
    def body(mark):
        return f'do {{ return "{mark} {i} \\(shown({call}))" }} catch {{ return "{mark} {i} threw \\(error)" }}' if throws else f'return "{mark} {i} \\(shown({call}))"'
    module.append(f"public typealias T{i} = {closure}\n")
    module.append(f"@inline(never) public func natural{i}(_ f: @escaping T{i}) -> String {{ {body('natural')} }}\n")
    module.append(f"@inline(never) public func borrowed{i}(_ f: T{i}) -> String {{ {body('borrowed')} }}\n")
    # What is called is a closure in a generic class; the patch calls it, then so does the body.
    module.append(f"@inline(never) public func general{i}(_ g: Holder<(@escaping T{i}) -> Void>, _ f: Holder<T{i}>) {{ g.value(f.value) }}\n")
    names = [f"a{k}" for k in range(len(parameters))]
    shows = "".join(f", {n}(7)" if l else f", {n}" for n, l in zip(names, borrows))
    copies = "".join(f"let {n} = {n}; " for n, o in zip(names, owned) if o)
    outcome = f"throw {error or 'Failure()'}" if fails else ("return " + result[1] if result[0] != "Void" else "return")
    head = ", ".join(names) + " in" if names else ""
    if throws and error:
        head = f"({', '.join(names)}) {throwing}in"
    program.append(f"let c{i}: T{i} = {{ {head} {copies}show(\"body {i}\"{shows}); {outcome} }}\n")
    program.append(f'print(natural{i}(c{i}))\nprint(borrowed{i}(c{i}))\n')
    use = f'print("general {i}", shown({call}))'
    if throws:
        use = f'do {{ {use} }} catch {{ print("general {i} threw", error) }}'
    program.append(f"general{i}(Holder({{ f in {use} }}), Holder(c{i}))\n")
    patch.append(f'method("Random.natural{i}(_:)"):before(function(call, f) call.args[1] = wrap("natural{i}", f) end)\n')
    patch.append(f'method("Random.borrowed{i}(_:)"):before(function(call, f) call.args[1] = wrap("borrowed{i}", f) end)\n')
    # The closure of the general form goes to Lua, and a Lua function of the general form goes back.
    patch.append(f'method("Random.general{i}(_:_:)"):around(function(call, g, f) '
                 f'g.value(swift.closure(wrap("general{i}", f.value), {{ original = f.value }})) end)\n')
    line = " | ".join("?" if p[2] is None else p[2] for p in parameters)
    expected.append(f"natural{i} <- {line}\n")
    expected.append(f"borrowed{i} <- {line}\n")
    expected.append(f"general{i} <- {line}\n")

open(f"{directory}/Random.swift", "w").write("".join(module))
open(f"{directory}/random.swift", "w").write("".join(program))
# Few hooks to a file: each has to load within a second, on a busy machine too.
os.makedirs(f"{directory}/patch", exist_ok=True)
for part, start in enumerate(range(1, len(patch), 30)):
    open(f"{directory}/patch/part{part}.lua", "w").write(patch[0] + "".join(patch[start:start + 30]))
open(f"{directory}/expected", "w").write("".join(expected))
