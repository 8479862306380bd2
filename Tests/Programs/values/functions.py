"""Random functions of every kind: how each is declared, called, selected, and what it must print."""

from model import Type, Value

# kind: (what encloses it, form, flags). Forms: function, init, get, set, subscript get, subscript set, modify, read.
KINDS = {
    "free function": ("", "function"),
    "generic function": ("", "function", "generic"),
    "async function": ("", "function", "async"),
    "global getter": ("", "get"),
    "global setter": ("", "set"),
    "method": ("class", "function"),
    "final method": ("final class", "function"),
    "class method": ("class", "function", "static"),
    "initialiser": ("class", "init"),
    "failable initialiser": ("class", "init", "failable"),
    "getter": ("class", "get"),
    "setter": ("class", "set"),
    "static getter": ("class", "get", "static"),
    "modify": ("class", "modify"),
    "read": ("class", "read"),
    "subscript getter": ("class", "subscript get"),
    "subscript setter": ("class", "subscript set"),
    "generic method": ("class", "function", "generic"),
    "method of generic class": ("generic class", "function", "generic"),
    "async method": ("class", "function", "async"),
    "actor method": ("actor", "function", "isolated"),
    "async actor method": ("actor", "function", "async"),
    "struct method": ("struct", "function"),
    "struct mutating": ("struct", "function", "mutating"),
    "struct consuming": ("struct", "function", "consuming"),
    "struct static": ("struct", "function", "static"),
    "struct initialiser": ("struct", "init"),
    "struct failable initialiser": ("struct", "init", "failable"),
    "struct getter": ("struct", "get"),
    "struct setter": ("struct", "set"),
    "struct modify": ("struct", "modify"),
    "struct read": ("struct", "read"),
    "struct subscript getter": ("struct", "subscript get"),
    "struct subscript setter": ("struct", "subscript set"),
    "async struct method": ("struct", "function", "async"),
    "generic struct method": ("generic struct", "function", "generic"),
    "generic struct mutating": ("generic struct", "function", "generic", "mutating"),
    "generic struct static": ("generic struct", "function", "generic", "static"),
    "enum method": ("enum", "function"),
    "enum mutating": ("enum", "function", "mutating"),
    "enum static": ("enum", "function", "static"),
    "enum initialiser": ("enum", "init"),
    "enum getter": ("enum", "get"),
    "protocol witness": ("witness", "function"),
    "protocol extension": ("protocol", "function"),
}
# Drawn besides, the same number of each: what the tables of types have no place for.
MORE = {
    "opaque function": ("", "function", "opaque"),
    "opaque method": ("class", "function", "opaque"),
    "opaque struct getter": ("struct", "get", "opaque"),
    "opaque async function": ("", "function", "opaque", "async"),
    "Self method": ("class", "function", "self result"),
    "Self struct method": ("struct", "function", "self result"),
    "constrained method": ("constrained", "function"),
    "constrained mutating": ("constrained", "function", "mutating"),
    "super initialiser": ("super", "init"),
    "pack function": ("", "function", "pack"),
    "pack method": ("class", "function", "pack"),
    "generic non-copyable": ("", "function", "unique box"),
}
THROWS = {"throws": "Error", "throws(Failure)": "Failure", "throws(Broken)": "Broken", "throws(Tiny)": "Tiny", "throws(Large)": "Large"}
CLASSES = 6
# What stands before a value so that it begins in the last but one or the last register of a kind.
FILLS = {"in r8": ("Int", 4), "in r9": ("Int", 5), "in xmm7": ("Double", 7)}


