#!/usr/bin/env python3
"""Writes random Swift modules, a program that calls them, and what a patch needs to know of them.

    generate.py SEED COUNT DIRECTORY

Types.swift declares the types, Subject.swift COUNT functions of every kind over them, main.swift calls each once.
values.bin is where the program reads its values; a directory for each mode holds the patches. What must be printed is
worked out by check.py, which makes the same functions from the same seed.
"""
import os, random, struct, sys
from functions import CLASSES, FILLS, KINDS, MORE, THROWS, Function
from model import Model

# How a value is passed: by the kind of function. Each type is asked for in each of them.
GROUPS = {
    "free": ["free function"],
    "class": ["method", "final method"],
    "value": ["struct method", "struct mutating", "struct consuming", "enum method", "enum mutating"],
    "static": ["class method", "struct static", "enum static"],
    "init": ["initialiser", "failable initialiser", "struct initialiser", "struct failable initialiser", "enum initialiser"],
    "accessor": ["global getter", "global setter", "getter", "setter", "static getter", "struct getter", "struct setter", "enum getter"],
    "subscript": ["subscript getter", "subscript setter", "struct subscript getter", "struct subscript setter"],
    "coroutine": ["modify", "read", "struct modify", "struct read"],
    "generic": ["generic function", "generic method", "method of generic class", "generic struct method", "generic struct mutating", "generic struct static"],
    "witness": ["protocol witness", "protocol extension"],
    "actor": ["actor method"],
    "async": ["async function", "async method", "async struct method", "async actor method"],
}
GROUP_OF = {kind: group for group, kinds in GROUPS.items() for kind in kinds}
GROUP_OF |= {kind: "besides" for kind in MORE}
assert set(GROUP_OF) == set(KINDS) | set(MORE)
MODES = ["decode", "replace", "around", "instead", "twice"]
POSITIONS = ["borrowed", "borrowing", "consuming", "inout", "owned", "index", "variadic", "result", "yield"]


# Groups of functions, kinds of functions and kinds of types to leave out, separated by `/`: to look past a known bug.
WITHOUT = set(filter(None, os.environ.get("VALUES_WITHOUT", "").split("/")))


