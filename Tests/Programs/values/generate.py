#!/usr/bin/env python3
"""Writes a random Swift module, a program that calls it, patches, and what all of them must print.

    generate.py SEED COUNT DIRECTORY

Subject.swift declares COUNT functions of every kind over random types, Types.swift the types, main.swift calls them.
A callee prints what it received, the caller what it got back; values are literals, so every line is known here.
Each MODE.lua is a patch, MODE.expected what the program prints under it, and MODE.said what the patch prints itself.
"""
import random, re, struct, sys, os

INTS = {"Int": 64, "Int8": 8, "Int16": 16, "Int32": 32, "Int64": 64,
        "UInt": -64, "UInt8": -8, "UInt16": -16, "UInt32": -32, "UInt64": -64}


class Value:
    """swift: an expression; text: how Kit shows it; lua: an expression, None where scripts cannot make it;
    said: what the patch prints for it; trace: how a trace shows it (None: not compared)."""
    def __init__(self, swift, text, lua=None, said=None, trace=None):
        self.swift, self.text, self.lua, self.said, self.trace = swift, text, lua, said, trace


class Type:
    def __init__(self, swift, make, kind=None, show=None, depth=0):
        self.swift, self.make, self.kind, self.depth = swift, make, kind, depth
        self.show = show or (lambda e: f"{e}.sh")


def lua_string(data):
    return '"' + "".join("\\%03d" % b for b in data) + '"'


