"""units.py SCRIPTHOST SERVER WORK [SEED STEPS]: patches as units in a program whose four threads call all the time."""
import os, random, sys, time
from control import *

scripthost, server, work = sys.argv[1:4]
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 20261123
steps = int(sys.argv[5]) if len(sys.argv) > 5 else 150
reloads = int(sys.argv[6]) if len(sys.argv) > 6 else 2000
state = os.path.join(work, "state")
os.makedirs(state)


def write(name, text):
    """As an editor saves: whole."""
    path = os.path.join(work, name)
    with open(path + "~", "w") as file:
        file.write(text)
    os.rename(path + "~", path)
    return path


def answering(version):
    return f'patch {{ id = "answer", version = "{version}" }}\nmethod "Server.Shop.answer(_:)":around(function(call, n) return call:original() + 1000 + {version} end)\n'


# MARK: One patch, step by step

answer = write("answer.lua", answering(1))
host = Hosted(scripthost, state, [server], [answer])
control = host.control()
check("the program finds no descriptor that it did not open", host.first == f"descriptors 43", host.first)
mode = os.stat(host.path).st_mode & 0o777, os.stat(os.path.dirname(host.path)).st_mode & 0o777
check("socket and directory are the owner's alone", mode == (0o600, 0o700), [oct(each) for each in mode])

status = control.ask("status")
check("status: pid, program, patches", status["ok"] and status["pid"] == host.process.pid and status["program"] == os.path.realpath(server) and status["loaded"] == 1, status)
patches = control.ask("patches")["patches"]
check("patches: one, loaded, with a hook", len(patches) == 1 and patches[0]["id"] == "answer" and patches[0]["state"] == "loaded" and patches[0]["hooks"] == 1, patches)
hooks = control.ask("hooks")["hooks"]
check("hooks: selector, position, owner", [(h["selector"], h["position"], h["owner"]) for h in hooks] == [("Server.Shop.answer(_:)", "around", "answer")], hooks)
check("help names every request", {"status", "patches", "load", "reload", "unload", "enable", "disable", "hooks"} <= {each["do"] for each in control.ask("help")["requests"]})
check("an unknown request is refused in a sentence", "ask for 'help'" in control.ask("fly")["error"])

host.command("expect 1000 2000")
for version in range(2, 30):
    write("answer.lua", answering(version))
    result = control.ask("reload", patch="answer")
    if not result["ok"]:
        check("reload", False, result)
check("28 reloads under four threads: loaded", control.ask("patches")["patches"][0]["version"] == "29")
report = host.command("report")
check("no call saw both texts or neither", " wrong 0 " in report, report)

write("answer.lua", answering(30) + "this is no Lua\n")
result = control.ask("reload", patch="answer")
check("a text that does not parse is refused with file and line", not result["ok"] and "answer.lua:3:" in result["error"], result)
write("answer.lua", answering(31) + 'error("half way")\n')
result = control.ask("reload", patch="answer")
check("a text that fails half way is refused", not result["ok"] and "half way" in result["error"], result)
patches = control.ask("patches")["patches"]
check("the one before stays, and the reason is shown", patches[0]["version"] == "29" and "half way" in patches[0]["problem"] and patches[0]["state"] == "loaded", patches)
hooks = control.ask("hooks")["hooks"]
check("nothing of the failed texts is installed", len(hooks) == 1 and hooks[0]["enabled"], hooks)
check("the reason is on stderr", "half way; the one before stays" in host.said(), host.said())
report = host.command("report")
check("calls went on with the text before", " wrong 0 " in report, report)

host.command(f"expect {-2**62} {2**62}")
result = control.ask("disable", patch="answer", why="a test")
check("disable: the state and why", result["ok"] and result["patch"]["state"] == "disabled" and result["patch"]["why"] == "a test", result)
host.command("expect 0 1")
time.sleep(0.05)
check("disabled: the original runs alone", " wrong 0 " in host.command("report"))
write("answer.lua", answering(32))
result = control.ask("reload", patch="answer")
check("what is disabled stays so when it is reloaded", result["ok"] and result["patch"]["state"] == "disabled", result)
check("and calls see nothing of it", " wrong 0 " in host.command("report"))
host.command(f"expect {-2**62} {2**62}")
check("enable", control.ask("enable", patch="answer")["patch"]["state"] == "loaded")
host.command("expect 1032 1033")
time.sleep(0.05)
report = host.command("report")
check("enabled: the newest text runs", " wrong 0 " in report, report)
host.command(f"expect {-2**62} {2**62}")
check("unload", control.ask("unload", patch="answer")["ok"])
host.command("expect 0 1")
time.sleep(0.05)
check("unloaded: the original runs alone, and no hook is left", " wrong 0 " in host.command("report") and control.ask("hooks")["count"] == 0)
check("unloading it again is refused", "no patch 'answer'" in control.ask("unload", patch="answer")["error"])
check("a path that is not there is refused", "no such file" in control.ask("load", path="/nowhere/at/all.lua")["error"].lower())
host.command(f"expect {-2**62} {2**62}")

# MARK: A seeded sequence against a model

