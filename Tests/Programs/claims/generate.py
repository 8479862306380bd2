"""Random programs that count their own calls: a library and a program, each function of which calls mark(N) once.

program(random) answers the sources, {file: text}, and {N: (type or "", name)}: what a selector of the function holds.
"""

COUNTER = """
nonisolated(unsafe) public var counts = [Int](repeating: 0, count: 1000)
@inline(never) public func mark(_ n: Int) { counts[n] += 1 }
@inline(never) public func tell() { for (n, count) in counts.enumerated() where count > 0 { print("#", n, count) } }
"""
INLINES = ["", "", "", "", "@inline(never) ", "@inline(__always) "]
BODIES = ["return n &+ {k}", "return n &* {k} &+ n", "var s = n; for i in 0..<({k} & 3) {{ s &+= i ^ n }}; return s", "return n > {k} ? n &- 1 : n &+ 2",
          "return [n, {k}].reduce(0, &+)", "return \"\\(n)\".utf8.count &+ {k}"]


class Module:
    def __init__(self, random, name, names, isLibrary):
        self.random, self.name, self.names, self.isLibrary = random, name, names, isLibrary
        self.lines, self.calls = [], []

    def new(self, owner, prefix="fn"):
        """A number for a function, and its name."""
        n = len(self.names) + 1
        name = prefix + str(n)
        self.names[n] = (owner, name)
        return n, name

    def body(self, n):
        # Few constants: equal code is merged.
        return "mark(%d); " % n + self.random.choice(BODIES).format(k=self.random.choice([1, 2, 7]))

    def access(self):
        return self.random.choice(["public ", "public ", ""]) if self.isLibrary else self.random.choice(["", "", "public "])

    def call(self, text, isPublic=True):
        """Called from this module's own loop, and from the program where it can be."""
        self.calls.append((text, isPublic))

    def free(self):
        n, name = self.new("")
        access = self.access()
        head = self.random.choice(INLINES)
        if access and self.isLibrary and self.random.random() < 0.15: head = "@inlinable " + head.replace("@inline(never) ", "")
        self.lines.append(f"{head}{access}func {name}(_ n: Int) -> Int {{ {self.body(n)} }}")
        self.call(f"{name}(x)", bool(access))

    def generic(self):
        n, name = self.new("")
        access = self.access()
        self.lines.append(f"{self.random.choice(INLINES)}{access}func {name}<T: BinaryInteger>(_ a: T) -> Int {{ let n = Int(a); {self.body(n)} }}")
        for type in self.random.sample(["Int", "UInt8", "Int32"], self.random.randint(1, 3)): self.call(f"{name}({type}(x & 15))", bool(access))

    def structure(self):
        owner = "S%d" % (len(self.names) + 1)
        n, name = self.new(owner)
        m, static = self.new(owner)
        g, getter = self.new(owner)
        i = self.random.choice
        self.lines.append(f"""public struct {owner} {{ public var n: Int; public init(n: Int) {{ self.n = n }}
  {i(INLINES)}public func {name}(_ x: Int) -> Int {{ let n = n &+ x; {self.body(n)} }}
  {i(INLINES)}public static func {static}(_ n: Int) -> Int {{ {self.body(m)} }}
  {i(["", "@inline(never) "])}public var {getter}: Int {{ {self.body(g)} }}
}}""".replace(f"mark({n}); ", f"mark({n}); "))
        for text in (f"{owner}(n: x).{name}(1)", f"{owner}.{static}(x)", f"{owner}(n: x).{getter}"): self.call(text)

    def classes(self):
        base, heir = "B%d" % (len(self.names) + 1), "H%d" % (len(self.names) + 1)
        n, name = self.new(base)
        m = len(self.names) + 1
        self.names[m] = (heir, name)
        d, _ = self.new(base)
        self.names[d] = (base, "deinit")
        final = self.random.choice(["final ", ""])
        self.lines.append(f"""open class {base} {{ let k: Int; public init(_ k: Int) {{ self.k = k }}
  {self.random.choice(INLINES[:5])}open func {name}(_ n: Int) -> Int {{ {self.body(n)} }}
  deinit {{ mark({d}) }} }}
public {final}class {heir}: {base} {{ {self.random.choice(INLINES[:5])}public override func {name}(_ n: Int) -> Int {{ {self.body(m)} }} }}
@inline(never) public func make{n}(_ x: Int) -> {base} {{ x & 1 == 0 ? {base}(x) : {heir}(x) }}""")
        self.call(f"make{n}(x).{name}(x)")

    def requirement(self):
        protocol, first, second = ("%s%d" % (c, len(self.names) + 1) for c in "PXY")
        n = len(self.names) + 1
        name = "fn%d" % n
        self.names[n] = (first, name)
        m = len(self.names) + 1
        self.names[m] = (second, name)
        d, default = self.new(protocol)
        self.lines.append(f"""public protocol {protocol} {{ func {name}(_ n: Int) -> Int; func {default}(_ n: Int) -> Int }}
extension {protocol} {{ {self.random.choice(INLINES[:5])}public func {default}(_ n: Int) -> Int {{ {self.body(d)} }} }}
public struct {first}: {protocol} {{ public init() {{}}; {self.random.choice(INLINES[:5])}public func {name}(_ n: Int) -> Int {{ {self.body(n)} }} }}
public final class {second}: {protocol} {{ public init() {{}}; {self.random.choice(INLINES[:5])}public func {name}(_ n: Int) -> Int {{ {self.body(m)} }} }}
@inline(never) public func any{n}(_ x: Int) -> any {protocol} {{ x & 1 == 0 ? {first}() : {second}() }}
@inline(never) public func use{n}<T: {protocol}>(_ t: T, _ n: Int) -> Int {{ t.{name}(n) &+ t.{default}(n) }}""")
        for text in (f"any{n}(x).{name}(x)", f"any{n}(x).{default}(x)", f"use{n}({first}(), x)", f"{second}().{name}(x)"): self.call(text)

    def throwing(self):
        n, name = self.new("")
        access = self.access()
        self.lines.append(f"struct E{n}: Error {{}}\n{self.random.choice(INLINES)}{access}func {name}(_ n: Int) throws -> Int {{ mark({n}); if n & 3 == 3 {{ throw E{n}() }}; return n }}")
        self.call(f"((try? {name}(x)) ?? 0)", bool(access))

    def closure(self):
        n, name = self.new("")
        access = self.access()
        self.lines.append(f"{self.random.choice(INLINES)}{access}func {name}(_ n: Int, _ f: (Int) -> Int) -> Int {{ mark({n}); return f(n) &+ f(n &+ 1) }}")
        self.call(f"{name}(x) {{ $0 &* 3 }}", bool(access))

    def make(self, functions):
        first = len(self.names)
        while len(self.names) - first < functions:
            self.random.choice([self.free, self.free, self.generic, self.structure, self.classes, self.requirement, self.throwing, self.closure])()


def program(random):
    names = {}
    library, main = Module(random, "Lib", names, True), Module(random, "Case", names, False)
    library.make(10)
    main.make(10)
    inside = "\n".join(f"  s &+= {text}" for text, _ in library.calls)
    library.lines.append(f"@inline(never) public func drive(_ x: Int) -> Int {{ var s = 0\n{inside}\n  return s }}")
    calls = [text for text, _ in main.calls] + [text for text, isPublic in library.calls if isPublic]
    random.shuffle(calls)
    half = len(main.lines) // 2
    body = "\n".join(f"    s &+= {text}" for text in calls)
    start = f"@main struct Main {{ static func main() {{\n  var s = 0\n  for x in 0..<CommandLine.arguments.count + 4 {{ s &+= drive(x)\n{body}\n  }}\n  tell(); print(s) }} }}"
    return {"Counter.swift": COUNTER, "Lib.swift": "import Counter\n" + "\n".join(library.lines),
            "other.swift": "import Counter\nimport Lib\n" + "\n".join(main.lines[:half]),
            "Case.swift": "import Counter\nimport Lib\n" + "\n".join(main.lines[half:] + [start])}, names
