# families — the oracle's own idea of which bodies a program has: `nm` for addresses, `swift demangle` for names.
#
# A family is what the demangler prints as one entity: the base, its specialisations (Tf…, Tg…, Ts…), both forms of an
# initialiser or deinitialiser, merged bodies (Tm). Nothing here reads ScriptHost's code or output.
import os
import re
import subprocess
from collections import defaultdict

SPECIALISED = {
    "FunctionSignatureSpecialization", "GenericSpecialization", "GenericSpecializationNotReAbstracted",
    "GenericSpecializationInResilienceDomain", "GenericPartialSpecialization",
    "GenericPartialSpecializationNotReAbstracted", "GenericSpecializationPrespecialized", "InlinedGenericFunction",
    "MergedFunction",
}
# The two forms of one source declaration.
SAME = {"kind=Constructor": "kind=Allocator", "kind=Deallocator": "kind=Destructor"}
ENTITIES = {
    "Function", "Allocator", "Constructor", "Destructor", "Deallocator", "IsolatedDeallocator", "Getter", "Setter",
    "ModifyAccessor", "Modify2Accessor", "ReadAccessor", "Read2Accessor", "WillSet", "DidSet", "Static",
}


class Body:
    def __init__(self, image, address, size, symbol, family, kind, merged):
        self.image, self.address, self.size, self.symbol = image, address, size, symbol
        self.family, self.kind, self.merged = family, kind, merged

    def __repr__(self):
        return "%#x %s" % (self.address, self.symbol)

    def hands_on_to(self, other):
        """Whether an entry of `other` from this body is this body's own call, by what the names say."""
        mine, theirs = self.symbol, other.symbol
        if mine == theirs:
            return False
        # What a protocol's table holds for a default implementation.
        if self.kind == "Witness" or other.kind == "Witness":
            return other.kind != "Witness"
        if theirs.startswith(mine):
            rest = theirs[len(mine):]
            # Function signature optimisation (pass 4) leaves a thunk behind; merging does, too. Other passes keep the
            # whole body: what it calls is a call.
            return rest == "Tm" or rest.startswith("Tf4") and "_" in rest
        # An allocating initialiser ends in the initialising one, a deallocating deinit in the deinit.
        return {self.kind, other.kind} in ({"Allocator", "Constructor"}, {"Deallocator", "Destructor"}) and \
            self.kind in ("Allocator", "Deallocator")


def swift_symbols(image):
    """(address, size, name) of the Swift functions of an image."""
    table = subprocess.run(["nm", "-S", "--defined-only", image], capture_output=True, text=True).stdout
    if not table:
        table = subprocess.run(["nm", "-S", "-D", "--defined-only", image], capture_output=True, text=True).stdout
    for line in table.splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[2] in "tTwW" and parts[3].startswith("$s"):
            yield int(parts[0], 16), int(parts[1], 16), parts[3]


def demangle(names, *options):
    return subprocess.run(["swift", "demangle", *options], input="\n".join(names) + "\n", capture_output=True, text=True,
                          check=True).stdout


def address_of_main(program):
    table = subprocess.run(["nm", "--defined-only", program], capture_output=True, text=True).stdout
    return next(int(line.split()[0], 16) for line in table.splitlines() if line.endswith(" T main"))


def libraries(program):
    """The Swift libraries a program loads, but for the runtime, which is never hooked."""
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    for line in loaded.splitlines():
        path = os.path.realpath(line.split("=>")[1].split("(")[0].strip()) if "=> /" in line else ""
        name = os.path.basename(path)
        if path and not re.match(r"libswift(Core|_Concurrency|Synchronization)\.", name):
            yield path