def trace_string(text):
    shown = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + "".join("\\u{%x}" % ord(c) if ord(c) < 32 or ord(c) == 127 else c for c in shown) + '"'


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.types = []        # declarations for Types.swift
        self.objects = 100
        self.scalars = [self.integer(n) for n in INTS] + [self.double(), self.float(), self.bool()]
        self.string = Type("String", self.make_string, "s")
        self.base = self.scalars + [self.string] * 3
        self.optionals = [self.optional(t) for t in self.scalars + [self.string]]
        self.object = Type("C", self.make_object, "c")
        self.final = Type("D", lambda: self.make_object("D"), "c")
        self.decodable = self.base + self.optionals + [self.object] * 3 + [self.final, self.optional(self.object)] * 2
        self.opaque = self.fixed_opaque()
        self.aggregates = []
        for i in range(18): self.aggregates.append(self.structure(i))
        for i in range(14): self.aggregates.append(self.enumeration(i))
        self.aggregates += [self.optional(t, decodable=False) for t in self.aggregates]
        self.aggregates += [self.tuple(n) for n in (2, 3, 2, 4)]

    # Values ------------------------------------------------------------------------------------------------------

    def integer(self, name):
        bits = INTS[name]
        def make():
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if bits > 0 else (0, (1 << -bits) - 1)
            n = self.rng.choice([low, high, 0, 1, self.rng.randint(low, high), self.rng.randint(low, high)])
            small = n < 1 << 63
            return Value(f"{name}({n})" if n >= 0 else f"{name}({n})", str(n), ("math.mininteger" if n == -(1 << 63) else str(n)) if small else None, str(n), str(n))
        return Type(name, make, "i")

    def double(self):
        def make():
            x = self.rng.choice([0.0, -0.0, 1.5, -1e300, 5e-324, float("inf"), float("-inf"), float("nan"), self.rng.uniform(-1e6, 1e6)])
            bits = struct.unpack(">Q", struct.pack(">d", x))[0]
            text = "nan" if x != x else "d%x" % bits
            lua = "0/0" if x != x else f'(string.unpack(">d", {lua_string(struct.pack(">d", x))}))'
            return Value("Double.nan" if x != x else f"Double(bitPattern: 0x{bits:x})", text, lua, text, repr(x) if abs(x) < 1e6 and abs(x) > 1e-4 else None)
        return Type("Double", make, "d")

    def float(self):
        def make():
            x = self.rng.choice([0.0, -0.0, 2.5, float("inf"), float("nan"), self.rng.randint(-10000, 10000) / 64])
            bits = struct.unpack(">I", struct.pack(">f", x))[0]
            text = "nan" if x != x else "f%x" % bits
            lua = "0/0" if x != x else f'(string.unpack(">f", {lua_string(struct.pack(">f", x))}))'
            return Value("Float.nan" if x != x else f"Float(bitPattern: 0x{bits:x})", text, lua, text)
        return Type("Float", make, "f")

    def bool(self):
        def make():
            b = self.rng.choice(["true", "false"])
            return Value(b, b, b, b, b)
        return Type("Bool", make, "b")

    def make_string(self):
        length = self.rng.choice([0, 1, 7, 14, 15, 16, 17, 40, 300])
        text = "".join(self.rng.choice(["a", "Z", "0", " ", "é", "€", "𝄞", "\n", "\\", '"', "\0"] if self.rng.random() < 0.2 else ["q", "w", "e"]) for _ in range(length))
        data = text.encode()
        swift = '"' + "".join("\\u{%x}" % ord(c) if c in '\\"\n\0' else c for c in text) + '"'
        if self.rng.random() < 0.5: swift = f"String(decoding: [{', '.join(str(b) for b in data)}] as [UInt8], as: UTF8.self)"
        said = "s" + data.hex()
        return Value(swift, said, lua_string(data), said, trace_string(text))

    def make_object(self, cls=None):
        cls = cls or self.rng.choice(["C", "C", "D"])
        self.objects += 1
        text = f"{cls}#{self.objects}"
        return Value(f"{cls}(number: {self.objects})", text, None, f"#{self.objects}", f"<{cls}>")

    def optional(self, type, decodable=True):
        def make():
            if self.rng.random() < 0.3: return Value(f"{type.swift}?.none", "nil", "nil", "nil", "nil")
            v = type.make()
            return Value(f"Optional({v.swift})", v.text, v.lua, v.said, v.trace)
        return Type(type.swift + "?", make, (type.kind + "?") if type.kind and decodable else None, lambda e: f"({e}.map {{ {type.show('$0')} }} ?? \"nil\")", type.depth)

    # Opaque types ------------------------------------------------------------------------------------------------

    def fixed_opaque(self):
        def plain(swift, make, show=None): return Type(swift, make, None, show)
        def number(name, prefix=""):
            def make():
                n = self.rng.randint(-50, 50)
                return Value(f"{name}({n})", f"{prefix}{n}")
            return make
        def half():
            n = self.rng.randint(-50, 50)
            return Value(f"Float16({n})", "h%x" % struct.unpack(">H", struct.pack(">e", n))[0])
        def extended():
            n = self.rng.randint(-50, 50)
            return Value(f"Float80({n})", f"x{n}.0")
        def simd4():
            n = [self.rng.randint(0, 9) for _ in range(4)]
            return Value(f"SIMD4<Float>({', '.join(map(str, n))})", "v" + ",".join(f"{x}.0" for x in n))
        def simd2():
            n = [self.rng.randint(0, 9) for _ in range(2)]
            return Value(f"SIMD2<Int>({', '.join(map(str, n))})", "w" + ",".join(map(str, n)))
        def int128():
            n = self.rng.randint(-(1 << 127), (1 << 127) - 1)
            return Value(f"Int128({n})", str(n))
        def error():
            return self.rng.choice([Value("Failure.plain", "plain"), Value("Failure.object(C(number: 7))", "object C#7"), Value("Broken(3)", "Broken3/32")])
        def proto():
            return self.rng.choice([Value("5", "5"), Value("Large(4)", "Large4/34/C#4/4.0/1/-4"), self.strip(self.make_object())])
        def anything():
            v = proto()
            return Value(v.swift, "Any " + v.text)
        def array():
            n = [self.rng.randint(0, 99) for _ in range(self.rng.randint(0, 4))]
            return Value(f"{n} as [Int]", "[" + ",".join(map(str, n)) + "]")
        def closure():
            n = self.rng.randint(0, 999)
            return Value(f"{{ opaque({n}) }}", str(n))
        def closure2():
            n = self.rng.randint(0, 999)
            return Value(f"{{ [k = C(number: {n})] (d: Double, i: Int) in i + k.id }}", str(n + 5))
        meta = lambda names: (lambda: (lambda n: Value(f"{n}.self", n))(self.rng.choice(names)))
        return [
            plain("Int128", int128), plain("Float16", half), plain("Float80", extended), plain("SIMD4<Float>", simd4), plain("SIMD2<Int>", simd2),
            plain("any P", proto), plain("Any", anything, lambda e: f"shown(any: {e})"), plain("any PC", lambda: self.strip(self.make_object())),
            plain("any PC & Q", lambda: self.strip(self.make_object())), plain("any Error", error, lambda e: f"shown({e})"),
            plain("Int.Type", meta(["Int"]), lambda e: f'"\\({e})"'), plain("C.Type", meta(["C", "D"]), lambda e: f'"\\({e})"'),
            plain("any P.Type", meta(["Int", "C", "String"]), lambda e: f'"\\({e})"'), plain("Any.Type", meta(["Int", "Large"]), lambda e: f'"\\({e})"'),
            plain("Int.Type?", meta(["Int"]), lambda e: f'"\\({e}!)"'), plain("C.Type?", meta(["C"]), lambda e: f'"\\({e}!)"'),
            plain("[Int]", array), plain("() -> Int", closure, lambda e: f"{e}().sh"), plain("@escaping (Double, Int) -> Int", closure2, lambda e: f"{e}(1.5, 5).sh"),
            plain("Substring", lambda: Value('Substring("abc")', "subs616263")), plain("Character", lambda: Value('Character("x")', "chars78")),
            plain("Unicode.GeneralCategory", lambda: Value("Unicode.GeneralCategory.mathSymbol", "mathSymbol")),
            plain("TaskPriority", lambda: Value("TaskPriority(rawValue: 9)", "p9")), plain("Large", lambda: Value("Large(6)", "Large6/34/C#6/6.0/1/-6")),
            plain("()", lambda: Value("()", "void"), lambda e: '"void"'), plain("(any P)?", lambda: Value("Optional<any P>(8)", "8"), lambda e: f"({e}.map {{ $0.sh }} ?? \"nil\")"),
            plain("Result<String, Failure>", lambda: Value('Result<String, Failure>.success("yes")', "s796573"), lambda e: f"(try! {e}.get()).sh"),
        ]

    @staticmethod
    def strip(v): return Value(v.swift, v.text)

    def pick_field(self):
        pool = self.base + self.base + self.optionals + [self.object, self.optional(self.object)]
        pool += [t for t in self.opaque if not t.swift.startswith("@") and "->" not in t.swift and t.swift not in ("()", "Float16", "Int.Type", "Int.Type?", "Float80", "any P", "Any", "(any P)?", "any P.Type", "Any.Type")]
        pool += self.aggregates  # no Float16: the compiler itself loses fields beside one at -O
        return self.rng.choice(pool)

    def structure(self, i):
        name = f"S{i}"
        count = self.rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 6])
        small = [t for t in self.scalars if t.swift in ("Int8", "UInt8", "Int16", "Bool", "Float", "UInt32", "Int32", "Double")]
        fields = [self.rng.choice(small) if i % 3 == 0 else self.pick_field() for _ in range(count)]
        if i == 5: fields = [self.rng.choice(small) for _ in range(6)]
        count = len(fields)
        self.types.append(
            f"public struct {name}: Show {{\n" + "".join(f"  public var f{k}: {t.swift}\n" for k, t in enumerate(fields))
            + f"  public init({', '.join(f'_ f{k}: {t.swift}' for k, t in enumerate(fields))}) {{ " + "; ".join(f"self.f{k} = f{k}" for k in range(count)) + " }\n"
            + f"  public var sh: String {{ \"{name}(\" + [{', '.join(t.show(f'f{k}') for k, t in enumerate(fields))}].joined(separator: \",\") + \")\" }}\n}}\n")
        def make():
            vs = [t.make() for t in fields]
            return Value(f"{name}({', '.join(v.swift for v in vs)})", f"{name}({','.join(v.text for v in vs)})")
        return Type(name, make)

    def enumeration(self, i):
        name = f"E{i}"
        form = i % 5
        empties = [0, 1, 3, 300][self.rng.randint(0, 3)] if form else self.rng.choice([1, 2, 5, 300])
        payloads = [0, 1, 1, 2, 3][form]
        # No vectors: at -Onone the compiler itself crashes on some enums that hold them.
        def payload():
            t = self.pick_field()
            while "SIMD" in t.swift or t in self.aggregates: t = self.pick_field() if self.rng.random() < 0.9 else self.string
            return t
        cases = [[payload() for _ in range(self.rng.choice([1, 1, 1, 2]))] for _ in range(payloads)]
        indirect = [self.rng.random() < 0.2 for _ in cases]
        text = f"public enum {name}: Show {{\n"
        for k, ts in enumerate(cases): text += f"  {'indirect ' if indirect[k] else ''}case p{k}({', '.join(t.swift for t in ts)})\n"
        for k in range(empties): text += f"  case e{k}\n"
        text += "  public var sh: String {\n    switch self {\n"
        for k, ts in enumerate(cases):
            names = [f"a{j}" for j in range(len(ts))]
            text += f"    case .p{k}({', '.join('let ' + n for n in names)}): return \"{name}.p{k}(\" + [{', '.join(t.show(n) for t, n in zip(ts, names))}].joined(separator: \",\") + \")\"\n"
        for k in range(empties): text += f"    case .e{k}: return \"{name}.e{k}\"\n"
        self.types.append(text + "    }\n  }\n}\n")
        def make():
            k = self.rng.randrange(payloads + (1 if empties else 0))
            if k == payloads:
                k = self.rng.randrange(empties)
                return Value(f"{name}.e{k}", f"{name}.e{k}")
            vs = [t.make() for t in cases[k]]
            return Value(f"{name}.p{k}({', '.join(v.swift for v in vs)})", f"{name}.p{k}({','.join(v.text for v in vs)})")
        return Type(name, make)

    def tuple(self, n):
        ts = [self.pick_field() for _ in range(n)]
        def make():
            vs = [t.make() for t in ts]
            return Value("(" + ", ".join(v.swift for v in vs) + ")", "(" + ",".join(v.text for v in vs) + ")")
        return Type("(" + ", ".join(t.swift for t in ts) + ")", make, None,
                    lambda e: '("(" + [' + ", ".join(t.show(f"{e}.{k}") for k, t in enumerate(ts)) + '].joined(separator: ",") + ")")')

    def pick(self):
        r = self.rng.random()
        if r < 0.55: return self.rng.choice(self.decodable)
        return self.rng.choice(self.opaque) if r < 0.75 else self.rng.choice(self.aggregates)