class Generator:
    def __init__(self, seed, count):
        self.rng = random.Random(seed)
        self.model = Model(self.rng)
        self.by_kind = {}
        for t in self.model.types:
            t.shape_name = self.model.shape_of(t)
            if t.kind not in WITHOUT: self.by_kind.setdefault(t.kind, []).append(t)
        ids = self.model.by_id
        self.wide_ids = {}
        for t in self.model.types:
            # Types come after what they are made of.
            if t.kind in ("128-bit integer", "SIMD", "odd float") or any(f'T["{id}"]' in t.shape for id in self.wide_ids): self.wide_ids[t.id] = t.shape_name
        self.concretes = [ids[n] for n in ("Int", "String", "C", "Large", "Double", "Int8")] + [t for t in self.model.types if t.may("self") and t.fits]
        self.generic_shapes = {}
        # Four seeds in a row ask for every cell of the tables once, whatever their types are.
        wanted = self.wanted()
        first, rest = wanted[seed % 4::4], [each for k, each in enumerate(wanted) if k % 4 != seed % 4]
        self.rng.shuffle(first)
        self.rng.shuffle(rest)
        wanted = first + rest
        self.functions = []
        left_out = lambda kind: kind in WITHOUT or GROUP_OF[kind] in WITHOUT
        wanted = [options for options in wanted if not left_out(options["kind"])]
        kinds = [kind for kind in KINDS if not left_out(kind)]
        for i in range(count):
            options = wanted[i] if i < len(wanted) else {}
            kind = options.pop("kind", None) or self.rng.choice(kinds)
            self.functions.append(Function(self, i, kind, **options))
        for kind in [kind for kind in MORE if kind not in WITHOUT for _ in range(max(1, count // 100))]:
            self.functions.append(Function(self, len(self.functions), kind))

    def any_type(self): return self.rng.choice(self.by_kind[self.rng.choice(list(self.by_kind))])
    def is_wide(self, t):
        """The type, or one in it, is aligned to 16 bytes."""
        wide = self.wide_ids
        return t.id in wide or any(part in t.shape for part in wide.values())

    def name_of(self, t): return t.swift

    def parameter_types(self, concrete):
        if concrete.id not in self.generic_shapes:
            made = self.model.of_parameter(concrete)
            for t in made: t.shape_name = t.shape
            self.generic_shapes[concrete.id] = made
        return self.generic_shapes[concrete.id]

    def wanted(self):
        """One function for each cell of the tables."""
        rng, asked = self.rng, []
        for kind, types in self.by_kind.items():
            for position in POSITIONS:
                t = rng.choice(types)
                match position:
                    case "result": asked.append(dict(wanted_result=t, kind=rng.choice(["free function", "method", "struct method", "getter"])))
                    case "yield": asked.append(dict(wanted_result=t, kind=rng.choice(GROUPS["coroutine"])))
                    case "owned": asked.append(dict(wanted=t, wanted_convention="owned", kind=rng.choice(GROUPS["init"] + ["setter", "struct setter", "global setter"])))
                    case "index": asked.append(dict(wanted=t, wanted_convention="index", kind=rng.choice(GROUPS["subscript"])))
                    case _: asked.append(dict(wanted=t, wanted_convention=position, kind=rng.choice(["free function", "method", "struct method", "class method", "generic function"])))
            for fill in FILLS:
                asked.append(dict(wanted=rng.choice(types), wanted_fill=fill, kind=rng.choice(["free function", "method", "class method", "struct static", "enum static"])))
            for group, kinds in GROUPS.items():
                function_kind, t = rng.choice(kinds), rng.choice(types)
                # Functions that wait take nothing that is aligned to 16 bytes (functions.py).
                while group in ("async", "actor") and self.is_wide(t) and not all(map(self.is_wide, types)): t = rng.choice(types)
                form = KINDS[function_kind][1]
                takes, gives = form in ("function", "init", "set", "subscript set"), form not in ("init", "set", "subscript set") and t.may("result")
                asked.append(dict(kind=function_kind, **{"wanted" if takes and (not gives or rng.random() < 0.5) else "wanted_result": t}))
        for t in self.model.types:
            if t.may("self") and t.fits:
                place = t.kind.split(",")[0].split(" ")[0]
                asked += [dict(wanted_self=t, kind=k) for k in KINDS if KINDS[k][0] == place and rng.random() < 0.35]
        for error in THROWS.values():
            for kind in KINDS:
                if KINDS[kind][1] in ("function", "init") and rng.random() < 0.4: asked.append(dict(wanted_error=self.model.by_id[error], kind=kind, ignores=rng.random() < 0.5))
        return asked


def subject(g, access="public"):
    text = "import Kit\nimport Types\n\n"
    of = lambda place, owner=None: "".join(f.declaration(access) for f in g.functions if f.place == place and (owner is None or f.owner == owner))
    text += of("")
    for owner in [f"K{k}" for k in range(CLASSES)] + ["L0", "L1"]:
        final = owner[0] == "L"
        text += (f"public {'final ' if final else ''}class {owner}: C {{\n  public override init(number: Int) {{ super.init(number: number) }}\n"
                 + of("final class" if final else "class", owner) + f"}}\npublic func make{owner}() -> {owner} {{ {owner}(number: 55) }}\n")
    text += "public class G<T: V>: C {\n  public var t: T\n  public init(t: T) { self.t = t; super.init(number: 55) }\n" + of("generic class") + "}\n"
    text += "public actor A {\n  public let id: Int\n  public init(id: Int) { self.id = id }\n" + of("actor") + "}\npublic func makeA() -> A { A(id: 55) }\n"
    text += "extension Box where T: V {\n" + of("generic struct") + "}\nextension P {\n" + of("protocol") + "}\n"
    for place in ("struct", "enum"):
        for owner in dict.fromkeys(f.owner for f in g.functions if f.place == place): text += f"extension {owner} {{\n{of(place, owner)}}}\n"
    for f in g.functions:
        if f.place == "constrained": text += f"extension Box where T == {f.concrete.swift} {{\n{f.declaration(access)}}}\n"
        if f.place == "super":
            text += f"public class M{f.index}: C {{\n{f.declaration(access)}}}\npublic final class N{f.index}: M{f.index} {{}}\n"
    for f in g.functions:
        if f.place == "witness":
            text += f"{access} protocol W{f.index} {{ func {f.name}{f.head()} }}\nextension {f.owner}: W{f.index} {{\n{f.declaration(access)}}}\n"
    return text


def main_program(g):
    text, groups = "import Kit\nimport Types\nimport Subject\n\n", []
    waiting = []
    for f in g.functions:
        code, waits = f.call()
        text += code
        if not groups or groups[-1][0] != waits or len(groups[-1][1]) == 50: groups.append((waits, []))
        groups[-1][1].append(f.index)
    for k, (waits, members) in enumerate(groups):
        text += f"@inline(never) func group{k}(){' async' if waits else ''} {{ " + "; ".join(f"{'await ' if waits else ''}c{n}()" for n in members) + " }\n"
    text += "@main struct Main {\n  static func main() async {\n    begin()\n" \
        + "".join(f"    await group{k}()\n" if waits else f"    onThread {{ group{k}() }}\n" for k, (waits, _) in enumerate(groups)) + "    end()\n  }\n}\n"
    return text


def stream(g):
    offsets, data = [], b""
    start = 8 * len(g.functions)
    for f in g.functions:
        for part in (f.caller_data(), f.callee_data()):
            offsets.append(start + len(data))
            data += part
    return struct.pack(f"<{len(offsets)}I", *offsets) + data


# Functions in a patch: hosts take files of 128 KB that load within a second. A debug build on a busy machine loads fewer.
PART = int(os.environ.get("VALUES_PART", "20"))


def lua(g):
    """What the patches know: shapes of types, functions with their selectors, and how they replace what."""
    types = "T = {}\n"
    for t in g.model.types: types += f'T["{t.id}"] = {t.shape}\n'
    lines = []
    for f in g.functions:
        arguments = ", ".join(p.shape for p in f.parameters)
        fields = [f'"{f.name}"', f'"{f.selector}"', f"args = {{ {arguments} }}"]
        if f.result: fields.append(f"result = {f.result.shape_name}")
        if f.error_type: fields.append(f"error = {f.error_type.shape_name}")
        if f.self_seen(): fields.append(f"self = {f.self_seen()[1]}")
        if f.form in ("modify", "read"): fields.append("coroutine = true")
        if f.outlives: fields.append("consuming = true")
        swaps = ", ".join(f"[{k + 1}] = {source}" for k, (source, _) in f.replacements().items())
        if swaps: fields.append(f"new = {{ {swaps} }}")
        result = f.new_result()
        if result: fields.append(f"new_result = {result[0]}")
        lines.append(f"F[#F + 1] = {{ {', '.join(fields)} }}\n")
    return [types + "F = {}\n" + "".join(lines[k:k + PART]) for k in range(0, len(lines), PART)]


def patches(g, directory):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "driver.lua")) as f: driver = f.read()
    for mode in MODES:
        os.makedirs(os.path.join(directory, mode), exist_ok=True)
        for k, part in enumerate(lua(g)):
            with open(os.path.join(directory, mode, f"part{k}.lua"), "w") as f:
                f.write(f'patch {{ id = "{mode}{k}", version = "1.0.0", api = 1 }}\nMODE = "{mode}"\n{part}{driver}')


def write(directory, seed, count):
    g = Generator(seed, count)
    def put(name, data):
        with open(os.path.join(directory, name), "wb") as f: f.write(data if isinstance(data, bytes) else data.encode())
    put("Types.swift", "import Kit\n\n" + "\n".join(g.model.declarations))
    put("Subject.swift", subject(g))
    put("main.swift", main_program(g))
    # All of it is in one module, where the optimiser may do what it likes with private functions.
    put("Private.swift", subject(g, "fileprivate") + main_program(g).replace("import Kit\nimport Types\nimport Subject\n", ""))
    put("values.bin", stream(g))
    patches(g, directory)


if __name__ == "__main__": write(sys.argv[3], int(sys.argv[1]), int(sys.argv[2]))
