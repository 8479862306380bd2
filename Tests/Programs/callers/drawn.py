"""drawn.py SCRIPTHOST WORK COUNT SEED: random programs whose callers are compiled together with what they call, every outcome replaced.

Each function is called by a caller of its own, which prints what it goes on with. That is what the handler gave, or what the original did and
the host has said of the function that it is; nothing else, and the program comes to its end as it does alone. Programs are one module, or two
of one package with what the compiler does across modules by default; half of them have the language's upcoming rules for isolation.
"""
import collections, concurrent.futures, os, random, re, subprocess, sys

scripthost, work, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

KIT = """public final class Node: @unchecked Sendable { public var v: Int; public var s: String
  @inline(never) public init(_ v: Int) { self.v = v; s = "node \\(v), with a text long enough for the heap" } }
public enum Shape { case node(Node), number(Int), none }
public enum Failure: Error { case bad(Int) }
public struct Entry { public var n: Int; public var text: String; public var node: Node
  public init(_ n: Int) { self.n = n; text = "entry \\(n), with a text long enough for the heap"; node = Node(n) } }
public protocol P { var number: Int { get } }
public struct Small: P { public var number: Int; public init(_ n: Int) { number = n } }
public struct Big: P { public var number: Int; public var b = 1, c = 2, d = 3, e = 4; public init(_ n: Int) { number = n } }
nonisolated(unsafe) public var seed = CommandLine.arguments.count
@inline(never) public func sometimes(_ n: Int) throws(Failure) -> Int { if n == 1 { throw .bad(n) }; return n }
@inline(never) public func tell(_ s: Shape) -> String { switch s { case .node(let n): "node \\(n.v) \\(n.s)"; case .number(let n): "number \\(n)"; case .none: "none" } }
@inline(never) public func tell(_ e: Entry) -> String { "\\(e.n) \\(e.text) \\(e.node.v) \\(e.node.s)" }
@inline(never) public func tell(_ n: Node) -> String { "\\(n.v) \\(n.s)" }
"""
TEXT = "with a text long enough for the heap"
node = lambda n: f"{n} node {n}, {TEXT}"
entry = lambda n: f"{n} entry {n}, {TEXT} {node(n)}"
# Of each kind: result type, what the original returns of n (known to a caller, or not), how the caller tells it, what that is, what a handler returns
# instead (Lua), how that is told. `@N` is a number of the function's own.
RESULTS = {
    "Int": ("Int", ["n &+ 7", "7"], "\\(r)", None, "@N", "@N"),
    "Bool": ("Bool", ["seed > 0", "true"], "\\(r)", None, "false", "false"),
    "Double": ("Double", ["Double(n)", "2.5"], "\\(r)", None, "@N.5", "@N.5"),
    "UInt8": ("UInt8", ["UInt8(truncatingIfNeeded: n)", "3"], "\\(r)", None, "200", "200"),
    "Optional": ("Int?", ["seed > 1_000_000 ? nil : n", "n &+ 7"], '\\(r.map { "\\($0)" } ?? "nil")', None, "nil", "nil"),
    "Optional of an object": ("Node?", ["seed > 1_000_000 ? nil : Node(n)", "Node(n)"], '\\(r.map(tell) ?? "nil")', None, "nil", "nil"),
    "object": ("Node", ["Node(n)"], "\\(tell(r))", None, "node(@N)", node("@N")),
    "String": ("String", ['"text \\(n) \\(seed), long enough for the heap"', '"a literal"', '"small"'], "\\(r)", None, '"lua @N, a text long enough for the heap"',
               "lua @N, a text long enough for the heap"),
    "enum": ("Shape", ["seed > 1_000_000 ? .none : .node(Node(n))", ".node(Node(n))", ".number(n)", ".none"], "\\(tell(r))", None, "{ number = @N }", "number @N"),
    "struct": ("Entry", ["Entry(n)"], "\\(tell(r))", None, 'entry(@N)', entry("@N")),
    "part of a struct": ("Entry", ["Entry(n)"], "\\(r.n)", None, "entry(@N)", "@N"),
    "tuple": ("(Int, String)", ['(n, "text \\(n), long enough for the heap")', '(7, "a")'], "\\(r.0) \\(r.1)", None, '{ @N, "lua @N, a text long enough for the heap" }',
              "@N lua @N, a text long enough for the heap"),
    "list": ("[Int]", ["[n, n]", "[]", "[1, 2, 3]"], "\\(r)", None, "{ @N, 2 }", "[@N, 2]"),
    "existential": ("any P", ["Small(n)", "Big(n)", "seed > 1_000_000 ? Big(n) : Small(n)"], "\\(r.number)", None, "small(@N)", "@N"),
    "closure": ("() -> Int", ["{ n &+ 1 }", "{ let x = Node(n); return { x.v } }()"], "\\(r())", None, "swift.closure(function() return @N end, { default = 0 })", "@N"),
}


