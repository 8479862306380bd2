"""claims.py SCRIPTHOST WORK COUNT SEED: programs that count their own calls, in builds of all kinds, with a trace and a rule on each function.

What was seen of a function is what it counted, or that some is missed was said when the hooks were made; never more. What was only not
known (an image without debug information) is counted apart.
"""
import collections, concurrent.futures, json, os, random, re, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import generate

scripthost, work, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


def run(command, cwd, errors=None, **more):
    """What it writes; what it says on stderr goes to the list."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=float(os.environ.get("CLAIMS_TIMEOUT", 300)), **more)
    if done.returncode: raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    if errors is not None: errors += done.stderr.splitlines()
    return done.stdout


def build(number):
    rng = random.Random(f"{seed}.{number}")
    sources, names = generate.program(rng)
    directory = os.path.join(work, str(number))
    os.makedirs(directory)
    for name, text in sources.items():
        with open(os.path.join(directory, name), "w") as out: out.write(text + "\n")
    level, debug = rng.choice(["-O", "-O", "-Osize"]), rng.choice([["-g"], ["-g"], ["-gline-tables-only"], []])
    # What new packages have: async functions run where their callers do. Of each module by itself.
    isolation = [["-enable-upcoming-feature", "NonisolatedNonsendingByDefault"] if rng.random() < 0.4 else [] for _ in "LC"]
    strip, evolution, wmo, cmo = rng.random() < 0.25, rng.random() < 0.3, rng.random() < 0.6, rng.random() < 0.5
    kind = " ".join([level, *debug, *(["-wmo"] if wmo else []), *(["evolution"] if evolution else []),
                     *(["cmo"] if cmo and not evolution else []), *(["stripped"] if strip else []),
                     *([f"upcoming isolation in {'both' if all(isolation) else 'one'}"] if any(isolation) else [])])
    swiftc = ["swiftc", "-suppress-warnings", "-parse-as-library"]
    library = ["-emit-library", "-emit-module"]
    run([*swiftc, "-Onone", *library, "-module-name", "Counter", "Counter.swift", "-o", "libCounter.so"], directory)
    links = ["-I.", "-L.", "-lCounter", "-Xlinker", "-rpath", "-Xlinker", "$ORIGIN"]
    how = ["-enable-library-evolution"] if evolution else ["-wmo", "-enable-default-cmo"] if cmo else []
    run([*swiftc, level, *debug, *isolation[0], *library, *how, *links, "-module-name", "Lib", "Lib.swift", "-o", "libLib.so"], directory)
    run([*swiftc, level, *debug, *isolation[1], *(["-wmo"] if wmo else []), *links, "-lLib", "-module-name", "Case", "Case.swift", "other.swift", "-o", "case"], directory)
    if strip: run(["strip", "-s", "libLib.so", "case"], directory)
    return directory, kind, names


def own(text):
    return {int(n): int(c) for n, c in re.findall(r"^# (\d+) (\d+)$", text, re.M)}


def belongs(selector, owner, name):
    """The selector is of that function: `static Lib.S1.fn2(_:)`, `Lib.S1.fn3.get`, `Lib.B4.deinit`."""
    # What is declared in the function is another one.
    if re.search(r"\)\.\w+\(", selector): return False
    if "." in name: return selector.endswith(f".{owner}.{name}")
    parts = re.sub(r"\(.*\)", "", selector.removeprefix("static ")).split(".")
    # A default of a protocol also has bodies that are named by the types they are for.
    return name in parts and (owner in parts or owner.startswith("P") if owner else len(parts) == 2)


def judge(number):
    """(kind, {verdict: count}, wrong sentences) of one build."""
    directory, kind, names = build(number)
    alone = run(["./case"], directory)
    expected = own(alone)
    listed = [json.loads(line)["selector"] for file in ("./case", "./libLib.so")
              for line in subprocess.run([scripthost, "methods", "--json", file], cwd=directory, capture_output=True, text=True).stdout.splitlines()]
    mine = {n: sorted({s for s in listed if belongs(s, *where)}) for n, where in names.items()}
    # One rule for each function; of protocols and what they have as defaults, the selectors are what carries them out.
    rules = "".join('track "%d" { on = "%s", optional = true }\n' % (n, s) for n, found in mine.items() for s in found[:1])
    with open(os.path.join(directory, "rules.lua"), "w") as out: out.write('patch { id = "claims", version = "1.0.0", api = 1 }\n' + rules)
    # By patterns for whole modules in half of the builds, by name in the others.
    spelled = ["-e", "Case.**", "-e", "Lib.**"] if number % 2 and "stripped" not in kind else [word for found in mine.values() for s in found for word in ("-e", s)]
    traced = run([scripthost, "trace", "--state", "state", "-c", "--why", "--format", "json", "-o", "trace", *spelled, "--", "./case"], directory)
    loaded = []
    ruled = run([scripthost, "run", "-v", "--state", "state", "--patches", "rules.lua", "--events", "events", "--", "./case"], directory, loaded)
    wrong = [] if traced == alone and ruled == alone else ["the program says something else"]
    lines = [json.loads(line) for line in open(os.path.join(directory, "trace"))]
    calls, told, others = collections.Counter(), set(), set()
    for line in lines:
        if line["kind"] == "function": calls[line["selector"]] += line["calls"]
        if line["kind"] in ("partial", "refused"): (others if "may see" in line["reason"] else told).add(line["selector"])
    # Of an image, and of none but that.
    unknown = {image: any(word == image or word.startswith(image + "'") for sentence in lines[0]["may_miss"] for word in sentence.replace(":", "").split())
               for image in ("case", "libLib.so")}
    events = collections.Counter()
    for line in open(os.path.join(directory, "events")):
        event = json.loads(line)
        if event["kind"] == "event": events[event["name"]] += 1
    verdicts = collections.Counter()
    for n, called in expected.items():
        owner, name = names[n]
        said = f"{number} ({kind}): {'.'.join(filter(None, names[n]))} {mine[n]}: called {called} times"
        if not mine[n]:
            verdicts["no function left"] += 1
            continue
        for what, seen in (("trace", sum(calls[s] for s in mine[n])), ("rule", events[str(n)])):
            if what == "rule" and len(mine[n]) > 1: continue
            image = "libLib.so" if mine[n][0].removeprefix("static ").startswith("Lib.") else "case"
            if seen == called: verdicts["all seen"] += 1
            elif seen > called and any(s in others for s in mine[n]): verdicts["others' too, told"] += 1
            elif seen > called:
                verdicts["MORE"] += 1
                wrong.append(f"{said}, {what}: {seen} seen")
            elif what == "rule" and not any(f"'{mine[n][0]}'" in line or ("which hooks miss" in line and f": {image} " in line)
                                        or ("other generic functions" in line and f"in {image} " in line) for line in loaded):
                verdicts["MISSED"] += 1
                wrong.append(f"{said}, rule: {seen} seen, and nothing told when it was loaded")
            elif any(s in told for s in mine[n]): verdicts["missed, told"] += 1
            elif unknown[image]: verdicts["missed, not known"] += 1
            else:
                verdicts["MISSED"] += 1
                wrong.append(f"{said}, {what}: {seen} seen, and nothing told")
    return kind, verdicts, wrong


def safely(number):
    try: return judge(number)
    except Exception as error: return "", collections.Counter(), [f"{number}: {error}"]


print(f"seed {seed}, {count} builds")
total, wrongs = collections.Counter(), []
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for number, (kind, verdicts, wrong) in zip(range(count), pool.map(safely, range(count))):
        total += verdicts
        wrongs += wrong
        print(("WRONG   " if wrong else "ok      ") + f"{number} {kind}: " + ", ".join(f"{v} {k}" for k, v in sorted(verdicts.items())))
for each in wrongs: print("        " + each)
print("all: " + ", ".join(f"{v} {k}" for k, v in sorted(total.items())))
sys.exit(bool(wrongs))
