"""cases.py DIRECTORY: writes the patches of the suite `hostile` there, and main.swift with a function for each; prints how many.

A case is a text that tries to hold the program up, to eat its memory or to end it. `s` is a Service, `n` a number. Where nothing else is said the
text is the body of a `before` handler, and its failure must be told with the patch's name.
"""
import os
import sys

CASES = []  # (name, text, kind, is told)


def case(name, text, kind="before", told=True):
    CASES.append((name, text, kind, told))


# MARK: Loops, by themselves and inside everything that can run one (S1-S17, S32, S46)

LOOPS = {
    "while": "while true do end",
    "goto": "::again:: goto again",
    "for": "for i = 1, math.huge do end",
    "call": "local function f() return f() end f()",
    "pcall": "while true do pcall(error) end",
    "match": "string.match(('a'):rep(30000), ('.-'):rep(6) .. 'b')",
}
INSIDE = {
    "plain": "%s",
    "pcall": "while true do pcall(function() %s end) end",
    "xpcall": "xpcall(error, function() %s end)",
    "coroutine": "coroutine.wrap(function() %s end)()",
    "two coroutines": "coroutine.wrap(function() coroutine.wrap(function() %s end)() end)()",
    "index": "local t = setmetatable({}, { __index = function() %s end }) local x = t.y",
    "sort": "table.sort({ 3, 1, 2 }, function() %s end)",
    "gsub": "string.gsub('abc', '.', function() %s end)",
    "load": "load([[%s]])()",
    "close": "do local x <close> = setmetatable({}, { __close = function() %s end }) end",
    "tostring": "tostring(setmetatable({}, { __tostring = function() %s end }))",
    "iterator": "for i in function() %s end do end",
}
for inside, form in INSIDE.items():
    for loop, text in LOOPS.items():
        # What runs in a text that was loaded has that text's name.
        case(f"loop {loop} in {inside}", form % text, told=inside != "load")
case("gc loop", "setmetatable({}, { __gc = function() while true do end end }) collectgarbage()")
case("error loop in handler", "xpcall(error, function() error() end)", told=False)
case("killed in close", "local x <close> = setmetatable({}, { __close = function() while true do end end }) while true do end")
case("many closers", "local function f(d) local x <close> = setmetatable({}, { __close = function() while true do end end }) if d > 0 then f(d - 1) end while true do end end f(150)")
case("coroutine tree", "local function f(d) if d > 0 then for i = 1, 60 do coroutine.wrap(f)(d - 1) end end end f(8)")
case("coroutines kept", "local all = {} while true do all[#all + 1] = coroutine.wrap(function() coroutine.yield() end) all[#all]() end")
case("nested resume", "local function f(d) return coroutine.wrap(f)(d + 1) end f(1)")
case("yield outside", "coroutine.yield()")
case("close chain", "coroutine.close()")
case("recursion", "local function f() return 1 + f() end f()")
case("recursive metamethod", "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k .. 'x'] end return t.x")
case("index of itself", "local t = {} setmetatable(t, { __index = t }) local x = t.y", told=False)
case("call of itself", "local t = {} setmetatable(t, { __call = t }) t()")
case("error object loops", "error(setmetatable({}, { __tostring = function() while true do end end }))")
case("error nil", "error(nil)")
case("error table", "error({})")
case("error bytes", r"error('\0\27[31m\xff')")
case("long name", "error(setmetatable({}, { __name = ('x'):rep(1000000) }))")

# MARK: Memory (S19-S24)

MEMORY = {
    "concat": "local x = 'x' while true do x = x .. x end",
    "list": "local t = {} while true do t[#t + 1] = #t end",
    "keys": "local t = {} for i = 1, 1e9 do t['k' .. i] = i end",
    "texts": "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end",
    "tables": "local t = {} while true do t = { t } end",
    "closures": "local t = {} while true do t[#t + 1] = function() return t end end",
    "rep": "return ('x'):rep(1 << 40)",
    "rep of nothing": "return (''):rep(1 << 62)",
    "pack": "return string.pack('c2147483647', '')",
    "format": "return ('%99999d'):format(1)",
    "table.concat": "local t = {} for i = 1, 1000000 do t[i] = 'xxxxxxxxxxxxxxxx' end return table.concat(t, ('y'):rep(1000))",
    "gsub": "return (('x'):rep(100000):gsub('x', ('y'):rep(100000)))",
}
for name, text in MEMORY.items():
    told = name != "rep of nothing"
    case(f"memory {name}", text, told=told)
    case(f"memory {name} in pcall", f"while true do pcall(function() {text} end) end")
