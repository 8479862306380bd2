"""words.py SOURCES: names in code use the field's terms (the glossary of ARCHITECTURE.md), not those the project once made up.

Looks at the parts of every identifier (`isLentTwice`: is, lent, twice), not at comments and texts."""
import pathlib
import re
import sys

TERMS = {
    "told": "reported or known", "untold": "unknown", "lent": "borrowed", "loan": "borrowed", "lend": "borrow", "lending": "borrowing",
    "balance": "ownership", "balancing": "ownership", "lender": "the owner of what is borrowed", "heir": "subclass", "wardrobe": "class copy",
    "dress": "class copy", "glance": "instruction", "leaving": "allow_leak", "standin": "synthesized", "framebound": "stack-promoted",
}
SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|#*"""(?:.|\n)*?"""#*|"(?:[^"\\\n]|\\.)*"', re.S)
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def wrong(path):
    code = SKIPPED.sub(" ", path.read_text(errors="replace"))
    for name in sorted(set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", code))):
        for part in PARTS.findall(name):
            word = part.lower()
            found = word if word in TERMS else word[:-1] if word.endswith("s") and word[:-1] in TERMS else None
            if found:
                yield name, found


root = pathlib.Path(sys.argv[1])
bad = 0
for path in sorted(p for end in ("swift", "c", "h") for p in root.rglob(f"*.{end}")):
    for name, word in wrong(path):
        bad += 1
        print(f"WRONG   {path.relative_to(root)} names '{name}'; the term for '{word}' is {TERMS[word]}")
if not bad:
    print("ok      names use the field's terms")