class Program:
    def __init__(self, rng, waits):
        self.rng, self.waits = rng, waits
        self.callees, self.callers, self.names, self.lua = [], [], [], []
        self.told = {}  # function: (how the caller tells the new outcome, the selector)

    def add(self, kind, callee, caller, patch, new, selector=None):
        n = len(self.names)
        number = 1000 + n
        put = lambda text: text.replace("@F", f"f{n}").replace("@N", str(number))
        self.names.append(kind)
        self.callees.append(put(callee))
        # What is printed last is told: of each call a line.
        self.callers.append(put(caller).replace("@C", f"c{n}").replace("@I", str(n)))
        selector = put(selector or "@M.@F(_:)")
        self.lua.append((selector, put(patch)))
        self.told[n] = (put(new), selector)

    def result(self):
        kind = self.rng.choice(list(RESULTS))
        type, bodies, told, _, value, new = RESULTS[kind]
        body, generic = self.rng.choice(bodies), ""
        place = self.rng.choice(["free", "free", "method", "static", "throws", "async" if self.waits else "free"])
        effect = {"throws": " throws", "async": " async"}.get(place, "")
        call = {"throws": "try! ", "async": "await "}.get(place, "")
        head = f"func @F(_ n: Int){effect} -> {type} {{ seed &+= @N; return {body} }}"
        selector = None
        if place == "method":
            head, call, selector = f"public final class T@F {{ public init() {{}}; @inline(never) public {head} }}", "T@F().", "@M.T@F.@F(_:)"
        elif place == "static":
            head, call, selector = f"public enum T@F {{ @inline(never) public static {head} }}", "T@F.", "static @M.T@F.@F(_:)"
        else:
            head = f"@inline(never) public {head}"
        if self.rng.random() < 0.15: told, new = "ignored", "ignored"  # the caller has no use for it
        waits = " async" if place == "async" else ""
        caller = f'@inline(never) func @C(_ k: Int){waits} {{ let r = {call}@F(k); print("@I", "{told}") }}'
        if told == "ignored": caller = caller.replace("let r = ", "_ = ")
        self.add(f"{kind} ({place})", head, caller, f"around(function(call) call:original() call.result = {value} end)", new, selector)

    def thrown(self):
        typed = self.rng.choice(["", "(Failure)"])
        error = "{ bad = @N }" if typed else 'swift.case("bad", @N, "Kit.Failure")'
        how = self.rng.choice(["sometimes", "never", "always"])
        # What is read of an object that is none is no number.
        type, made, told = self.rng.choice([("Int", "n", ""), ("Node", "Node(n)", ".v")])
        body = {"sometimes": f"if seed > 1_000_000 {{ throw Failure.bad(n) }}; return {made}", "never": f"return {made}",
                "always": "seed &+= @N; throw Failure.bad(n)"}[how]
        callee = f"@inline(never) public func @F(_ n: Int) throws{typed} -> {type} {{ {body} }}"
        call = f'do {{ print("@I", try @F(k){told}) }} catch {{ print("@I", "caught") }}'
        # One variable for the errors of several calls, in a loop.
        beside = "do { _ = try sometimes(j) } catch { seed &+= 1 }"
        call = self.rng.choice([call, call, f"for j in 0..<2 {{ {beside}; {call} }}", f"for j in 0..<2 {{ {call}; {beside} }}"])
        caller = f"@inline(never) func @C(_ k: Int) {{ {call} }}"
        if how == "always": self.add(f"error, {how}", callee, caller, "around(function(call) call:try() call.result = " + ("@N" if type == "Int" else "node(@N)") + " end)", "@N")
        else: self.add(f"error, {how}", callee, caller, f'around(function(call) call:original() call:throw("by lua @N") end)' if not typed else
                       f"around(function(call) call:original() call:throw({error}) end)", "caught")

    def variable(self):
        type, make, told, value, new = self.rng.choice([
            ("Node", "Node(k)", "\\(tell(v))", "node(@N)", node("@N")), ("Int", "k", "\\(v)", "@N", "@N"), ("Entry", "Entry(k)", "\\(tell(v))", "entry(@N)", entry("@N")),
            ("String", '"text \\(k), long enough for the heap"', "\\(v)", '"lua @N, a text long enough for the heap"', "lua @N, a text long enough for the heap"),
            ("[Int]", "[k, k]", "\\(v)", "{ @N }", "[@N]")])
        body = self.rng.choice(["seed &+= @N; return seed", "v = " + make.replace("k", "(seed &+ @N)") + "; return seed"])
        when = self.rng.choice(["before", "after"])
        writes = body.startswith("v =")
        if writes: when = "after"
        self.add(f"variable {'written' if writes else 'looked at'}: {type}", f"@inline(never) public func @F(_ v: inout {type}) -> Int {{ {body} }}",
                 f'@inline(never) func @C(_ k: Int) {{ var v = {make}; let x = @F(&v); print("@I", x == 0 ? "zero" : "{told}") }}',
                 f"{when}(function(call) call.args[1] = {value} end)", new)

    def property(self):
        type, make, told, value, new = self.rng.choice([
            ("Node", "Node(k)", "\\(tell(o.p))", "node(@N)", node("@N")), ("[Int]", "[k, k]", "\\(o.p)", "{ @N }", "[@N]"),
            ("String", '"text \\(k), long enough for the heap"', "\\(o.p)", '"lua @N, a text long enough for the heap"', "lua @N, a text long enough for the heap")])
        self.add(f"property: {type}", f"public final class T@F {{ public var p: {type}; public init(_ k: Int) {{ p = {make} }}; @inline(never) public func @F(_ n: Int) -> Int {{ seed &+= n | @N; return seed }} }}",
                 f'@inline(never) func @C(_ k: Int) {{ let o = T@F(k), former = o.p; let x = o.@F(k); print("@I", x == 0 ? "\\(former)" : "{told}"); withExtendedLifetime(former) {{}} }}',
                 f"before(function(call) call.self.p = {value} end)", new, "@M.T@F.@F(_:)")

    def owned(self):
        # Those whose code is equal the optimiser makes one.
        own = self.rng.choice(["", " &+ @N"])
        self.add("owned argument", f"public final class T@F {{ public let o: Node; public let n: Int; @inline(never) public init(_ o: Node, _ n: Int) {{ self.o = o; self.n = n{own} }} }}",
                 '@inline(never) func @C(_ k: Int) { let o = Node(k); let t = T@F(o, k); print("@I", o.v == k ? tell(t.o) : "wrong") }',
                 "before(function(call) call.args[1] = node(@N) end)", node("@N"), "@M.T@F.init(_:_:)")

    def generic(self):
        type, value, told, lua, new = self.rng.choice([("Int", "k", "\\(r)", "@N", "@N"), ("String", '"text \\(k), long enough for the heap"', "\\(r)", '"lua @N, long enough for the heap"', "lua @N, long enough for the heap"),
                                                       ("Node", "Node(k)", "\\(tell(r))", "node(@N)", node("@N"))])
        self.add(f"generic: {type}", "@inline(never) public func @F<T>(_ t: T) -> T { seed &+= @N; return t }",
                 f'@inline(never) func @C(_ k: Int) {{ let r: {type} = @F({value}); print("@I", "{told}") }}', f"around(function(call) call:original() call.result = {lua} end)", new)

    def make(self, functions):
        while len(self.names) < functions:
            self.rng.choice([self.result] * 6 + [self.thrown, self.variable, self.property, self.owned, self.generic])()