case("colliding keys", "local t = {} for i = 1, 1 << 20 do t[i * ((1 << 40) - 1)] = i end")
case("unpack", "table.unpack({}, 1, 10000000)")
case("move", "table.move({}, 1, math.maxinteger - 1, 2)")
case("insert with length", "table.insert(setmetatable({}, { __len = function() return 1 << 53 end }), 1)", told=False)
case("sort with length", "table.sort(setmetatable({}, { __len = function() return 1 << 31 end }))")
case("sort without order", "local t = {} for i = 1, 100 do t[i] = i % 7 end table.sort(t, function() return true end)", told=False)

# MARK: Patterns (S25-S31)

PATTERNS = {
    "lazy": "(('a'):rep(200000)):find('.-.-.-b')",
    "stars": "(('a'):rep(100)):find(('a*'):rep(12) .. 'b')",
    "balance": "(('('):rep(100000)):find('%b()')",
    "back": "(('a'):rep(20000)):find('(.-)%1(.-)%2b')",
    "class": "(('a'):rep(20000)):find('[' .. ('b'):rep(100000) .. ']')",
    "plain": "(('a'):rep(1000000)):find(('a'):rep(1000) .. 'b', 1, true)",
    "callback": "(('x'):rep(1000)):gsub('.', collectgarbage)",
}
for name, text in PATTERNS.items():
    case(f"pattern {name}", f"while true do pcall(function() return {text} end) end")

# MARK: What scripts must not reach (S32-S50)

for text in ["os.exit(7)", "os.execute('kill -9 $PPID')", "io.open('/etc/passwd')", "require 'posix'", "package.loadlib('libc.so.6', '*')", "debug.sethook()",
             "debug.getregistry()", "dofile('/etc/passwd')", "loadfile('/etc/passwd')", "os.remove('main.swift')", "os.setlocale('C')",
             "string.dump(print)()", "load(string.char(27) .. 'Lua')()", "load(collectgarbage)", "load(function() return ' ' end)",
             "collectgarbage('stop') error('x')", "setmetatable({}, { __mode = 'k' }) error('x')", "getmetatable('').__index.x = 1",
             "string.rep = nil error('x')", "_ENV = nil print(1)", "rawset(_G, 'print', nil) print(1)", "warn('@on')", "_G.pcall = error pcall()"]:
    case(f"out of reach: {text}", text)

# MARK: The program's functions

case("native loop", "while true do s:spin(5) end")
case("native loop in pcall", "while true do pcall(function() s:spin(5) end) end")
case("one long call", "s:spin(1500)", told=False)
case("sleeps", "while true do s:slow(20) end")
case("one long sleep", "s:slow(60000)", told=True)
case("reads standard input", "while true do swift.call('Swift.readLine(strippingNewline:)', true) end", told=True)
case("a trap: index", "s:element(7)")
case("a trap: division", "s:divide(1, 0)")
case("traps in a loop", "while true do pcall(function() s:element(9) end) end")
case("a trap in Swift itself", "swift.call('static Swift.Int./(_:_:)', 1, 0)")
case("an error", "s:fails(3)")
case("errors in a loop", "while true do pcall(function() s:fails(3) end) end")
case("many cheap calls", "while true do s:speak(1) end")
case("lookups", "while true do pcall(method, 'Hostile.nothing' .. math.random(1000000)) end")
case("long name of a selector", "while true do pcall(method, ('x'):rep(100000)) end")
case("globs", "while true do pcall(method, '**') end")
case("hooks", "while true do method('Hostile.Service.speak(_:)'):before(function() end) end")
case("hooks on all", "while true do method('Hostile.Service.*'):before(function() end) end")
case("rules", "local i = 0 while true do i = i + 1 track('r' .. i) { on = 'Hostile.Service.speak(_:)' } end")
case("observations", "while true do observe(s, 'base', function() end) end")
case("long path", "s.me = s while true do observe(s, ('me.'):rep(20000) .. 'base', function() end) end")
case("classes", "local i = 0 while true do i = i + 1 class.define('Hostile.C' .. i, { super = 'Hostile.Service', methods = { ['speak(_:)'] = function() return '' end } }) end")
case("implementations", "while true do implement('Hostile.Speaker') { ['speak(_:)'] = function() return 'x' end } end")
case("closures", "local all = {} while true do all[#all + 1] = swift.closure(function(n) return n end, { default = 0 }) s:later(all[#all]) end")
case("closure that loops", "s:each(3, swift.closure(function(n) while true do end end, { default = 0 }))", told=True)
case("closure that fails", "s:each(1000, swift.closure(function(n) error('no') end, { default = 0 }))", told=True)
case("handler calls itself", "return s:down(n + 3)", told=False)
case("hook in hook", "method('Hostile.Service.down(_:)'):around(function(call, n) while true do s:down(2) end end) s:down(3)")
case("deep recursion", "method('Hostile.Service.down(_:)'):after(function() end) s:down(20000)", told=False)

