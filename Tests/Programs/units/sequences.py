"""sequences.py SCRIPTHOST SERVER WORK SEED COUNT: random sequences of changes that come by the socket, the command, the console and the
watcher at the same time, while four threads call; after each step the live hooks are those of a model.

A step is one to three changes of different patches, each by a way of its own, made at once. Sequences begin with nothing installed."""
import json, os, random, socket, subprocess, sys, threading, time
from control import *

scripthost, server, work, seed, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
state = os.path.join(work, "state-sequences")
watched = os.path.join(work, "watched")
for each in (state, watched):
    os.makedirs(each)

selectors = ["answer(_:)", "price(_:)", "name(_:)", "tax(_:)", "stock(_:)"]
host = Hosted(scripthost, state, [server], [watched], ["--watch"])
control = host.control()


def text(id, hooks, kind):
    """kind: good, broken (fails when it runs), slow (runs for ever: stopped by its budget), unfinished (does not parse)."""
    lines = [f'patch {{ id = "{id}" }}']
    for selector, position in hooks:
        body = "return call:original()" if position == "around" else ""
        lines.append(f'method "Server.Shop.{selector}":{position}(function(call) {body} end)')
    lines += {"good": [], "broken": ["local x = nil + 1"], "slow": ["while true do end"], "unfinished": ["local x = ("]}[kind]
    return "\n".join(lines) + "\n"


def save(path, content):
    """As an editor saves: whole."""
    with open(path + "~", "w") as file:
        file.write(content)
    os.rename(path + "~", path)


def found():
    return sorted((h["selector"], h["position"], h["owner"].split("-")[0], h["enabled"]) for h in control.ask("hooks")["hooks"])


class Console:
    """A session of the console that may change the program; its client can be killed."""

    def __init__(self):
        self.standing = Control(host.path)
        self.standing.send(do="console.open", write=True)
        self.session = self.standing.line()["session"]
        self.control = Control(host.path)

    def run(self, snippet):
        return self.control.ask("console.eval", session=self.session, text=snippet)

    def kill(self):
        self.standing.close()
        self.control.close()


class Model:
    """What is installed: by patch its hooks and whether they are on."""

    def __init__(self):
        self.live = {}
        self.refused = set()
        self.console = []

    def expected(self):
        rows = [(f"Server.Shop.{s}", p, id, on) for id, (hooks, on) in self.live.items() for s, p in hooks]
        return sorted(rows + [(f"Server.Shop.{s}", p, "console", True) for s, p in self.console])


def some_hooks(random):
    return [(s, random.choice(["before", "around", "after"])) for s in random.sample(selectors, random.randint(1, 3))]


def by_socket(action, id, path):
    connection = Control(host.path)
    answer = connection.ask("load", path=path) if action == "load" else connection.ask(action, patch=id)
    connection.close()
    return True if answer["ok"] else refused(answer)


def refused(answer):
    said.append(answer)
    return False


def by_command(action, id, path):
    words = [scripthost, "patch", action, "--state", state, str(host.process.pid), path if action == "load" else id]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=4 * LIMIT)
    return True if ended.returncode == 0 else refused(ended.stderr)