class Parameter:
    """convention: borrowed, borrowing, consuming, __owned, inout, owned (setter, initialiser), index, variadic, pack."""
    def __init__(self, type, convention, wanted=False):
        self.type, self.convention = type, convention
        self.fill = ""         # where it begins, when that was asked for
        self.ignored = False   # the body does not look at it
        make = type.make
        self.value, self.assigned, self.spare = make(), make(), make()
        # A type that is asked for is to be seen: none has nothing of it.
        while wanted and self.value.text in ("nil;", "some{nil;};"): self.value = make()
        if convention == "variadic":
            many = [make() for _ in range(2)]
            self.value = Value(b"".join(v.data for v in many), "[" + "".join(v.text for v in many) + "];")

    @property
    def is_list(self): return self.convention in ("variadic", "pack")

    @property
    def shape(self): return f"{{ k = 'array', {self.type.shape_name} }}" if self.convention == "variadic" else self.type.shape_name

    def spelled(self):
        word = {"borrowing": "borrowing ", "consuming": "consuming ", "__owned": "__owned ", "inout": "inout "}.get(self.convention, "")
        # Borrowed tuples cannot be passed on within a body that says `borrowing`; the older words mean the same to callers.
        if self.type.swift.startswith("(") and "->" not in self.type.swift: word = word.replace("borrowing", "__shared").replace("consuming", "__owned")
        if self.convention == "variadic": return f"({self.type.swift})..." if "(" not in self.type.swift[:1] or "->" in self.type.swift else f"{self.type.swift}..."
        return word + (self.type.swift if self.convention == "inout" else self.type.parameter)


class Pack(Parameter):
    """`repeat each E`: a value each of types that the caller chooses. What a script is shown of it must not look like a value."""
    def __init__(self, types):
        super().__init__(types[0], "pack")
        self.types = types
        many = [t.make() for t in types]
        self.value = Value(b"".join(v.data for v in many), "".join(v.text for v in many))
        self.spare = Value(b"", "")

    @property
    def shape(self): return '"i"'

    def spelled(self): return "repeat each E"