# MARK: Lookups: each is one call of the host, which no instruction interrupts

LOOKUPS = {
    "wildcards": "method('H.' .. ('*a'):rep(6500))",
    "few wildcards": "method('Swift.' .. ('*a'):rep(30) .. 'b')",
    "double wildcards": "method(('**a'):rep(30))",
    "explain all": "explain('Swift.**')",
    "explain most": "explain('Swift.*.*')",
    "explain a method of all": "method('Swift.**'):explain()",
    "hooks on all of Swift": "method('Swift.**'):before(function() end, { max = 1000000 })",
    "nested names": "method('H.' .. ('A<'):rep(5000))",
    "nested arguments": "method('H.f(_: ' .. ('['):rep(5000) .. 'Int' .. (']'):rep(5000) .. ')')",
    "closures in closures": "method(('closure #1 in '):rep(1000) .. 'H.f()')",
    "parentheses": "swift.call('H.f(_: ' .. ('('):rep(5000), 1)",
    "types": "class('H.' .. ('A<'):rep(2000))",
    "nested optionals": "swift.new(('Swift.Optional<'):rep(1000) .. 'Swift.Int' .. ('>'):rep(1000), 'init()')",
    "misses": "swift.call('Hostile.nothing' .. math.random(1000000))",
    "rules on all": "track('r' .. math.random(1000000)) { on = 'Swift.**' }",
    "guards on all": "guard { zombies = { types = { 'Swift.**', '**' }, mode = 'report' } }",
    "imports": "method('C.' .. ('*a'):rep(5000))",
}
for name, text in LOOKUPS.items():
    case(f"lookup {name}", f"pcall(function() {text} end)", told=False)
    case(f"lookups {name}", f"while true do pcall(function() {text} end) end")
    case(f"loading: lookup {name}", f"pcall(function() {text} end)", kind="load", told=False)

# MARK: Numbers and texts that the host computes with

EXTREME = {
    "objects of a guard": "guard { zombies = { types = { 'Hostile.Service' }, count = math.maxinteger, mode = 'report' } }",
    "bytes of a guard": "guard { zombies = { types = { 'Hostile.Service' }, bytes = math.maxinteger, mode = 'report' } }",
    "priorities of tasks": "boot.task { name = 'a', phase = 'launched', priority = math.mininteger, run = print } "
                           "boot.task { name = 'b', phase = 'launched', priority = 1, run = print }",
    "long condition": "track 'r' { on = 'Hostile.Service.down(_:)', where = ('self.base > 0 or '):rep(3000) .. 'true' }",
    "longest condition": "track 'r' { on = 'Hostile.Service.down(_:)', where = ('self.base > 0 or '):rep(200000) .. 'true' }",
    "long condition of and": "track 'r' { on = 'Hostile.Service.down(_:)', where = ('self.base > 0 and '):rep(3000) .. 'true' } s:down(3)",
    "nested condition": "track 'r' { on = 'Hostile.Service.down(_:)', where = ('('):rep(5000) .. 'true' .. (')'):rep(5000) }",
    "nots": "track 'r' { on = 'Hostile.Service.down(_:)', where = ('not '):rep(15000) .. 'true' }",
    "priority of a hook": "method('Hostile.Service.speak(_:)'):before(function() end, { priority = math.mininteger })",
    "time of a timer": "timer.after(1e308, print)",
    "rate": "track 'r' { on = 'Hostile.Service.down(_:)', rate = '9223372036854775807/1ns' }",
}
for name, text in EXTREME.items():
    case(f"extreme: {name}", f"pcall(function() {text} end)", told=False)
    case(f"loading: extreme: {name}", f"local s = {{ down = print }} pcall(function() {text} end)", kind="load", told=False)

# MARK: Memory that Swift keeps

KEPT = {
    "nodes": "kept[#kept + 1] = swift.new('Hostile.Node', 'init(name:)', text)",
    "arrays": "kept[#kept + 1] = s:big(100000)",
    "texts in the program": "s:keep(text .. #kept) kept[#kept + 1] = 1",
    "nodes in the program": "s:keepNode(swift.new('Hostile.Node', 'init(name:)', text)) kept[#kept + 1] = 1",
    "copies": "local p = s.pair p = swift.with(p, { a = text }) kept[#kept + 1] = swift.keep(p)",
    "lists": "kept[#kept + 1] = swift.keep(swift.with(s.pair, { b = table.pack(table.unpack(list)) }))",
    "small nodes": "kept[#kept + 1] = swift.new('Hostile.Node', 'init(name:)', 'x')",
    "a chain": "local node = swift.new('Hostile.Node', 'init(name:)', text) node.next = kept.last kept.last = node",
}
for name, text in KEPT.items():
    case(f"kept {name}", f"local text, kept, list = ('x'):rep(1000000), {{}}, {{}} for i = 1, 200 do list[i] = i end while true do {text} end")
