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
        self.lines, self.calls, self.awaited = [], [], []
        # What those have who import the module: declarations, and calls.
        self.abroad, self.callsAbroad = [], []

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
        base, subclass = "B%d" % (len(self.names) + 1), "H%d" % (len(self.names) + 1)
        n, name = self.new(base)
        m = len(self.names) + 1
        self.names[m] = (subclass, name)
        d, _ = self.new(base)
        self.names[d] = (base, "deinit")
        final = self.random.choice(["final ", ""])
        self.lines.append(f"""open class {base} {{ let k: Int; public init(_ k: Int) {{ self.k = k }}
  {self.random.choice(INLINES[:5])}open func {name}(_ n: Int) -> Int {{ {self.body(n)} }}
  deinit {{ mark({d}) }} }}
public {final}class {subclass}: {base} {{ {self.random.choice(INLINES[:5])}public override func {name}(_ n: Int) -> Int {{ {self.body(m)} }} }}
@inline(never) public func make{n}(_ x: Int) -> {base} {{ x & 1 == 0 ? {base}(x) : {subclass}(x) }}""")
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

    def alikeWitnesses(self):
        """Types of one layout whose witnesses differ in the function they go on to alone, which the compiler merges."""
        at = len(self.names) + 1
        protocol, source = f"P{at}", f"Q{at}"
        types = [f"{letter}{at}" for letter in "UVW"[:self.random.randint(2, 3)]]
        fields = self.random.choice(["var a: [Int]; var b: Int; var c: Bool", "var a: String; var b: Int", "var a: [Int]; var b: [Int]"])
        isText, isList = "String" in fields, fields.count("[Int]") == 2
        self.lines.append(f"""public protocol {source} {{ var next: Int {{ get }} }}
public struct {source}Plain: {source} {{ public let next: Int; public init(_ n: Int) {{ next = n }} }}
public protocol {protocol} {{ init(from s: any {source}) throws; func size(_ n: Int) -> [Int] }}
public struct {protocol}Error: Error {{}}""")
        for k, each in enumerate(types):
            n = len(self.names) + 1
            self.names[n] = (each, "init")
            m = len(self.names) + 1
            self.names[m] = (each, "size")
            a = f'"{k} \\(n)"' if isText else f"(0..<(n & {k + 1})).map {{ $0 &* {k + 3} }}"
            rest = f"b = (0..<(n & {k + 3})).map {{ $0 &+ {k} }}" if isList else f"b = n &+ {k + 5}"
            if "Bool" in fields: rest += f"; c = n & {k + 1} == 0"
            self.lines.append(f"""public struct {each}: {protocol} {{ {fields}
  {self.random.choice(INLINES[:5])}public init(from s: any {source}) throws {{ let n = s.next; mark({n}); if n > 1000 {{ throw {protocol}Error() }}; a = {a}; {rest} }}
  {self.random.choice(INLINES[:5])}public func size(_ n: Int) -> [Int] {{ mark({m}); return (0..<(n & {k + 3})).map {{ $0 &* {k + 7} &+ n }} }} }}""")
        all = ", ".join(f"{each}.self" for each in types)
        self.lines.append(f"""nonisolated(unsafe) public var types{at}: [any {protocol}.Type] = [{all}]
@inline(never) public func read{at}(_ s: any {source}) -> Int {{ var sum = 0; for type in types{at} {{ if let made = try? type.init(from: s) {{ sum &+= made.size(sum & 7).count }} }}; return sum }}""")
        self.call(f"read{at}({source}Plain(x & 15))")

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

    def opaque(self):
        n, name = self.new("")
        access = self.access()
        self.lines.append(f"{self.random.choice(INLINES)}{access}func {name}(_ n: Int) -> some BinaryInteger {{ mark({n}); func f() -> Int {{ return n &* 3 &+ 7 }}; return f() }}")
        self.call(f"Int({name}(x))", bool(access))

    def pack(self):
        n, name = self.new("")
        access = self.access()
        self.lines.append(f"{self.random.choice(INLINES[:5])}{access}func {name}<each T: BinaryInteger>(_ t: repeat each T) -> Int {{ mark({n}); var s = 0; for v in repeat each t {{ s &+= Int(v) }}; return s }}")
        for text in (f"{name}(x)", f"{name}(x, UInt8(x & 7), Int16(x))"): self.call(text, bool(access))

    def selfResult(self):
        base, subclass = "B%d" % (len(self.names) + 1), "H%d" % (len(self.names) + 1)
        n, name = self.new(base)
        m, static = self.new(base)
        self.lines.append(f"""open class {base} {{ var k: Int; public required init(k: Int) {{ self.k = k }}
  {self.random.choice(INLINES[:5])}public func {name}(_ n: Int) -> Self {{ mark({n}); k &+= n; return self }}
  {self.random.choice(INLINES[:5])}public class func {static}(_ n: Int) -> Self {{ mark({m}); return Self(k: n) }}
  @inline(never) public var value: Int {{ k }} }}
public final class {subclass}: {base} {{}}""")
        for text in (f"{base}(k: x).{name}(1).value", f"{subclass}(k: x).{name}(2).value", f"{subclass}.{static}(x).value"): self.call(text)

    def initialisers(self):
        """What a subclass's initialiser calls by super.init, designated and convenience."""
        base, subclass = "B%d" % (len(self.names) + 1), "H%d" % (len(self.names) + 1)
        n = len(self.names) + 1
        self.names[n] = (base, "init")
        self.lines.append(f"""open class {base} {{ public var k: Int
  {self.random.choice(INLINES[:5])}public init(_ n: Int) {{ k = n; mark({n}) }} }}
public final class {subclass}: {base} {{ let more: Int; {self.random.choice(INLINES[:5])}public override init(_ n: Int) {{ more = n & 3; super.init(n &+ 1) }} }}""")
        for text in (f"{base}(x).k", f"{subclass}(x).k"): self.call(text)

    def noncopyable(self):
        owner = "N%d" % (len(self.names) + 1)
        n, name = self.new(owner)
        m, consumer = self.new(owner)
        self.lines.append(f"""public struct {owner}<T>: ~Copyable {{ public var v: T; public let k: Int; public init(_ v: T, _ k: Int) {{ self.v = v; self.k = k }}
  {self.random.choice(INLINES)}public func {name}(_ x: Int) -> Int {{ let n = k &+ x; {self.body(n)} }}
  {self.random.choice(INLINES)}public consuming func {consumer}() -> Int {{ let n = k; {self.body(m)} }}
  deinit {{ if k == -5 {{ mark(0) }} }} }}""")
        for text in (f"{owner}(x, x).{name}(1)", f"{owner}(\"a\", x).{consumer}()"): self.call(text)

    def constrained(self):
        owner = "C%d" % (len(self.names) + 1)
        n, name = self.new(owner)
        m, other = self.new(owner)
        i = self.random.choice
        self.lines.append(f"""public struct {owner}<T> {{ public var v: T; public init(_ v: T) {{ self.v = v }} }}
extension {owner} where T == Int {{ {i(INLINES)}public func {name}() -> Int {{ let n = v; {self.body(n)} }} }}
extension {owner} where T: BinaryInteger {{ {i(INLINES)}public func {other}() -> Int {{ let n = Int(v); {self.body(m)} }} }}""")
        for text in (f"{owner}(x).{name}()", f"{owner}(x).{other}()", f"{owner}(UInt16(x & 255)).{other}()"): self.call(text)

    def typedThrowing(self):
        n, name = self.new("")
        access = self.access()
        self.lines.append(f"public enum F{n}: Error {{ case low(Int) }}\n{self.random.choice(INLINES)}{access}func {name}(_ n: Int) throws(F{n}) -> Int {{ mark({n}); if n & 3 == 3 {{ throw .low(n) }}; return n }}")
        self.call(f"((try? {name}(x)) ?? 0)", bool(access))

    def asynchronous(self):
        n, name = self.new("")
        access = self.access()
        wait = self.random.choice(["await Task.yield(); ", ""])
        self.lines.append(f"{self.random.choice(INLINES)}{access}func {name}(_ n: Int) async -> Int {{ {wait}{self.body(n)} }}")
        self.awaited.append((f"await {name}(x)", bool(access)))

    def asyncRequirement(self):
        protocol, first, second = ("%s%d" % (c, len(self.names) + 1) for c in "PXY")
        n = len(self.names) + 1
        name = "fn%d" % n
        self.names[n] = (first, name)
        m = len(self.names) + 1
        self.names[m] = (second, name)
        g, getter = self.new(second)
        i = self.random.choice
        # What carries the requirement out is async itself, or is not.
        self.lines.append(f"""public protocol {protocol} {{ func {name}(_ n: Int) async -> Int; var {getter}: Int {{ get async }} }}
public struct {first}: {protocol} {{ public init() {{}}; public var {getter}: Int {{ 1 }}; {i(INLINES[:5])}public func {name}(_ n: Int) async -> Int {{ {self.body(n)} }} }}
public final class {second}: {protocol} {{ public init() {{}}; {i(INLINES[:5])}public var {getter}: Int {{ let n = 3; {self.body(g)} }}; {i(INLINES[:5])}public func {name}(_ n: Int) -> Int {{ {self.body(m)} }} }}
@inline(never) public func any{n}(_ x: Int) -> any {protocol} {{ x & 1 == 0 ? {first}() : {second}() }}""")
        for text in (f"await any{n}(x).{name}(x)", f"await any{n}(1).{getter}", f"await {first}().{name}(x)", f"{second}().{name}(x)"): self.awaited.append((text, True))

    def specialised(self):
        """What chooses one of its own specialisations when it is entered."""
        n, name = self.new("")
        access = self.access()
        self.lines.append(f"@_specialize(where T == Int)\n@_specialize(where T == UInt8)\n{self.random.choice(['', '@inline(never) '])}{access}func {name}<T: BinaryInteger>(_ a: T) -> Int {{ let n = Int(a); {self.body(n)} }}")
        for type in ("Int", "UInt8", "Int32"): self.call(f"{name}({type}(x & 15))", bool(access))

    def existentials(self):
        """Functions of an existential that differ in a number alone, for which one body with that number as an argument is left."""
        protocol = "P%d" % (len(self.names) + 1)
        self.lines.append(f"public protocol {protocol} {{ var value: Int {{ get }} }}\npublic struct V{protocol}: {protocol} {{ public var value: Int; public init(_ n: Int) {{ value = n }} }}")
        constant = self.random.choice([1, 2, 7])
        for _ in range(3):
            n, name = self.new("")
            access = self.access()
            self.lines.append(f"@inline(never) {access}func {name}(_ p: any {protocol}, _ n: Int) -> Int {{ mark({n}); let s = p.value &* {constant}; return s > n ? s &- n : p.value &+ n }}")
            self.call(f"{name}(V{protocol}(x), x)", bool(access))

    def equal(self):
        """Unrelated classes whose initialisers, methods and setters have equal code, of which one is left. Callers count: what counts itself is not equal."""
        k = len(self.names) + 1
        final, is_inherited = self.random.choice(["final ", "", ""]), self.random.random() < 0.6
        if is_inherited: final = ""
        for owner in ("E%da" % k, "E%db" % k, "E%dc" % k)[:self.random.randint(2, 3)]:
            i = len(self.names) + 1
            self.names[i] = (owner, "init")
            m, name = self.new(owner)
            s, property = self.new(owner)
            self.names[s] = (owner, property + ".set")
            self.lines.append(f"""public {final}class {owner} {{ public var k: Int; @inline(never) public init(_ n: Int) {{ k = n &+ 1 }}
  @inline(never) public {"final " if not final else ""}func {name}(_ n: Int) {{ k = k &* 3 &+ n }}
  public {"final " if not final else ""}var {property}: Int {{ get {{ k }} @inline(never) set {{ k = newValue ^ k }} }} }}
@inline(never) public func use{i}(_ x: Int) -> Int {{ mark({i}); let o = {owner}(x); mark({m}); o.{name}(x); mark({s}); o.{property} = x; return o.k }}""")
            self.call(f"use{i}(x)")
            if is_inherited:
                h = len(self.names) + 1
                self.names[h] = ("H" + owner, "init")
                self.lines.append(f"""public final class H{owner}: {owner} {{ @inline(never) public override init(_ n: Int) {{ super.init(n) }} }}
@inline(never) public func use{h}(_ x: Int) -> Int {{ mark({h}); mark({i}); return H{owner}(x).k }}""")
                self.call(f"use{h}(x)")

    def recursive(self):
        """What ends with calls of itself, of which the optimiser makes a loop."""
        n, name = self.new("")
        access, inline, i = self.access(), self.random.choice(INLINES[:5]), self.random.choice
        end = i(["x", "x &* 3", "mixed(x)"])
        shapes = [("_ x: Int, _ k: Int", "Int", f"k <= 0 ? {end} : {name}(x &+ 1, k - 1)", f"{name}(x, x)"),
                  ("_ k: Int", "Int", f"k < 2 ? 1 : k {i(['&*', '&+', '|', '^'])} {name}(k &- 1)", f"{name}(x)"),
                  ("_ x: Int, _ k: Int", "Bool", f"x == k ? true : k > 9 ? false : {name}(x, k + {i([1, 2])})", f"({name}(x, 2) ? 1 : 0)"),
                  ("_ x: Double, _ k: UInt8", "Double", f"k == 0 ? x : {name}(x / 2, k - 1)", f"Int({name}(Double(x), UInt8(x & 7)))"),
                  ("_ a: [Int], _ k: Int", "Int", f"k >= a.count ? 0 : a[k] &+ {name}(a, k + 1)", f"{name}([x, 2, 3], 0)"),
                  ("_ k: Int, _ f: (Int) -> Int", "Int", f"f(k) < 0 || k <= 0 ? k : {name}(k - 1, f)", f"{name}(x) {{ $0 &* 2 }}"),
                  ("_ k: Int", "Int", f"k <= 0 ? 1 : {name}(k - 1) &+ {name}(k - 2)", f"{name}(x & 3)"),
                  ("_ x: Int, _ k: Int", "Int", f"k <= 0 ? x : k & 1 == 0 ? {name}(x &* 3, k / 2) : {name}(x &+ 1, k - 1)", f"{name}(1, x)")]
        parameters, result, value, call = i(shapes)
        if "mixed" in value and not any("func mixed" in line for line in self.lines): self.lines.append("@inline(never) func mixed(_ n: Int) -> Int { n &* 7 ^ 5 }")
        self.lines.append(f"{inline}{access}func {name}({parameters}) -> {result} {{ mark({n}); return {value} }}")
        self.call(call, bool(access))

    def recursiveMembers(self):
        """Members that end with calls of themselves, on their own object or another."""
        owner, list = "R%d" % (len(self.names) + 1), "O%d" % (len(self.names) + 1)
        n, name = self.new(owner)
        m, static = self.new(owner)
        g, getter = self.new(owner)
        h, holds = self.new(list)
        i = self.random.choice
        self.lines.append(f"""public struct {owner} {{ public var n: Int; public init(n: Int) {{ self.n = n }}
  {i(INLINES[:5])}public func {name}(_ k: Int) -> Int {{ mark({n}); return k <= 0 ? n : {owner}(n: n &+ 1).{name}(k - 1) }}
  {i(INLINES[:5])}public static func {static}(_ k: Int) {{ mark({m}); if k > 0 {{ {static}(k - 1) }} }}
  {i(["", "@inline(never) "])}public var {getter}: Int {{ mark({g}); return n <= 0 ? 7 : {owner}(n: n - 1).{getter} }}
}}
public final class {list} {{ let next: {list}?, k: Int; public init(_ next: {list}?, _ k: Int) {{ self.next = next; self.k = k }}
  {i(INLINES[:5])}public func {holds}(_ x: Int) -> Bool {{ mark({h}); return k == x ? true : next?.{holds}(x) ?? false }} }}""")
        for text in (f"{owner}(n: 2).{name}(x)", f"{{ {owner}.{static}(x); return 0 }}()", f"{owner}(n: x).{getter}",
                     f"({list}({list}({list}(nil, 3), 2), 1).{holds}(x) ? 1 : 0)"): self.call(text)

    def isolatedDeinits(self):
        """Objects whose deinits the runtime hands to an executor."""
        window, button, store = ("%s%d" % (c, len(self.names) + 1) for c in "WUA")
        numbers = []
        for owner in (window, button, store):
            numbers.append(self.new(owner)[0])
            self.names[numbers[-1]] = (owner, "deinit")
        w, b, a = numbers
        k = self.random.choice([1, 2, 7])
        self.lines.append(f"""@MainActor open class {window} {{ var k: Int; public init(_ k: Int) {{ self.k = k }}; isolated deinit {{ mark({w}); k = {k} }} }}
@MainActor public final class {button}: {window} {{ isolated deinit {{ mark({b}) }} }}
public actor {store} {{ var k: Int; public init(_ k: Int) {{ self.k = k }}; isolated deinit {{ mark({a}); k &+= {k} }} }}
{self.random.choice(INLINES[:5])}public func end{w}(_ x: Int) async -> Int {{
  do {{ let o = x & 1 == 0 ? await {window}(x) : await {button}(x); _ = consume o }}
  // What was handed to the main actor before is over then.
  await MainActor.run {{}}
  do {{ let o = {store}(x); _ = consume o }}
  await MainActor.run {{}}
  return x }}""")
        self.awaited.append((f"await end{w}(x)", True))

    def emittedIntoClients(self):
        """Defaults that each client has a copy of: LLVM may fold equal ones of them into code without a name alone. The library's."""
        if not self.isLibrary: return self.recursive()
        protocol, plain, own = ("%s%d" % (c, len(self.names) + 1) for c in "PXY")
        n, name = self.new(protocol)
        m, longer = self.new(protocol)
        self.lines.append(f"""public protocol {protocol} {{ func {name}(_ n: Int) -> Int }}
extension {protocol} {{ @inlinable @inline(never) public func {name}(_ n: Int) -> Int {{ {self.body(n)} }}
  @_alwaysEmitIntoClient @inline(never) public func {longer}(_ n: Int) -> Int {{ mark({m}); return {name}(n) &+ 1 }} }}
public struct {plain}: {protocol} {{ public init() {{}} }}""")
        self.abroad.append(f"struct {own}: {protocol} {{}}")
        for text in (f"{plain}().{longer}(x)", f"({plain}() as any {protocol}).{name}(x)"): self.call(text)
        for text in (f"{own}().{longer}(x)", f"({own}() as any {protocol}).{longer}(x)"): self.callsAbroad.append(text)

    def make(self, functions):
        first = len(self.names)
        while len(self.names) - first < functions:
            self.random.choice([self.free, self.free, self.generic, self.structure, self.classes, self.requirement, self.throwing, self.closure, self.opaque,
                                self.pack, self.selfResult, self.initialisers, self.noncopyable, self.constrained, self.typedThrowing, self.asynchronous, self.asyncRequirement,
                                self.specialised, self.existentials, self.equal, self.equal, self.recursive, self.recursive, self.recursiveMembers, self.isolatedDeinits,
                                self.emittedIntoClients, self.alikeWitnesses, self.alikeWitnesses])()


