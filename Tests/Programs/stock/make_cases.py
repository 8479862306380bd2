"""Writes Lua files whose functions are the snippets of a table and random ones: make_cases.py SEED COUNT FILE…

Each case prints its number and what it returned, or how it failed, in a form that does not depend on addresses.
"""
import random
import sys

HEAD = r"""
local format, tostring, type, select, mathtype, pcall, gsub, print = string.format, tostring, type, select, math.type, pcall, string.gsub, print
local byte = string.byte
-- Bytes that a terminal is not shown as they are.
local function hidden(text) return "\\" .. byte(text) end
local function shown(value)
  local kind = mathtype(value)
  if kind == "integer" then return format("%d", value) end
  if kind == "float" then return value ~= value and "nan" or format("%.17g", value) .. "f" end
  if type(value) == "string" then return format("%q", gsub(gsub(gsub(value, "0x%x%x%x%x%x%x+", "ADDRESS"), "\n", "\\n"), "[\127-\255]", hidden)) end
  if type(value) == "nil" or type(value) == "boolean" then return tostring(value) end
  return type(value)
end
local function told(number, ...)
  local text = number .. ":"
  for i = 1, select("#", ...) do text = text .. " " .. shown((select(i, ...))) end
  print(text)
end
local function case(number, body) told(number, pcall(body)) end
"""


