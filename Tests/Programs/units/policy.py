"""policy.py SCRIPTHOST SERVER WORK: what a policy lets patches touch and do, in the process and by `check`."""
import json, os, subprocess, sys, time
from control import *

scripthost, server, work = sys.argv[1:4]
directory = os.path.join(work, "state-policy")
os.makedirs(directory)


def write(name, text):
    path = os.path.join(work, name)
    with open(path, "w") as file:
        file.write(text)
    return path


policy = write("policy.lua", """-- Of this server.
policy {
  selectors = {
    allow = { "Server.**" },
    deny = { "Server.Shop.tax(_:)", "Server.Cart.items", "Server.Place.street" },
  },
  types = { deny = { "Server.Safe" } },
  capabilities = { "call", "write" },
  budgets = { hooks = 3, memory = "2MiB", time = "20ms", instructions = 200000 },
  patches = {
    { id = "trusted*", capabilities = { "call", "write", "secrets", "types", "presets", "delegates", "stacks" }, budgets = { hooks = 100 } },
  },
}
""")


def patch(id, body, header=""):
    return write(id + ".lua", 'patch { id = "%s"%s }\n%s\n' % (id, header, body))


asks = ', permissions = { "call", "write" }'
host = Hosted(scripthost, directory, [server], options=["--policy", policy, "-v"])
control = host.control()


def load(id, body, header=""):
    answer = control.ask("load", path=patch(id, body, header))
    return answer.get("error") or (answer.get("problems") or [""])[0]


hook = 'method "Server.Shop.%s":before(function(call) end)'
check("what is allowed loads", load("good", hook % "answer(_:)") == "", control.ask("patches"))
problem = load("taxes", hook % "tax(_:)")
check("a hook on a denied selector is refused with the policy's line", "taxes.lua:2:" in problem and "policy.lua:5" in problem and 'deny has "Server.Shop.tax(_:)"' in problem, problem)
problem = load("rules", 'track "t" { on = "Server.Shop.tax(_:)" }')
check("and a rule", "policy.lua:5" in problem, problem)
problem = load("outside", 'method "C.usleep":before(function() end)')
check("what allow does not name is refused", "policy.lua:3" in problem and "allow does not name it" in problem, problem)
check("a pattern takes what is allowed", load("glob", 'local h = method "Server.Shop.*":before(function() end) print(tostring(h))') == "")
until(lambda: "hook (" in host.said(), "the print of the pattern's hook")
# answer, price, name, stock and init: three hooks are the budget, tax is denied.
check("of a pattern, what is denied and what is over the number of hooks is left out", "hook (3 installed" in host.said(), host.said())
problem = load("many", "\n".join(hook % each for each in ("answer(_:)", "price(_:)", "name(_:)", "stock(_:)")))
check("more hooks than the budget are refused", "policy.lua:9 allows no more" in problem, problem)
body = "\n".join("local h = " + hook % "answer(_:)" + " h:remove()" for _ in range(5)) + "\n" + "\n".join(hook % each for each in ("answer(_:)", "price(_:)", "name(_:)"))
check("hooks that were removed do not count", load("renewed", body) == "")
problem = load("silent", 'local cart = swift.new("Server.Cart", "init()")')
check("a call that was not asked for is refused", "does not ask for 'call'" in problem and "policy.lua:8" in problem, problem)
check("one that was asked for runs", load("calls", 'local cart = swift.new("Server.Cart", "init()") cart:add(2)', asks) == "")
problem = load("items", 'local cart = swift.new("Server.Cart", "init()") print(cart.items)', asks)
check("a denied property is not read", "'Server.Cart.items' is denied" in problem and "policy.lua:5" in problem, problem)
problem = load("items2", 'local cart = swift.new("Server.Cart", "init()") cart.items = 3', asks)
check("nor written", "'Server.Cart.items' is denied" in problem, problem)
problem = load("path", 'track "t" { on = "Server.Cart.add(_:)", fields = { n = "self.items" } }')
check("nor captured by a rule", "'Server.Cart.items' is denied" in problem, problem)
problem = load("newsafe", 'swift.new("Server.Safe", "init()")', asks)
check("nor is a struct of it made", "type 'Server.Safe' is denied" in problem and "policy.lua:7" in problem, problem)
held = 'local person = swift.new("Server.Person", "init(_:)", "x") local place = person.place '
problem = load("trusted.g", held + 'print(swift.with(place, { number = 7 }).number)', asks)
check("a field of a value is given another value", problem == "", problem)
problem = load("changed", held + 'print(swift.with(place, { street = "Oak" }))', asks)
check("but not a denied one", "'Server.Place.street' is denied" in problem and "policy.lua:5" in problem, problem)
problem = load("made", held + 'person.place = { street = "Oak" }', asks)
check("nor in a value that is made of a table", "'Server.Place.street' is denied" in problem, problem)
problem = load("safe", hook.replace("Shop", "Safe") % "open(_:)")
check("a denied type is not touched", "type 'Server.Safe' is denied" in problem and "policy.lua:7" in problem, problem)
problem = load("greedy", "", ', permissions = { "timers" }')
check("a permission that is not granted refuses the patch", "'timers' in permissions" in problem and "policy.lua:8 does not grant that" in problem, problem)
problem = load("wrong", "", ', permissions = { "everything" }')
check("an unknown permission is refused", "unknown word 'everything' in permissions; known are call" in problem, problem)
problem = load("types", 'class.define("Fast", { super = "Server.Cart" })', asks)
check("a type made at run time needs its word", "does not grant 'types'" in problem, problem)
problem = load("trusted.a", 'class.define("Fast", { super = "Server.Cart" })', ', permissions = { "types" }')
check("a patch that the policy names has more", "policy" not in problem and "cannot subclass" in problem, problem)
for number, (body, word) in enumerate([
    ('use "startup"', "presets"), ('notification.on("told", function() end)', "notifications"), ('delegates "Server.Shop.delegate" {}', "delegates"),
    ('delegate { on = "Server.Shop.delegate", call = "sold(_:)" }', "delegates"), ("network {}", "network"), ('stalls { main = "1s" }', "stacks"),
    ("profile { hz = 99 }", "stacks"), ("profile(false)", "stacks"), ('timer.after("1s", function() end)', "timers"), ('guard { "containers" }', "guards"),
    ('boot.task { name = "x", run = function() end }', "control"), ("scripthost.up()", "control"), ('boot.cache "/nowhere/cache"', "files"),
    ('swift.forward(class "Server.Cart", function() end)', "types"), ('implement "Server.Nothing" {}', "types"),
]):
    problem = load(f"acts{number}", body, asks)
    check(f"{body}: needs '{word}'", f"does not grant '{word}'" in problem and f"acts{number}.lua:2:" in problem, problem)
    status = subprocess.run([scripthost, "check", "--policy", policy, os.path.join(work, f"acts{number}.lua")], capture_output=True, text=True, timeout=4 * LIMIT)
    check(f"{body}: check tells the same", status.returncode == 1 and f"'{word}'" in status.stdout + status.stderr, status.stdout, status.stderr)
