#!/usr/bin/env python3
"""Holds the reports shown in docs/crashes.md against those of a run: the same headings, labels and kinds of lines.

    shapes.py DOCUMENT REPORT…      each file REPORT has the line of the list, and then what `crashes show` prints

The reports of the document are its blocks that begin with a line of the list. In the order of the files each must have the headings of the
made one, and no line of a kind that the made ones do not have. Prints what differs; exit status 1 then.
"""
import re, sys

FRAME = re.compile(r"^  N\??  (waits: |N frames? of )?")
KINDS = ("before", "after", "around", "log", "note", "load", "event", "track")


def form(line):
    """The kind of a line: what is the same whatever crashed."""
    line = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "T", line.rstrip())
    if line.startswith("  rip="): return "  " + " ".join(word.split("=")[0] for word in line.split())
    line = re.sub(r"0x[0-9a-f]+", "H", line)
    line = re.sub(r"\b[0-9a-f]{40}\b", "B", line)
    line = re.sub(r"(?<![\w.])/[^\s\[:]+", "P", line)
    line = re.sub(r"'[^']*'", "Q", line)
    line = re.sub(r"\b\d+(\.\d+)?", "N", line)
    if re.match(r"^  H-H ", line): return "  H-H " + ("- " if " - " in line else "B ") + "P"
    if line.startswith("  +N s"):
        kind = line.split("]  ")[1].split()[0]
        return "  +N s  [N]  " + (kind if kind in KINDS else "?")
    if line.startswith("  in "): return "  in … " + ("handler" if "handler" in line else "?") + " Q of patch F:N"
    frame = FRAME.match(line)
    if frame: return "  N" + ("?" if line.startswith("  N?") else "") + "  " + (frame.group(1) or "frame")
    if re.match(r"^N  T", line): return "N  T  program[N]  SIG" + ("  in patch" if ", in " in line else "")
    if re.match(r"^P\[N\]: SIG", line): return "P[N]: SIG"
    if line.startswith("thread N"): return "thread N name" + (", crashed" if ", crashed" in line else "") + ":"
    return re.sub(r"N arguments?", "N arguments", line)


def headings(forms):
    """What is not indented, repeated ones once."""
    out = []
    for each in forms:
        if each and not each.startswith((" ", "…")) and (not out or out[-1] != each): out.append(each)
    return out


def read(text): return [form(line) for line in text.splitlines() if line.strip() and line.strip() != "…"]


document, made = sys.argv[1], [read(open(name, errors="replace").read()) for name in sys.argv[2:]]
shown = [read(block) for block in re.findall(r"^```\n(.*?)^```$", open(document).read(), re.M | re.S) if re.match(r"\d+  \d{4}-", block)]
wrong = []
if len(shown) != len(made): wrong.append(f"{len(shown)} reports in the document, expected {len(made)}")
known = {each for report in made for each in report}
for number, (there, here) in enumerate(zip(shown, made), 1):
    # A report may leave out what is not its own.
    left_out = {"thread N name:", "registers:", "images:"} - set(there)
    expected = [each for each in headings(here) if each not in left_out]
    if headings(there) != expected: wrong.append(f"report {number}: headings {headings(there)}, the run's {expected}")
    for each in there:
        if each not in known: wrong.append(f"report {number}: no run has a line '{each}'")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