class Maker:
    """Random expressions of the allowed libraries."""

    INTEGERS = ["0", "1", "-1", "2", "3", "7", "10", "63", "64", "255", "-128", "math.maxinteger", "math.mininteger", "0x7fffffff", "1 << 62"]
    FLOATS = ["0.0", "-0.0", "0.5", "1.5", "-2.25", "1e15", "1e16", "1e308", "-1e308", "1e-5", "2^53", "2^63", "-2^63", "math.huge", "-math.huge", "(0/0)"]
    STRINGS = ['""', '"a"', '"abc"', '"hello world"', '"10"', '"0x1F"', '"1.5"', '" 7 "', '"a.b.c"', '"\\0x\\0"', '"ÄÖ"', '"aaa"', '"[x]"', '"%d"', '"-5"']
    PIECES = ["a", "b", ".", "%a", "%d", "%s", "%w", "%p", "%l", "%u", "%x", "[ab]", "[^a]", "[a-c]", "[%w_]", "%.", "%%", "%b()", "%f[%w]", "x", " "]

    SEPARATORS = ["", ', "-"']
    REPLACEMENTS = ['""', '"<%0>"', '"%1"', "{ a = 1 }", "function(x) return x .. x end"]
    TEXT_REPLACEMENTS = ['"%0%0"', '""', '"%2"']
    PACKS = ['"<i4"', '">I2"', '"z"', '"b"', '"s1"', '"<d"']

    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, options):
        return self.random.choice(options)

    def number(self, depth):
        r = self.random.random()
        if depth <= 0 or r < 0.3:
            return self.one(self.INTEGERS) if r < 0.18 else self.one(self.FLOATS)
        return self.one([
            lambda: f"({self.number(depth - 1)} {self.one(['+', '-', '*', '/', '//', '%', '^'])} {self.number(depth - 1)})",
            lambda: f"({self.number(depth - 1)} {self.one(['&', '|', '~', '<<', '>>'])} {self.number(depth - 1)})",
            lambda: f"- {self.number(depth - 1)}",
            lambda: f"~{self.number(depth - 1)}",
            lambda: f"math.{self.one(['floor', 'ceil', 'abs', 'sqrt', 'tointeger'])}({self.number(depth - 1)})",
            lambda: f"math.{self.one(['max', 'min', 'fmod', 'ult'])}({self.number(depth - 1)}, {self.number(depth - 1)})",
            lambda: f"#{self.text(depth - 1)}",
            lambda: f"tonumber({self.text(depth - 1)})",
            lambda: f"({self.text(depth - 1)} + {self.number(depth - 1)})",
            lambda: f"({self.text(depth - 1)}):byte({self.small()})",
        ])()

    def small(self):
        return str(self.random.randint(-6, 8))

    def text(self, depth):
        if depth <= 0 or self.random.random() < 0.35:
            return self.one(self.STRINGS)
        return self.one([
            lambda: f"({self.text(depth - 1)} .. {self.text(depth - 1)})",
            lambda: f"({self.text(depth - 1)} .. {self.number(depth - 1)})",
            lambda: f"({self.text(depth - 1)}):sub({self.small()}, {self.small()})",
            lambda: f"({self.text(depth - 1)}):rep({self.random.randint(-1, 4)}{self.one(self.SEPARATORS)})",
            lambda: f"({self.text(depth - 1)}):{self.one(['upper', 'lower', 'reverse'])}()",
            lambda: f"tostring({self.number(depth - 1)})",
            lambda: f"({self.format()}):format({self.number(depth - 1)})",
            lambda: f"(({self.text(depth - 1)}):gsub({self.pattern()}, {self.one(self.REPLACEMENTS)}))",
            lambda: f"table.concat({{ {self.text(depth - 1)}, {self.number(depth - 1)} }}, {self.one(self.STRINGS)})",
        ])()

    def format(self):
        flags = self.one(["", "-", "+", " ", "0", "#"])
        width = self.one(["", "5", "12"])
        precision = self.one(["", ".0", ".3"])
        return f'"%{flags}{width}{precision}{self.one(list("dixXoeEfgGsqac"))}"'

    def pattern(self):
        items = []
        for _ in range(self.random.randint(1, 4)):
            item = self.one(self.PIECES) + self.one(["", "", "", "*", "+", "-", "?"])
            items.append(f"({item})" if self.random.random() < 0.25 else item)
        text = self.one(["", "", "^"]) + "".join(items) + self.one(["", "", "$"])
        if self.random.random() < 0.06:
            text += self.one(["[", "%", "(", "%1", "[a"])
        return '"' + text + '"'

    # Where elements are equal, or cannot be compared, the language leaves the order of sort's comparisons open: numbers of one kind.
    def list(self, depth):
        return "{ " + ", ".join(self.number(depth) for _ in range(self.random.randint(0, 5))) + " }"

    def snippet(self):
        depth = self.random.randint(1, 4)
        return self.one([
            lambda: f"return {self.number(depth)}",
            lambda: f"return {self.text(depth)}",
            lambda: f"return {self.number(depth)} {self.one(['<', '<=', '==', '~='])} {self.number(depth)}",
            lambda: f"return {self.text(depth)} {self.one(['<', '<=', '==', '~='])} {self.text(depth)}",
            lambda: f"return ({self.text(depth)}):{self.one(['find', 'match'])}({self.pattern()}{self.one(['', ', ' + self.small()])})",
            lambda: f"return ({self.text(depth)}):gsub({self.pattern()}, {self.one(self.TEXT_REPLACEMENTS)}, {self.random.randint(0, 3)})",
            lambda: f"local t = {{}} for a, b in ({self.text(depth)}):gmatch({self.pattern()}) do t[#t + 1] = tostring(a) .. tostring(b) end return table.concat(t, '|')",
            lambda: f"local t = {{}} for _, v in pairs({self.list(1)}) do t[#t + 1] = (v == v and v or 0) + 0.0 end table.sort(t) return table.unpack(t)",
            lambda: f"local t = {self.list(1)} return table.unpack(t, {self.small()}, {self.small()})",
            lambda: f"local t = {self.list(1)} table.insert(t, {self.small()}, 9) return #t, t[1]",
            lambda: f"local t = {self.list(1)} return table.remove(t, {self.small()}), #t",
            lambda: f"return table.concat(table.move({self.list(0)}, {self.small()}, {self.small()}, {self.small()}), ',', 1, 2)",
            lambda: f"return utf8.len({self.text(depth)}, {self.small()}), utf8.offset({self.text(1)}, {self.small()})",
            lambda: f"return string.unpack({self.one(self.PACKS)}, {self.text(depth)}, {self.small()})",
            lambda: f"return math.tointeger({self.number(depth)}), math.type({self.number(depth)}), tonumber({self.text(1)}, {self.random.randint(2, 36)})",
            lambda: f"return select({self.small()}, {self.number(1)}, {self.text(1)}, nil, false)",
        ])()


def main():
    seed, count, table, *files = sys.argv[1:]
    maker = Maker(int(seed))
    fixed = []
    for line in open(table, encoding="utf-8").read().replace("\\z\n", "\\z\n").split("\n"):
        if fixed and fixed[-1].endswith("\\z"):
            fixed[-1] += "\n" + line
        elif line and not line.startswith("#"):
            fixed.append(line)
    bodies = fixed + [maker.snippet() for _ in range(int(count))]
    for index, name in enumerate(files):
        with open(name, "w", encoding="utf-8") as out:
            out.write(HEAD)
            for number, body in list(enumerate(bodies, 1))[index::len(files)]:
                out.write(f"case({number}, function() {body} end)\n")
    print(len(bodies))


main()