def program(random):
    names = {}
    library, main = Module(random, "Lib", names, True), Module(random, "Case", names, False)
    library.make(10)
    main.make(10)
    inside = "\n".join(f"  s &+= {text}" for text, _ in library.calls)
    library.lines.append(f"@inline(never) public func drive(_ x: Int) -> Int {{ var s = 0\n{inside}\n  return s }}")
    waits = "\n".join(f"  s &+= {text}" for text, _ in library.awaited)
    library.lines.append(f"@inline(never) public func driveAsync(_ x: Int) async -> Int {{ var s = 0\n{waits}\n  return s }}")
    calls = [text for text, _ in main.calls] + [text for text, isPublic in library.calls if isPublic] + library.callsAbroad
    main.lines = library.abroad + main.lines
    calls += [text for text, _ in main.awaited] + [text for text, isPublic in library.awaited if isPublic]
    random.shuffle(calls)
    half = len(main.lines) // 2
    body = "\n".join(f"    s &+= {text}" for text in calls)
    start = f"@main struct Main {{ static func main() async {{\n  var s = 0\n  for x in 0..<CommandLine.arguments.count + 4 {{ s &+= drive(x); s &+= await driveAsync(x)\n{body}\n  }}\n  tell(); print(s) }} }}"
    return {"Counter.swift": COUNTER, "Lib.swift": "import Counter\n" + "\n".join(library.lines),
            "other.swift": "import Counter\nimport Lib\n" + "\n".join(main.lines[:half]),
            "Case.swift": "import Counter\nimport Lib\n" + "\n".join(main.lines[half:] + [start])}, names