failure = None
steps = 0
said = []  # what the refusals of a step said
for number in range(count):
    draw = random.Random(f"{seed} {number}")
    model, console = Model(), None
    log = []
    for step in range(draw.randint(3, 7)):
        steps += 1
        work_at_once, settle = [], []
        for id in draw.sample(["a", "b", "c", "w1", "w2", "console"], draw.randint(1, 3)):
            hooks = some_hooks(draw)
            if id == "console":
                action = draw.choice(["hook", "hook", "kill"])
                log.append((step, id, action, hooks))
                if action == "hook":
                    console = console or Console()
                    session = console
                    snippet = " ".join(
                        f'method "Server.Shop.{s}":{p}(function(call) {"return call:original()" if p == "around" else ""} end)' for s, p in hooks)
                    work_at_once.append((lambda session=session, snippet=snippet: "failed" not in session.run(snippet), True))
                    model.console += hooks
                elif console:
                    # Mostly while a snippet of it runs.
                    console.control.send(do="console.eval", session=console.session, text="while true do end" if draw.random() < 0.7 else "1")
                    console.kill()
                    console, model.console = None, []
                    # That a client is gone is noticed when somebody asks something of the console.
                    settle.append("console")
                continue
            kind = draw.choice(["good", "good", "good", "broken", "unfinished"] + (["slow"] if draw.random() < 0.15 else []))
            if id.startswith("w"):
                path = os.path.join(watched, id + ".lua")
                action = draw.choice(["save", "save", "delete"])
                log.append((step, id, action, kind, hooks))
                if action == "save":
                    work_at_once.append((lambda path=path, content=text(id, hooks, kind): save(path, content) or True, True))
                    if kind == "good":
                        model.live[id] = [hooks, model.live.get(id, [0, True])[1]]
                elif os.path.exists(path):
                    work_at_once.append((lambda path=path: os.unlink(path) or True, True))
                    model.live.pop(id, None)
                continue
            path = os.path.join(work, f"sequence-{id}.lua")
            action = draw.choice(["load", "load", "reload", "unload", "enable", "disable"])
            way = draw.choice([by_socket, by_socket, by_command])
            log.append((step, id, action, kind, way.__name__, hooks))
            is_known = id in model.live
            if action == "load" or action == "reload" and is_known:
                save(path, text(id, hooks, kind))
                works = kind == "good"
                if works:
                    model.refused.discard(id)
                elif not is_known:
                    model.refused.add(id)
                if works:
                    model.live[id] = [hooks, model.live[id][1] if is_known else True]
            else:
                # What was refused is in the list, too, and can be taken from it.
                works = is_known or action == "unload" and id in model.refused
                if works and action == "unload":
                    model.live.pop(id, None)
                    model.refused.discard(id)
                elif works:
                    model.live[id][1] = action == "enable"
            work_at_once.append((lambda way=way, action=action, id=id, path=path: way(action, id, path), works))
        results = [None] * len(work_at_once)
        said.clear()

        def run(index):
            try:
                results[index] = work_at_once[index][0]()
            except Exception as problem:
                results[index] = problem

        threads = [threading.Thread(target=run, args=(index,)) for index in range(len(work_at_once))]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        for result, (_, expected) in zip(results, work_at_once):
            if result is not expected:
                failure = ("answer", number, step, result, expected, list(said), log)
        end = time.monotonic() + LIMIT
        while True:
            if settle:
                Control(host.path).ask("console.eval", session=0, text="1")
            now = found()
            if now == model.expected() or time.monotonic() > end:
                break
            time.sleep(0.01)
        if now != model.expected():
            failure = failure or ("hooks", number, step, "expected", model.expected(), "found", now, log)
        if failure:
            break
    if failure:
        break
    if console:
        console.kill()
    for name in os.listdir(watched):
        os.unlink(os.path.join(watched, name))
    for id in [each["id"] for each in control.ask("patches")["patches"]]:
        if not id.startswith("w"):
            control.ask("unload", patch=id)

    def is_empty():
        Control(host.path).ask("console.eval", session=0, text="1")
        return control.ask("hooks")["count"] == 0 and not control.ask("patches")["patches"]

    until(is_empty, f"the end of sequence {number}")
check(f"{count} random sequences of {steps} steps (seed {seed}), by socket, command, console and watcher: the live hooks are those of the model after each", failure is None, *(failure or ()))
if failure is None:
    # While a text loads that runs for ever, until its budget ends, the next one is saved.
    path = os.path.join(watched, "w1.lua")
    save(path, text("w1", [("tax(_:)", "after")], "slow"))
    time.sleep(0.3)
    save(path, text("w1", [("price(_:)", "before")], "good"))
    end = time.monotonic() + LIMIT
    while not (now := found()) and time.monotonic() < end:
        time.sleep(0.05)
    check("what is saved while another text loads is loaded after it", now == [("Server.Shop.price(_:)", "before", "w1", True)], now)
    os.unlink(path)
    until(lambda: not found(), "the end of the saved patch")
report = host.command("report")
check("no call answered anything but what the patches say", " wrong 0 " in report, report)
control.close()
check("the program ends as it does alone", host.end() == 0)
finish()
