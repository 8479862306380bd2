#!/usr/bin/env python3
"""Compares what a generated program and its patches printed with what they must print, and counts.

    check.py SEED COUNT DIRECTORY [--table] [MODE…]

Reads MODE.out (the program) and MODE.err (the patches and the host). A value that cannot be read or made has to be
flagged, with a reason; then the call must be as if the patch had left it alone. Reasons are counted; one that is not
in ALLOWED fails. Writes MODE.counts for report.py.
"""
import collections, json, os, re, struct, subprocess, sys
from generate import Generator
from model import said


# What the host says of a run in which nothing is wrong.
HOST_SAYS = re.compile(r"is also hooked by|bodies of '.*' are hooked|loaded, \d+ hooks?|\(in \w+ '|\d+ old values? ")
# Old values of variables that callers may end themselves; no value here has more objects.
LEFT, MOST_OBJECTS = re.compile(r"(\d+) old values? of variables that handlers changed may be left behind"), 8


def lines_of(path):
    found = collections.defaultdict(list)
    with open(path, "rb") as f: text = f.read().replace(b"\0", b"").decode(errors="replace")
    for line in text.split("\n"):
        if len(line) > 3 and line[0] in "<>!~": found[line.split(" ", 2)[1]].append(line)
    return found, text.rstrip("\n").split("\n")[-1]


class Spoken:
    """What the patches and the host said, by function."""
    def __init__(self, path, selectors):
        self.selves = collections.defaultdict(list)
        self.arguments, self.results, self.failures, self.handlers = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(dict), collections.defaultdict(list)
        self.other = []
        self.partial = set()   # functions some of whose bodies are not hooked, and the host said so
        with open(path, errors="replace") as f:
            for line in f.read().split("\n"):
                m = re.search(r"([@&=%]) (f\d+) ?(.*)$", line)
                handler = re.search(r"\(in \w+ '(.*?)';", line)
                part = re.search(r"\d+ of \d+ bodies of '(.*?)' are hooked|'(.*?)' was hooked and never called", line)
                if part and (part.group(1) or part.group(2)) in selectors:
                    self.partial.add(selectors[part.group(1) or part.group(2)])
                elif handler:
                    if handler.group(1) in selectors: self.handlers[selectors[handler.group(1)]].append(line)
                    else: self.other.append(line)
                elif not m:
                    if line: self.other.append(line)
                elif m.group(1) == "@": self.arguments[m.group(2)].append(m.group(3).split("|") if m.group(3) else [])
                elif m.group(1) == "&": self.selves[m.group(2)].append(m.group(3))
                elif m.group(1) == "=": self.results[m.group(2)].append(m.group(3))
                else:
                    what, _, reason = m.group(3).partition(" ")
                    self.failures[m.group(2)][what] = reason.strip("?")


def matches(token, text):
    """Whether the token says the text, but for the parts it says nothing of."""
    parts = re.split(r"\?[^?]*\?", token)
    if len(parts) == 1: return token == text
    return re.fullmatch(".*".join(map(re.escape, parts)).replace(r"\;", ";"), text, re.S) is not None


def held(old, new):
    """A number put where an Any holds one of the other type: it becomes that where nothing is lost."""
    if re.fullmatch(r"-?\d+;", old) and re.fullmatch(r"d[0-9a-f]+;", new):
        number = struct.unpack("<d", struct.pack("<Q", int(new[1:-1], 16)))[0]
        return f"{int(number)};" if number.is_integer() and -2.0 ** 63 <= number < 2.0 ** 63 else new
    if re.fullmatch(r"d[0-9a-f]+;|nan;", old) and re.fullmatch(r"-?\d+;", new):
        return "d%x;" % struct.unpack("<Q", struct.pack("<d", float(int(new[:-1]))))[0]
    return new