class Function:
    def __init__(self, generator, index, kind, wanted=None, wanted_result=None, wanted_self=None, wanted_error=None, wanted_convention=None, wanted_fill=None, ignores=False):
        self.g, self.index, self.kind = generator, index, kind
        self.name = f"f{index}"
        self.place, self.form, *flags = (KINDS | MORE)[kind]
        self.flags = set(flags)
        rng, m = generator.rng, generator.model
        self.concrete, self.extra_types = None, []
        if "generic" in self.flags or self.place.startswith("generic"):
            self.concrete = rng.choice(generator.concretes)
            self.extra_types = generator.parameter_types(self.concrete)
        if self.place == "constrained": self.concrete = rng.choice(generator.concretes)
        self.is_boxed = self.place in ("generic struct", "constrained")
        self.waits = "async" in self.flags or self.place == "actor"
        self.choose_self(wanted_self)
        self.choose_parameters(wanted, wanted_convention, wanted_fill, ignores)
        if self.form in ("function", "init"): self.choose_ignored(ignores)
        self.choose_result(wanted_result)
        self.throws = ""
        if self.form in ("function", "init"):
            self.throws = rng.choice(["", "", "throws", rng.choice(list(THROWS))])
        if wanted_error: self.throws = "throws" if wanted_error.id == "Error" else f"throws({wanted_error.id})"
        self.error_type = m.by_id[THROWS[self.throws]] if self.throws else None
        self.does_throw = bool(self.throws) and rng.random() < (0.7 if wanted_error else 0.4)
        self.error = self.error_type.make() if self.throws else None
        # Whoever stands in for these leaves something alive: a self that nobody knows is consumed.
        self.outlives = "consuming" in self.flags
        self.fails = "failable" in self.flags and rng.random() < 0.4

    # Choices -------------------------------------------------------------------------------------------------------

    def choose_self(self, wanted):
        rng, m = self.g.rng, self.g.model
        self.self_type = self.self_value = self.new_self = self.held = self.receiver_type = None
        if self.place == "generic class" or self.is_boxed:
            self.held, again = self.concrete.make(), self.concrete.make()
            self.new_self = Value(again.data, f"Box{{{again.text}}};")
        if self.place == "protocol":
            self.receiver_type = m.by_id[rng.choice(["Int", "String", "C", "Large"])]
            self.held = self.receiver_type.make()
        if self.place in ("struct", "enum", "witness"):
            pool = [t for t in m.types if t.may("self") and t.fits and (self.place == "witness" or t.kind.startswith(self.place))]
            # The compiler loses the stack for these, as for arguments.
            if self.waits: pool = [t for t in pool if not self.g.is_wide(t)]
            self.self_type = wanted if wanted in pool else rng.choice(pool)
            self.self_value, self.new_self = self.self_type.make(), self.self_type.make()

    def pick(self, position):
        g, rng = self.g, self.g.rng
        while True:
            t = rng.choice(self.extra_types) if self.extra_types and rng.random() < 0.4 else g.any_type()
            if self.fits(t, position): return t

    def fits(self, t, position):
        """Whether a value of the type may stand there in this kind of function."""
        if not t.copyable: return position in ("borrowing", "consuming", "inout", "result")
        if t.id == "Noescape": return position == "borrowed" and self.form in ("function", "init")
        if t.id == "Void": return position in ("borrowed", "result") and self.form == "function"
        # The compiler itself loses the stack of an async function that takes a value of 16 bytes' alignment there.
        if self.waits and self.g.is_wide(t): return False
        if t.generic and position in ("variadic", "yield"): return False
        return t.may({"borrowing": "borrowed", "__owned": "consuming"}.get(position, position))

    def positions(self, index):
        """What parameter `index` may be, likelier ones several times."""
        if self.form == "set" or self.form == "subscript set" and index == 0: return ["owned"]
        if self.form.startswith("subscript"): return ["index"]
        if self.form == "init": return ["owned"] * 4 + ["borrowed", "borrowing", "consuming", "inout"]
        return ["borrowed"] * 6 + ["borrowing", "consuming", "__owned", "inout"]

    def choose_ignored(self, asked):
        """Some bodies do not look at all they are passed: what the optimiser makes of those is another function."""
        for k, p in enumerate(self.parameters):
            if p.type.copyable and p.convention not in ("inout", "variadic"): p.ignored = asked and k == 0 or self.g.rng.random() < 0.1

    def choose_parameters(self, wanted, wanted_convention, wanted_fill, ignores):
        rng = self.g.rng
        count = rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 11])
        if self.form in ("get", "modify", "read"): count = 0
        if self.form == "set": count = 1
        if self.form == "subscript get": count = rng.randint(1, 4)
        if self.form == "subscript set": count = rng.randint(2, 5)   # the new value first
        if wanted and self.form in ("function", "init") or self.form == "init": count = max(1, count)
        if ignores: count = max(3, count)
        self.parameters = []
        generic_parameter = "generic" in self.flags and self.place in ("", "class")
        # So many registers are taken before the type that is asked for.
        if wanted_fill: self.parameters = [Parameter(self.g.model.by_id[FILLS[wanted_fill][0]], "borrowed") for _ in range(FILLS[wanted_fill][1])]
        asked_at = 1 if self.form == "subscript set" and wanted_convention == "index" else 0
        for k in range(count):
            possible = self.positions(k)
            t = None
            if k == asked_at and wanted and wanted_convention != "variadic":
                fitting = [p for p in ([wanted_convention] if wanted_convention in possible else possible) if self.fits(wanted, p)]
                if fitting: t, position = wanted, rng.choice(fitting)
            if not t:
                position = rng.choice(possible)
                # No type in init is borrowed by default but a closure that does not escape.
                if self.form == "init" and position == "borrowed": t = self.g.model.by_id["Noescape"]
                # Types twice: so that a patch can exchange their values.
                elif self.parameters and rng.random() < 0.35 and self.fits(self.parameters[-1].type, position): t = self.parameters[-1].type
                else: t = self.pick(position)
            self.parameters.append(Parameter(t, position, wanted=t is wanted))
            if wanted_fill and t is wanted: self.parameters[-1].fill = wanted_fill
        if "pack" in self.flags: self.parameters.append(Pack([rng.choice(self.g.concretes) for _ in range(rng.randint(1, 3))]))
        elif self.form == "function" and (wanted_convention == "variadic" or rng.random() < 0.04):
            t = wanted if wanted_convention == "variadic" else self.pick("variadic")
            if self.fits(t, "variadic"): self.parameters.append(Parameter(t, "variadic"))
        if generic_parameter: self.parameters.insert(0, Parameter(self.extra_types[0], "borrowed"))
        if "unique box" in self.flags:
            self.parameters.insert(0, Parameter(self.g.model.unique_box(rng.choice(self.g.concretes)), rng.choice(["borrowing", "consuming", "inout"])))

    def choose_result(self, wanted):
        rng = self.g.rng
        self.result = None
        if self.form == "init" or self.form in ("set", "subscript set"): return
        position = "yield" if self.form in ("modify", "read") else "result"
        if wanted and self.fits(wanted, position): self.result = wanted
        elif self.form != "function" or rng.random() < 0.85:
            same = [p.type for p in self.parameters if self.fits(p.type, position) and not p.is_list]
            self.result = rng.choice(same) if same and rng.random() < 0.4 else self.pick(position)
        if self.result and self.form in ("get", "subscript get", "modify", "read"):
            while not self.result.copyable: self.result = self.pick(position)
        if "opaque" in self.flags: self.result = self.g.model.opaque(rng.choice(["Int", "String", "C", "Large"]))
        if "self result" in self.flags: self.result = self.self_result()
        if "unique box" in self.flags and rng.random() < 0.5: self.result = self.parameters[0].type
        if self.result: self.returned, self.other_result = self.result.make(), self.result.make()

    def self_result(self):
        """`Self`: the object itself, or another value of the struct."""
        t = self.self_type
        if t: made = Type(t.id, "Self", t.kind, t.make, t.shape, writer=t.writer, reader=t.reader)
        else:
            made = Type("C", "Self", "class", lambda: Value(b"", f"{self.owner}#55;"), '"c"', reader="self")
            t = Type("C", self.owner, "class", made.make, made.shape)
        made.shape_name, made.concrete = t.shape_name if self.self_type else made.shape, t
        return made

    # Swift: the callee ---------------------------------------------------------------------------------------------

    def writes(self, with_self=True):
        lines = []
        for k, p in enumerate(self.parameters):
            if p.ignored: continue
            if p.convention == "pack": lines.append(f"repeat (each a{k}).w()")
            elif p.convention == "variadic": lines.append(f"w_Array(a{k}) {{ {p.type.writer('$0')} }}")
            else: lines.append(p.type.writer(f"a{k}"))
        if with_self: lines += self.self_writes()
        return lines

    def self_writes(self):
        if "static" in self.flags or self.form == "init" and self.place not in ("class", "super") or not self.place: return []
        if self.place in ("class", "final class", "super"): return ["w_C(self)"]
        if self.place == "generic class": return ["w_C(self)", "t.w()"]
        if self.place == "actor": return ["w_Int(id)"]
        if self.place in ("struct", "enum", "witness"): return [self.self_type.writer("self")]
        if self.is_boxed: return ["w_V(self)"]
        return ["show()"]

    def self_text(self):
        if "static" in self.flags or self.form == "init" and self.place not in ("class", "super") or not self.place: return ""
        if self.place in ("class", "final class", "super"): return f"{self.owner}#{55 if self.form != 'init' else 77};"
        if self.place == "generic class": return f"{self.owner}<{self.g.name_of(self.concrete)}>#55;{self.held.text}"
        if self.place == "actor": return "55;"
        if self.is_boxed: return f"Box{{{self.held.text}}};"
        if self.place == "protocol": return self.held.text
        return self.self_value.text

    def self_seen(self):
        """What a script sees as self at entry: (the text, its shape, its kind); None where there is no value to look at."""
        if not self.place or "static" in self.flags or self.form == "init": return None
        if self.place in ("class", "final class", "generic class", "actor"): return "#55;", '"c"', self.place
        if self.is_boxed:
            return f"Box{{{self.held.text}}};", f"{{ k = 'struct', name = 'Box', {{ 'value', {self.concrete.shape_name} }} }}", "generic struct"
        seen = self.receiver_type or self.self_type
        return self.self_text(), seen.shape_name, seen.kind

    @property
    def owner(self):
        return {"class": f"K{self.index % CLASSES}", "final class": f"L{self.index % 2}", "generic class": "G", "actor": "A", "generic struct": "Box", "constrained": "Box", "protocol": "P", "super": f"N{self.index}"}.get(self.place) \
            or (self.self_type.swift if self.self_type else "")

    def body(self, indent="  "):
        n = self.index
        lines = []
        if self.form == "init" and self.place in ("class", "super"):
            # A failing initialiser fails before it makes its object, or after.
            lines.append("super.init(number: 77)")
        lines += [f"enter({n})", *self.writes(), "nl()"]
        for k, p in enumerate(self.parameters):
            if p.convention == "inout": lines.append(f"a{k} = {p.type.reader}")
        if self.throws: lines.append(f"if flag() {{ throw {self.error_type.reader} }}")
        if self.form == "init":
            if "failable" in self.flags: lines.append("if flag() { return nil }")
            if self.place not in ("class", "super"): lines.append(f"self = {self.self_type.reader}")
        if "mutating" in self.flags: lines.append(f"self = {'Self.r()' if self.is_boxed else self.self_type.reader}")
        if self.form == "read": lines += [f"let x = {self.result.reader}", "yield x"]
        elif self.form == "modify":
            lines += [f"var x: {self.result.swift} = {self.result.reader}", "yield &x", f"resumed({n})", self.result.writer("x"), "nl()"]
        elif self.result and self.result.swift != "()": lines.append(f"return {self.result.reader}")
        return "".join(f"{indent}  {line}\n" for line in lines)

    def head(self):
        first = f"{self.name} " if self.form == "init" or self.form.startswith("subscript") else "_ "
        shown = self.parameters[1:] if self.form == "subscript set" else self.parameters
        start = 1 if self.form == "subscript set" else 0
        parts = [f"{first if k == start else '_ '}a{k}: {p.spelled()}" for k, p in enumerate(shown, start)]
        head = f"({', '.join(parts)})"
        if "async" in self.flags: head += " async"
        if self.throws: head += " " + self.throws
        if self.result and self.form in ("function",): head += f" -> {self.result.swift}"
        return head

    def declaration(self, access="public"):
        words = f"@inline(never) {access} "
        if "static" in self.flags: words += "class " if self.place == "class" else "static "
        for flag in ("mutating", "consuming"):
            if flag in self.flags: words += flag + " "
        body = self.body()
        match self.form:
            case "function":
                generic = "<each E: V>" if "pack" in self.flags else "<T: V>" if "generic" in self.flags and self.place in ("", "class") else ""
                head = self.head()
                return f"  {words}func {self.name}{generic}{head} {{\n{body}  }}\n"
            case "init": return f"  {words}init{'?' if 'failable' in self.flags else ''}{self.head()} {{\n{body}  }}\n"
            case "get": return f"  {words.replace('@inline(never) ', '')}var {self.name}: {self.result.swift} {{\n    @inline(never) get {{\n{body}  }} }}\n"
            case "set":
                t = self.parameters[0].type
                return f"  {words.replace('@inline(never) ', '')}var {self.name}: {t.swift} {{\n    get {{ {t.reader} }}\n    @inline(never) set(a0) {{\n{body}  }} }}\n"
            case "subscript get": return f"  {access} subscript{self.head()} -> {self.result.swift} {{\n    @inline(never) get {{\n{body}  }} }}\n"
            case "subscript set":
                t = self.parameters[0].type
                return f"  {access} subscript{self.head()} -> {t.swift} {{\n    get {{ {t.reader} }}\n    @inline(never) set(a0) {{\n{body}  }} }}\n"
            case "modify":
                return f"  {access} var {self.name}: {self.result.swift} {{\n    get {{ {self.result.reader} }}\n    @inline(never) _modify {{\n{body}  }} }}\n"
            case "read": return f"  {access} var {self.name}: {self.result.swift} {{\n    @inline(never) _read {{\n{body}  }} }}\n"

    # Swift: the caller ---------------------------------------------------------------------------------------------

    def receiver(self):
        """Statements before the call, and what the call starts with."""
        if not self.place: return [], ""
        if self.form == "init": return [], self.owner
        if "static" in self.flags:
            return [], f"Box<{self.concrete.swift}>." if self.is_boxed else f"{self.owner}."
        if self.place in ("class", "final class"): return [f"let o = make{self.owner}()"], "o."
        if self.place == "generic class": return [f"let o = G(t: {self.concrete.reader})"], "o."
        if self.place == "actor": return ["let o = makeA()"], "o."
        word = "var" if "mutating" in self.flags or self.form in ("modify", "set", "subscript set") else "let"
        if self.is_boxed: return [f"{word} o = Box<{self.concrete.swift}>.r()"], "o."
        if self.place == "witness": return [f"let o: any W{self.index} = {self.self_type.reader}"], "o."
        if self.place == "protocol": return [f"let o: {self.receiver_type.swift} = {self.receiver_type.reader}"], "o."
        return [f"{word} o = {self.self_type.reader}"], "o."

    def call(self):
        n = self.index
        lines = [f"calling({n})"]
        arguments = []
        for k, p in enumerate(self.parameters):
            t = p.type.concrete
            if p.convention == "pack":
                lines += [f"let a{k}_{i}: {each.swift} = {each.reader}" for i, each in enumerate(p.types)]
                arguments.append(", ".join(f"a{k}_{i}" for i in range(len(p.types))))
                continue
            if p.convention == "variadic":
                lines += [f"let a{k}: {t.swift} = {t.reader}", f"let b{k}: {t.swift} = {t.reader}"]
                arguments.append(f"a{k}, b{k}")
                continue
            lines.append(f"{'var' if p.convention == 'inout' else 'let'} a{k}: {t.swift} = {t.reader}")
            arguments.append(f"&a{k}" if p.convention == "inout" else f"a{k}")
        before, start = self.receiver()
        lines += before
        if self.form in ("init",) or self.form.startswith("subscript"):
            shown = arguments[1:] if self.form == "subscript set" else arguments
            if shown: shown = [f"{self.name}: {shown[0]}"] + shown[1:]
        else: shown = arguments
        args = ", ".join(shown)
        prefix = ("try " if self.throws else "") + ("await " if self.waits else "")
        result = self.result.concrete if self.result else None
        after = [t.writer(f"a{k}") for k, p in enumerate(self.parameters) if p.convention == "inout" for t in [p.type.concrete]]
        if "mutating" in self.flags: after_self = ["w_V(o)" if self.is_boxed else self.self_type.writer("o")]
        else: after_self = []
        after += after_self
        match self.form:
            case "function":
                e = f"{prefix}{start}{self.name}({args})"
                if result and result.swift != "()": body = [f"let r: {result.swift} = {e}", f"back({n})", result.writer("r")]
                else: body = [e, f"back({n})"] + (["w_Void(())"] if result else [])
            case "init":
                body = [f"let r{'' if 'failable' in self.flags else ''} = {prefix}{start}({args})", f"back({n})"]
                writer = "w_C" if self.place in ("class", "super") else f"w_{self.self_type.id}"
                body.append(f"w_Optional(r) {{ {writer}($0) }}" if "failable" in self.flags else f"{writer}(r)")
            case "get" | "read": body = [f"let r: {result.swift} = {start}{self.name}", f"back({n})", result.writer("r")]
            case "subscript get": body = [f"let r: {result.swift} = {start[:-1]}[{args}]", f"back({n})", result.writer("r")]
            case "set": body = [f"{start}{self.name} = a0", f"back({n})"]
            case "subscript set": body = [f"{start[:-1]}[{args}] = a0", f"back({n})"]
            case "modify": body = [f"change{n}(&{start}{self.name})", f"back({n})"]
        body += after + ["nl()"]
        lines_text = "".join(f"  {line}\n" for line in lines)
        if self.throws:
            # A typed `do` gives the error its type.
            typed = f" {self.throws}" if "(" in self.throws else ""
            lines_text += f"  do{typed} {{\n" + "".join(f"    {line}\n" for line in body) + "  } catch {\n" \
                + "".join(f"    {line}\n" for line in [f"threw({n})", self.error_type.writer("error"), *after, "nl()"]) + "  }\n"
        else: lines_text += "".join(f"  {line}\n" for line in body)
        extra = ""
        if self.form == "modify":
            extra = (f"@inline(never) func change{n}(_ x: inout {result.swift}) {{\n  callingAgain({n})\n{'  _ = ' + self.receiver_skip() + chr(10) if self.receiver_skip() else ''}"
                     f"  resumed({n}); {result.writer('x')}; nl()\n  x = {result.reader}\n}}\n")
        return extra + f"@inline(never) func c{n}(){' async' if self.waits else ''} {{\n{lines_text}}}\n", self.waits

    def receiver_skip(self):
        """What a change of a yielded value has to read past: the receiver."""
        return self.self_type.reader if self.self_type else ""

    # The stream ----------------------------------------------------------------------------------------------------

    def caller_data(self):
        data = b"".join(p.value.data for p in self.parameters)
        if self.form != "init" and "static" not in self.flags:
            if self.place == "generic class" or self.is_boxed: data += self.held.data
            elif self.place == "protocol": data += self.held.data
            elif self.self_value: data += self.self_value.data
        if self.form == "modify": data += self.other_result.data
        return data

    def callee_data(self):
        data = b"".join(p.assigned.data for p in self.parameters if p.convention == "inout")
        if self.throws:
            data += bytes([self.does_throw])
            if self.does_throw: return data + self.error.data
        if "failable" in self.flags:
            data += bytes([self.fails])
            if self.fails: return data
        if self.form == "init" and self.place not in ("class", "super"): data += self.new_self.data
        if "mutating" in self.flags: data += self.new_self.data
        if self.result: data += self.returned.data
        return data

    # What must be printed ------------------------------------------------------------------------------------------

    def printed(self, received=None, result=None, runs=1, error=None):
        """The lines of the program: `received` the texts of replaced arguments, `result` that of a replaced result."""
        received = received or {}
        texts = [received.get(k, p.value.text) for k, p in enumerate(self.parameters)]
        seen = lambda texts: "".join(text for p, text in zip(self.parameters, texts) if not p.ignored)
        lines = [f"> {self.name} {seen(texts)}{self.self_text()}"]
        if runs == 0: lines = []
        if runs == 2:
            # The second run finds what the first left in the caller's variables.
            again = [p.assigned.text if p.convention == "inout" else text for p, text in zip(self.parameters, texts)]
            left = self.new_self.text if "mutating" in self.flags and not self.does_throw else self.self_text()
            lines.append(f"> {self.name} {seen(again)}{left}")
        if self.form == "modify":
            lines.append(f"~ {self.name} {self.returned.text}")
            lines.append(f"~ {self.name} {self.other_result.text}")
        after = "".join(p.assigned.text if runs else texts[k] for k, p in enumerate(self.parameters) if p.convention == "inout")
        if "mutating" in self.flags: after += self.new_self.text if runs and not self.does_throw else self.self_text()
        if self.does_throw and runs and result is None: return lines + [f"! {self.name} {(error or self.error.text)}{after}"]
        if result is not None: shown = result
        elif self.fails: shown = "nil;"
        elif self.form == "init": shown = f"{self.owner}#77;" if self.place in ("class", "super") else self.new_self.text
        elif self.form in ("set", "subscript set", "modify") or not self.result: shown = ""
        else: shown = self.returned.text
        return lines + [f"< {self.name} {shown}{after}"]

    # For patches ---------------------------------------------------------------------------------------------------

    @property
    def selector(self):
        module = {"struct": "Types", "enum": "Types", "witness": "Types", "generic struct": "Kit", "constrained": "Kit", "protocol": "Kit"}.get(self.place, "Subject")
        owner = f"{module}.{self.owner}." if self.place else "Subject."
        if self.place == "super": owner = f"Subject.M{self.index}."
        static = "static " if "static" in self.flags else ""
        labels = "_:" * len(self.parameters)
        if self.form in ("init", "subscript get"): labels = f"{self.name}:" + "_:" * (len(self.parameters) - 1)
        if self.form == "subscript set": labels = f"{self.name}:" + "_:" * (len(self.parameters) - 2)
        match self.form:
            case "function": return f"{static}{owner}{self.name}({labels})"
            case "init": return f"{owner}init({labels})"
            case "get" | "set" | "modify" | "read": return f"{static}{owner}{self.name}.{self.form}"
            case "subscript get": return f"{owner}subscript({labels}).get"
            case "subscript set": return f"{owner}subscript({labels}).set"

    def replacements(self):
        """By argument: what a patch puts there (`{ lua = … }` or the number of the argument it takes instead) and its text.

        A value that no script can make is exchanged with the next argument of its type.
        """
        made = {}
        for k, p in enumerate(self.parameters):
            if not p.is_list and p.spare.lua is not None: made[k] = (f"{{ lua = {p.spare.lua} }}", p.spare.text)
        for k, p in enumerate(self.parameters):
            if k in made or not p.type.copyable or p.is_list: continue
            other = next((j for j, q in enumerate(self.parameters) if j != k and q.type is p.type and not q.is_list), None)
            if other is not None: made[k] = (str(other + 1), self.parameters[other].value.text)
        return made

    def new_result(self):
        """What a patch makes the result: (Lua, text), the text None where nothing can be made."""
        if not self.result: return None
        if self.other_result.lua is not None: return f"{{ lua = {self.other_result.lua} }}", self.other_result.text
        for k, p in enumerate(self.parameters):
            if p.type is self.result and p.type.copyable and p.convention != "inout" and not p.is_list: return str(k + 1), p.value.text
        return None
