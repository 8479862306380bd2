"""repl.py SCRIPTHOST SERVER WORK: `scripthost repl`: a program with a console from before its `main` on, piped and on a terminal."""
import os, pty, select, signal, subprocess, sys, time
from control import *

scripthost, server, work = sys.argv[1:4]
state = os.path.join(work, "state-repl")
os.makedirs(state)
hook = 'method "Server.Shop.answer(_:)":around(function(call, n) return 77 end)\n'


def repl(text, *options, program=(server,)):
    done = subprocess.run([scripthost, "repl", "--state", state, *options, "--", *program], input=text, capture_output=True, text=True, timeout=6 * LIMIT)
    return done.returncode, done.stdout, done.stderr


found = repl("1 + 1\n")
check("a piped snippet runs, then the program; its status is the command's", found[:2] == (0, "2\n") and "descriptors" in found[2], found)
found = repl(":hooks\nprint(#hooks())\n" + hook + "print(#hooks())\n:go\n")
check("hooks are made before the program's main", found[0] == 0 and found[1].split() == ["no", "hooks", "0", "1"], found)
found = repl("error('broken')\n")
check("a snippet that fails is the status of a program that ended well", found[0] == 1 and "broken" in found[1], found)
found = repl(hook, "--read-only")
check("--read-only installs nothing", found[0] == 1 and "only reads" in found[1], found)
found = repl("1\n", program=("/bin/sh", "-c", "exit 7"))
check("a program that cannot be hosted is told before anything runs", found[0] in (125, 126) and found[1] == "", found)
found = repl("1\n", program=("nowhere-at-all",))
check("a program that is not there", found[0] == 127, found)
output = os.path.join(work, "output")
found = repl("2\n", "--output", output)
check("what the program writes goes to a file", found[0] == 0 and open(output).read().startswith("descriptors "), found, open(output).read())
words = os.path.join(work, "input")
with open(words, "w") as file:
    file.write("report\nend\n")
found = repl("3\n", "--input", words)
check("the program reads what it is given", found[0] == 0 and "calls " in found[2], found)
found = repl(":go\n1\n", "--kill", "--input", "/dev/zero")
check("--kill ends the program with the session", found[0] == 0, found)
found = repl(":hooks\n", "--kill")
check("--kill: a program that is held is not let go before", found[1] == "no hooks\n" and "descriptors" not in found[2], found)

found = repl('return 1, "a\\xff\\u{e9}", 3\n')
check("bytes that are no text are shown as Lua writes them", found[1] == '1\t"a\\255é"\t3\n', found)
found = repl('return ("é"):rep(150)\n')
check("a long text is cut between characters", found[1] == '"' + "é" * 100 + '"… (300 bytes)\n', found)

for kill in (signal.SIGTERM, signal.SIGKILL):
    held = subprocess.Popen([scripthost, "repl", "--state", state, "--output", output, "--", server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    held.stdin.write(":hooks\n")
    held.stdin.flush()
    answer = held.stdout.readline()
    held.send_signal(kill)
    held.wait()
    end = time.monotonic() + LIMIT / 2
    while not open(output).read().startswith("descriptors ") and time.monotonic() < end:
        time.sleep(0.05)
    check(f"a program that is held runs when the command gets signal {kill}", answer == "no hooks\n" and open(output).read().startswith("descriptors "), answer, open(output).read())

# MARK: A terminal

pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(NO_COLOR="1", TERM="xterm")
    os.execv(scripthost, [scripthost, "repl", "--state", state, "--input", words, "--", server])
seen = b""


def wait(text, since):
    global seen
    end = time.monotonic() + LIMIT
    while text.encode() not in seen[since:] and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
    return text.encode() in seen[since:], seen[since:]


def type(text, expected):
    since = len(seen)
    os.write(terminal, text.encode())
    return wait(expected, since)


check("the prompt comes before the program runs", *wait("> ", 0))
check("a value", *type("6 * 7\r", "42\r\n"))
check("nothing of the program was written yet", b"descriptors" not in seen, seen)
since = len(seen)
os.write(terminal, b"while true do end\r")
time.sleep(0.3)
os.write(terminal, b"\x03")
check("Ctrl-C stops the snippet, not the program", *wait("stopped", since))
check(":go lets the program run, and what it writes is shown", *type(":go\r", "descriptors "))
check("its end is told", *wait("calls ", since))
end = time.monotonic() + LIMIT
status = None
while time.monotonic() < end and status is None:
    done, code = os.waitpid(pid, os.WNOHANG)
    if done:
        status = code
    elif select.select([terminal], [], [], 0.05)[0]:
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            pass
check("the command ends with the program, without a key, with its status", status == 0, status, seen[-500:])
finish()