def stand_ins(image, bodies):
    """{body: (address, size)} of the equal functions of an image that its short bodies only jump to: their calls are made for the body."""
    short = [b for b in bodies if b.image == image and b.size <= 16]
    if not short:
        return {}
    sizes = {address: size for address, size, _ in swift_symbols(image)}
    found = {}
    for body in short:
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--start-address=%#x" % body.address,
                               "--stop-address=%#x" % (body.address + body.size), image], capture_output=True, text=True).stdout
        steps = re.findall(r"^ +[0-9a-f]+:\t(.*?) *$", code, re.M)
        jump = re.match(r"jmp +([0-9a-f]+) ", steps[-1] + " ") if steps else None
        frame = [re.sub(r"\s+", " ", step) for step in steps[:-1]]
        if jump and frame in ([], ["push %rbp", "mov %rsp,%rbp", "pop %rbp"]) and int(jump[1], 16) in sizes:
            found[body] = int(jump[1], 16), sizes[int(jump[1], 16)]
    return found


def origins(names):
    """The mangled names of what the bodies of these names are specialisations of."""
    names = [name.removesuffix("Tm") for name in names]
    while True:  # one level at a time
        stripped = demangle(names, "--strip-specialization", "--compact").split()
        assert len(stripped) == len(names)
        if stripped == names:
            return names
        names = stripped


def witnesses(images, wanted, every):
    """{family: [Body]} of the witnesses that stand for implementations, default ones among them: some hold a copy instead of calling it.

    `wanted` and `every` are {family: bodies}. A call through such a copy is one that the implementation's own bodies never see.
    """
    plain = re.compile(r"\(extension in [^)]*\):")
    defaults = {family: next(b.symbol for b in bodies if not b.merged) for family, bodies in wanted.items()
                if any("PAAE" in b.symbol or re.search(r"P[0-9A-Z]\w*E", b.symbol) for b in bodies if not b.merged)}
    by_name = defaultdict(list)
    for family, text in zip(defaults, demangle(defaults.values(), "--compact").splitlines()):
        if "(extension in " in text:
            by_name[plain.sub("", text)].append(family)
    firsts = {family: next((b.symbol for b in bodies if not b.merged), None) for family, bodies in wanted.items()}
    firsts = {family: symbol for family, symbol in firsts.items() if symbol}
    by_member = defaultdict(list)
    for family, text in zip(firsts, demangle(firsts.values(), "--compact").splitlines()):
        by_member[plain.sub("", text)].append(family)
    # A requirement that speaks of associated types has no implementation's type: without overloads the name and labels tell.
    of_name = defaultdict(set)
    for family, text in named(every).items():
        of_name[without_generics(text)].add(family)
    by_name_alone = {text: next(iter(families)) for text, families in of_name.items() if len(families) == 1}
    found = defaultdict(list)
    for image in images:
        symbols = [each for each in swift_symbols(image) if each[2].endswith("TW")]
        if not symbols:
            continue
        own = set(demangle([name for _, _, name in swift_symbols(image) if not name.endswith("TW")], "--compact").splitlines())
        names = [name for _, _, name in symbols]
        for (address, size, symbol), text, short in zip(symbols, demangle(names, "--compact").splitlines(),
                                                        demangle(names, "--simplified", "--compact").splitlines()):
            match = re.match(r"protocol witness for (.*) in conformance (.*?)(<.*>)? : (.*) in (.*)$", text)
            if not match:
                continue
            mine = by_member.get(plain.sub("", match[1].replace(match[4], match[2], 1)), ())
            if not mine:
                family = by_name_alone.get(member_of(short))
                mine = [family] if family in wanted else []
            for family in mine:
                found[family].append(Body(image, address, size, symbol, family, "Witness", False))
            if match[1] not in by_name:
                continue
            # A type with an implementation of its own does not use the default one.
            member = match[1].replace(match[4], match[2], 1)
            if member in own:
                continue
            for family in by_name[match[1]]:
                found[family].append(Body(image, address, size, symbol, family, "Witness", False))
    return found