class Function:
    """One declaration with one call of it."""
    def __init__(self, g, index):
        rng = g.rng
        self.g, self.name = g, f"f{index}"
        self.kind = rng.choice(["free", "free", "method", "method", "static", "init", "sMethod", "sMutating", "sStatic", "sInit", "eMethod",
                                "setter", "subscript", "getter", "generic", "extension", "gMethod"])
        count = rng.choice([0, 1, 2, 3, 4, 5, 6, 8, 10, 14])
        if self.kind in ("setter",): count = 1
        if self.kind == "getter": count = 0
        if self.kind == "subscript": count = max(1, min(count, 6))
        self.params = []
        for _ in range(count):
            t = g.pick()
            escaping = t.swift.startswith("@")
            can_inout = not escaping and "->" not in t.swift and self.kind not in ("setter", "subscript")
            mod = rng.choice(["", "", "", "", "inout" if can_inout else "", "__owned" if not escaping and self.kind != "setter" and "->" not in t.swift else ""])
            if self.kind in ("setter", "subscript"):
                mod = ""
                while "->" in t.swift or t.swift == "()": t = g.pick()
            self.params.append((t, mod, t.make(), t.make(), t.make()))   # received, assigned by the callee, given by patches
        self.throws = rng.choice(["", "", "", "throws", "throws(Broken)", "throws(Failure)"]) if self.kind not in ("getter", "setter", "subscript") else ""
        self.does_throw = self.throws != "" and rng.random() < 0.5
        self.result = None
        if self.kind in ("init", "sInit"): self.result = "self"
        elif self.kind != "setter" and (self.kind in ("getter", "subscript") or rng.random() < 0.8):
            self.result = g.pick()
            while "->" in self.result.swift: self.result = g.pick()
        if isinstance(self.result, Type):
            self.returned, self.replaced_result = self.result.make(), self.result.make()
        owner = {"init": f"I{index}", "sInit": f"J{index}", "sMethod": f"SM{index}", "sMutating": f"SM{index}", "sStatic": f"SM{index}",
                 "eMethod": f"EM{index}", "method": f"K{index}", "static": f"K{index}", "setter": f"K{index}", "getter": f"K{index}",
                 "subscript": f"K{index}", "extension": f"XP{index}", "gMethod": f"G{index}"}
        self.owner = owner.get(self.kind)
        if self.kind in ("sMethod", "sMutating", "sStatic", "eMethod"):
            self.self_type = rng.choice(g.aggregates[:18] + g.aggregates[18:32] if self.kind != "eMethod" else g.aggregates[18:32])
            self.self_value = self.self_type.make()

    # Swift ---------------------------------------------------------------------------------------------------------

    def note(self, extra=""):
        parts = [t.show(f"a{i}") for i, (t, *_) in enumerate(self.params)]
        if extra: parts.append(extra)
        return f'out("> {self.name} " + ([{", ".join(parts)}] as [String]).joined(separator: ";"))'

    def body(self, extra="", final=""):
        lines = [self.note(extra)]
        for i, (t, mod, _, new, _) in enumerate(self.params):
            if mod == "inout": lines.append(f"a{i} = opaque({new.swift})")
        if self.throws:
            error = "Broken(opaque(9))" if "Broken" in self.throws else "Failure.object(C(number: opaque(9)))"
            lines.append(f"if opaque({'true' if self.does_throw else 'false'}) {{ throw {error} }}")
        if final: lines.append(final)
        if isinstance(self.result, Type): lines.append(f"return opaque({self.returned.swift})" if self.result.swift != "()" else "return ()")
        return "\n    ".join(lines)

    def head(self):
        def p(i, t, mod): return f"_ a{i}: " + (mod + " " if mod else "") + t.swift
        return "(" + ", ".join(p(i, t, m) for i, (t, m, *_) in enumerate(self.params)) + ")" + (" " + self.throws if self.throws else "") \
            + (f" -> {self.result.swift}" if isinstance(self.result, Type) else "")

    def declaration(self):
        n, o = self.name, self.owner
        a = "@inline(never) public"
        match self.kind:
            case "free": return f"{a} func {n}{self.head()} {{\n    {self.body()}\n}}\n"
            case "generic":
                head = self.head()
                head = head.replace("(", "(_ t: T, _ u: T?, " if self.params else "(_ t: T, _ u: T?", 1)
                return f"{a} func {n}<T: Show>{head} {{\n    {self.body('t.sh + u.sh')}\n}}\n"
            case "method": return f"public class {o}: C {{\n  {a} func {n}{self.head()} {{\n    {self.body('self.sh')}\n  }}\n}}\n"
            case "static": return f"public class {o}: C {{\n  {a} class func {n}{self.head()} {{\n    {self.body(chr(34) + chr(92) + '(self)' + chr(34))}\n  }}\n}}\n"
            case "gMethod": return (f"public final class {o}<T: Show>: C {{\n  public var t: T\n  public init(t: T) {{ self.t = t; super.init(number: 55) }}\n"
                                    f"  {a} func {n}{self.head()} {{\n    {self.body('self.t.sh')}\n  }}\n}}\n")
            case "getter": return f"public class {o}: C {{\n  public var {n}: {self.result.swift} {{\n    @inline(never) get {{\n    {self.body('self.sh')}\n  }} }}\n}}\n"
            case "setter": return (f"public class {o}: C {{\n  public var {n}: {self.params[0][0].swift} {{\n    @inline(never) get {{ fatalError() }}\n"
                                   f"    @inline(never) set(a0) {{\n    {self.body('self.sh')}\n  }} }}\n}}\n")
            case "subscript":
                head = self.head()
                i = len(self.params)
                return (f"public class {o}: C {{\n  public subscript{head} {{\n    @inline(never) get {{\n    {self.body('self.sh')}\n  }}\n"
                        f"    @inline(never) set {{\n    {self.note(self.result.show('newValue')).replace('> ', '> set ')}\n  }} }}\n}}\n")
            case "init": return f"public class {o}: C {{\n  @inline(never) public init{self.head()} {{\n    super.init(number: 77)\n    {self.body('self.sh')}\n  }}\n}}\n"
            case "sInit": return f"public struct {o} {{\n  public var c: C, n: Int8\n  @inline(never) public init{self.head()} {{\n    c = C(number: 88); n = 3\n    {self.body()}\n  }}\n}}\n"
            case "extension": return f"extension P {{\n  {a} func {n}{self.head()} {{\n    {self.body('self.sh')}\n  }}\n}}\n"
            case _:
                t = self.self_type
                mod = {"sMutating": "mutating ", "sStatic": "static "}.get(self.kind, "")
                final = f"self.v = opaque({self.self_value.swift})" if self.kind == "sMutating" else ""
                extra = "" if self.kind == "sStatic" else t.show("self.v")
                return f"public struct {o} {{\n  public var v: {t.swift}\n  public init(v: {t.swift}) {{ self.v = v }}\n  {a} {mod}func {n}{self.head()} {{\n    {self.body(extra, final)}\n  }}\n}}\n"

    @property
    def selector(self):
        labels = "_:" * len(self.params)
        if self.kind == "generic": labels += "_:_:"
        o, n = self.owner, self.name
        match self.kind:
            case "free" | "generic": return f"Subject.{n}({labels})"
            case "static" | "sStatic": return f"static Subject.{o}.{n}({labels})"
            case "init" | "sInit": return f"Subject.{o}.init({labels})"
            case "getter": return f"Subject.{o}.{n}.get"
            case "setter": return f"Subject.{o}.{n}.set"
            case "subscript": return f"Subject.{o}.subscript({labels}).get"
            case "extension": return f"Kit.P.{n}({labels})"
            case _: return f"Subject.{o}.{n}({labels})"

    def extra_text(self):
        match self.kind:
            case "method" | "getter" | "setter" | "subscript": return "C#55"
            case "static": return self.owner
            case "gMethod": return "s7473"
            case "generic": return "C#61C#62"
            case "init": return "C#77"
            case "extension": return "C#63"
            case "sMethod" | "sMutating" | "eMethod": return self.self_value.text
        return ""

    def call(self):
        """The statements of main.swift."""
        lines, arguments = [], []
        for i, (t, mod, v, _, _) in enumerate(self.params):
            kind = t.swift.replace("@escaping ", "")
            lines.append(f"{'var' if mod == 'inout' else 'let'} a{i}: {kind} = opaque({v.swift})" if "->" not in t.swift else f"let a{i}: {kind} = {v.swift}")
            arguments.append(("&" if mod == "inout" else "") + f"a{i}")
        args = ", ".join(arguments)
        o, n = self.owner, self.name
        t = "try " if self.throws else ""
        match self.kind:
            case "free": e = f"{n}({args})"
            case "generic": e = f"{n}(opaque(C(number: 61)), opaque(Optional(C(number: 62))){', ' + args if args else ''})"
            case "method": e = f"opaque({o}(number: 55)).{n}({args})"
            case "gMethod": e = f"opaque({o}(t: \"ts\")).{n}({args})"
            case "static": e = f"{o}.{n}({args})"
            case "getter": e = f"opaque({o}(number: 55)).{n}"
            case "subscript": e = f"opaque({o}(number: 55))[{args}]"
            case "init" | "sInit": e = f"{o}({args})"
            case "extension": e = f"opaque(C(number: 63)).{n}({args})"
            case "sStatic": e = f"{o}.{n}({args})"
            case "setter":
                lines.append(f"opaque({o}(number: 55)).{n} = a0")
                e = None
            case "sMutating":
                lines.append(f"var s = {o}(v: opaque({self.self_value.swift}))")
                e = f"s.{n}({args})"
            case _: e = f"{o}(v: opaque({self.self_value.swift})).{n}({args})"
        shows = [t_.show(f"a{i}") for i, (t_, mod, *_) in enumerate(self.params) if mod == "inout"]
        if e:
            result = "let r = " if self.result else ""
            shown = {"init": "r.sh", "sInit": "r.c.sh + r.n.sh"}.get(self.kind) or (self.result.show("r") if isinstance(self.result, Type) else '""')
            if isinstance(self.result, Type) and self.result.swift == "()": result, shown = "", '"void"'
            lines.append(f"{result}{t}{e}")
            tail = "[" + ", ".join([shown] + shows) + '].joined(separator: ";")'
        else: tail = '""'
        lines.append(f'out("< {n} " + {tail})')
        if self.throws:
            text = "    " + "\n    ".join(l for l in lines[:len(self.params)]) + "\n    do {\n      " + "\n      ".join(lines[len(self.params):])
            text += f'\n    }} catch {{ out("< {n} threw " + shown(error)) }}'
        else: text = "    " + "\n    ".join(lines)
        return f"@inline(never) func call_{n}() {{\n{text}\n}}\n"

    # What must be printed ------------------------------------------------------------------------------------------

    def expected(self, received=None, result=None, original=1):
        received = received or {}
        texts = [received.get(i, p[2].text) for i, p in enumerate(self.params)]
        extra = self.extra_text()
        if self.kind == "sStatic": extra = ""
        parts = texts + ([extra] if extra or self.kind in ("method",) else [])
        lines = [f"> {self.name} " + ";".join(parts)] * original
        shows = [p[3].text if original else texts[i] for i, p in enumerate(self.params) if p[1] == "inout"]
        if self.kind == "setter": return lines + [f"< {self.name} "]
        if self.does_throw and result is None and original:
            return lines + [f"< {self.name} threw " + ("Broken9/32" if "Broken" in self.throws else "object C#9")]
        shown = {"init": "C#77", "sInit": "C#883"}.get(self.kind) or (self.returned.text if self.result else "")
        if result is not None: shown = result
        return lines + [f"< {self.name} " + ";".join([shown] + shows)]

    # Patches -------------------------------------------------------------------------------------------------------

    def offset(self): return 2 if self.kind == "generic" else 0

    def decodes(self):
        return self.kind not in ()

    def replacements(self):
        """Index to (Lua expression, text) of the arguments a patch replaces; class references are exchanged."""
        made = {}
        for i, (t, mod, old, _, new) in enumerate(self.params):
            if t.kind and t.kind.rstrip("?") in "idfbs" and new.lua is not None: made[i] = (new.lua, new.text)
        objects = [i for i, p in enumerate(self.params) if p[0].kind == "c" and p[0].swift == "C"]
        if len(objects) >= 2:
            a, b = objects[:2]
            made[a] = (f"args[{b + 1 + self.offset()}]", self.params[b][2].text)
            made[b] = (f"args[{a + 1 + self.offset()}]", self.params[a][2].text)
        return made

    def new_result(self):
        if not isinstance(self.result, Type) or "throws(" in self.throws: return None
        v = self.replaced_result
        return v if self.result.kind and self.result.kind.rstrip("?") in "idfbs" and v.lua is not None else None


