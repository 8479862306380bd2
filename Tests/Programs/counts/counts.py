# counts — are ScriptHost's events as many as gdb's breakpoint hits over all bodies of a family?
#
#   counts.py SCRIPTHOST PROGRAM INPUT WORK SEED COUNT [MODULE…]
#
# INPUT is a file or a directory, the program's last argument, or with COUNTS_STDIN=1 its standard input; COUNTS_OPTIONS holds words before it;
# COUNTS_PACE is how many seconds pass before each message (`Content-Length: …`) of that input, before the first one thrice as many: what a
# server does for one is over then, and hooks are there before the first. What a server does is not the same in all runs: selectors whose
# counts differ are counted COUNTS_AGAIN more times (with a pace 2), and may be unsteady: the counts of gdb, rules and handlers overlap. The program's own selectors, or those of the
# modules: of the libraries named for them that it loads, `.` for the program's own. Picks COUNT selectors at random among those that run, half of them with several bodies, and counts their calls twice:
# with track rules (and, in a second run, with Lua handlers), and with gdb (hits.py) at the addresses `nm` tells
# (families.py). COUNT 0 takes all selectors that run.
import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict

import families

# How often an array grows depends on what malloc has left over, and so on everything else in the process; how often a key is hashed
# again, on where objects are.
UNSTEADY = ["_rawHashValue", "_consumeAndCreateNew", "_createNewBuffer", "_growArrayCapacity", "_reserveCapacity", "reserveCapacity", "_copyToNewBuffer"]
# Always among the chosen: the trivia and rules of swift-format that people ask for, and an initialiser whose thunk passes its
# clone to a merged body that is no body of the family, and calls it there.
ALWAYS = {"swift-format": [
    "static SwiftParser.TriviaParser.parseTrivia(_:position:)",
    "SwiftFormat.DocumentationCommentText.init(extractedFrom:)",
    "SwiftFormat.RuleMask.ruleState(_:at:)",
    "SwiftSyntax.StringLiteralSegmentListSyntax.init(_:)",
]}


def fail(text):
    sys.exit("counts: " + text)


class Refused(Exception):
    pass


