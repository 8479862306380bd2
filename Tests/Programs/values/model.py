"""The types of the generated programs and their values.

A value is bytes for the program's stream and the text it shows. `text` is what Kit writes; what a script says of the value
is the same text, with classes reduced to `#id` (`said`). `lua` is an expression that makes the value, None where none does.
"""
import re, struct


class Value:
    def __init__(self, data, text, lua=None): self.data, self.text, self.lua = data, text, lua


def said(text): return re.sub(r"\b[A-Z]\w*#", "#", text)


def lua_string(data): return '"' + "".join("\\%03d" % b for b in data) + '"'


class Type:
    """id: the suffix of its reader and writer; kind: its row in the table; shape: how a script reads it (Lua).

    No `fits` means every position; otherwise the positions it may stand in.
    """
    def __init__(self, id, swift, kind, make, shape, *, parameter=None, fits=None, copyable=True, writer=None, reader=None, size=1):
        self.id, self.swift, self.kind, self.make, self.shape = id, swift, kind, make, shape
        self.parameter = parameter or swift      # as the type of a parameter: @escaping
        self.fits, self.copyable, self.size = fits, copyable, size
        self.writer = writer or (lambda e: f"w_{id}({e})")
        self.reader = reader or f"r_{id}()"
        self.concrete = self                     # what callers have where the callee has a generic parameter
        self.generic = False

    def may(self, position): return self.fits is None or position in self.fits


INTS = {"Int": 64, "Int8": 8, "Int16": 16, "Int32": 32, "Int64": 64, "Int128": 128,
        "UInt": -64, "UInt8": -8, "UInt16": -16, "UInt32": -32, "UInt64": -64, "UInt128": -128}
LITERALS = ["", "a", "fifteen bytes!!", "sixteen bytes!!!", "a literal that is longer than fifteen bytes", "é€𝄞", "nul\0nul"]
# Where a value may stand. `self` and `thrown` are for the types that say so.
EVERYWHERE = ("borrowed", "consuming", "inout", "owned", "index", "variadic", "result", "yield", "field")