selectors = ["answer(_:)", "price(_:)", "name(_:)", "tax(_:)", "stock(_:)"]
random.seed(seed)
ids = ["a", "b", "c", "d"]
live, refused = {}, set()  # id: [hooks, enabled]; those of which nothing is loaded stay listed until one is


def text(id, hooks, broken):
    lines = [f'patch {{ id = "{id}" }}']
    for selector, position in hooks:
        body = "return call:original()" if position == "around" else ""
        lines.append(f'method "Server.Shop.{selector}":{position}(function(call) {body} end)')
    return "\n".join(lines) + ("\nlocal x = nil + 1\n" if broken else "\n")


def expected():
    return sorted((f"Server.Shop.{s}", p, id, on) for id, (hooks, on) in live.items() for s, p in hooks)


def found():
    return sorted((h["selector"], h["position"], h["owner"], h["enabled"]) for h in control.ask("hooks")["hooks"])


def listed():
    return sorted((each["id"], each["state"]) for each in control.ask("patches")["patches"])


def wanted():
    return sorted([(id, "loaded" if on else "disabled") for id, (_, on) in live.items()] + [(id, "refused") for id in refused])


worst = None
for step in range(steps):
    id = random.choice(ids)
    path = os.path.join(work, f"seq-{id}.lua")
    action = random.choice(["load", "load", "reload", "reload", "broken", "unload", "enable", "disable"])
    if action in ("load", "reload", "broken"):
        hooks = [(s, random.choice(["before", "around", "after"])) for s in random.sample(selectors, random.randint(1, 4))]
        write(f"seq-{id}.lua", text(id, hooks, action == "broken"))
    if action in ("load", "broken"):
        result = control.ask("load", path=path)
    else:
        result = control.ask(action, patch=id)
    # What was refused is read again, and goes from the list.
    works = action == "load" or id in live and action != "broken" or id in refused and action in ("reload", "unload")
    if result["ok"] != works:
        worst = (step, action, id, result)
        break
    if works:
        if action in ("load", "reload"):
            refused.discard(id)
            live[id] = [hooks, live[id][1] if id in live else True]
        elif action == "unload":
            live.pop(id, None)
            refused.discard(id)
        else:
            live[id][1] = action == "enable"
    elif action == "broken" and id not in live:
        refused.add(id)
    if found() != expected() or listed() != wanted():
        worst = (step, action, id, expected(), found(), wanted(), listed())
        break
check(f"{steps} random steps (seed {seed}): the live hooks and the list are those of the model after each", worst is None, worst)
for id in list(live):
    control.ask("unload", patch=id)
check("all unloaded: no hook is left", control.ask("hooks")["count"] == 0)
for id in refused:
    control.ask("unload", patch=f"seq-{id}.lua")
check("what was refused goes from the list by the name of its file", listed() == [], listed())

# MARK: Memory

write("many.lua", "")
many = lambda n: write("many.lua", f'patch {{ id = "many", version = "{n}" }}\nlocal t = {{}}\nfor i = 1, 200 do t[i] = "text " .. i end\nmethod "Server.Shop.*":before(function(call) t[1] = call end)\ntrack "sold" {{ on = "Server.Shop.price(_:)", fields = {{ n = "args.n" }} }}\n')
path = many(0)
first = control.ask("load", path=path)
if not first["ok"]:
    many = lambda n: write("many.lua", f'patch {{ id = "many", version = "{n}" }}\nlocal t = {{}}\nfor i = 1, 200 do t[i] = "text " .. i end\nmethod "Server.Shop.*":before(function(call) t[1] = call end)\n')
    many(0)
    first = control.ask("load", path=path)
check("a patch with hooks on all functions", first["ok"] and first["patches"][0]["hooks"] >= 5, first)
for n in range(200):
    control.ask("reload", patch="many")
worst = None
# What the first half needs is there for the second: a leak goes on.
memory = [host.memory()]
for part in range(2):
    for n in range(reloads // 2):
        result = control.ask("reload", patch="many")
        if not result["ok"]:
            worst = result
            break
    memory.append(host.memory())
check(f"{reloads} reloads under four threads", worst is None, worst)
# A state alone has 20 kB: what is not freed shows. malloc's arenas may still grow a little.
more = memory[2] - memory[1]
check(f"{reloads} reloads leave nothing: {memory[1] - memory[0]} kB more in their first half, {more} kB in the second", more < 1024, memory)
verbs = [each["do"] for each in control.ask("help")["requests"]]
page = open(sys.argv[7]).read()
check(f"each of the {len(verbs)} requests that 'help' names is in docs/control-protocol.md", len(verbs) > 15 and all(f"`{verb}`" in page for verb in verbs), [verb for verb in verbs if f"`{verb}`" not in page])
patches = control.ask("patches")["patches"]
check("and one patch with its hooks", len(patches) == 1 and patches[0]["hooks"] == first["patches"][0]["hooks"], patches)
report = host.command("report")
check("the program found no descriptor that it did not open", report.endswith("descriptors 43"), report)
control.close()
check("the program ends as it does alone", host.end() == 0)
check("and its socket is gone", not os.path.exists(host.path))
finish()
