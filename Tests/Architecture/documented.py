#!/usr/bin/env python3
"""Helpers on raw memory are documented: those that are not public and take or give unsafe pointers have a doc comment, four of five.

    documented.py SOURCES SHARE        prints "ok      …" or "WRONG   …" with the files that lack most

An override speaks for what it overrides and is left out."""
import collections, os, re, sys

sources, share = sys.argv[1], int(sys.argv[2])
FUNCTION = re.compile(r"\s*(?:@[\w()]+ )*(?P<words>(?:(?:public|package|private|fileprivate|static|mutating|final|internal|override|nonisolated) )*)func \w+")
documented, bare = 0, collections.Counter()
for folder, _, names in os.walk(sources):
    for name in names:
        if not name.endswith(".swift"): continue
        path = os.path.join(folder, name)
        lines = open(path).read().split("\n")
        for at, line in enumerate(lines):
            found = FUNCTION.match(line)
            if not found or {"public", "override"} & set(found["words"].split()): continue
            signature = " ".join(lines[at:at + 8]).split("{")[0]
            if "Unsafe" not in signature: continue
            above = at - 1
            while above >= 0 and lines[above].strip().startswith("@"): above -= 1
            if above >= 0 and lines[above].strip().startswith("///"): documented += 1
            else: bare[os.path.relpath(path, sources)] += 1
everything = documented + sum(bare.values())
verdict = "ok     " if documented * 100 >= share * everything else "WRONG  "
print(f"{verdict} {documented} of {everything} helpers on raw memory are documented" + ("" if verdict == "ok     " else "; most are missing in " + ", ".join(f"{file} ({count})" for file, count in bare.most_common(5))))
