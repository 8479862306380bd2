#!/usr/bin/env python3
"""citations.py ROOT FOREIGN: a page or a source file cites only what is in the repository.

Looked at are links to files in Markdown pages; names like docs/hooks.md and paths like Tests/Programs/slots in pages and in sources; and names
of code in backticks in the comments of Swift, C and assembly. Such a name has to stand somewhere in code. FOREIGN lists names of other
software that comments speak of, one a line; a name on it that no comment has any more is told, too.
"""
import os
import re
import sys

root, foreign_file = sys.argv[1:3]
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
NAMED = re.compile(r"(?<![\w/.-])(docs/[\w./+-]+\.md)\b")
TESTS = re.compile(r"(?<![\w/.-])(Tests/[\w/.+-]*\w)((?:, [\w-]+)* and [\w-]+)?")
BACKTICKED = re.compile(r"`([A-Za-z_]\w{3,})[`(.:]")
PAGES, CODE = (".md",), (".swift", ".c", ".h", ".S")
ENDINGS = PAGES + CODE
COMMENT = re.compile(r'(?<![:"])//(.*)')


def files(*tops, endings=ENDINGS):
    """Path and text of each file with such an ending below these folders; '.' is the root's own files."""
    for top in tops:
        for folder, below, names in os.walk(os.path.join(root, top)):
            if top == ".":
                below.clear()
            for name in sorted(names):
                if name.endswith(endings):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8", errors="replace") as file:
                        yield path, file.read()


def tests_paths(text):
    """Paths below Tests, and the siblings that are listed behind one: 'Tests/Programs/slots, types-late and reach'."""
    for path, others in TESTS.findall(text):
        yield path
        # Without a comma the second word may be any.
        if others.startswith(","):
            for each in re.findall(r"[\w-]+", re.sub(r" and ", " ", others)):
                yield os.path.join(os.path.dirname(path), each)


def names_in_code():
    words = set()
    for path, text in files("Sources", "Tests", "Benchmarks", "examples", endings=ENDINGS + (".lua", ".sh", ".py")):
        if path.endswith(PAGES):
            continue
        if path.endswith(CODE):
            text = COMMENT.sub("", re.sub(r"/\*.*?\*/", " ", text, flags=re.S))
        words.update(re.findall(r"[A-Za-z_]\w*", text))
    return words


cited, missing = 0, set()
for path, text in files(".", "docs", "Sources"):
    targets = [(t, root) for t in NAMED.findall(text)] + [(t, root) for t in tests_paths(text)]
    if path.endswith(PAGES):
        targets += [(t, os.path.dirname(path)) for t in LINK.findall(text) if "://" not in t and not t.startswith("mailto:")]
    for target, base in targets:
        cited += 1
        if not os.path.exists(os.path.join(base, target)):
            missing.add(f"{os.path.relpath(path, root)} cites '{target}', which is not in the repository")

with open(foreign_file, encoding="utf-8") as file:
    foreign = {line.split()[0] for line in file if line.strip() and not line.startswith("#")}
known, seen = names_in_code(), set()
for path, text in files("Sources", endings=CODE):
    for comment in COMMENT.findall(text):
        for name in BACKTICKED.findall(comment):
            seen.add(name)
            if name not in known and name not in foreign:
                missing.add(f"{os.path.relpath(path, root)} cites `{name}`, which no code has; name what is there, or list it in foreign.names")
for name in sorted((foreign - seen) | (foreign & known)):
    missing.add(f"`{name}` of foreign.names is cited by no comment, or is in code now; take it off the list")

for line in sorted(missing):
    print("WRONG   " + line)
if cited == 0:
    print("WRONG   no citation was found; the pages or the patterns have moved")
elif not missing:
    print("ok      documents, tests and names of code that are cited are in the repository")
