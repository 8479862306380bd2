"""locks.py SCRIPTHOST SERVER WORK: requests while a thread of the program has the lock of stdio and, inside of dlopen, that of the loader."""
import os, shutil, subprocess, sys, threading
from control import *

scripthost, server, work = sys.argv[1:4]
home = os.path.join(work, "locks")
os.makedirs(home)
# Its constructor goes on when the file is there that the environment names.
with open(os.path.join(home, "slow.c"), "w") as file:
    file.write("#include <stdlib.h>\n#include <unistd.h>\n"
               'static __attribute__((constructor)) void wait_here(void) { if (write(1, "holding\\n", 8) < 0) return; while (access(getenv("LET_GO"), F_OK) != 0) usleep(1000); }\n')
library, gate = os.path.join(home, "slow.so"), os.path.join(home, "go")
subprocess.run(["clang", "-shared", "-fPIC", "-o", library, os.path.join(home, "slow.c")], check=True)
os.environ["LET_GO"] = gate


def write(name, text):
    path = os.path.join(home, name)
    with open(path, "w") as file:
        file.write(text)
    return path


host = Hosted(scripthost, home, [server], [write("answer.lua", 'patch { id = "answer" }\nmethod "Server.Shop.answer(_:)":around(function(call) return call:original() + 1000 end)\n')])
control = host.control()
check("a thread of the program has both locks", host.command("hold " + library) == "holding")


def held(do, **members):
    """The answer, while the locks are held."""
    answer = control.ask(do, **members)
    assert not os.path.exists(gate)
    return answer


check("status is answered", held("status")["ok"])
check("help, patches, hooks, costs, top and guards are", all(held(each)["ok"] for each in ("help", "patches", "hooks", "costs", "top", "guards")))
check("disable and enable", held("disable", patch="answer")["ok"] and held("enable", patch="answer")["ok"])
handled = os.path.join(home, "handled")
host.process.stdin.write(f"handle {handled}\n")
host.process.stdin.flush()
until(lambda: os.path.exists(handled), "the program to install a signal handler, which needs no lock")
check("the program installs a signal handler", True)
check("the command: status", subprocess.run([scripthost, "status", "--state", home], capture_output=True, timeout=4 * LIMIT).returncode == 0)

def computed():
    """Clock ticks that its threads computed."""
    task = f"/proc/{host.process.pid}/task"
    return sum(int(open(f"{task}/{each}/stat").read().split()[13]) for each in os.listdir(task))


# What may have to ask the loader has a thread of its own, and may wait. What only looks does not wait for it.
late, waits = {}, 0


def ask(name, do, **members):
    def run():
        connection = Control(host.path)
        connection.socket.settimeout(4 * LIMIT)
        connection.send(do=do, **members)
        late[name] = connection.line()  # of a session its number; the request stays open
    thread = threading.Thread(target=run)
    thread.start()
    return thread


LOADS = [
    ("a function", 'method "Server.Shop.price(_:)":before(function() end)'),
    ("a C function", 'method "C.usleep":before(function() end)'),
    ("a function, then a C function", 'method "Server.Shop.tax(_:)":before(function() end)\nmethod "C.usleep":before(function() end)'),
    ("a glob", 'method "Server.Shop.*":after(function() end)'),
    ("what is waited for", 'method("Later.Thing.run()", { wait = true }):before(function() end)'),
    ("a rule", 'track "prices" { on = "Server.Shop.price(_:)" }'),
]
for number, (what, text) in enumerate(LOADS):
    name = f"load {number}"
    if os.path.exists(gate):
        os.remove(gate)
        copy = os.path.join(home, f"slow{number}.so")
        shutil.copy(library, copy)
        check(f"{what}: a thread of the program has both locks again", host.command("hold " + copy) == "holding")
    threads = [ask(name, "load", path=write(f"more{number}.lua", f'patch {{ id = "more{number}" }}\n{text}\n'))]
    threads.append(ask(f"open {number}", "console.open"))
    until(lambda: f"open {number}" in late, "the session")
    check(f"{what}: a session of the console begins beside its load", "session" in late[f"open {number}"] and not os.path.exists(gate), late)
    answers = {each: held(each) for each in ("hooks", "patches", "top", "costs", "status", "help", "guards")}
    waited = name not in late
    waits += waited
    check(f"{what}: beside its load all that looks is answered ({'it waits' if waited else 'it did not wait'})", all(each["ok"] for each in answers.values()), answers)
    check(f"{what}: with what was there before", all(any(each.get("id", each.get("owner", each.get("patch"))) == "answer" for each in answers[name][name if name != "top" else "hooks"])
                                                     for name in ("hooks", "patches", "top", "costs")), answers)
    if waited:
        shown = [each for each in answers["hooks"]["hooks"] if each["owner"] == f"more{number}"] + [each for each in answers["patches"]["patches"] if each["id"] == f"more{number}"]
        check(f"{what}: and nothing of it before it is over", not shown, shown)
    ticks = computed()
    until(lambda: computed() > ticks, "the program's threads")
    open(gate, "w").close()
    threads[0].join()
    check(f"{what}: its load is answered when the locks are free again", late[name]["ok"], late)
    check(f"{what}: it is in the list, and goes", any(each["id"] == f"more{number}" for each in control.ask("patches")["patches"]) and control.ask("unload", patch=f"more{number}")["ok"])
check("of a load that waits something is shown", waits > 0, late)
check("the program goes on", host.command("report").startswith("calls "))
control.close()
check("and ends as it does alone", host.end() == 0)
finish()
