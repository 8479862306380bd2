#!/usr/bin/env python3
"""Compares what ScriptHost decodes with what a debugger finds, in one and the same run of a program.

    decoded.py SCRIPTHOST PROGRAM WORK SEED COUNT LIMIT ARGUMENTS…

COUNT random selectors are chosen among those that run and count as decodable. In one process their calls are traced
(`trace --format bytes`), a script's `before` handlers print their arguments, and gdb (live.py) notes at the first LIMIT entries of
every body what is where the compiler's debug information says that the arguments are, and the registers on return. Lines of the
trace and entries in gdb are the same call when body and stack pointer are. Compared are: all bytes of arguments and self; the
text shown for scalars, strings and objects; what the script got; results, where they are an integer, a number, a Bool, a
string, a reference, or in memory.
"""
import collections, json, os, random, re, struct, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "counts"))
import families

scripthost, program, work = sys.argv[1], os.path.realpath(sys.argv[2]), sys.argv[3]
seed, count, limit, arguments = int(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]), sys.argv[7:]
environment = {"PATH": os.environ["PATH"], "HOME": work, "SWIFT_DETERMINISTIC_HASHING": "1"}
state = work + "/state"
counts, wrong, silent, valued = collections.Counter(), [], set(), set()

INTEGERS = {"Swift.Int": (8, True), "Swift.UInt": (8, False)}
for bits in (8, 16, 32, 64): INTEGERS |= {f"Swift.Int{bits}": (bits // 8, True), f"Swift.UInt{bits}": (bits // 8, False)}


def run(*command):
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode: sys.exit(f"decoded: {' '.join(command[:6])} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def escaped(selector): return selector.replace("*", "\\*")


# Choosing

def choose():
    """{typed selector: its row of the survey}."""
    rows = map(json.loads, run(scripthost, "coverage", "--state", state, "--list", "--json", "--places", program).splitlines())
    decodable = {row["selector"]: row for row in rows if row["obstacle"] is None and not row["refused"]}
    run("setarch", "-R", scripthost, "trace", "--state", state, "-c", "-o", work + "/table", "-e", "**", "--", program, *arguments)
    table = open(work + "/table").read().splitlines()
    start = next(i for i, line in enumerate(table) if line.startswith("% self"))
    called = {line[line.rfind("  ") + 2:] for line in table[start + 1:-1]}
    typed = collections.defaultdict(list)
    for each in map(json.loads, run(scripthost, "methods", "--json", program).splitlines()): typed[each["selector"]].append(each["typed"])
    # What runs is told by names without types; of overloads any may.
    running = sorted({t for name in called for t in typed[name] if t in decodable and len(typed[name]) <= 3 and ") async" not in t})
    # Functions with something to decode come first in question.
    spoken = [t for t in running if any(b["arguments"] or b["self"] != "()" for b in decodable[t]["places"])]
    random.Random(seed).shuffle(spoken)
    print(f"{len(decodable)} decodable selectors, {len(spoken)} of them run and take anything")
    return {t: decodable[t] for t in spoken[:count]}


PATCH = r"""patch { id = "decoded%d", version = "1.0.0", api = 1 }
local function shown(v)
  if type(v) == "string" then
    return "string:" .. #v .. ":" .. v:sub(1, 80):gsub("[^ -~]", function(c) return string.format("\\x%02x", c:byte()) end)
  end
  return (math.type(v) or type(v)) .. ":" .. tostring(v):sub(1, 80):gsub("[^ -~]", "?")
end
local function on(number, selector)
  local found, target = pcall(method, selector)
  if not found then return end
  pcall(function()
    target:before(function(call, ...)
      local parts = { "#" .. number }
      for i = 1, select("#", ...) do parts[#parts + 1] = shown((select(i, ...))) end
      log.info(table.concat(parts, "<|>"))
    end)
  end)
end
"""


def observe(chosen):
    """The lines of the trace, what the script said per selector, and gdb's entries."""
    lines = [f"on({i}, {json.dumps(escaped(t), ensure_ascii=False)})\n" for i, t in enumerate(chosen)]
    # Loading a patch has its time limit.
    patches = []
    for start in range(0, len(lines), 20):
        os.makedirs(f"{work}/patch/{start}", exist_ok=True)
        patches += ["--patches", f"{work}/patch/{start}"]
        with open(f"{work}/patch/{start}/patch.lua", "w") as out: out.write(PATCH.replace("%d", str(start), 1) + "".join(lines[start:start + 20]))
    command = [scripthost, "trace", "--state", state, *patches, "--events", work + "/events", "--format", "bytes", "-s", "1000000", "-o", work + "/trace"]
    for each in chosen: command += ["-e", escaped(each)]
    for stale in ("/events", "/trace", "/entries"):
        if os.path.exists(work + stale): os.remove(work + stale)
    plan = {"command": [*command, "--", program, *arguments], "environment": environment, "program": program, "main": families.address_of_main(program),
            "bodies": sorted({b["address"] for row in chosen.values() for b in row["places"]}), "limit": limit, "out": work + "/entries"}
    with open(work + "/plan.json", "w") as out: json.dump(plan, out)
    done = subprocess.run(["gdb", "-nx", "-q", "-batch", "-x", here + "/live.py"], env=dict(environment, DECODED_PLAN=work + "/plan.json"),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if not os.path.exists(work + "/entries"): sys.exit(f"decoded: gdb did not get to the end:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    lines = (json.loads(line) for line in open(work + "/trace") if line.startswith("{"))
    # The first line speaks of the hooks.
    trace = [line for line in lines if "body" in line]
    said = collections.defaultdict(list)
    for line in open(work + "/events"):
        event = json.loads(line)
        if event["kind"] == "log" and str(event["fields"].get("message", "")).startswith("#"):
            number, *parts = event["fields"]["message"].split("<|>")
            said[int(number[1:])].append(parts)
        elif event["kind"] in ("failure", "gap"): wrong.append(f"{event['kind']}: {event['fields']}")
    return trace, said, [json.loads(line) for line in open(work + "/entries")]


# Comparing

def quoted(data):
    """As a trace shows a string."""
    out = ""
    for c in data.decode("utf-8", "replace"):
        out += {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}.get(c) or ("\\u{%x}" % ord(c) if ord(c) < 32 or ord(c) == 127 else c)
    return f'"{out}"'


def scalar(name, data, string):
    """The text a value of a type whose layout is no secret has; None for other types."""
    if name in INTEGERS: return str(int.from_bytes(data[:INTEGERS[name][0]], "little", signed=INTEGERS[name][1]))
    if name == "Swift.Bool": return "true" if data[0] & 1 else "false"
    if name == "Swift.String" and string is not None: return quoted(bytes.fromhex(string))
    return None


def compare_value(what, ours, theirs, is_bool):
    """All bytes that both know."""
    if "bytes" not in ours: counts["values without bytes"] += 1; return
    mine, known = ours["bytes"], theirs["bytes"]
    size = min(len(mine), len(known)) // 2
    if not size: counts["values of no size"] += 1; return
    for i in range(size):
        a, b = mine[2 * i:2 * i + 2], known[2 * i:2 * i + 2]
        if a == "??": continue
        counts["bytes"] += 1
        if a != b and not (is_bool and not (int(a, 16) ^ int(b, 16)) & 1):
            wrong.append(f"{what}: {ours['place']} read {mine[:64]}, gdb {theirs['location']} has {known[:64]}")
            return
    counts["values"] += 1


def compare_text(what, ours, theirs):
    name = ours.get("type", "")
    data = bytes.fromhex(theirs["bytes"])
    expected = scalar(name, data, theirs.get("text"))
    if expected is None and ours.get("value", "").startswith("<") and theirs.get("class") in classes: expected = f"<{classes[theirs['class']]}>"
    if expected is None or "value" not in ours: return None
    counts["texts"] += 1
    if expected != ours["value"]: wrong.append(f"{what}: shown as {ours['value'][:80]}, gdb says {expected[:80]}")
    return expected


def compare_script(what, part, ours, theirs, expected):
    """What the handler printed against what gdb knows."""
    kind, _, shown = part.partition(":")
    if expected is None: return
    counts["values in the script"] += 1
    name = ours["type"]
    if name in INTEGERS: same = shown == expected
    elif name == "Swift.Bool": same = (kind, shown) == ("boolean", expected)
    elif name == "Swift.String":
        data = bytes.fromhex(theirs["text"])
        escapes = "".join(chr(b) if 32 <= b < 127 else "\\x%02x" % b for b in data[:80])
        same = (kind, shown) == ("string", f"{len(data)}:{escapes}")
    # A script tells the class by its whole name.
    else: same = shown.endswith("." + expected[1:][:60]) or shown == expected
    if not same: wrong.append(f"{what}: the script got {part[:100]}, gdb says {expected[:80]}")


def by_convention(line, entry):
    """The leading arguments whose registers follow from the calling convention alone: scalars and strings."""
    integers, floats, known = 0, 0, []
    for each in line["args"]:
        name = each["type"]
        words = 2 if name == "Swift.String" else 1 if name in INTEGERS or name == "Swift.Bool" else 0
        if each.get("inout") or not (words or name == "Swift.Double") or integers + words > 4 or floats > 7: break
        note = {"name": "", "size": 0, "location": [["i%d" % integers if words else "f%d" % floats, None]]}
        if words:
            data = b"".join(w.to_bytes(8, "little") for w in entry["i"][integers:integers + words])
            if words == 2 and entry["strings"][integers] is not None: note["text"] = entry["strings"][integers]
            note["bytes"] = data[:INTEGERS.get(name, (words * 8 if words == 2 else 1,))[0]].hex()
        else: note["bytes"] = entry["f"][floats]
        integers, floats = integers + words, floats + (not words)
        known.append(note)
    return known


def compare_entry(selector, line, entry, said):
    label = f"{selector} [{line['body']:#x}]"
    known = entry["arguments"]
    if known is None:
        counts["entries without debug information"] += 1
        silent.add(label)
        known = by_convention(line, entry) if line["body"] in plain_bodies else []
        if not known: return
        line["args"], line["self"] = line["args"][:len(known)], None
        counts["values by convention"] += len(known)
    named = [a for a in known if a["name"] != "self"]
    pairs = []
    if len(named) == len(line["args"]): pairs = [(f"{label} argument {i + 1}", i, a, b) for i, (a, b) in enumerate(zip(line["args"], named))]
    else: counts["entries with other arguments than declared"] += 1; silent.add(f"{label}: planned {[a['place'] for a in line['args']]}, debug information {[(a['name'], a['location']) for a in named]}")
    if line["self"]: pairs += [(f"{label} self", None, line["self"], a) for a in known if a["name"] == "self"]
    for what, index, ours, theirs in pairs:
        if "bytes" not in theirs: counts["values the debug information does not place"] += 1; silent.add(f"{what}: planned {ours['place']}, debug information nothing"); continue
        if ours["place"].startswith(("?", "-")): counts["values only in the debug information"] += 1; silent.add(f"{what}: planned {ours['place']}, debug information {theirs['location']}"); continue
        size = len(ours.get("bytes", "")) // 2
        # A value in memory whose register holds the address; of unknown size to the debugger it is named by the register.
        if ours["place"].startswith("*") and not theirs["location"][0][0].startswith("*") and theirs["size"] in (0, 8) and size != theirs["size"]:
            counts["addresses"] += 1; continue
        if theirs["size"] and size and theirs["size"] != size: counts["of another size in the debug information"] += 1; continue
        before = len(wrong)
        valued.add(selector)
        compare_value(what, ours, theirs, ours.get("type") == "Swift.Bool")
        if len(wrong) > before: continue
        expected = compare_text(what, ours, theirs)
        if said is not None and index is not None and index < len(said): compare_script(what, said[index], ours, theirs, expected)


def compare_return(selector, line, entry):
    registers, result = entry.get("returned"), line.get("result")
    if not registers or not result or "bytes" not in result: return
    label, name, place = f"{selector} [{line['body']:#x}] result", result["type"], result["place"]
    mine = result["bytes"]
    if place == "*sret": known = registers["memory"]
    elif name in INTEGERS: known = registers["i"][0].to_bytes(8, "little")[:INTEGERS[name][0]].hex()
    elif name == "Swift.Bool": known = "%02x" % (registers["i"][0] & 1); mine = "%02x" % (int(mine, 16) & 1)
    elif name == "Swift.Double": known = registers["f"][0]
    elif name == "Swift.String" or len(mine) == 16 and place == "i0:8@0": known = b"".join(w.to_bytes(8, "little") for w in registers["i"][:2]).hex()
    else: counts["results of other types"] += 1; return
    if "?" in mine: return
    size = min(len(mine), len(known))
    counts["results"] += 1
    if mine[:size] != known[:size]: wrong.append(f"{label}: {place} read {mine[:64]}, gdb has {known[:64]}"); return
    expected = scalar(name, bytes.fromhex(known), registers.get("text"))
    if expected is not None:
        counts["texts"] += 1
        if expected != result.get("value"): wrong.append(f"{label}: shown as {result.get('value')[:80]}, gdb says {expected[:80]}")


def class_names():
    """Address of a class's metadata -> its short name."""
    symbols = [line.split() for line in subprocess.run(["nm", "--defined-only", program], capture_output=True, text=True).stdout.splitlines()]
    symbols = [(int(s[0], 16), s[2]) for s in symbols if len(s) == 3 and s[2].startswith("$s") and s[2].endswith("CN")]
    names = families.demangle([s[1] for s in symbols], "--compact").splitlines() if symbols else []
    found = {}
    for (address, _), name in zip(symbols, names):
        name = name.removeprefix("type metadata for ")
        # Private and nested-in-function names are spelled in ways of their own.
        if re.fullmatch(r"[\w.]+", name): found[address] = name.rsplit(".", 1)[1]
    return found


chosen = choose()
classes = class_names()
trace, said, entries = observe(chosen)
number = {}
for i, t in enumerate(chosen):
    for body in chosen[t]["places"]: number.setdefault(body["address"], []).append(i)
titles = list(chosen)
# Neither specialised nor private: the convention is the declared one.
plain_bodies = {b["address"] for t in chosen for b, symbol in zip(chosen[t]["places"], chosen[t]["symbols"])
                if not re.search("T[fgsm]|L[lL]|_", symbol) and not t.startswith("Swift.")}
bias = int(os.environ.get("DECODED_BIAS", "0")) or 0x555555554000
by_body = collections.defaultdict(list)
for entry in entries: by_body[entry["body"]].append(entry)
position, spoken, compared = collections.Counter(), collections.Counter(), set()
open_calls = []
for line in trace:
    body = line["body"] = line["body"] - bias
    if line["at"] == "return":
        while open_calls:
            known, entry, selector = open_calls.pop()
            if known["stack"] == line["stack"] and known["body"] == body:
                if entry: compare_return(selector, line, entry)
                break
        continue
    owners = number.get(body)
    if not owners: counts["calls of namesakes"] += 1; open_calls.append((line, None, "")); continue
    owner = owners[0]
    words = said[owner][spoken[owner]] if len(owners) == 1 and spoken[owner] < len(said[owner]) else None
    spoken[owner] += 1
    list_, i = by_body[body], position[body]
    while i < len(list_) and list_[i]["stack"] != line["stack"]: i += 1; counts["entries that a body forwarded"] += 1
    position[body] = i + 1
    if i >= len(list_):
        if len(list_) < limit: wrong.append(f"{titles[owner]}: gdb did not see a call that was traced")
        open_calls.append((line, None, "")); continue
    counts["calls"] += 1
    compared.add(owner)
    open_calls.append((line, list_[i], titles[owner]))
    compare_entry(titles[owner], line, list_[i], words)
for line in list(dict.fromkeys(wrong))[:40]: print("WRONG   " + line)
if os.environ.get("DECODED_SILENT"):
    for label in sorted(silent): print("silent  " + label)
print(f"{len(compared)} of {len(chosen)} selectors seen, {len(valued)} with values that gdb knows; " + "; ".join(f"{n} {what}" for what, n in sorted(counts.items())) + f"; {len(wrong)} differ")
print(f"seed {seed}")
print(f"{counts['values'] + counts['texts'] + counts['values in the script'] + counts['results'] + len(wrong)} checks")
sys.exit(1 if wrong or not counts["values"] else 0)
