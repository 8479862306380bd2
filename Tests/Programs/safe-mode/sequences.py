#!/usr/bin/env python3
"""Random sequences of starts, held against a model of docs/safe-mode.md.

    sequences.py SCRIPTHOST PROGRAM FOLDER SEED COUNT

Each sequence begins with no state, and has up to 12 starts of PROGRAM (boots.swift) with three patches; between starts files are damaged or
removed, patches are changed, and other processes of the program run. After each start what was loaded and what was cleared must be what the
model says. Prints one line for each sequence that is wrong, with its steps, and a last line with what was drawn.
"""
import os, random, shutil, signal, subprocess, sys, time

# Where this runs in the background, Ctrl-C is ignored; what is started here gets it.
signal.signal(signal.SIGINT, signal.default_int_handler)

scripthost, program, folder, seed, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
NAMES = ["a", "b", "c"]
CRASHES = ["segv", "blocked", "abort", "trap", "hit", "memory", "hang"]
ENDS = ["good", "code", "changed", "up-abort", "kill", "term", "int", "kill-load", "abort-load", "handler"] + CRASHES * 2


class Model:
    """What the next start does, from the ends of those before it. Patches are (name, version)."""

    def __init__(self):
        self.forget(0)

    def forget(self, failures):
        self.failures, self.acted, self.suspect, self.trial, self.condemned = failures, 0, None, None, None
        self.retired, self.waiting, self.registered = {}, [], False
        # Of the last failed start: the patches whose text ran, and those that were loaded.
        self.ran, self.live = [], []
        # Whether the newest start clears data.
        self.clears_data = False

    @property
    def calm(self):
        return not self.failures and not self.retired and not self.waiting and not self.trial

    def good(self):
        self.failures, self.acted, self.suspect, self.trial = 0, 0, None, None

    def failed(self, suspect, ran, live, at_work=False, changed=False):
        if self.trial and (suspect == self.trial[0] if suspect else self.trial in live):
            # All others are known to be good, and it was there: it stays out, and nothing is counted.
            self.retired[self.trial] = "trial"
            self.trial = None
            return
        self.trial = None
        self.failures += 1
        self.ran, self.live = ran, live
        self.suspect = suspect or self.suspect
        if at_work or changed: self.condemned, self.reason = suspect, "suspect" if at_work else "changed"

    def plan(self, patches):
        """Which are loaded, and whether caches are cleared."""
        self.retired = {patch: why for patch, why in self.retired.items() if patch in patches}
        self.waiting = [patch for patch in self.waiting if patch in patches]
        if self.failures > 5:
            self.failures, self.acted, self.suspect, self.waiting = 0, 0, None, []
            self.retired = {patch: why for patch, why in self.retired.items() if why == "suspect"}
        # A patch whose text or handler was running is to blame, and no other is beside it.
        if self.condemned:
            blamed = self.as_it_ran(self.condemned) or [patch for patch in patches if patch[0] == self.condemned][0]
            if blamed in patches and blamed not in self.waiting: self.retired[blamed] = self.reason
            # One that was changed since is another text, and is tried.
            if self.failures == 2 and blamed not in self.waiting: self.acted = 2
        self.condemned = None
        loaded = [patch for patch in patches if patch not in self.retired and patch not in self.waiting]
        clears, self.clears_data = False, self.failures >= 5
        if self.failures >= 3:
            self.waiting += loaded
            clears = True
        elif self.failures == 2:
            if self.acted != 2:
                # The newest is the one that was changed last, of those that were loaded.
                blamed = self.as_it_ran(self.suspect) or max(self.live, key=lambda patch: (patch[1], patch[0]), default=None)
                if blamed in loaded: self.retired[blamed] = "suspect" if blamed[0] == self.suspect else "newest"
            self.acted = 2
            clears = True
        elif self.failures == 0 and not self.trial and self.waiting:
            self.trial = self.waiting.pop(0)
        return [patch for patch in patches if patch not in self.retired and patch not in self.waiting], clears

    def as_it_ran(self, name):
        return next((patch for patch in self.ran if patch[0] == name), None)