def build(number):
    rng = random.Random(f"{seed}.{number}")
    directory = os.path.join(work, f"drawn{number}")
    os.makedirs(directory)
    nonsending, package, level = rng.random() < 0.5, rng.random() < 0.4, rng.choice(["-Onone", "-O", "-O", "-O", "-Osize"])
    program = Program(rng, True)
    program.make(40)
    module = "Kit"
    kind = " ".join([level, "package" if package else "one module", *(["upcoming isolation"] if nonsending else [])])
    calls = "\n".join(f"    {'await ' if ' async {' in c.split(chr(10))[0] else ''}c{n}(k)" for n, c in enumerate(program.callers))
    main = "import Glibc\n" + "\n".join(program.callers) + f"\n@main struct Main {{ static func main() async {{\n  setvbuf(stdout, nil, _IOLBF, 0)\n  for k in 0..<3 {{\n{calls}\n  }}\n  print(\"the end\") }} }}\n"
    callees = KIT + "\n".join(program.callees) + "\n"
    def put(name, text):
        with open(os.path.join(directory, name), "w") as out: out.write(text)
    feature = ["-enable-upcoming-feature", "NonisolatedNonsendingByDefault"] if nonsending else []
    swiftc = ["swiftc", "-swift-version", "5", level, "-suppress-warnings", "-parse-as-library", "-wmo", *feature]
    if package:
        put("Kit.swift", callees)
        put("main.swift", "import Kit\n" + main)
        swiftc += ["-package-name", "drawn", "-I."]
        across = [] if level == "-Onone" else ["-enable-default-cmo"]
        run([*swiftc, *across, "-emit-module", "-emit-object", "-module-name", "Kit", "Kit.swift", "-o", "Kit.o"], directory)
        run([*swiftc, "-module-name", "Case", "main.swift", "Kit.o", "-o", "case"], directory)
    else:
        put("Kit.swift", callees)
        put("Case.swift", main)
        run([*swiftc, "-module-name", "Kit", "Kit.swift", "Case.swift", "-o", "case"], directory)
    lua = 'patch { id = "drawn", version = "1.0.0", api = 1 }\nlocal function node(v) return swift.new("Kit.Node", "init(_:)", v) end\n' \
          'local function entry(v) return swift.new("Kit.Entry", "init(_:)", v) end\nlocal function small(v) return swift.new("Kit.Small", "init(_:)", v) end\n' \
          'local function hook(name, f) local ok, why = pcall(f, name) if not ok then print("@ " .. name .. ": " .. tostring(why)) end end\n'
    for selector, patch in program.lua:
        selector = selector.replace("@M", module)
        lua += f'hook("{selector}", function(name) method(name):{patch} end)\n'
    put("patch.lua", lua)
    return directory, kind, level, program


