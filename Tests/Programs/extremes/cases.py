"""cases.py PAGE DIRECTORY: writes patches from the examples of the reference of scripts (docs/lua-api.md) there, and prints how many.

In an example each literal is a slot, and each option that the reference has for the entry is one, in every table of the example. A patch is an
example with one slot, in which it puts every extreme, one after another and each under pcall: while it is loaded (`b…`), or in a handler (`h…`).
The header is read without running the file: its options become patches of their own (`p…`).
"""
import os
import re
import sys

NUMBERS = ["math.mininteger", "math.maxinteger", "-1", "0", "1 << 31", "1 << 32", "1 << 53", "0 / 0", "1 / 0", "-1 / 0", "1e308", "-1e308", "5e-324"]
TEXTS = ['""', '"\\0"', "('x'):rep(100000)", "('a.'):rep(8000)", "('*a'):rep(3000)", "('['):rep(5000)", "('('):rep(5000)", "('A<'):rep(5000)",
         "('self.'):rep(5000) .. 'title'", "('self.title == nil or '):rep(20000) .. 'true'", "('not '):rep(20000) .. 'true'", '"9223372036854775807s"',
         '"1e400ms"', '"-1s"', '"nans"', '"9223372036854775807/1ns"', '"1/9e8h"', '"99999999999999999999%"', '"99999999999GB"']
OTHERS = ["{}", "true", "print", "deep(150)", "wide(2000)", "swift.null"]
EXTREMES = NUMBERS + TEXTS + OTHERS
# The header holds literals alone.
LITERALS = ["-9223372036854775808", "9223372036854775807", "-1", "0", "1e308", "-1e308", '""', '"' + "x" * 20000 + '"', '"9223372036854775807%"', "{}",
            "true", "{" * 150 + "}" * 150, '{ "' + '", "'.join(["x"] * 2000) + '" }']

PRELUDE = f"""local function deep(n) local t = {{}} for i = 1, n do t = {{ t }} end return t end
local function wide(n) local t = {{}} for i = 1, n do t[i] = i end return t end
local EXTREMES = {{ {", ".join(EXTREMES)} }}
"""

LITERAL = re.compile(r"""--[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\[\[.*?\]\]|(?<![\w.])\d+(?:\.\d+)?(?:e\d+)?|\b(?:true|false)\b""", re.S)


def examples(page):
    """(signature, options, text) of each entry of the page that has an example."""
    for part in re.split(r"^### ", page, flags=re.M)[1:]:
        part = part.split("\n## ")[0]
        example = re.search(r"^```lua\n(.*?)^```", part, re.M | re.S)
        options = re.findall(r"^\| `(\w+)` \|", part, re.M)
        if example:
            yield part.split("\n")[0].strip("`"), options, example[1]


def slots(options, text):
    """The example with one place for an extreme, each time another."""
    for match in LITERAL.finditer(text):
        if not match[0].startswith("--"):
            yield text[: match.start()] + "(X)" + text[match.end() :]
    for match in re.finditer(r"\{", text):
        for option in options:
            yield text[: match.end()] + f" {option} = (X), " + text[match.end() :]
    # Where an option is there, it counts once more: the last one.
    for option in options:
        for match in re.finditer(rf"\b{option} = ", text):
            end = text.find("}", match.end())
            if end > 0:
                yield text[:end].rstrip().rstrip(",") + f", {option} = (X) " + text[end:]


def body(text):
    indented = "\n".join("    " + line for line in text.splitlines())
    return f"for i = 1, #EXTREMES do\n  local X = EXTREMES[i]\n  pcall(function()\n{indented}\n  end)\nend\n"


def write(directory, name, text):
    with open(f"{directory}/{name}.lua", "w") as file:
        file.write(text)


def main(page, directory):
    os.makedirs(directory, exist_ok=True)
    entries = list(examples(open(page).read()))
    seen, number = set(), 0
    for signature, options, text in entries:
        if signature.startswith("patch("):
            for option in options:
                for index, literal in enumerate(LITERALS):
                    write(directory, f"p-{option}-{index}", f"patch {{ {option} = {literal} }}\n")
            continue
        if re.search(r"^\s*patch \{", text, re.M):
            continue
        for slot in slots(options, text):
            if slot in seen:
                continue
            seen.add(slot)
            word = re.sub(r"\W+", "-", signature.split("(")[0])
            name = f"{number:04}-{word}"
            number += 1
            write(directory, "b" + name, f'patch {{ id = "b{number}" }}\n' + PRELUDE + body(slot))
            handler = 'method "Shop.discount(for:)":before(function()\n' + body(slot) + "end)\n"
            write(directory, "h" + name, f'patch {{ id = "h{number}" }}\n' + PRELUDE + handler)
    print(len(os.listdir(directory)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