class Sequence:
    def __init__(self, number):
        self.number, self.random = number, random.Random(f"{seed} {number}")
        self.home = os.path.join(folder, f"s{number}")
        shutil.rmtree(self.home, ignore_errors=True)
        for name in ("state", "patches", "cache", "data"):
            os.makedirs(os.path.join(self.home, name))
        self.versions, self.clock = {}, 1_600_000_000
        for name in NAMES:
            self.write(name)
        self.model, self.steps, self.problem = Model(), [], None
        # Ends that no start has looked at yet, each with the number of its start: None says nothing.
        self.ends, self.number_of_start = [], 0
        self.others = []
        # Of each start: c where the cache was cleared, d where data was.
        self.cleared = []

    def write(self, name):
        """A patch file, newer than all others."""
        self.clock += 10
        self.versions[name] = self.clock
        text = f'patch {{ id = "{name}" }}\nswift.call("boots.loaded(_:)", "{name}")\n'
        if name == "a": text += 'swift.call("boots.atLoad()")\nstalls { main = "100ms", end_after = "300ms" }\n'
        if name == "b": text += f'boot.cache "{self.home}/cache"\nboot.data "{self.home}/data"\n'
        if name == "c": text += 'method "boots.hit()":before(function() end)\nmethod "boots.handled()":before(function() swift.call("boots.stop()") end)\nmethod "boots.changed(_:)":before(function(call) call.args[1] = 1 end)\nmethod "boots.ready()":after(function() scripthost.up() end)\n'
        path = os.path.join(self.home, "patches", name + ".lua")
        with open(path, "w") as file: file.write(text)
        os.utime(path, (self.clock, self.clock))

    def start(self, how, limited=False):
        environment = {**os.environ, "BOOT_END": how, "SWIFT_BACKTRACE": "enable=no"}
        command = [scripthost, "run", "--no-control", "--state", self.home + "/state", "--patches", self.home + "/patches", "--", program]
        if limited: command = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"] + command
        return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE if how == "wait" else subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def begin(self, saves=True):
        """The model's side of a start: what is loaded, whether caches and data are cleared, and whether its end counts."""
        patches = [(name, self.versions[name]) for name in NAMES]
        before = None if saves else dict(self.model.__dict__, retired=dict(self.model.retired), waiting=list(self.model.waiting))
        self.number_of_start += 1
        # In the order in which the processes began.
        known = [each for each in sorted(self.ends, key=lambda each: each[0]) if each[1] is not None]
        if self.model.calm and not known:
            if saves: self.ends = []
            return patches, (False, False), False
        for _, end, ran, live in known:
            if end == "good": self.model.good()
            elif end == "abort-load": self.model.failed("a", ran, live, at_work=True)
            elif end == "handler": self.model.failed("c", ran, live, at_work=True)
            elif end == "changed": self.model.failed("c", ran, live, changed=True)
            else: self.model.failed(end or None, ran, live)
        if saves: self.ends = []
        loaded, clears = self.model.plan(patches)
        registered = self.model.registered
        cleared = clears and registered, self.model.clears_data and registered
        if before: self.model.__dict__.update(before)
        return loaded, cleared, True

    def note(self, start, end, loaded, ran=None):
        # Where it ended while patches were being loaded, none was live yet.
        self.ends.append((start, end, loaded if ran is None else ran, loaded if ran is None else []))

    def ended(self, how, loaded, counts):
        """What becomes of a start that ended so."""
        start = self.number_of_start
        names = [name for name, _ in loaded]
        if how in ("kill-load", "abort-load") and "a" not in names: how = "good"
        if how in ("handler", "changed") and "c" not in names or how == "hang" and "a" not in names: how = "good"
        if how != "kill-load" and how != "abort-load" and "b" in names: self.model.registered = True
        if how == "up-abort" and "c" not in names: how = "abort"
        if how == "up-abort":
            # The patch has said so in its time: that is noted at once, and by the next start, too.
            if counts: self.model.good()
            self.note(start, "good", loaded)
        elif how in ("good", "code", "wait"):
            if counts: self.model.good()
        elif how == "hit": self.note(start, "c" if "c" in names else "", loaded)
        elif how in ("handler", "changed"): self.note(start, how, loaded)
        elif how == "abort-load": self.note(start, how, loaded, loaded[:1])
        elif how == "kill-load": self.note(start, "a", loaded, loaded[:1])
        elif how in CRASHES: self.note(start, "", loaded)
        else: self.note(start, None, loaded)

    def one(self, how=None):
        files = [os.path.join(self.home, kind, "file") for kind in ("cache", "data")]
        for path in files:
            with open(path, "w"): pass
        is_drawn = how is None
        how = how or self.random.choice(ENDS)
        limited = is_drawn and self.random.random() < 0.05
        if limited and how not in ("good", "code"): how = "good"
        loaded, clears, counts = self.begin(saves=not limited)
        begun = time.monotonic()
        process = self.start(how, limited)
        out, err = process.communicate(timeout=600)
        self.steps.append(how + (" (no room)" if limited else ""))
        # On a busy machine a patch that takes longer to load than it may is stopped, which shows nothing.
        if "stopped: ran longer" in err: raise Stopped
        # So is a crash that comes later than those of starts are looked for.
        if time.monotonic() - begun > 8: raise Stopped
        found = [line[7:] for line in out.splitlines() if line.startswith("loaded ")]
        expected = [name for name, _ in loaded]
        if how in ("kill-load", "abort-load") and "a" in expected: expected = ["a"]
        if found != expected: return f"loaded {found}, expected {expected}: {err.strip()[-300:]}"
        for kind, path, cleared in zip(("cache", "data"), files, clears):
            if os.path.exists(path) == cleared: return f"{kind} {'kept' if cleared else 'cleared'}, expected otherwise"
        self.cleared.append("".join(kind for kind, path in zip("cd", files) if not os.path.exists(path)))
        if not limited: self.ended(how, loaded, counts)

    def between(self):
        """What happens to files and other processes between two starts."""
        what = self.random.random()
        state = [os.path.join(self.home, "state/boot", name) for name in os.listdir(self.home + "/state/boot") if name.endswith(".boot")] \
            if os.path.isdir(self.home + "/state/boot") else []
        if what < 0.06 and state:
            how = self.random.choice(["cut short", "torn", "a byte changed", "said twice", "replaced"])
            self.steps.append(f"damaged: {how}")
            with open(state[0], "rb") as file: text = bytearray(file.read())
            at = self.random.randrange(len(text))
            if how == "cut short": del text[at:]
            # The second half was not written yet: zeros.
            elif how == "torn": text[at:] = bytes(len(text) - at)
            elif how == "a byte changed": text[at] ^= self.random.randrange(1, 256)
            elif how == "said twice": text = text + text
            else: text = bytearray(self.random.randbytes(self.random.randint(0, 9000)))
            with open(state[0], "wb") as file: file.write(text)
            self.model.forget(1)
        elif what < 0.10 and state:
            self.steps.append("removed")
            os.unlink(state[0])
            self.model.forget(0)
        elif what < 0.18:
            name = self.random.choice(NAMES)
            self.steps.append(f"changed {name}")
            self.write(name)
        elif what < 0.24:
            # The clock goes back: all that was written so far is of the future.
            self.steps.append("clock back")
            for root, _, names in os.walk(self.home + "/state"):
                for name in names: os.utime(os.path.join(root, name), (4_000_000_000, 4_000_000_000))
        elif what < 0.32:
            return self.together()

    def together(self):
        """Two processes at once: the first one began before the second, and ends after it."""
        how = self.random.choice(["", "abort", "kill"])
        self.steps.append(f"beside one that ends by {how or 'itself'}")
        loaded, clears, counts = self.begin()
        begun = self.number_of_start
        started = time.monotonic()
        first = self.start("wait")
        lines = []
        while True:
            line = first.stdout.readline()
            lines.append(line)
            if line in ("main\n", ""): break
        found = [line[7:].strip() for line in lines if line.startswith("loaded ")]
        expected = [name for name, _ in loaded]
        if "b" in expected: self.model.registered = True
        problem = None if found == expected else f"the first loaded {found}, expected {expected}"
        problem = problem or self.one()
        first.communicate(how + "\n" if how else None, timeout=600)
        if time.monotonic() - started > 8: raise Stopped
        if how == "abort": self.note(begun, "", loaded)
        elif how == "kill": self.note(begun, None, loaded)
        elif counts: self.model.good()
        return problem

    def run(self, ends=()):
        try: return self.levels(ends) if ends else self.all()
        except Stopped: stopped.append(self.number)

    def levels(self, ends):
        """Starts that end so, whatever is drawn; the data is there until five of them have failed."""
        for how in ends:
            problem = self.one(how)
            if problem: return problem
        expected = ["", "", "c", "c", "c", "cd", "", ""]
        if self.cleared != expected: return f"cleared {self.cleared}, expected {expected}"
        shutil.rmtree(self.home, ignore_errors=True)

    def all(self):
        for _ in range(self.random.randint(3, 12)):
            problem = self.one() or self.between()
            if problem: return problem
        shutil.rmtree(self.home, ignore_errors=True)


class Stopped(Exception): pass


stopped = []
starts = wrong = 0
# The first one goes through all levels.
for number in range(-1, count):
    sequence = Sequence(number)
    problem = sequence.run(["segv"] * 7 + ["good"] if number < 0 else ())
    starts += len(sequence.steps)
    if problem:
        wrong += 1
        print(f"sequence {number} of seed {seed}: {', '.join(sequence.steps)}: {problem}")
print(f"{count} sequences and one through all levels, of seed {seed}, {starts} steps, {wrong} wrong" + (f", {len(stopped)} left early on a busy machine" if stopped else ""))
sys.exit(1 if wrong else 0)