def implementations(images, wanted, every):
    """{family: families} of the default implementations of requirements among `wanted`: those of conforming types that have one of their own.

    A selector that names a requirement means these, too.
    """
    plain = re.compile(r"\(extension in [^)]*\):")
    firsts = {family: next((b.symbol for b in bodies if not b.merged), None) for family, bodies in every.items()}
    firsts = {family: symbol for family, symbol in firsts.items() if symbol}
    texts = dict(zip(firsts, demangle(firsts.values(), "--compact").splitlines()))
    by_name = {plain.sub("", texts[family]): family for family in wanted if "(extension in " in texts.get(family, "")}
    if not by_name:
        return {}
    of_text = {text: family for family, text in texts.items()}
    found = defaultdict(set)
    for image in images:
        names = [name for _, _, name in swift_symbols(image) if name.endswith("TW")]
        for text in demangle(names, "--compact").splitlines() if names else []:
            match = re.match(r"protocol witness for (.*) in conformance (.*?)(<.*>)? : (.*) in (.*)$", text)
            if not match or match[1] not in by_name:
                continue
            own = of_text.get(match[1].replace(match[4], match[2], 1))
            if own:
                found[by_name[match[1]]].add(own)
    return found


def named(families):
    """{family: type, name and labels of its first body}, without the types of parameters."""
    firsts = {family: next((b.symbol for b in bodies if not b.merged), None) for family, bodies in families.items()}
    firsts = {family: symbol for family, symbol in firsts.items() if symbol}
    return {family: text for family, text in zip(firsts, demangle(firsts.values(), "--simplified", "--compact").splitlines())}


def member_of(witness):
    """The member of the conforming type that a witness's simplified name speaks of."""
    match = re.match(r"protocol witness for (static )?(.*) in conformance (.*)", witness)
    if not match:
        return None
    head, _, labels = match[2].partition("(")
    return "%s%s.%s%s" % (match[1] or "", bare(match[3]), head.split(".", 1)[-1], "(" + labels if labels else "")


def bare(conforming):
    """The name of a conforming type, without generic parameters: `Optional` of `<A> A?`."""
    text = re.sub(r"^<[^>]*> ", "", conforming).strip()
    for sugar, name in ((r"\S+\?", "Optional"), (r"\[\S+\]", "Array"), (r"\[\S+ : \S+\]", "Dictionary")):
        if re.fullmatch(sugar, text):
            return name
    return without_generics(text)


def without_generics(text):
    """Without the parts in angle brackets before the parameters, which may hold others."""
    head, paren, rest = text.partition("(")
    kept, depth = "", 0
    for each in head:
        depth += each == "<"
        kept += each if not depth else ""
        depth -= each == ">"
    return kept.strip() + paren + rest


def read(image, origins=None):
    """All bodies of source functions and accessors of an image: {family: [Body]}, and {address: (symbol, size)} of merged ones.

    `origins` limits it to names that begin with one of these.
    """
    symbols = list(swift_symbols(image))
    if origins is not None:
        prefixes = tuple(origins)
        symbols = [each for each in symbols if each[2].startswith(prefixes)]
    if not symbols:
        return {}, {}
    text = demangle([each[2] for each in symbols], "--tree-only")
    families = defaultdict(list)
    merged = {}
    trees = text.split("\n\n")
    trees = [t for t in trees if t.startswith("Demangling for ")]
    assert len(trees) == len(symbols), (len(trees), len(symbols))
    for (address, size, symbol), tree in zip(symbols, trees):
        lines = tree.split("\n")
        assert lines[0] == "Demangling for " + symbol, lines[0]
        children, isMerged = [], False
        for number, line in enumerate(lines[2:], 2):
            if line.startswith("  kind="):
                children.append((number, line[7:].split(",")[0]))
        entity = None
        for position, (number, kind) in enumerate(children):
            if kind in SPECIALISED:
                isMerged |= kind == "MergedFunction"
                continue
            end = children[position + 1][0] if position + 1 < len(children) else len(lines)
            if entity is not None or kind not in ENTITIES:
                entity = None
                break
            entity = (lines[number:end], kind)
        if isMerged:
            merged[address] = symbol, size
        if entity is None:
            continue
        subtree, kind = entity
        if kind == "Static":
            kind = subtree[1].strip()[5:].split(",")[0]
            if kind not in ENTITIES:
                continue
        depth = 1 if subtree[0].strip() == "kind=Static" else 0
        subtree[depth] = subtree[depth].replace(subtree[depth].strip(), SAME.get(subtree[depth].strip(), subtree[depth].strip()))
        family = "\n".join(subtree).rstrip()
        families[family].append(Body(image, address, size, symbol, family, kind, isMerged))
    return families, merged
