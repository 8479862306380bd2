"""screens.py SCRIPTHOST SERVER WORK [PAGE]: the console in a real terminal (tmux): completion, colour, paging, Ctrl-C. With PAGE the captures
that a page shows are compared with what the terminal shows; without it they are printed, to be put there."""
import os, re, subprocess, sys, time
from control import *

scripthost, server, work = sys.argv[1:4]
page = open(sys.argv[4]).read() if len(sys.argv) > 4 else None
state = os.path.join(work, "state-screens")
os.makedirs(state)
patch = os.path.join(work, "screens.lua")
with open(patch, "w") as file:
    file.write('patch { id = "screens" }\n')
host = Hosted(scripthost, state, [server], [patch])
host.control().close()
tmux = ["tmux", "-S", os.path.join(work, "tmux"), "-f", "/dev/null"]


def run(*words):
    return subprocess.run([*tmux, *words], capture_output=True, text=True, timeout=LIMIT).stdout


subprocess.run([*tmux, "new-session", "-d", "-x", "92", "-y", "24", "-s", "console", scripthost, "attach", "--write", "--state", state, str(host.process.pid)],
               check=True, env={**os.environ, "TERM": "xterm-256color"}, timeout=LIMIT)


def shown(colours=False):
    return run("capture-pane", "-p", *(["-e"] if colours else []), "-t", "console")


def keys(*words):
    run("send-keys", "-t", "console", *words)


def text(words):
    run("send-keys", "-t", "console", "-l", words)


def see(what, colours=False, limit=LIMIT):
    """Waits until the screen shows it; answers the screen."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        screen = shown(colours)
        if re.search(what, screen):
            return screen
        time.sleep(0.05)
    return shown(colours)


def written(screen):
    """As the page has it: nothing of what is empty below, sequences of colours in one, with \\e for ESC."""
    return re.sub(r"(?:\x1b\[[\d;]*m)+", lambda run: "\\e[" + ";".join(re.findall(r"\[([\d;]*)m", run.group())) + "m", screen.rstrip()) + "\n"


def capture(name, what, colours=False):
    """A screen that holds `what`, compared with the page's block of that name."""
    screen = see(what, colours)
    found = written(screen)
    check(f"the terminal shows {name}", re.search(what, screen) is not None, screen)
    if page is None:
        print(f"<!-- {name} -->\n```\n{found}```")
        return
    match = re.search(rf"<!-- {re.escape(name)} -->\n```\n(.*?)```", page, re.S)
    # The screen may be in the middle of being drawn.
    end = time.monotonic() + LIMIT
    while match and match.group(1) != found and time.monotonic() < end:
        time.sleep(0.05)
        found = written(shown(colours))
    check(f"the page shows the same: {name}", match is not None and match.group(1) == found, match and match.group(1), found)


def clear():
    """Keys that come before the line editor reads are shown by the terminal itself, and then come again."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        keys("C-u", "C-k", "C-l")
        if re.search(r"\A> *\n*\Z", see(r"\A> *\n*\Z", limit=1)):
            break


# The terminal leaves out spaces at the end of a line.
see(r"\A> *\n")
clear()
text('method "Server.Shop.')
keys("Tab")
capture("completion of selectors", r"tax\(_:\)")
clear()
text('local total = 1 + 0x10 -- a comment')
coloured = see("a comment", colours=True)
capture("colours while typing", "a comment", colours=True)
check("a keyword, a number and a comment have colours of their own", all(mark in coloured for mark in ("\x1b[1m\x1b[34mlocal", "\x1b[36m1", "\x1b[2m-- a comment")), coloured)
clear()
text("swift.")
keys("Tab")
capture("completion of the host's names", r"swift\.")
clear()
text('class "Server.')
keys("Tab")
capture("completion of types", r"Server\.Till")
clear()
text('shared = { name = "Ann", 2.5, [4] = true, inner = { password = "x" } } return shared')
keys("Enter")
capture("colours of what was typed, and a value", r"masked", colours=True)
clear()
text("local t = {} for i = 1, 100 do t[i] = i * i end return t")
keys("Enter")
see(r"… 60 more")
clear()
text(":page 81")
keys("Enter")
capture("a page of a long value", r"10000")
clear()
text("n = 0 while true do n = n + 1 end")
keys("Enter")
time.sleep(0.3)
keys("C-c")
see("stopped")
text("n > 1000")
keys("Enter")
capture("Ctrl-C", r"stopped[^>]*> n > 1000\s+true")
clear()
# What is typed before the line editor reads is shown by the terminal itself.
text("function twice(n)")
keys("Enter")
see(r"\n\. *\n")
text("return 2 * n end")
keys("Enter")
see(r"end\n> *\n")
text("twice(21)")
keys("Enter")
capture("lines that go on", r"42")
clear()
text(":heap Server.Cart")
keys("Enter")
# One of each of the four threads.
screen = see(r"Server\.Cart: 4 objects on the heap")
check(":heap counts the objects of a class", "Server.Cart: 4 objects on the heap" in screen, screen)
clear()
text(":events 3")
keys("Enter")
screen = see("console opened")
check(":events shows the records of the process", "console opened" in screen, screen)

# MARK: top, on a terminal of its own

with open(os.path.join(work, "watched-by-top.lua"), "w") as file:
    file.write('patch { id = "watched" }\nmethod "Server.Shop.stock(_:)":before(function() end)\n')
host.control().ask("load", path=file.name)
subprocess.run([*tmux, "new-session", "-d", "-x", "120", "-y", "24", "-s", "top", scripthost, "top", "-d", "100ms", "--state", state, str(host.process.pid)],
               check=True, env={**os.environ, "TERM": "xterm-256color"}, timeout=LIMIT)


def top(what, unlike=None):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        screen = run("capture-pane", "-p", "-t", "top")
        if re.search(what, screen) and screen != unlike:
            break
        time.sleep(0.02)
    return screen


first = top(r"watched-by-top\.lua:2")
check("top shows patches and hooks on a terminal", "handlers took" in first and re.search(r"watched-by-top\.lua:2", first) is not None, first)
check("and again, with other figures", re.search(r"watched-by-top\.lua:2", top(r"watched-by-top\.lua:2", unlike=first)) is not None)
run("send-keys", "-t", "top", "q")
until(lambda: "top" not in run("list-sessions", "-F", "#S").split(), "the end of top")
check("q ends it", True)
host.control().ask("unload", patch="watched")
check("the program runs on", host.command("report").startswith("calls "))
keys("C-d")
host.end()
run("kill-server")
finish()