case("kept weak", "local all = {} while true do all[#all + 1] = swift.weak(s) end")

# MARK: Values

for name, value in {"nil": "nil", "a table": "{}", "a function": "print", "a huge text": "('x'):rep(4000000)", "NaN": "0/0", "a float": "1.5", "2^63": "2^63", "itself": "call",
                    "an object": "s", "a coroutine": "coroutine.create(print)"}.items():
    case(f"result {name}", f"return {value}", kind="around")
    case(f"argument {name}", f"call.args[2] = {value}")
case("no original", "", kind="around")
case("original often", "for i = 1, 100000 do call:original() end return call:original()", kind="around", told=False)
case("original for ever", "while true do call:original() end", kind="around")
case("throws where nothing throws", "call:throw('x')", kind="around")
case("call kept", "kept = call if n > 0 then error(kept.self) end")
case("object kept", "kept = kept or {} kept[#kept + 1] = s error('kept')")
case("released twice", "local k = swift.keep(s) swift.release(k) swift.release(k) error(tostring(k))")
case("field of nothing", "s.nothing = 1")
case("wrong member", "s:nothing()")
case("wrong type", "s.base = 'x'")
case("deep json", "json.decode(('['):rep(200000))")
case("json of itself", "local t = {} t.t = t json.encode(t)")
case("many logs", "for i = 1, 1e9 do log.info('x' .. i) end")
case("long logs", "while true do log.info(('x'):rep(1000000)) end")
case("print flood", "while true do print(('x'):rep(10000)) end")
case("store flood", "local i = 0 while true do i = i + 1 store.set('k' .. i, ('x'):rep(10000)) end")

# MARK: While it is loaded (S51-S58)

for name, text in LOOPS.items():
    case(f"loading: loop {name}", text, kind="load")
for name in ("concat", "list", "tables", "rep", "keys"):
    case(f"loading: memory {name}", MEMORY[name], kind="load")
case("loading: error", "error('no')", kind="load")
case("loading: trap", "swift.call('static Swift.Int./(_:_:)', 1, 0)", kind="load")
case("loading: hooks for ever", "while true do method('Hostile.Service.speak(_:)'):before(function() end) end", kind="load")
case("loading: syntax", "local = 3", kind="load")
case("loading: unfinished", "local s = 'abc", kind="load")
case("loading: parentheses", "return " + "(" * 300, kind="load")
case("loading: locals", "\n".join(f"local a{i}" for i in range(201)), kind="load")
case("loading: labels", "\n".join(f"::l{i}::" for i in range(8000)), kind="load", told=False)
case("loading: index chain", "return a" + ".a" * 30000, kind="load")
case("loading: sleeps", "os.sleep(10)", kind="load")
case("loading: missing", "method 'Hostile.Nothing.at(_:)'", kind="load")

if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for i, (name, text, kind, told) in enumerate(CASES):
        function = f"c{i:03}"
        head = f'patch {{ id = "{function}" }} -- {name}\n'.replace("\\", "")
        if kind == "load":
            body = f"{text}\n"
        else:
            body = f'method "Hostile.{function}(_:_:)":{kind}(function(call, s, n)\n{text}\nend)\n'
        with open(f"{out}/{function}.lua", "w", encoding="latin-1") as file:
            file.write(head + body)
    with open(f"{out}/cases", "w") as file:
        for i, (name, text, kind, told) in enumerate(CASES):
            file.write(f"c{i:03} {'told' if told else 'quiet'} {name}\n")
    with open(f"{out}/main.swift", "w") as file:
        file.write("import Glibc\nfunc now() -> Int { var t = timespec(); clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000 + t.tv_nsec / 1_000_000 }\n")
        for i in range(len(CASES)):
            file.write(f"@inline(never) public func c{i:03}(_ s: Service, _ n: Int) -> Int {{ n &* {i} &+ s.base }}\n")
        file.write("nonisolated(unsafe) let all: [(Service, Int) -> Int] = [\n" + "".join(f"  {{ c{i:03}($0, $1) }},\n" for i in range(len(CASES))) + "]\n")
        file.write("""
// FROM TO STEP TIMES: calls every STEPth function from FROM to TO, each on an object of its own, and notes in TIMES how many milliseconds that took.
let from = Int(CommandLine.arguments[1])!, to = Int(CommandLine.arguments[2])!, step = Int(CommandLine.arguments[3])!
let times = fopen(CommandLine.arguments[4], "w")!
for i in stride(from: from, to: to, by: step) {
  let start = now()
  let value = all[i](Service(), 3)
  fputs("\\(i) \\(now() - start)\\n", times)
  fflush(times)
  print(i, value)
}
""")
    print(len(CASES))