check("a preset that is granted and asked for", load("trusted.c", 'use "startup"', ', permissions = { "presets" }') == "")
problem = load("trusted.d", 'use "stalls"', ', permissions = { "presets", "stacks" }')
check("it is under the policy by its own id", "'stacks' in permissions" in problem and "policy.lua:8 does not grant that" in problem, problem)
problem = load("trusted.e", 'stalls { main = "1s", end_after = "2s" }', ', permissions = { "stacks" }')
check("ending the process needs more than looking at stacks", "does not grant 'control'" in problem, problem)
problem = load("trusted.f", 'delegates "Server.Cart.items" {}', ', permissions = { "delegates" }')
check("delegates in a denied property are not watched", "'Server.Cart.items' is denied" in problem and "policy.lua:5" in problem, problem)
problem = load("hungry", "local t = {} for i = 1, 1e6 do t[i] = i end")
check("the memory is bounded", "memory" in problem, problem)
load("secrets", 'log.info("a", { password = "one" })')
load("trusted.b", 'log.info("b", { password = "two" })', ', permissions = { "secrets" }')
events = subprocess.run([scripthost, "events", "--state", directory, "--json"], capture_output=True, text=True).stdout
check("secrets are masked", '"one"' not in events and "<masked>" in events, events[-500:])
check("unless the policy grants them and the patch asks", '"two"' in events, events[-500:])
check("the program runs on", " wrong 0 " in host.command("report"))
done = subprocess.run([scripthost, "attach", "--write", "--state", directory, str(host.process.pid)], input='method "Server.Shop.tax(_:)":before(function() end)\n', capture_output=True, text=True, timeout=4 * LIMIT)
check("a session of the console is under it, too", done.returncode == 1 and "policy.lua:5" in done.stdout, done.stdout)
control.close()
host.end()

