"""variables.py SCRIPTHOST WORK COUNT SEED: random functions on variables of their callers, which were compiled together with them.

A caller leaves out stores of what the function does not read. What a handler reads at the entry is what the caller's source says that the variable
holds, or the host says that it is not there; without optimisation all of it is there. The program does under a trace of everything what it does alone.
"""
import os, random, re, subprocess, sys

scripthost, work, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

KIT = """public final class Node { var v: Int; @inline(never) init(_ v: Int) { self.v = v } }
struct Small { var a: Int; var b: Bool }
nonisolated(unsafe) var seed = CommandLine.arguments.count
nonisolated(unsafe) var sink = 0
@inline(never) func use<T>(_ value: T) { if seed > 1_000_000 { print(value) } }
"""
# Of each kind of field: its type, its value for a number that nobody knows before, how Lua reads it, and what that is for the number N.
FIELDS = {
    "Int": ("Int", "n &+ @", "@F", lambda n: f"{n}"),
    "Double": ("Double", "Double(n &+ @) + 0.5", "@F", lambda n: f"{n}.5"),
    "Bool": ("Bool", "n &+ @ > 0", "@F", lambda n: "true"),
    "UInt8": ("UInt8", "UInt8(truncatingIfNeeded: n &+ @)", "@F", lambda n: f"{n % 256}"),
    "String": ("String", '"text \\(n &+ @), long enough for the heap"', "@F", lambda n: f"text {n}, long enough for the heap"),
    "literal": ("String", '"a literal @"', "@F", None),
    "Array": ("[Int]", "[n &+ @, n]", "#@F .. ' ' .. @F[1]", lambda n: f"2 {n}"),
    "Node": ("Node", "Node(n &+ @)", "@F.v", lambda n: f"{n}"),
    "Optional": ("Int?", "n &+ @", "@F", lambda n: f"{n}"),
    "Small": ("Small", "Small(a: n &+ @, b: n > 0)", "@F.a", lambda n: f"{n}"),
    "tuple": ("(Int, Int)", "(n &+ @, n)", "@F[1]", lambda n: f"{n}"),
}
# What a function writes there, and how it reads it.
NEW = {"Int": "k", "Double": "Double(k)", "Bool": "k > 3", "UInt8": "UInt8(truncatingIfNeeded: k)", "String": '"new \\(k), long enough for the heap"', "literal": '"new"',
       "Array": "[k]", "Node": "Node(k)", "Optional": "nil", "Small": "Small(a: k, b: false)", "tuple": "(k, k)"}
READ = {"Int": "@", "Double": "Int(@)", "Bool": "(@ ? 1 : 0)", "UInt8": "Int(@)", "String": "@.utf8.count", "literal": "@.utf8.count", "Array": "@.count", "Node": "@.v",
        "Optional": "(@ ?? 0)", "Small": "@.a", "tuple": "@.0"}


