#!/usr/bin/env python3
"""citations.py ROOT: a page or a source file cites only documents that are in the repository.

Looked at are links to files in Markdown pages, and names like docs/hooks.md in pages and in sources.
"""
import os
import re
import sys

root = sys.argv[1]
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
NAMED = re.compile(r"(?<![\w/.-])(docs/[\w./+-]+\.md)\b")
ENDINGS = (".md", ".swift", ".c", ".h", ".S")

cited, missing = 0, []
for top in (".", "docs", "Sources"):
    for folder, below, names in os.walk(os.path.join(root, top)):
        if top == ".":
            below.clear()
        for name in names:
            if not name.endswith(ENDINGS):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            targets = [(t, root) for t in NAMED.findall(text)]
            if name.endswith(".md"):
                targets += [(t, folder) for t in LINK.findall(text) if "://" not in t and not t.startswith("mailto:")]
            for target, base in targets:
                cited += 1
                if not os.path.exists(os.path.join(base, target)):
                    missing.append(f"{os.path.relpath(path, root)} cites '{target}', which is not in the repository")

for line in sorted(set(missing)):
    print("WRONG   " + line)
if cited == 0:
    print("WRONG   no citation was found; the pages or the patterns have moved")
elif not missing:
    print("ok      documents that are cited are in the repository")
