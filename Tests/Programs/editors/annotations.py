"""Annotations of the Lua language server, as far as stub files use them: read by their grammar, line for line, and asked as an editor does.

Grammar, from the server's documentation: names of types are `[%a_][%w_.*-]*`; types are names, literals, `T?`, `T[]`, `T | U`, `(T)`,
`table<K, V>`, `fun(…): T`; tags are @meta, @class Name: Base, Base, @field name type, @param name type, @return type name, @alias Name type
followed by lines `---| value`, @type, @generic, @overload, @deprecated. A tag belongs to the statement behind its block."""
import re


class Malformed(Exception):
    pass


TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z_\x80-\uffff][\w.*\-]*)|(?P<string>\"[^\"]*\"|'[^']*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<mark>\.\.\.|\[\]|[|?()<>,:{}\[\]]))")


class Types:
    """A reader of one type at the beginning of a text."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def peek(self):
        match = TOKEN.match(self.text, self.at)
        return (match.lastgroup, match.group(match.lastgroup), match.end()) if match else (None, "", self.at)

    def take(self, wanted=None):
        kind, text, end = self.peek()
        if kind is None or wanted is not None and text != wanted:
            raise Malformed(f"expected {wanted or 'a type'} at {self.text[self.at:self.at + 40]!r}")
        self.at = end
        return kind, text

    def type(self):
        parts = [self.one()]
        while self.peek()[1] == "|":
            self.take()
            parts.append(self.one())
        return parts[0] if len(parts) == 1 else ("union", parts)

    def one(self):
        kind, text = self.take()
        if text == "(":
            found = self.type()
            self.take(")")
        elif kind == "name" and text == "fun" and self.peek()[1] == "(":
            found = self.function()
        elif kind == "name" and self.peek()[1] == "<":
            self.take()
            arguments = [self.type()]
            while self.peek()[1] == ",":
                self.take()
                arguments.append(self.type())
            self.take(">")
            found = ("generic", text, arguments)
        elif kind in ("name", "string", "number") or text == "...":
            found = ("name", text)
        else:
            raise Malformed(f"{text!r} is no type")
        while self.peek()[1] in ("?", "[]"):
            found = ("optional" if self.take()[1] == "?" else "array", found)
        return found

    def function(self):
        self.take("(")
        while self.peek()[1] != ")":
            self.take()
        self.take(")")
        result = None
        if self.peek()[1] == ":":
            self.take()
            result = self.type()
        return ("function", result)

    @property
    def rest(self):
        return self.text[self.at:]


def names(found):
    """All names in a type."""
    if found is None:
        return []
    if found[0] == "name":
        return [found[1]]
    if found[0] == "union":
        return [name for part in found[1] for name in names(part)]
    if found[0] == "generic":
        return [found[1]] + [name for part in found[2] for name in names(part)]
    return names(found[1])


NAME = re.compile(r"[A-Za-z_\x80-\uffff][\w.*\-]*$")
FUNCTION = re.compile(r"function ([A-Za-z_]\w*)(?:([.:])([A-Za-z_]\w*))?\(([^)]*)\) end$")
VALUE = re.compile(r"[A-Za-z_][\w.]* = nil$")
# A member whose name is a word of Lua.
QUOTED = re.compile(r"([A-Za-z_]\w*)\[\"([A-Za-z_]\w*)\"\] = function\(([^)]*)\) end$")
TABLE = re.compile(r"local ([A-Za-z_]\w*) = \{\}$|([A-Za-z_]\w*) = \{\}$")


class Stubs:
    """What stub files declare."""

    BUILT_IN = {"nil", "any", "boolean", "string", "number", "integer", "function", "table", "thread", "userdata", "lightuserdata", "unknown", "self", "...", "true", "false"}

    def __init__(self):
        self.classes, self.aliases, self.functions, self.used = {}, {}, {}, {}

    def read(self, text, file):
        block, variables, alias, meta = [], {}, None, False
        for number, line in enumerate(text.split("\n"), 1):
            try:
                line = line.strip()
                if line.startswith("---|"):
                    if alias is None:
                        raise Malformed("a value without an alias")
                    reader = Types(line[4:])
                    alias.append(reader.type()[1].strip("\"'"))
                elif line.startswith("---@"):
                    alias = None
                    tag, _, rest = line[4:].partition(" ")
                    if tag == "meta":
                        meta = True
                    elif tag == "alias":
                        name, _, rest = rest.partition(" ")
                        if not NAME.match(name):
                            raise Malformed(f"{name!r} is no name of a type")
                        alias = self.aliases.setdefault(name, [])
                        if rest:
                            self.note(Types(rest), file, number)
                    else:
                        block.append((number, tag, rest))
                elif line.startswith("--"):
                    pass
                elif line == "":
                    # What stands alone belongs to nothing; a class may.
                    alias, block = None, self.end(block, variables, None, file)
                else:
                    alias, block = None, self.end(block, variables, line, file)
            except Malformed as problem:
                raise Malformed(f"{file}:{number}: {problem}: {line[:160]}")
        if not meta:
            raise Malformed(f"{file}: no @meta: the server would take it for a program")

    def note(self, reader, file, number):
        found = reader.type()
        for name in names(found):
            self.used.setdefault(name, (file, number))
        return found

    def end(self, block, variables, statement, file):
        parameters, result, owner = {}, None, None
        for number, tag, rest in block:
            if tag == "class":
                name, _, bases = rest.partition(":")
                name = name.strip().removeprefix("(exact) ").removeprefix("(partial) ")
                if not NAME.match(name):
                    raise Malformed(f"{name!r} is no name of a class")
                owner = self.classes.setdefault(name, {"bases": [], "members": {}})
                owner["bases"] += [base.strip() for base in bases.split(",") if base.strip()]
                for base in owner["bases"]:
                    self.used.setdefault(base, (file, number))
            elif tag == "field":
                if owner is None:
                    raise Malformed("a field without a class")
                match = re.match(r"(?:private |protected |public )?([A-Za-z_]\w*)(\??) ", rest)
                if not match:
                    raise Malformed(f"{rest!r} is no field")
                owner["members"][match.group(1)] = ("field", self.note(Types(rest[match.end():]), file, number))
            elif tag == "param":
                match = re.match(r"([A-Za-z_]\w*|\.\.\.)(\??) ", rest)
                if not match:
                    raise Malformed(f"{rest!r} is no parameter")
                parameters[match.group(1)] = self.note(Types(rest[match.end():]), file, number)
            elif tag == "return":
                result = self.note(Types(rest), file, number)
            elif tag in ("type", "overload", "vararg"):
                self.note(Types(rest), file, number)
            elif tag not in ("deprecated", "nodiscard", "generic", "see", "diagnostic"):
                raise Malformed(f"unknown tag '@{tag}'")
        if statement is None or statement in ("do", "end"):
            if parameters or result:
                raise Malformed("parameters or a result without a function")
            return []
        if match := TABLE.match(statement):
            variables[match.group(1) or match.group(2)] = owner
        elif VALUE.match(statement):
            pass
        elif match := FUNCTION.match(statement) or QUOTED.match(statement):
            base, member, list = match.group(1), match.group(match.re.groups - 1), match.groups()[-1]
            declared = [each.strip() for each in list.split(",") if each.strip()]
            unknown = [each for each in parameters if each not in declared]
            if unknown:
                raise Malformed(f"the function has no parameter {unknown[0]!r}")
            if len(set(declared)) != len(declared):
                raise Malformed("two parameters of one name")
            function = ("function", [(each, parameters.get(each)) for each in declared], result)
            if member is None:
                self.functions[base] = function
            elif variables.get(base) is not None:
                variables[base]["members"][member] = function
            else:
                self.functions[f"{base}.{member}"] = function
        else:
            raise Malformed("no statement of a stub file")
        return []

    # As an editor asks.

    def members(self, name, seen=()):
        if name not in self.classes or name in seen:
            return {}
        found = {}
        for base in self.classes[name]["bases"]:
            found.update(self.members(base, (*seen, name)))
        found.update(self.classes[name]["members"])
        return found

    def complete(self, name, prefix):
        return sorted(each for each in self.members(name) if each.startswith(prefix))

    def undeclared(self):
        """Names of types that nothing declares, with the first place of each."""
        known = self.BUILT_IN | set(self.classes) | set(self.aliases)
        return {name: place for name, place in self.used.items() if name not in known and not re.match(r"[\"'\d-]", name)}