class Program:
    def __init__(self, rng, number):
        self.rng, self.swift, self.lua, self.want = rng, [KIT], ['patch { id = "variables" }\n'], {}
        for t in range(4): self.add_type(t)
        self.swift.append("@main struct Main { static func main() {\n  let n = seed\n")
        self.swift += [f"  call{k}(n)\n" for k in sorted(self.want)] + ['  print("the end") } }\n']

    def add_type(self, t):
        rng = self.rng
        fields = [rng.choice(list(FIELDS)) for _ in range(rng.randint(1, 5))]
        self.swift.append(f"struct T{t} {{\n" + "".join(f"  var f{i}: {FIELDS[f][0]}\n" for i, f in enumerate(fields)) + "}\n")
        for each in range(4):
            k = t * 4 + each
            helper = f"help{k}"
            self.swift.append(f"@inline(never) func {helper}(_ u: inout T{t}, _ k: Int) {{\n{self.body(fields, 'u', None)}}}\n")
            body = lambda name: self.body(fields, name, helper)
            if rng.random() < 0.5:
                self.swift.append(f"extension T{t} {{ @inline(never) mutating func m{k}(_ k: Int) {{\n{body('self')}}} }}\n")
                call, selector, variable = f"u.m{k}(n)", f"variables.T{t}.m{k}(_:)", "call.self"
            else:
                self.swift.append(f"@inline(never) func f{k}(_ u: inout T{t}, _ k: Int) {{\n{body('u')}}}\n")
                call, selector, variable = f"f{k}(&u, n)", f"variables.f{k}(_:_:)", "call.args[1]"
            made = ", ".join(f"f{i}: {FIELDS[f][1].replace('@', str(100 * k + i))}" for i, f in enumerate(fields))
            after = [f"use(u.f{i})" for i in range(len(fields)) if rng.random() < 0.3]
            self.swift.append(f"@inline(never) func call{k}(_ n: Int) {{\n  var u = T{t}({made})\n  {call}\n" + "".join(f"  {line}\n" for line in after) + f"  print({k}, sink)\n}}\n")
            self.lua.append(f'method "{selector}":before(function(call)\n  local u = {variable}\n')
            self.want[k] = {}
            for i, f in enumerate(fields):
                _, _, read, text = FIELDS[f]
                self.want[k][i] = f"a literal {100 * k + i}" if text is None else text(1 + 100 * k + i)
                self.lua.append(f"  print('seen', {k}, {i}, pcall(function() return {read.replace('@F', f'u.f{i}')} end))\n")
            self.lua.append("end)\n")

    def body(self, fields, name, helper):
        rng, lines = self.rng, []
        for _ in range(rng.randint(1, 4)):
            i = rng.randrange(len(fields))
            place, kind = f"{name}.f{i}", fields[i]
            way = rng.random()
            if way < 0.5: line = f"{place} = {NEW[kind]}"
            elif way < 0.7: line = f"sink &+= {READ[kind].replace('@', place)}"
            elif way < 0.8: line = f"use({place})"
            elif way < 0.9 and helper: line = f"{helper}(&{name}, k &+ 1)"
            else: line = f"{name} = .init(" + ", ".join(f"f{j}: {NEW[f]}" for j, f in enumerate(fields)) + ")"
            lines.append(f"  if seed > {rng.choice([0, 1000])} {{ {line} }}" if rng.random() < 0.25 else f"  {line}")
        return "".join(line + "\n" for line in lines)


def run(*words, **more): return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=200, **more)


wrong = checks = 0
told = {}
for number in range(count):
    program = Program(random.Random(f"{seed} {number}"), number)
    folder = os.path.join(work, f"variables{number}")
    os.makedirs(folder)
    for name, parts in (("variables.swift", program.swift), ("variables.lua", program.lua)): open(f"{folder}/{name}", "w").write("".join(parts))
    for level in ("-Onone", "-O", "-Osize"):
        built = run("swiftc", "-swift-version", "6", level, "-suppress-warnings", "-parse-as-library", "-module-name", "variables", "variables.swift", "-o", f"p{level}", cwd=folder)
        if built.returncode: sys.exit(f"seed {seed}, program {number} cannot be compiled: {built.stderr[:2000]}")
        alone = run(f"{folder}/p{level}")
        for way in (["run", "-v", "--patches", f"{folder}/variables.lua"], ["trace", "-e", "variables.**"]):
            hosted = run(scripthost, way[0], "--state", f"{folder}/state", *way[1:], "--", f"{folder}/p{level}")
            checks += 1
            if (hosted.returncode, hosted.stdout) != (alone.returncode, alone.stdout):
                wrong += 1
                print(f"seed {seed}, program {number} {level} {way[0]}: status {hosted.returncode} for {alone.returncode}, ends with {hosted.stdout[-60:]!r}\n  {hosted.stderr[-300:]}")
            if way[0] == "trace": continue
            seen = {(int(k), int(i)): (ok == "true", text) for k, i, ok, text in re.findall(r"seen\t(\d+)\t(\d+)\t(\w+)\t(.*)", hosted.stderr)}
            for k, fields in program.want.items():
                # A call that changes nothing anybody reads is none: optimised callers leave it out.
                if level != "-Onone" and not any(each == k for each, _ in seen): continue
                for i, want in fields.items():
                    checks += 1
                    ok, text = seen.get((k, i), (True, "nothing"))
                    is_told = not ok and ("optimized out" in text or "cannot be decoded" in text)
                    told[level] = told.get(level, 0) + is_told
                    if (ok and text == want) or (is_told and level != "-Onone"): continue
                    wrong += 1
                    print(f"seed {seed}, program {number} {level}, function {k}, field {i}: found {text!r}, expected {want!r}")
print(f"seed {seed}: {count} programs, {told.get('-O', 0)} and {told.get('-Osize', 0)} fields that are not there at -O and -Osize")
print(f"{checks} checks, {wrong} wrong")
sys.exit(wrong > 0)