HELPERS = '''
local function hex(s) return (s:gsub(".", function(c) return string.format("%02x", c:byte()) end)) end
local function say(v, kind)
  if kind == nil then return "-" end
  if v == nil then return "nil" end
  local k = kind:sub(1, 1)
  local t = tostring(v)
  if t:sub(1, 1) == "<" and k ~= "c" and k ~= "s" then error("this value cannot be decoded here: " .. t) end
  -- A UInt64 beyond Lua's integers is a handle that shows its digits.
  if k == "i" then return math.type(v) == "float" and "float" or t end
  if k == "d" then return v ~= v and "nan" or "d" .. string.format("%x", (string.unpack(">i8", string.pack(">d", v)))) end
  if k == "f" then return v ~= v and "nan" or "f" .. string.format("%x", (string.unpack(">I4", string.pack(">f", v)))) end
  if k == "b" then return tostring(v) end
  if k == "s" then return "s" .. hex(v) end
  if k == "c" then return "#" .. v.id end
end
'''


def lua_kind(t): return f'"{t.kind}"' if t.kind else "nil"


def write(directory, seed, count):
    g = Generator(seed)
    functions = [Function(g, i) for i in range(count)]
    def put(name, text):
        with open(os.path.join(directory, name), "w") as f: f.write(text)
    put("Types.swift", f"// seed {seed}\nimport Kit\n\n" + "\n".join(g.types))
    put("Subject.swift", "import Kit\nimport Types\n\n" + "\n".join(f.declaration() for f in functions))
    put("main.swift", "import Kit\nimport Types\nimport Subject\n\n" + "\n".join(f.call() for f in functions)
        + "\nfunc all() {\n" + "".join(f"  call_{f.name}()\n" for f in functions) + "}\nall()\nout(\"live \\(live)\")\n")
    modes = {}
    def mode(name, make, fixed_point=True):
        os.makedirs(os.path.join(directory, name), exist_ok=True)
        text = f'patch {{ id = "{name}", version = "1.0.0", api = 1 }}\n' + HELPERS
        expected, said = [], []
        for f in functions:
            lua, lines, spoken = make(f)
            text += lua
            expected += lines
            said += spoken
        put(f"{name}/patch.lua", text)
        put(f"{name}.expected", "\n".join(expected) + "\nlive 0\n")
        put(f"{name}.said", "\n".join(said) + "\n")

    def hook(f, position, body): return f"method '{f.selector}':{position}(function(call)\n  local args = call.args\n{body}end)\n"

    def decode(f):
        # Arguments before the call, the result after it.
        items = ", ".join(f"say(args[{i + 1 + f.offset()}], {lua_kind(p[0])})" for i, p in enumerate(f.params))
        text = hook(f, "before", f'  print("@ {f.name} " .. table.concat({{ {items} }}, ";"))\n')
        said = [f"@ {f.name} " + ";".join(p[2].said if p[0].kind else "-" for p in f.params)]
        if isinstance(f.result, Type) and f.result.kind and "throws(" not in f.throws:
            text += hook(f, "after", f'  print("= {f.name} " .. (call.error and "threw" or say(call.result, {lua_kind(f.result)})))\n')
            said.append(f"= {f.name} " + ("threw" if f.does_throw else f.returned.said))
        return text, f.expected(), said

    def replace(f):
        made = f.replacements()
        body = "".join(f"  local n{i} = {lua}\n" for i, (lua, _) in made.items()) + "".join(f"  args[{i + 1 + f.offset()}] = n{i}\n" for i in made)
        return hook(f, "before", body) if made else "", f.expected({i: t for i, (_, t) in made.items()}), []

    def around(f):
        # All arguments anew: the replaced ones and the others as they came.
        made = f.replacements()
        pieces = [f"args[{i + 1}]" for i in range(f.offset())]
        pieces += [made[i][0] if i in made else f"args[{i + 1 + f.offset()}]" for i in range(len(f.params))]
        v = f.new_result()
        call = f"call:original({', '.join(pieces)})"
        body = f"  local r = {call}\n  return {v.lua}\n" if v else f"  return {call}\n"
        shown = f.expected({i: t for i, (_, t) in made.items()}, v.text if v and not f.does_throw else None)
        return hook(f, "around", body), shown, []

    def after(f):
        v = f.new_result()
        if not v: return "", f.expected(), []
        return hook(f, "after", f"  call.result = {v.lua}\n"), f.expected(None, v.text), []

    def instead(f):
        # The original never runs.
        v = f.new_result()
        void = f.result is None
        if f.kind in ("init", "sInit") or not (v or void): return "", f.expected(), []
        return hook(f, "around", f"  return {v.lua}\n" if v else "  return\n"), f.expected(None, v.text if v else "", 0), []

    def twice(f):
        # A second run is refused where the first leaves something out of reach; the call then has its one run.
        again = f.kind not in ("sMutating",) and not any(p[1] == "inout" for p in f.params)
        again = again and "throws(" not in f.throws and (f.result is None or isinstance(f.result, Type) and bool(f.result.kind))
        again = again and not any(p[0].swift == "Int.Type?" for p in f.params)
        if not again: return "", f.expected(), []
        return hook(f, "around", "  call:try()\n  return call:original()\n"), f.expected(original=2), []

    def plain(f): return "", f.expected(), []

    mode("plain", plain)
    mode("decode", decode)
    mode("replace", replace)
    mode("around", around)
    mode("after", after)
    mode("instead", instead)
    mode("twice", twice)
    # Traces: one pattern per call, opaque values match anything.
    lines = []
    for f in functions:
        if f.kind == "generic": continue
        parts = [re.escape(p[2].trace) if p[0].kind and p[2].trace is not None else ".*" for p in f.params]
        lines.append(f.selector + "\t" + ", ".join(("&" if p[1] == "inout" else "") + part for part, p in zip(parts, f.params)))
    put("trace.patterns", "\n".join(lines) + "\n")
    put("selectors", "\n".join(f"{f.name}\t{f.selector}" for f in functions) + "\n")


if __name__ == "__main__":
    write(sys.argv[3], int(sys.argv[1]), int(sys.argv[2]))