class Check:
    def __init__(self, generator, directory, seed):
        self.actor_untold = None
        self.g, self.at = generator, lambda name: os.path.join(directory, name)
        self.selectors = {f.selector: f.name for f in generator.functions}
        self.reasons = collections.Counter()
        self.problems = []
        self.counts = collections.Counter()   # (type kind, position, "decoded" | "opaque" | "replaced")
        self.bare, _ = lines_of(self.at("bare.out"))
        # The compiler has bugs of its own: what the program prints without us is not ours to judge.
        self.bare_private, _ = lines_of(self.at("bare-private.out")) if os.path.exists(self.at("bare-private.out")) else ({}, "")
        self.own = {f.name for f in generator.functions if self.bare[f.name] != f.printed()}

    def wrong(self, mode, f, wanted, found): self.problems.append((mode, f, wanted, found))

    def run(self, mode):
        found, last = lines_of(self.at(mode + ".out"))
        spoken = Spoken(self.at(mode + ".err"), self.selectors)
        with open(self.at(mode + ".out"), errors="replace") as f: alive = [line.strip() for line in f if line.startswith("# ")]
        with open(self.at(mode + ".err"), errors="replace") as f: left = sum(int(m.group(1)) for m in map(LEFT.search, f) if m)
        live = re.fullmatch(r"live (\d+)", last)
        if not live or int(live.group(1)) > MOST_OBJECTS * left: self.wrong(mode, None, ["live 0"], [last, *alive[:10]])
        for line in spoken.other:
            if not HOST_SAYS.search(line): self.wrong(mode, None, [], [line])
        for f in self.g.functions:
            if mode == "private" and self.bare_private.get(f.name) != f.printed() or mode != "private" and f.name in self.own: continue
            failures, handlers = spoken.failures[f.name], spoken.handlers[f.name]
            for what, reason in failures.items(): self.reasons[(mode, "hook" if what == "hook" else "value", reason)] += 1
            for line in handlers: self.reasons[(mode, "handler", re.sub(r"'[^']*'", "'…'", line.split(": ", 2)[-1]).split(" (in ")[0])] += 1
            missed = f.name in spoken.partial
            if missed: self.reasons[(mode, "hook", "some bodies are merged with other selectors'")] += 1
            wanted = [f.printed()] if failures.get("hook") or handlers or missed else []
            wanted.append(self.expected(mode, f, failures))
            if found[f.name] not in wanted: self.wrong(mode, f, wanted[-1], found[f.name])
            if mode == "decode": self.said(f, spoken)
            if mode == "private": self.said_privately(f, spoken)

    def expected(self, mode, f, failures):
        """The program's lines under the patch, after what the patch said it could not do."""
        hooked_to = failures.get("hook")
        if mode in ("decode", "private") or hooked_to and mode != "replace": return f.printed()
        received, result = {}, None
        if mode in ("replace", "around"):
            if not (mode == "around" and f.form in ("modify", "read")):
                received = {k: text for k, (_, text) in f.replacements().items() if f"a{k + 1}" not in failures}
            for k in received:
                if f.parameters[k].type.id == "Any": received[k] = held(f.parameters[k].value.text, received[k])
            for k in received: self.counts[(f.parameters[k].type.kind, f.parameters[k].convention, "replaced")] += 1
        new = f.new_result()
        runs = 1
        if mode == "instead":
            if f.form in ("modify", "read", "init") or f.outlives or f.result and not new: return f.printed()
            result, runs = new[1] if new else "", 0
            return f.printed({}, result, 0)
        if mode in ("replace", "around") and new and "r" not in failures and not hooked_to and not f.does_throw and f.form not in ("modify", "read"):
            source = new[0]
            # Of `replace`, the handler of the result is an outer layer: it has the arguments that it passed on.
            result = received.get(int(source) - 1, new[1]) if mode == "around" and source.isdigit() else new[1]
            if f.result.id == "Any": result = held(f.returned.text, result)
            self.counts[(f.result.kind, "result", "replaced")] += 1
        if mode == "twice": runs = 1 if "twice" in failures or f.form in ("modify", "read") else 2
        return f.printed(received, result, runs)

    def said(self, f, spoken):
        found = spoken.arguments[f.name]
        wanted = [said(p.value.text) for p in f.parameters]
        if not found and (f.name in spoken.partial or spoken.failures[f.name].get("hook")): return
        if len(found) != 1 or len(found[0]) != len(wanted): return self.wrong("decode", f, [f"{len(wanted)} arguments"], [str(found)])
        whole = len(wanted) > 1 and all("?<not decoded>?" == token.rstrip(";") for token in found[0])
        for p, token, text in zip(f.parameters, found[0], wanted): self.judge(f, p.type, p.convention, token, text, whole)
        seen = f.self_seen()
        if seen:
            if len(spoken.selves[f.name]) != 1: self.wrong("decode", f, ["self"], spoken.selves[f.name])
            else: self.judge_self(f, spoken.selves[f.name][0], seen)
        results = spoken.results[f.name]
        if f.does_throw: expected, type, position = "threw " + said(f.error.text), f.error_type, "thrown"
        elif f.result: expected, type, position = said(f.returned.text), f.result, "yield" if f.form in ("modify", "read") else "result"
        else: return
        if not results:
            why = spoken.failures[f.name].get("hook", "no handler after a coroutine" if position == "yield" else "the handler did not run")
            self.reasons[("decode", position, why)] += 1
            self.counts[(type.kind, position, "opaque")] += 1
        else: self.judge(f, type, position, results[0], expected)

    def said_privately(self, f, spoken):
        """Only what was said counts: the optimiser may have dropped the body, or the host refused it."""
        found = spoken.arguments[f.name]
        self.counts[("private functions", "", "heard" if found else "silent")] += 1
        for tokens in found:
            for p, token in zip(f.parameters, tokens):
                if not matches(token, said(p.value.text)): self.wrong("private", f, [f"{p.convention} {p.type.swift}: {said(p.value.text)}"], [token])
                self.counts[("private values", "", "opaque" if "?" in token else "decoded")] += 1
                for why in dict.fromkeys(re.findall(r"\?([^?]*)\?", token)): self.reasons[("private", "argument", why)] += 1
        for token in spoken.selves[f.name]:
            if not matches(token, said(f.self_seen()[0])): self.wrong("private", f, ["self: " + said(f.self_seen()[0])], [token])
            self.counts[("private values", "", "opaque" if "?" in token else "decoded")] += 1
        for result in spoken.results[f.name]:
            expected = "threw " + said(f.error.text) if f.does_throw else said(f.returned.text) if f.result else ""
            if not matches(result, expected): self.wrong("private", f, [f"result: {expected}"], [result])
            self.counts[("private values", "", "opaque" if "?" in result else "decoded")] += 1

    def unknown(self, f, what):
        """What is not decoded, and whether the host says of that function that it is not known how it is called."""
        # What it is of a module that may change it nobody else takes for granted.
        if os.environ.get("VALUES_RESILIENT"): return "<not decoded> where modules are built for library evolution"
        if "opaque" in f.flags and (f.waits or what in (f.result.id, f.error_type and f.error_type.id)): return "<not decoded> of an opaque result"
        if f.waits and self.actor_untold is None:
            listed = subprocess.run([os.path.join(os.environ["PRODUCTS"], "scripthost"), "coverage", "--list", "--json", self.at("program")],
                                    capture_output=True, text=True, check=True).stdout
            # All names but the arguments' types.
            self.actor_untold = {name for line in listed.splitlines() if "nonisolated(nonsending)" in line
                                 for name in re.findall(r"\.(f\d+)\(", json.loads(line)["selector"])}
        return f"<not decoded> {'of a body that may take its actor' if f.waits and f.name in self.actor_untold else what}"

    def judge_self(self, f, token, seen):
        text, _, kind = seen
        if not matches(token, said(text)): return self.wrong("decode", f, ["self: " + said(text)], [token])
        whys = re.findall(r"\?([^?]*)\?", token)
        self.counts[(kind, "self", "opaque" if whys else "decoded")] += 1
        for why in dict.fromkeys(whys): self.reasons[("decode", "self", why if why != "<not decoded>" else self.unknown(f, f"self of {f.kind}"))] += 1

    def judge(self, f, type, position, token, text, whole=False):
        if not matches(token, text): return self.wrong("decode", f, [f"{position} {type.swift}: {text}"], [token])
        whys = re.findall(r"\?([^?]*)\?", token)
        self.counts[(type.kind, position, "opaque" if whys else "decoded")] += 1
        for why in dict.fromkeys(whys):
            # The handle itself does not say why.
            if why == "<not decoded>" and position == "pack": why = "<not decoded> a pack of values"
            # An error that is too large for registers is put where an argument behind those of the pack says.
            if why == "<not decoded>" and position == "thrown" and "pack" in f.flags: why = "<not decoded> behind a pack of values"
            if why == "<not decoded>": why = "the body is opaque" if whole else self.unknown(f, type.id)
            self.reasons[("decode", position if position in ("result", "thrown") else "argument", why)] += 1


def main():
    seed, count, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    check = Check(Generator(seed, count), directory, seed)
    modes = sys.argv[4:]
    for mode in modes:
        before = len(check.problems)
        check.run(mode)
        print(f"  {mode}: {count} functions, {len(check.own)} that the compiler itself gets wrong, {len(check.problems) - before} wrong")
        for _, f, wanted, found in check.problems[before:before + 12]:
            print(f"    {mode}: {f.name + ' ' + f.kind + ' ' + f.throws + ' ' + f.head()[:300] if f else 'the program'}")
            for line in wanted: print("      expected", line[:400])
            for line in found: print("      found   ", line[:400])
    with open(os.path.join(directory, "counts.json"), "w") as f:
        json.dump({"counts": [[*k, n] for k, n in check.counts.items()], "reasons": [[*k, n] for k, n in check.reasons.most_common()], "own": len(check.own)}, f)
    sys.exit(1 if check.problems else 0)


if __name__ == "__main__": main()