def run(command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    if done.returncode: raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-3000:]}")
    return done.stdout


def lines(text):
    found = collections.defaultdict(list)
    for line in text.splitlines():
        number, _, rest = line.partition(" ")
        if number.isdigit(): found[int(number)].append(rest)
    return found


def judge(number):
    directory, kind, level, program = build(number)
    alone = run(["./case"], directory)
    environment = dict(os.environ, SWIFT_BACKTRACE="enable=no", MALLOC_PERTURB_="165")
    done = subprocess.run([scripthost, "run", "-v", "--state", "state", "--patches", "patch.lua", "--", "./case"], cwd=directory, capture_output=True, text=True,
                          errors="replace", timeout=120, env=environment)
    verdicts, kinds, wrong = collections.Counter(), collections.Counter(), []
    if done.returncode or not done.stdout.endswith("the end\n"):
        wrong.append(f"{number} ({kind}): the program ends with {done.returncode}, last {done.stdout[-200:]!r}, {done.stderr[-600:]!r}")
    first, found, said = lines(alone), lines(done.stdout), done.stderr
    for n, (new, selector) in program.told.items():
        selector = selector.replace("@M", "Kit")
        family = program.names[n].split(" (")[0].split(":")[0].split(",")[0]
        is_told = any(selector in line for line in said.splitlines())
        for old, now in zip(first[n], found[n]):
            if now == new: verdict = "seen"
            elif now == old and is_told: verdict = "told"
            # Of these nothing tells whether the caller looks (docs/callers.md): what it calls next may take the register, or use the place in the frame.
            elif now == old and program.names[n].startswith(("Double", "variable looked at")): verdict = "not known"
            # What an object's property holds a caller may have read before the call (docs/callers.md).
            elif now == old and program.names[n].startswith("property"): verdict = "read before"
            else:
                verdict = "WRONG"
                wrong.append(f"{number} ({kind}): {program.names[n]} {selector}: alone {old!r}, now {now!r}, a handler gave {new!r}" + ("" if is_told else "; nothing is told"))
            verdicts[verdict] += 1
            kinds[family, verdict] += 1
            if verdict == "WRONG": break
    return kind, verdicts, wrong, kinds


def safely(number):
    try: return judge(number)
    except Exception as error: return "", collections.Counter(), [f"{number}: {error}"], collections.Counter()


print(f"seed {seed}, {count} programs")
total, wrongs, table = collections.Counter(), [], collections.Counter()
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for number, (kind, verdicts, wrong, kinds) in zip(range(count), pool.map(safely, range(count))):
        total += verdicts
        table += kinds
        wrongs += wrong
        print(("WRONG   " if wrong else "ok      ") + f"drawn {number} {kind}: " + ", ".join(f"{v} {k}" for k, v in sorted(verdicts.items())))
for each in wrongs: print("        " + each[:700])
COLUMNS = ["seen", "told", "read before", "not known", "WRONG"]
print(f"{'kind of outcome':24}" + "".join(f"{c:>13}" for c in COLUMNS))
for family in sorted({f for f, _ in table}): print(f"{family:24}" + "".join(f"{table[family, c]:13}" for c in COLUMNS))
print("all: " + ", ".join(f"{v} {k}" for k, v in sorted(total.items())))
sys.exit(bool(wrongs))