# MARK: check


def checked(name, *more):
    done = subprocess.run([scripthost, "check", "--policy", policy, os.path.join(work, name), *more], capture_output=True, text=True, timeout=4 * LIMIT)
    return done.returncode, done.stdout + done.stderr


status, text = checked("taxes.lua", server)
check("check tells the same", status == 1 and "taxes.lua:2:" in text and "policy.lua:5" in text, text)
status, text = checked("silent.lua", server)
check("check tells what was not asked for", status == 1 and "'swift.new' is refused" in text and "permissions" in text, text)
status, text = checked("greedy.lua", server)
check("check tells what is not granted", status == 1 and "greedy.lua:1:" in text and "'timers' in permissions" in text, text)
status, text = checked("good.lua", server)
check("check lets pass what is allowed", status == 0, text)

patch("field", 'track "t" { on = "Server.Cart.add(_:)", fields = { n = "self.items" } }')
status, text = checked("field.lua", server)
check("check tells of a field that a rule captures", status == 1 and "'Server.Cart.items' is denied" in text and "policy.lua:5" in text, text)
patch("count", "\n".join(hook % each for each in ("answer(_:)", "price(_:)", "name(_:)", "stock(_:)")))
status, text = checked("count.lua", server)
check("check counts hooks, once", status == 1 and text.count("allows no more") == 1 and "count.lua:5:" in text and "the patch has 3 hooks, and " in text and "policy.lua:9" in text, text)
for name, body in [
    ("removed", "local h = " + hook % "answer(_:)" + " h:remove()\n" + "\n".join(hook % each for each in ("answer(_:)", "price(_:)", "name(_:)"))),
    ("perhaps", "if #hooks() > 0 then return end\n" + "\n".join(hook % each for each in ("answer(_:)", "price(_:)", "name(_:)", "stock(_:)"))),
]:
    patch(name, body)
    status, text = checked(name + ".lua", server)
    check(f"check counts no hooks that may not be there: {name}", status == 0, text)
patch("watches", 'observe(class "Server.Cart", "items", function() end)')
status, text = checked("watches.lua", server)
check("check tells of a property that is observed", status == 1 and "'Server.Cart.items' is denied" in text, text)
patch("extends", 'extend "Server.Shop" { ["tax(_:)"] = function(call) return call:original() end }')
status, text = checked("extends.lua", server)
check("check tells of a member that is extended", status == 1 and "'Server.Shop.tax(_:)' is denied" in text, text)
os.makedirs(os.path.join(work, "trusted.unit", "lib"))
write("trusted.unit/patch.lua", 'patch { permissions = { "types" } }\nprint(require "lib.acts")\n')
write("trusted.unit/lib/acts.lua", 'return { fast = class.define("Fast", { super = "Server.Cart" }) }\n')
status, text = checked("trusted.unit", server)
check("a module is under the rules of its patch", status == 0, text)

# MARK: Policies that are wrong

for text, sentence in [
    ("", "wrong.lua:1: a policy begins with 'policy {'"),
    ("policy {", "the file ends inside the policy"),
    ("policy { selectors = { forbid = {} } }", "unknown field 'forbid' in selectors; known are allow, deny"),
    ("policy { capabilities = { \"fly\" } }", "unknown word 'fly' in capabilities"),
    ("policy {\n  budgets = { time = \"soon\" } }", "wrong.lua:2: 'budgets.time' is a time"),
    ("policy { selectors = { deny = { \"Shop.f(_: Int)\" } } }", "spells types"),
    ("policy { patches = { { capabilities = {} } } }", "each of 'patches' has an id"),
    ("policy {} os.exit()", "something follows the table"),
    ("policy { selectors = f() }", "'f' is not a literal"),
]:
    path = write("wrong.lua", text)
    done = subprocess.run([scripthost, "run", "--policy", path, "--", server], capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    check(f"a policy that is wrong starts nothing: {text[:40]!r}", done.returncode == 125 and sentence in done.stderr and "descriptors" not in done.stdout, done.returncode, done.stderr)
done = subprocess.run([scripthost, "run", "--policy", "/nowhere/policy.lua", "--", server], capture_output=True, text=True, timeout=LIMIT)
check("nor one that is not there", done.returncode == 125 and "/nowhere/policy.lua" in done.stderr, done.stderr)
finish()