class Counts:
    def __init__(self, scripthost, program, source, work, seed, count, modules):
        self.scripthost, self.work = scripthost, work
        # Away from the project's own configuration of swift-format.
        copy = self.file(os.path.basename(source))
        if os.path.isdir(source): shutil.copytree(source, copy)
        else: shutil.copy(source, copy)
        self.input = copy if os.environ.get("COUNTS_STDIN") else os.devnull
        self.arguments = [*os.environ.get("COUNTS_OPTIONS", "").split(), *([] if os.environ.get("COUNTS_STDIN") else [copy])]
        self.program = os.path.realpath(program)
        self.always = ALWAYS.get(os.path.basename(program), [])
        loaded = {os.path.basename(path): path for path in families.libraries(self.program)}
        # Where the selectors are.
        modules = modules or ["."]
        self.images = [self.program if module == "." else loaded["lib%s.so" % module] for module in modules]
        self.globs = ["**" if module == "." else module + ".**" for module in modules]
        self.random = random.Random(seed)
        self.count = count
        # Equal hashes and as many variables in all runs: they decide how many calls there are.
        self.environment = {"PATH": os.environ["PATH"], "HOME": work, "SWIFT_DETERMINISTIC_HASHING": "1"}

    @contextlib.contextmanager
    def given(self):
        """The program's standard input."""
        pace = float(os.environ.get("COUNTS_PACE", 0))
        if not pace:
            with open(self.input) as given: yield given
            return
        messages = re.split(b"(?=Content-Length: )", open(self.input, "rb").read())
        reading, writing = os.pipe()

        def feed():
            with open(writing, "wb", buffering=0) as out:
                time.sleep(2 * pace)
                for message in filter(None, messages):
                    time.sleep(pace)
                    try: out.write(message)
                    except BrokenPipeError: return

        threading.Thread(target=feed, daemon=True).start()
        with open(reading) as given: yield given

    def run(self, *command, **more):
        with self.given() as given:
            return subprocess.run([str(c) for c in command], env=self.environment, stdin=given, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def file(self, name):
        return os.path.join(self.work, name)

    # Choosing

    def selectors(self):
        """{typed selector: symbols of all its families}, and selector name -> typed selectors."""
        typed, names = defaultdict(list), defaultdict(set)
        for glob in self.globs:
            for line in self.run(self.scripthost, "methods", "--json", self.program, glob).stdout.splitlines():
                each = json.loads(line)
                # A library may extend another one's types.
                if os.path.realpath(each["image"]) not in self.images:
                    continue
                typed[each["typed"]].append(each)
                names[each["selector"]].add(each["typed"])
        return typed, names

    def running(self):
        """Selector names that are called in a run, by ScriptHost's own table."""
        # A server ends without a word to what is in it: its calls are listed as they come.
        how = ["-c"] if self.input == os.devnull else ["-s", "0", "--format", "json"]
        traced = self.run("setarch", "-R", self.scripthost, "trace", *how, "-o", self.file("table"),
                          *(word for glob in self.globs for word in ("-e", glob)), "--", self.program, *self.arguments)
        if traced.returncode:
            fail("trace ended with %d: %s" % (traced.returncode, traced.stderr))
        self.check_output("trace", traced.stdout)
        lines = open(self.file("table")).read().splitlines()
        if self.input != os.devnull:
            return {each["selector"] for each in map(json.loads, lines) if "selector" in each}
        called = set()
        start = next(i for i, l in enumerate(lines) if l.startswith("% self"))
        for line in lines[start + 1:-1]:
            called.add(line[line.rfind("  ") + 2:])
        return called

    def choose(self, typed, names, called):
        every = sorted(name for name in called if name in names and not any(each in name for each in UNSTEADY))
        if not self.count:
            chosen = every
        else:
            several = [n for n in every if any(e["bodies"] > 1 for t in names[n] for e in typed[t])]
            single = [n for n in every if n not in set(several)]
            half = self.count // 2
            chosen = self.random.sample(several, min(len(several), self.count - half))
            chosen += self.random.sample(single, min(len(single), self.count - len(chosen)))
        missing = [n for n in self.always if n not in called]
        if missing:
            fail("not called with this input: " + ", ".join(missing))
        every = set()
        for name in sorted(set(chosen) | set(self.always)):
            overloads = sorted(names[name])
            every |= set(self.random.sample(overloads, min(len(overloads), 2)) if self.count else overloads)
        every = sorted(t for t in every if any(e["hookable"] for e in typed[t]))
        # Overloads that types as spelled do not tell apart cannot be hooked one by one.
        unclear = [t for t in every if len(typed[t]) > 1 or sum(
            u == t or u.startswith(t + " ") or not is_typed(t) for u in names[typed[t][0]["selector"]]) > 1]
        if unclear:
            print("left out, not spelled apart: " + ", ".join(unclear))
        return [t for t in every if t not in unclear]

    # ScriptHost's counts

    def check_output(self, what, text):
        if text != self.plain:
            fail("the output of %s changed under %s" % (os.path.basename(self.program), what))

    def patch(self, name, body):
        directory = self.file(name)
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "patch.lua"), "w") as out:
            out.write('patch { id = "%s", version = "1.0.0", api = 1 }\n%s' % (name, body))
        return directory

    def patched(self, name, body):
        """One run with a patch; answers {event name: how many}."""
        events = self.file(name + ".jsonl")
        if os.path.exists(events):
            os.remove(events)  # runs append
        done = self.run("setarch", "-R", self.scripthost, "run", "--patches", self.patch(name, body), "--events", events,
                        "--state", self.file("state-" + name), "--", self.program, *self.arguments)
        if done.returncode:
            fail("%s ended with %d: %s" % (name, done.returncode, done.stderr))
        self.check_output(name, done.stdout)
        count = Counter()
        for line in open(events):
            event = json.loads(line)
            if event["kind"] in ("event", "log"):
                count[event.get("name") if event["kind"] == "event" else event["fields"].get("message")] += 1
            elif event["name"] == "foreign calls":
                told = re.match(r"(\d+) calls that share the code of '(.*)' were of other types", event["fields"]["message"])
                self.foreign[told[2]] += int(told[1])
            elif event["kind"] in ("failure", "gap"):
                raise Refused("%s: %s %s" % (name, event["kind"], event["fields"]))
        return count

    def counted(self, name, chosen, rule):
        """{event name: how many} for all chosen, in as many runs as patches of bearable length take.

        Leaves out of `chosen` what is ambiguous over all images. `rule` makes a selector's line of the patch.
        """
        count = Counter()
        for start in range(0, len(chosen), 100):
            part = chosen[start:start + 100]
            while True:
                try:
                    count += self.patched(name, "".join(rule(self.number[t], json.dumps(escaped(t))) + "\n" for t in part))
                    break
                except Refused as refused:
                    match = re.search(r"patch.lua:(\d+):.* is ambiguous", str(refused))
                    if not match:
                        fail(str(refused))
                    text = part.pop(int(match[1]) - 2)  # the first line is the header
                    print("left out, ambiguous: " + text)
                    self.left_out.add(text)
        return count

    def tracked(self, chosen):
        return self.counted("tracked", chosen, lambda i, t: 'track "s%d" { on = %s }' % (i, t))

    def handled(self, chosen):
        """Counts with `before` handlers."""
        return self.counted("handled", chosen, lambda i, t: 'method(%s):before(function() log.info("s%d") end)' % (t, i))

    # gdb's counts

    def hits(self, bodies, merged):
        """Entries of the bodies in order, and gdb's facts."""
        plan = {
            "program": self.program, "arguments": self.arguments, "main": families.address_of_main(self.program),
            "environment": self.environment, "bodies": [[b.image, b.address, b.size] for b in bodies], "merged": [list(each) for each in merged],
            "out": self.file("hits"),
        }
        with open(self.file("plan.json"), "w") as out:
            json.dump(plan, out)
        here = os.path.dirname(os.path.abspath(__file__))
        with self.given() as given:
            done = subprocess.run(["gdb", "-nx", "-q", "-batch", "-x", os.path.join(here, "hits.py")],
                                  env=dict(self.environment, COUNTS_PLAN=self.file("plan.json")), stdin=given,
                                  capture_output=True, text=True)
        if "exited normally" not in done.stdout:
            fail("gdb did not get to the end:\n%s%s" % (done.stdout[-2000:], done.stderr[-2000:]))
        entries = [tuple(map(int, line.split())) for line in open(self.file("hits"))]
        return entries, json.load(open(self.file("hits.json")))

    def families(self, typed, chosen):
        """{family: bodies} of all images, {typed selector: families}, {(image, address): symbol} of merged bodies."""
        found, merged = defaultdict(list), {}
        for image in self.images:
            more, more_merged = families.read(image)
            for family, bodies in more.items():
                found[family].extend(bodies)
            merged.update({(image, address): name for address, name in more_merged.items()})
        of_symbol = {b.symbol: b.family for bs in found.values() for b in bs}
        # A merged body may bear the name of another selector.
        self.of_program = set(of_symbol)
        wanted = {t: sorted({of_symbol[s] for e in typed[t] for s in e["symbols"] if not s.endswith(("Tm", "TW"))}) for t in chosen}
        of_types = families.implementations(self.images, {f for fs in wanted.values() for f in fs}, found)
        wanted = {t: sorted({f for each in fs for f in (each, *of_types.get(each, ()))}) for t, fs in wanted.items()}
        for family, bodies in families.witnesses(self.images, {f: found[f] for fs in wanted.values() for f in fs}, found).items():
            found[family].extend(bodies)
        # Generic declarations of one module are specialised in many: all of them are bodies of the family.
        origins = sorted(set(families.origins(sorted({found[f][0].symbol for fs in wanted.values() for f in fs}))))
        for library in [self.program, *families.libraries(self.program)]:
            if library in self.images:
                continue
            more, more_merged = families.read(library, origins)
            for family, bodies in more.items():
                found[family].extend(bodies)
            merged.update({(library, address): name for address, name in more_merged.items()})
        return found, wanted, merged

    def by_gdb(self, program_families, wanted, merged):
        """{family: calls}, {family: {body: hits}} by one rule: what a body forwards to a sibling is the same call."""
        bodies = [b for f in wanted for b in program_families[f] if not b.merged]
        stand_ins = {body: each for image in {b.image for b in bodies} for body, each in families.stand_ins(image, bodies).items()}
        entries, facts = self.hits(bodies, merged)
        bodies = [b for b in bodies if facts["bias"][b.image] is not None]
        at = defaultdict(list)  # equal code may carry several names
        for body in bodies:
            body.address += facts["bias"][body.image]
            at[body.address].append(body)
        merged = {facts["bias"][image] + address: each for (image, address), each in merged.items()
                  if facts["bias"].get(image) is not None}
        thunks = defaultdict(list)  # merged body -> [(body, constants)]
        for each in facts["thunks"]:
            for body in at[each["address"]]:
                thunks[each["target"]].append((body, each))
        # What fills more than all others calls with constants of its own.
        for target, each in thunks.items():
            added = set.intersection(*(set(thunk["constants"]) for _, thunk in each))
            thunks[target] = [(body, thunk) for body, thunk in each if set(thunk["constants"]) == added]
        calls, hits, jumped = Counter(), defaultdict(Counter), Counter()
        entered = defaultdict(dict)  # (thread, rsp) -> {family: (body, return address)} not forwarded yet
        for address, thread, rsp, back, *registers in entries:
            if address in thunks:
                mine = [(body, merged[address][0]) for body, thunk in thunks[address] if passes(thunk, registers)]
                if not mine:
                    continue
            else:
                mine = [(body, None) for body in at[address]]
            here = entered[thread, rsp]
            for body, through in mine:
                source = here.get(body.family)
                name = through or body.symbol
                hits[body.family][name] += 1
                handed_on = False
                for other in program_families[body.family]:
                    # A thunk's call of its merged body may be written straight into those that call the thunk.
                    if not (other.hands_on_to(body) or through and other is body):
                        continue
                    inside = other.address < back <= other.address + other.size
                    if other in stand_ins:
                        address_of, size = stand_ins[other]
                        start = facts["bias"][other.image] + address_of
                        # The equal code runs for others, too: as often for this body as the body was entered.
                        if start < back <= start + size and jumped[thread, other] > 0:
                            jumped[thread, other] -= 1
                            inside = True
                    tail = source is not None and source[0] is other and source[1] == back
                    handed_on |= inside or tail
                # Merged thunks differ in the clone they call: its address is one of the constants.
                handed_on |= any(body.address in thunk["constants"].values() and target < back <= target + merged[target][1]
                                 for target, each in thunks.items() for source_body, thunk in each
                                 if source_body.family == body.family)
                here.pop(body.family, None)
                if not through:
                    here[body.family] = (body, back)
                calls[body.family] += not handed_on
                jumped[thread, body] += body in stand_ins
        return calls, hits, thunks

    def check(self):
        started = time.time()
        self.plain = self.run(self.program, *self.arguments).stdout
        typed, names = self.selectors()
        called = self.running()
        chosen = self.choose(typed, names, called)
        self.number = {t: i for i, t in enumerate(chosen)}
        self.left_out, self.foreign = set(), Counter()
        tracked = self.tracked(chosen)
        chosen = [t for t in chosen if t not in self.left_out]
        passed_by, self.foreign = self.foreign, Counter()
        handled = self.handled(chosen)
        self.explain({each["selector"] for text in chosen for each in typed[text]})
        host_time = time.time()
        wanted, calls, hits = self.gdb_counts(typed, chosen)
        gdb_time = time.time()
        different, unlike = 0, []
        print("%8s %8s %8s  %s" % ("gdb", "track", "before", "selector (bodies: hits)"))
        for text in chosen:
            number = self.number[text]
            gdb = sum(calls[f] for f in wanted[text])
            # Functions of equal code are one: calls on objects of other types are left alone, and that is told.
            others = text in self.shared
            selector = typed[text][0]["selector"]
            ours = (tracked["s%d" % number] + others * passed_by[selector], handled["s%d" % number] + others * self.foreign[selector])
            bodies = {s: n for f in wanted[text] for s, n in hits[f].items()}
            same = ours == (gdb, gdb)
            # Calls that go to a body which was refused are missed, and that is told.
            partly = any(e["hookable"] < e["bodies"] for e in typed[text]) and ours[0] == ours[1] < gdb
            if not (same or partly): unlike.append((text, [gdb], [ours[0]], [ours[1]]))
            if self.count or not same:
                print("%8d %8d %8d  %s%s%s" % (gdb, *ours, "" if same else "told " if partly else "DIFFERENT ", text,
                                               " (%d: %s)" % (sum(e["bodies"] for e in typed[text]), " ".join(map(str, bodies.values())))))
            if not same:
                for symbol, n in bodies.items():
                    print("%36d  %s" % (n, symbol))
        different = self.still_different(typed, unlike)
        overclaimed = self.overclaimed(typed, chosen, wanted, hits)
        total = sum(calls.values())
        print("%d selectors, %d families with several bodies entered, %d calls, %d different (%.0f s, gdb %.0f s)" % (
            len(chosen), sum(1 for f in hits if len(hits[f]) > 1), total, different, time.time() - started, gdb_time - host_time))
        return different + overclaimed

    def gdb_counts(self, typed, chosen):
        """{typed selector: families}, and by_gdb's calls and hits of them."""
        program_families, wanted, merged = self.families(typed, chosen)
        return wanted, *self.by_gdb(program_families, sorted({f for fs in wanted.values() for f in fs}), merged)[:2]

    def still_different(self, typed, unlike):
        """How many of the selectors have counts that do not overlap when all is counted again: [(typed selector, gdb's, rules', handlers')]."""
        texts = [text for text, *_ in unlike]
        for _ in range(int(os.environ.get("COUNTS_AGAIN", 2 if os.environ.get("COUNTS_PACE") else 0)) if texts else 0):
            tracked, handled = self.tracked(texts), self.handled(texts)
            wanted, calls, _ = self.gdb_counts(typed, texts)
            for text, by_gdb, by_rules, by_handlers in unlike:
                by_gdb.append(sum(calls[f] for f in wanted[text]))
                by_rules.append(tracked["s%d" % self.number[text]])
                by_handlers.append(handled["s%d" % self.number[text]])
        different = 0
        for text, *counts in unlike:
            # Each of the three has a run with no more calls than a run of each other.
            is_unsteady = len(counts[0]) > 1 and all(min(these) <= max(those) for these in counts for those in counts)
            different += not is_unsteady
            if len(counts[0]) > 1:
                print("%s: gdb %s, track %s, before %s  %s" % ("unsteady" if is_unsteady else "DIFFERENT", *counts, text))
        return different

    @staticmethod
    def entered_through(known, symbol, hits):
        """A merged body that is entered no more often than the thunks that forward to it, which are the selector's bodies."""
        return symbol.endswith("Tm") and hits[symbol] <= sum(n for s, n in hits.items() if s in known)

    def explain(self, selectors):
        """What `explain` claims to be covered, and whose code it says to be others' too."""
        self.covered, self.shared, title = set(), set(), None
        # All functions at once take half a minute.
        patterns = sorted(selector.replace("*", "\\*") for selector in selectors) if self.count else self.globs
        for line in (line for pattern in patterns for line in self.run(self.scripthost, "explain", self.program, pattern).stdout.splitlines()):
            if not line.startswith("  "):
                title = line
            elif line.strip() == "family     covered":
                self.covered.add(title)
            elif line.startswith("  shared "):
                self.shared.add(title)

    def overclaimed(self, typed, chosen, wanted, hits):
        """Selectors of which `explain` says that all bodies are covered, and gdb saw another one entered."""
        wrong = 0
        for text in chosen:
            known = {s for e in typed[text] for s in e["symbols"]}
            missed = sorted(s for f in wanted[text] for s in hits[f] if s not in known and s in self.of_program
                            and not self.entered_through(known, s, hits[f]))
            if missed and text in self.covered:
                wrong += 1
                print("explain says covered: %s\n  but gdb saw %s" % (text, ", ".join(missed)))
        print("explain claims %d of %d to be covered" % (sum(t in self.covered for t in chosen), len(chosen)))
        return wrong


def passes(thunk, registers):
    order = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"] + ["slot%d" % i for i in range(16)] + ["xmm%d" % i for i in range(8)]
    constants = thunk["constants"]  # a thunk without any tells nothing

    def same(place, value):
        # What fits 32 bits may be an argument of no more.
        mask = 0xffffffff if value >> 32 in (0, 0xffffffff) and not place.startswith("xmm") else (1 << 64) - 1
        return (registers[order.index(place)] ^ value) & mask == 0

    return bool(constants) and all(same(place, value) for place, value in constants.items())


def is_typed(selector):
    return any(mark in selector for mark in (" -> ", ": ", ") throws", ") async"))


def escaped(selector):
    return selector.replace("*", "\\*")


if __name__ == "__main__":
    scripthost, program, source, work, seed, count, *modules = sys.argv[1:]
    sys.exit(1 if Counts(scripthost, program, source, work, int(seed), int(count), modules).check() else 0)