class Model:
    def __init__(self, rng):
        self.rng, self.objects, self.types, self.declarations = rng, 1000, [], []
        self.by_id = {}
        self.scalars()
        self.text_and_collections()
        self.references()
        self.functions()
        self.generic_types()
        self.random_types()

    def add(self, *arguments, **options):
        t = Type(*arguments, **options)
        self.types.append(t)
        self.by_id[t.id] = t
        return t

    def of_kind(self, kind): return [t for t in self.types if t.kind == kind]

    # Kit's types ---------------------------------------------------------------------------------------------------

    def scalars(self):
        rng = self.rng
        def integer(name, bits):
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if bits > 0 else (0, (1 << -bits) - 1)
            def make():
                n = rng.choice([low, high, 0, 1, rng.randint(low, high), rng.randint(low, high)])
                small = -(1 << 63) <= n < 1 << 63
                return Value((n & ((1 << abs(bits)) - 1)).to_bytes(abs(bits) // 8, "little"), f"{n};",
                             ("math.mininteger" if n == -(1 << 63) else str(n)) if small and abs(bits) <= 64 else None)
            return make
        for name, bits in INTS.items():
            self.add(name, name, "128-bit integer" if abs(bits) == 128 else "integer", integer(name, bits), '"i"')
        self.add("Bool", "Bool", "Bool", lambda: (lambda b: Value(bytes([b]), "true;" if b else "false;", "true" if b else "false"))(rng.randrange(2)), '"b"')
        def double():
            x = rng.choice([0.0, -0.0, 1.5, -1e300, 5e-324, float("inf"), float("-inf"), float("nan"), rng.uniform(-1e6, 1e6)])
            data = struct.pack("<d", x)
            return Value(data, "nan;" if x != x else "d%x;" % struct.unpack("<Q", data)[0], "0/0" if x != x else f'(string.unpack("<d", {lua_string(data)}))')
        def float_():
            x = rng.choice([0.0, -0.0, 2.5, float("inf"), float("nan"), rng.randint(-10000, 10000) / 64])
            data = struct.pack("<f", x)
            return Value(data, "nan;" if x != x else "f%x;" % struct.unpack("<I", data)[0], "0/0" if x != x else f'(string.unpack("<f", {lua_string(data)}))')
        self.add("Double", "Double", "float", double, '"d"')
        self.add("Float", "Float", "float", float_, '"f"')
        def small(prefix): return lambda: (lambda n: Value(struct.pack("<b", n), f"{prefix}{n};", None))(rng.randint(-50, 50))
        # No field: the compiler itself loses fields beside a Float16 at -O.
        self.add("Float16", "Float16", "odd float", small("h"), '"h"', fits=[p for p in EVERYWHERE if p != "field"])
        self.add("Float80", "Float80", "odd float", small("x"), '"x"', fits=[p for p in EVERYWHERE if p != "field"])
        def lanes(n, low=-50):
            def make():
                values = [rng.randint(low, 50) for _ in range(n)]
                return Value(struct.pack(f"<{n}b", *values), "v" + ",".join(map(str, values)) + ";")
            return make
        for id, swift, n in [("SIMD2i", "SIMD2<Int>", 2), ("SIMD2f", "SIMD2<Float>", 2), ("SIMD3f", "SIMD3<Float>", 3), ("SIMD4f", "SIMD4<Float>", 4),
                             ("SIMD4d", "SIMD4<Double>", 4), ("SIMD8h", "SIMD8<Int16>", 8), ("SIMD16b", "SIMD16<UInt8>", 16), ("SIMD8d", "SIMD8<Double>", 8)]:
            self.add(id, swift, "SIMD", lanes(n, 0 if id == "SIMD16b" else -50), f'"v{n}"')
        def pointer():
            n = rng.randrange(1 << 16)
            return Value(struct.pack("<H", n), f"p{n};")
        for id, swift in [("Raw", "UnsafeRawPointer"), ("MutableRaw", "UnsafeMutableRawPointer"), ("Pointer", "UnsafePointer<Int>"),
                          ("MutablePointer", "UnsafeMutablePointer<Double>"), ("OpaquePointer", "OpaquePointer")]:
            self.add(id, swift, "pointer", pointer, '"p"')
        def buffer():
            p, n = pointer(), rng.randrange(256)
            return Value(p.data + bytes([n]), f"{p.text}+{n};")
        for id, swift in [("Buffer", "UnsafeBufferPointer<Int>"), ("RawBuffer", "UnsafeRawBufferPointer"), ("MutableBuffer", "UnsafeMutableBufferPointer<UInt8>")]:
            self.add(id, swift, "buffer", buffer, '"buffer"')
        self.add("Void", "()", "Void", lambda: Value(b"", "();"), '"void"', fits=["borrowed", "result"])

    def make_string(self):
        rng = self.rng
        if rng.random() < 0.4:
            k = rng.randrange(len(LITERALS))
            text, data = LITERALS[k], struct.pack("<H", 0x8000 + k)
        else:
            n = rng.choice([0, 1, 7, 14, 15, 16, 17, 40, 300])
            text = "".join(rng.choice("aZ0 é€𝄞\n\\\"\0" if rng.random() < 0.2 else "qwe") for _ in range(n))
            data = struct.pack("<H", len(text.encode())) + text.encode()
        return Value(data, f"s{text.encode().hex()};", lua_string(text.encode()))

    def text_and_collections(self):
        rng = self.rng
        string = self.add("String", "String", "String", self.make_string, '"s"')
        self.add("Substring", "Substring", "text struct", lambda: (lambda v: Value(v.data, v.text))(self.make_string()), '"s"')
        self.add("Character", "Character", "text struct", lambda: (lambda n: Value(bytes([n]), "s%02x;" % n))(rng.randint(33, 126)), '"s"')
        self.add("Scalar", "Unicode.Scalar", "text struct", lambda: (lambda n: Value(bytes([n]), f"u{n};"))(rng.randint(1, 255)), '"scalar"')
        self.add("StaticString", "StaticString", "text struct", lambda: (lambda n: Value(bytes([n]), "s" + (b"more static text than fits" if n else b"static").hex() + ";"))(rng.randrange(2)), '"static"')
        def many(element, top=4):
            def make():
                values = [element.make() for _ in range(rng.randint(0, top))]
                return Value(struct.pack("<H", len(values)) + b"".join(v.data for v in values), "[" + "".join(v.text for v in values) + "];")
            return make
        self.many = many
        for id, swift, element in [("Ints", "[Int]", "Int"), ("Bytes", "[UInt8]", "UInt8"), ("Strings", "[String]", "String")]:
            self.add(id, swift, "collection", many(self.by_id[element]), f"{{ k = 'array', {self.by_id[element].shape} }}")
        def dictionary():
            pairs = sorted({f"k{rng.randrange(1000)}".encode() for _ in range(rng.randint(0, 3))})
            data, text = struct.pack("<H", len(pairs)), ""
            for key in pairs:
                v = self.by_id["Int"].make()
                data += struct.pack("<H", len(key)) + key + v.data
                text += f"s{key.hex()};{v.text}"
            return Value(data, f"[{text}];")
        self.add("Dictionary", "[String: Int]", "collection", dictionary, "{ k = 'dictionary', 's', 'i' }")
        def set_():
            values = sorted({rng.randint(-99, 99) for _ in range(rng.randint(0, 4))})
            return Value(struct.pack("<H", len(values)) + b"".join(struct.pack("<q", n) for n in values), "[" + "".join(f"{n};" for n in values) + "];")
        self.add("Set", "Set<Int>", "collection", set_, "{ k = 'set', 'i' }")
        def range_():
            low, n = rng.randint(-99, 99), rng.randrange(200)
            return Value(struct.pack("<bB", low, n), f"{low}..<{low + n};")
        self.add("Range", "Range<Int>", "generic struct", range_, "'range'")
        self.add("Category", "Unicode.GeneralCategory", "library enum", lambda: (lambda n: Value(bytes([n]), "mathSymbol;" if n else "uppercaseLetter;"))(rng.randrange(2)), "'category'")
        self.add("Priority", "TaskPriority", "library struct", lambda: (lambda n: Value(bytes([n]), f"priority{n};"))(rng.randrange(256)), "'priority'")
        self.add("Duration", "Duration", "library struct", lambda: (lambda n: Value(struct.pack("<i", n), f"t{n};"))(rng.randint(0, 1 << 30)), "'duration'")

    def make_object(self, classes=("C", "C", "D")):
        cls = self.rng.choice(classes)
        self.objects += 1
        flag = bytes([cls == "D"]) if len(classes) > 1 else b""
        return Value(flag + struct.pack("<q", self.objects), f"{cls}#{self.objects};")

    def variants(self, *choices):
        """A value of one of several dynamic types, with its number before it."""
        k = self.rng.randrange(len(choices))
        v = choices[k]() if callable(choices[k]) else choices[k].make()
        return Value(struct.pack("<H", k) + v.data, v.text)

    def references(self):
        rng, ids = self.rng, self.by_id
        c = self.add("C", "C", "class", self.make_object, '"c"')
        self.add("D", "D", "class", lambda: self.make_object(("D",)), '"c"')
        self.add("Object", "AnyObject", "class existential", self.make_object, '"c"')
        def fields(name, *parts):
            def make():
                values = [p.make() for p in parts]
                return Value(b"".join(v.data for v in values), f"{name}{{{''.join(v.text for v in values)}}};")
            return make
        def struct_shape(name, **members): return f"{{ k = 'struct', name = '{name}', " + ", ".join(f"{{ '{n}', {ids[t].shape} }}" for n, t in members.items()) + " }"
        large = self.add("Large", "Large", "struct in memory", fields("Large", ids["Int"], ids["String"], c, ids["Double"], ids["Int8"], ids["Int"]),
                         struct_shape("Large", a="Int", b="String", c="C", d="Double", e="Int8", f="Int"), fits=[*EVERYWHERE, "thrown"])
        self.add("P", "any P", "existential", lambda: self.variants(ids["Int"], ids["String"], c, large), '"?"')
        self.add("Any", "Any", "existential", lambda: self.variants(ids["Int"], ids["String"], c, large, ids["Double"]), '"?"')
        def pv():
            if rng.randrange(2): return (lambda v: Value(b"\1" + v.data, v.text))(large.make())
            return (lambda v: Value(b"\0" + v.data, v.text))(self.make_object())
        self.add("PV", "any P & V", "composition", pv, '"?"')
        self.add("PC", "any PC", "class existential", self.make_object, '"c"')
        self.add("PCQ", "any PC & Q", "composition", self.make_object, '"c"')
        self.add("CQ", "C & Q", "composition", self.make_object, '"c"')
        tiny = self.add("Tiny", "Tiny", "enum without payload", lambda: (lambda k: Value(struct.pack("<H", k), f"Tiny.{['one', 'two', 'three'][k]};"))(rng.randrange(3)),
                        "{ k = 'enum', name = 'Tiny', one = {}, two = {}, three = {} }", fits=[*EVERYWHERE, "thrown"])
        def failure():
            k = rng.randrange(3)
            v = [Value(b"", ""), self.make_string(), self.make_object()][k]
            return Value(struct.pack("<H", k) + v.data, "Failure.plain;" if k == 0 else f"Failure.{['', 'text', 'object'][k]}{{{v.text}}};")
        failure_type = self.add("Failure", "Failure", "enum, several payloads", failure,
                                "{ k = 'enum', name = 'Failure', plain = {}, text = { 's' }, object = { 'c' } }", fits=[*EVERYWHERE, "thrown"])
        broken = self.add("Broken", "Broken", "struct of words", fields("Broken", ids["Int"], ids["String"]), struct_shape("Broken", a="Int", b="String"), fits=[*EVERYWHERE, "thrown"])
        self.add("Error", "any Error", "error", lambda: self.variants(tiny, failure_type, broken, large), '"?"', fits=[*EVERYWHERE, "thrown"])
        def named(*names): return lambda: (lambda k: Value(bytes([k]), names[k] + ";"))(rng.randrange(len(names)))
        def numbered(*names): return lambda: (lambda k: Value(struct.pack("<H", k), names[k] + ";"))(rng.randrange(len(names)))
        self.add("IntType", "Int.Type", "metatype", lambda: Value(b"", "Int;"), '"meta"', fits=[p for p in EVERYWHERE if p != "field"])
        self.add("OptionalIntType", "Int.Type?", "Optional metatype", named("nil", "Int"), '"meta?"', fits=[p for p in EVERYWHERE if p != "field"])
        self.add("CType", "C.Type", "class metatype", named("C", "D"), '"meta"')
        self.add("PType", "any P.Type", "existential metatype", numbered("Int", "C", "String"), '"meta"')
        self.add("AnyType", "Any.Type", "existential metatype", numbered("Int", "Large", "D"), '"meta"')
        def unique(name, text):
            def make():
                self.objects += 1
                return Value(struct.pack("<q", self.objects), text(self.objects))
            return make
        long = lambda n: "s" + f"a text longer than fifteen bytes {n}".encode().hex() + ";"
        moves = ["borrowing", "consuming", "inout", "owned", "result"]
        self.add("Unique", "Unique", "non-copyable", unique("Unique", lambda n: f"Unique{{{n};{long(n)}}};"), struct_shape("Unique", id="Int", text="String"), copyable=False, fits=moves)
        self.add("UniqueLarge", "UniqueLarge", "non-copyable", unique("UniqueLarge", lambda n: f"UniqueLarge{{{n};{long(n)}d3ff8000000000000;C#{n};}};"),
                 struct_shape("UniqueLarge", id="Int", a="String", b="Double", c="C"), copyable=False, fits=moves)

    def functions(self):
        rng = self.rng
        def number(add): return lambda: (lambda n: Value(struct.pack("<q", n), f"{n + add};"))(rng.randint(-999, 999))
        # A script says of a closure what it answers, as the program does.
        def calling(arguments, result): return f"{{ k = 'call', {result}, arguments = table.pack({arguments}) }}"
        of_three, of_two = calling("3", "'i'"), calling("3, 0.5", "'d'")
        self.add("Noescape", "() -> Int", "closure, not escaping", number(0), calling("", "'i'"), fits=["borrowed"])
        self.add("Escaping", "(Double, Int) -> Int", "closure, escaping", number(5), calling("1.5, 5", "'i'"), parameter="@escaping (Double, Int) -> Int")
        self.add("Throwing", "(String) throws -> String", "closure, escaping", lambda: (lambda v: Value(v.data, v.text))(self.make_string()), calling("'in'", "'s'"), parameter="@escaping (String) throws -> String")
        def swallow():
            n = rng.randint(-999, 999)
            return Value(struct.pack("<q", n), f"Broken{{{n + 1};s62;}};")
        self.add("Swallow", "(Broken, C?) -> Broken", "closure, escaping", swallow, calling("{ a = 1, b = 'b' }, nil", "T.Broken"), parameter="@escaping (Broken, C?) -> Broken")
        def optional():
            if rng.random() < 0.3: return Value(b"\0", "nil;", "nil")
            v = number(3)()
            return Value(b"\1" + v.data, v.text)
        self.add("OptionalFunction", "((Int) -> Int)?", "closure, Optional", optional, f"{{ k = 'opt', {of_three} }}")
        self.add("Functions", "[(Int) -> Int]", "closure, most general", self.many(type("", (), {"make": staticmethod(number(3))})), f"{{ k = 'array', {of_three} }}")
        def boxed():
            n = rng.randint(-999, 999)
            return Value(struct.pack("<d", n), "d%x;" % struct.unpack("<Q", struct.pack("<d", n + 1.5))[0])
        self.add("BoxedFunction", "Box<(Int, Double) -> Double>", "closure, most general", boxed, f"{{ k = 'boxed', {of_two} }}")
        self.add("CFunction", "@convention(c) (Int) -> Int", "C function", lambda: (lambda k: Value(bytes([k]), f"{3 + (1 if k else 2)};"))(rng.randrange(2)), of_three)

    # Composed types ------------------------------------------------------------------------------------------------

    def shape_of(self, t):
        """The name of its shape in the patch."""
        return f'T["{t.id}"]'

    def optional(self, t, kind):
        """`T?`; nested where T is Optional itself."""
        nested = t.shape_kind == "opt" if hasattr(t, "shape_kind") else False
        id = f"{t.id}_O"
        if id in self.by_id: return self.by_id[id]
        inner = getattr(t, "wrapped", None)
        if nested: writer, reader = (lambda e: f"w_Nested({e}, {{ {inner.writer('$0')} }})"), f"r_Nested({{ {inner.reader} }})"
        else: writer, reader = (lambda e: f"w_Optional({e}, {{ {t.writer('$0')} }})"), f"r_Optional({{ {t.reader} }})"
        def make():
            if self.rng.random() < 0.3: return Value(b"\0", "nil;", "nil")
            v = t.make()
            return Value(b"\1" + v.data, f"some{{{v.text}}};" if nested else v.text, None if nested else v.lua)
        swift = f"({t.swift})?" if t.swift.startswith("any ") or "->" in t.swift or "&" in t.swift else f"{t.swift}?"
        made = self.add(id, swift, kind, make, f"{{ k = '{'nested' if nested else 'opt'}', {self.shape_of(inner if nested else t)} }}",
                        fits=[p for p in EVERYWHERE if t.may(p)], size=t.size)
        made.writer, made.reader, made.shape_kind, made.wrapped = writer, reader, "opt", t
        self.declare_access(made)
        return made

    def declare_access(self, t):
        """Functions of the module Types that read and write a composed type, so that its uses stay cheap to compile."""
        writer, reader = t.writer("x"), t.reader
        self.declarations.append(f"public func w_{t.id}(_ x: {t.swift}) {{ {writer} }}\npublic func r_{t.id}() -> {t.swift} {{ {reader} }}\n")
        t.writer, t.reader = (lambda e, id=t.id: f"w_{id}({e})"), f"r_{t.id}()"

    def generic_types(self):
        ids = self.by_id
        def generic(id, swift, kind, make, shape, **options):
            t = self.add(id, swift, kind, make, shape, writer=lambda e: f"w_V({e})", reader=f"{swift}.r()", **options)
            self.declare_access(t)
            return t
        def box(t):
            def make(): return (lambda v: Value(v.data, f"Box{{{v.text}}};"))(t.make())
            return generic(f"Box_{t.id}", f"Box<{t.swift}>", "generic struct", make, f"{{ k = 'struct', name = 'Box', {{ 'value', {self.shape_of(t)} }} }}")
        def pair(a, b):
            def make():
                x, n, y = a.make(), ids["Int16"].make(), b.make()
                return Value(x.data + n.data + y.data, f"Pair{{{x.text}{n.text}{y.text}}};")
            # Read in the order a, n, b.
            return generic(f"Pair_{a.id}_{b.id}", f"Pair<{a.swift}, {b.swift}>", "generic struct", make,
                           f"{{ k = 'struct', name = 'Pair', {{ 'a', {self.shape_of(a)} }}, {{ 'n', 'i' }}, {{ 'b', {self.shape_of(b)} }} }}")
        def either(a, b):
            def make():
                k = self.rng.randrange(3)
                v = [a, b][k].make() if k < 2 else Value(b"", "")
                return Value(struct.pack("<H", k) + v.data, f"Either.{['left', 'right'][k]}{{{v.text}}};" if k < 2 else "Either.neither;")
            return generic(f"Either_{a.id}_{b.id}", f"Either<{a.swift}, {b.swift}>", "generic enum", make,
                           f"{{ k = 'enum', name = 'Either', left = {{ {self.shape_of(a)} }}, right = {{ {self.shape_of(b)} }}, neither = {{}} }}")
        self.box, self.pair, self.either = box, pair, either
        for t in ("Int", "String", "Large", "Int8"): box(ids[t])
        pair(ids["Int8"], ids["Double"]); pair(ids["String"], ids["Int"]); pair(ids["Large"], ids["C"]); pair(ids["Int8"], ids["Int8"])
        either(ids["Int"], ids["String"]); either(ids["C"], ids["String"]); either(ids["Int8"], ids["Double"]); either(ids["Large"], ids["Int"])

    def random_types(self):
        rng, ids = self.rng, self.by_id
        pick = lambda *names: [ids[rng.choice(names)] for _ in range(1)][0]
        small = ("Int8", "UInt8", "Int16", "UInt16", "Bool", "Int32", "UInt32", "Float")
        for k in range(4): self.structure(f"Packed{k}", "struct, packed", [pick(*small[:7]) for _ in range(rng.randint(2, 7))])
        for k in range(4): self.structure(f"Mixed{k}", "struct, float and integer", [pick("Float", "Double", *small) for _ in range(rng.randint(2, 5))] + [pick("Float", "Double")])
        for k in range(4): self.structure(f"Words{k}", "struct of words", [pick("Int", "C", "String", "UInt64", "Raw", "Ints") for _ in range(rng.randint(1, 2))] + [pick(*small)])
        self.structure("Empty0", "struct, empty", [])
        self.structure("Empty1", "struct, empty", [ids["Empty0"], ids["Empty0"]])
        for k in range(3): self.structure(f"Big{k}", "struct in memory", [pick("Int", "String", "C", "Double", "Any", "P", "UInt8", "Error") for _ in range(rng.randint(5, 8))])
        fields = [t for t in self.types if t.may("field") and t.copyable]
        any_field = lambda: rng.choice(fields)
        for k in range(6): self.structure(f"Nested{k}", "struct, nested", [rng.choice([t for t in self.types if t.kind.startswith("struct") and t.may("field")]), any_field()] + [any_field() for _ in range(rng.randint(0, 2))])
        for k, n in enumerate((1, 2, 5, 300)): self.enumeration(f"Plain{k}", "enum without payload", [], n)
        # Strings, classes and Booleans have spare bits or inhabitants, integers and floats have none.
        for k in range(4): self.enumeration(f"Spare{k}", "enum, one payload, spare bits", [[pick("String", "C", "Bool", "Ints", "PC")]], rng.choice([0, 1, 3]), )
        for k in range(4): self.enumeration(f"Full{k}", "enum, one payload, no spare bits", [[pick("Int", "Double", "Float", "UInt8", "Int16", "UInt64", "Mixed0")]], rng.choice([1, 3, 300]))
        # No vectors: at -Onone the compiler itself crashes on some enums that hold them.
        payloads = [t for t in fields if t.kind not in ("SIMD", "128-bit integer") and not t.id.startswith("Nested")]
        any_payload = lambda: rng.choice(payloads)
        for k in range(7): self.enumeration(f"Multi{k}", "enum, several payloads", [[any_payload() for _ in range(rng.choice([1, 1, 2]))] for _ in range(rng.randint(2, 4))], rng.choice([0, 1, 3, 300]))
        for k in range(3): self.enumeration(f"Indirect{k}", "enum, indirect", [[any_payload()] for _ in range(rng.randint(1, 3))], rng.choice([0, 1, 3]), indirect=True)
        self.either(rng.choice(self.of_kind("struct, packed")), ids["Int"])
        self.box(rng.choice(self.of_kind("struct, nested")))
        for name in ("Int", "Int8", "UInt16", "Int32", "UInt64", "Double", "Float", "Bool", "String", "C", "Raw"): self.optional(ids[name], "Optional scalar")
        kinds = [k for k in dict.fromkeys(t.kind for t in self.types) if k not in
                 ("Optional scalar", "integer", "float", "Bool", "String", "class", "Void", "non-copyable", "closure, not escaping", "metatype", "Optional metatype", "closure, Optional", "pointer")]
        for kind in kinds:
            chosen = [t for t in self.of_kind(kind) if t.may("field") and "->" not in t.swift]
            if chosen: self.optional(rng.choice(chosen), self.kind_of_optional(kind))
        for name in ("Int_O", "Double_O", "String_O", "C_O", "Bool_O"): self.optional(ids[name], "Optional, nested")
        parts = [t for t in self.types if t.kind.startswith("Optional of")]
        chosen = rng.choice(parts)
        # At -Onone the compiler copies a `UInt128??` from a variable of 8 bytes' alignment as if it had 16.
        while chosen.wrapped.kind == "128-bit integer": chosen = rng.choice(parts)
        self.optional(chosen, "Optional, nested")
        for kind in ("Optional of a struct", "Optional of an enum"): self.optional(rng.choice(self.of_kind(kind)), "Optional, nested, with parts")
        fields = [t for t in self.types if t.may("field") and t.copyable and "->" not in t.swift]
        for k, n in enumerate((2, 2, 3, 4, 5)): self.tuple(k, [any_field() if k else rng.choice([ids["Int"], ids["Float"], ids["Bool"]]) for _ in range(n)])
        self.tuple(5, [ids["Int"], ids["Large"]])                       # several indirect results
        self.tuple(6, [ids["Any"], ids["P"], ids["Int8"]])
        self.tuple(7, [ids["Tuple0"], ids["Double"]])
        self.tuple(8, [ids["Int8"], ids["Any"], ids["UInt16"]], "tuple, parts share a register")
        self.tuple(9, [ids["Large"], ids["P"], ids["Int8"]], "tuple, parts share memory")
        self.tuple(11, [ids["Large"], ids["P"], ids["Any"], ids["Int"]], "tuple, parts share memory")
        self.tuple(10, [ids["Any"], ids["Bool"], ids["Int16"], ids["Int8"]], "tuple, parts share a register")

    @staticmethod
    def kind_of_optional(kind):
        """Scripts read these in different ways, so each is a row of its own."""
        for word in ("struct", "enum", "existential"):
            if word in kind: return f"Optional of {'an' if word[0] == 'e' else 'a'} {word}"
        return "Optional of another"

    def structure(self, name, kind, members):
        # No name that a function has.
        named = [(f"v{k}", t) for k, t in enumerate(members)]
        self.declarations.append(
            f"public struct {name}: V {{\n" + "".join(f"  public var {n}: {t.swift}\n" for n, t in named)
            + f"  public func w() {{ w_{name}(self) }}\n  public static func r() -> {name} {{ r_{name}() }}\n}}\n"
            + f"public func w_{name}(_ x: {name}) {{ " + "; ".join([f"open(\"{name}\")", *(t.writer(f"x.{n}") for n, t in named), "close()"]) + " }\n"
            + f"public func r_{name}() -> {name} {{ {name}({', '.join(f'{n}: {t.reader}' for n, t in named)}) }}\n")
        def make():
            values = [t.make() for t in members]
            return Value(b"".join(v.data for v in values), f"{name}{{{''.join(v.text for v in values)}}};")
        made = self.add(name, name, kind, make, f"{{ k = 'struct', name = '{name}', " + ", ".join(f"{{ '{n}', {self.shape_of(t)} }}" for n, t in named) + " }",
                        fits=[*EVERYWHERE, "self"], size=1 + sum(t.size for t in members))
        return made

    def enumeration(self, name, kind, cases, empties, indirect=False):
        rng = self.rng
        text = f"public enum {name}: V {{\n"
        for k, ts in enumerate(cases): text += f"  {'indirect ' if indirect else ''}case p{k}({', '.join(t.swift for t in ts)})\n"
        if empties: text += "  case " + ", ".join(f"e{k}" for k in range(empties)) + "\n"
        text += f"  public func w() {{ w_{name}(self) }}\n  public static func r() -> {name} {{ r_{name}() }}\n}}\n"
        text += f"public func w_{name}(_ x: {name}) {{\n  switch x {{\n"
        for k, ts in enumerate(cases):
            names = [f"a{j}" for j in range(len(ts))]
            text += f"  case .p{k}({', '.join('let ' + n for n in names)}): open(\"{name}.p{k}\"); {'; '.join(t.writer(n) for t, n in zip(ts, names))}; close()\n"
        text += "".join(f"  case .e{k}: word(\"{name}.e{k}\")\n" for k in range(empties))
        text += f"  }}\n}}\npublic func r_{name}() -> {name} {{\n  switch tag() {{\n"
        total = len(cases) + empties
        for k, ts in enumerate(cases): text += f"  {'default' if k == total - 1 else f'case {k}'}: .p{k}({', '.join(t.reader for t in ts)})\n"
        for k in range(empties): text += f"  {'default' if len(cases) + k == total - 1 else f'case {len(cases) + k}'}: .e{k}\n"
        self.declarations.append(text + "  }\n}\n")
        def make():
            k = rng.randrange(len(cases) + (1 if empties else 0))
            if k == len(cases):
                k = rng.randrange(empties)
                return Value(struct.pack("<H", len(cases) + k), f"{name}.e{k};")
            values = [t.make() for t in cases[k]]
            return Value(struct.pack("<H", k) + b"".join(v.data for v in values), f"{name}.p{k}{{{''.join(v.text for v in values)}}};")
        shape = f"{{ k = 'enum', name = '{name}', " + ", ".join(f"p{k} = {{ {', '.join(self.shape_of(t) for t in ts)} }}" for k, ts in enumerate(cases)) + " }"
        return self.add(name, name, kind, make, shape, fits=[*EVERYWHERE, "self"], size=1 + sum(t.size for ts in cases for t in ts))

    def tuple(self, k, members, kind="tuple"):
        id = f"Tuple{k}"
        def make():
            values = [t.make() for t in members]
            return Value(b"".join(v.data for v in values), "{" + "".join(v.text for v in values) + "};")
        made = self.add(id, "(" + ", ".join(t.swift for t in members) + ")", kind, make, "{ k = 'tuple', " + ", ".join(self.shape_of(t) for t in members) + " }")
        made.writer = lambda e: 'open(""); ' + "; ".join(t.writer(f"{e}.{n}") for n, t in enumerate(members)) + "; close()"
        made.reader = "(" + ", ".join(t.reader for t in members) + ")"
        self.declare_access(made)
        return made

    # Results and parameters of functions that are drawn besides ----------------------------------------------------

    def opaque(self, id):
        """`some P`, which is a value of that type."""
        t = self.by_id[id]
        made = Type(f"Some_{id}", "some P", "opaque result", t.make, t.shape, writer=lambda e: f"{e}.show()", reader=t.reader, fits=["result"])
        made.shape_name = self.shape_of(t)
        return made

    def unique_box(self, t):
        """A struct that cannot be copied, generic over what it holds."""
        def make(): return (lambda n, v: Value(n.data + v.data, f"UniqueBox{{{n.text}{v.text}}};"))(self.by_id["Int"].make(), t.make())
        made = Type(f"UniqueBox_{t.id}", f"UniqueBox<{t.swift}>", "non-copyable", make, f"{{ k = 'struct', name = 'UniqueBox', {{ 'id', 'i' }}, {{ 'value', {self.shape_of(t)} }} }}",
                    writer=lambda e: f"w_UniqueBox({e})", reader=f"UniqueBox<{t.swift}>.r()", copyable=False, fits=["borrowing", "consuming", "inout", "owned", "result"])
        made.shape_name = made.shape
        return made

    # Generic parameters --------------------------------------------------------------------------------------------

    def of_parameter(self, concrete):
        """The types of a generic function that mention its parameter T, which is `concrete` for the caller."""
        c = concrete
        def made(id, swift, kind, make, shape, writer, reader, real_swift, **options):
            t = Type(id, swift, kind, make, shape, writer=writer, reader=reader, **options)
            real = Type(id, real_swift, kind, make, shape, writer=writer, reader=reader.replace("T.r()", c.reader) if id == "T" else reader.replace("<T>", f"<{c.swift}>"))
            t.concrete, t.generic = real, True
            return t
        def optional():
            if self.rng.random() < 0.3: return Value(b"\0", "nil;", "nil")
            return (lambda v: Value(b"\1" + v.data, v.text, v.lua))(c.make())
        shape = self.shape_of(c)
        pair = lambda: (lambda a, b: Value(a.data + b.data, f"{{{a.text}{b.text}}};"))(c.make(), self.by_id["Int"].make())
        box = lambda: (lambda v: Value(v.data, f"Box{{{v.text}}};"))(c.make())
        return [
            made("T", "T", "generic parameter", c.make, shape, lambda e: f"w_V({e})", "T.r()", c.swift),
            made("T_O", "T?", "generic parameter", optional, f"{{ k = 'opt', {shape} }}", lambda e: f"w_OptionalV({e})", "r_OptionalV()", f"{c.swift}?"),
            made("T_A", "[T]", "generic parameter", self.many(c), f"{{ k = 'array', {shape} }}", lambda e: f"w_ArrayV({e})", "r_ArrayV()", f"[{c.swift}]"),
            made("T_P", "(T, Int)", "generic parameter", pair, f"{{ k = 'tuple', {shape}, 'i' }}", lambda e: f"w_PairV({e})", "r_PairV()", f"({c.swift}, Int)"),
            made("T_B", "Box<T>", "generic parameter", box, f"{{ k = 'struct', name = 'Box', {{ 'value', {shape} }} }}", lambda e: f"w_V({e})", "Box<T>.r()", f"Box<{c.swift}>"),
        ]
