"""page.py PAGE DIRECTORY: runs the commands of a page's `console` blocks in one shell, in DIRECTORY, and compares what they print.

A line that begins with `$ ` is a command, lines behind it that begin with `>` belong to it. What follows is what it prints on stdout and
stderr; `…` in a line stands for any text, a line of it alone for any lines. Commands that only look are run again until they print that."""
import re, subprocess, sys, time

page, directory = sys.argv[1:3]
LIMIT = 20
LOOKS = ("cat ", "scripthost patch list", "scripthost status", "scripthost events", "scripthost top")


def commands(text):
    """The commands with the lines of the page on which they stand, and what is expected of them."""
    found, inside, expected = [], False, None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            inside, expected = line == "```console", None
        elif not inside:
            continue
        elif line.startswith("$ "):
            expected = []
            found.append([number, line[2:], expected])
        elif line.startswith(">") and found and not expected:
            found[-1][1] += "\n" + line[2:]
        elif expected is None:
            raise SystemExit(f"WRONG   {page}:{number}: output without a command")
        else:
            expected.append(line)
    return found


def pattern(expected):
    parts = []
    for line in expected:
        parts.append("(?:[^\n]*\n)*?" if line == "…" else re.escape(line).replace("…", "[^\n]*") + "\n")
    return re.compile("".join(parts) + r"\Z")


shell = subprocess.Popen(["bash", "--norc"], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
mark = "--- end of a command ---"


def run(command):
    # Children of the shell that go on must not keep the pipe's mark from being seen: each command ends with it.
    shell.stdin.write(f"{command}\nprintf '\\n%s\\n' '{mark}'\n")
    shell.stdin.flush()
    lines = []
    while True:
        line = shell.stdout.readline()
        if not line:
            raise SystemExit(f"WRONG   the shell ended in: {command}")
        if line.rstrip("\n") == mark:
            break
        lines.append(line)
    text = "".join(lines)
    # The line break before the mark; what a command leaves unfinished is finished here.
    return text[:-1] if text.endswith("\n\n") or text == "\n" else text


wrong = 0
found = commands(open(page).read())
for number, command, expected in found:
    end = time.monotonic() + LIMIT
    text = run(command)
    while not pattern(expected).match(text) and command.startswith(LOOKS) and time.monotonic() < end:
        time.sleep(0.1)
        text = run(command)
    name = f"{page.rsplit('/', 1)[-1]}:{number}: {command.splitlines()[0]}"
    if pattern(expected).match(text):
        print(f"ok      {name}")
    else:
        wrong += 1
        print(f"WRONG   {name}")
        for line in ["expected:"] + expected + ["found:"] + text.split("\n"):
            print("        " + line[:300])
        if wrong > 3:
            break
shell.stdin.close()
shell.wait()
print(f"{len(found)} checks, {wrong} wrong")
sys.exit(1 if wrong else 0)
