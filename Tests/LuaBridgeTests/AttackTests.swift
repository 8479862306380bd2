// Hostile scripts: each ends in a clean status near its deadline, and its state goes on.

import CLuaShim
import LuaBridge
import Testing

struct Attack: CustomTestStringConvertible, Sendable {
  /// What may come out.
  enum Outcome: Sendable { case stopped, error(String), ok, any }

  let name: String
  let source: String
  let outcome: Outcome
  var testDescription: String { name }

  init(_ name: String, _ source: String, _ outcome: Outcome = .any) {
    self.name = name
    self.source = source
    self.outcome = outcome
  }
}

@Suite("hostile scripts")
struct AttackTests {
  static let attacks: [Attack] = [
    Attack("S1 endless while", "while true do end", .stopped),
    Attack("S2 goto loop", "::a:: goto a", .stopped),
    Attack("S3 for to math.huge", "for i = 1, math.huge do end", .stopped),
    Attack("S3b tail calls", "local function f() return f() end f()", .stopped),
    Attack("S4 pcall around a loop", "while true do pcall(function() while true do end end) end", .stopped),
    Attack("S5 self-recursive pcall", "local function f() pcall(f) pcall(f) while true do end end f()", .stopped),
    Attack("S5b pcall of itself in a loop", "local function f() while true do pcall(f) end end f()", .stopped),
    Attack("S6 xpcall with a looping handler", "xpcall(function() while true do end end, function() while true do end end)", .stopped),
    Attack("S6b looping handler for an ordinary error", "xpcall(error, function() while true do end end)", .stopped),
    Attack("S6c coroutine in a handler", "xpcall(error, function() coroutine.wrap(function() while true do end end)() end)", .stopped),
    Attack("S7 handler that errors in itself", "print(xpcall(error, function(m) error(m) end))", .ok),
    Attack("S8 __gc loop", "setmetatable({}, {__gc = function() while true do end end})", .error("'__gc' is not available")),
    Attack("S8b __gc added later", "local mt = {} local t = setmetatable({}, mt) mt.__gc = function() while true do end end t = nil for i = 1, 1e5 do local x = {} end", .ok),
    Attack("S9 __gc error", "setmetatable({}, {__gc = error})", .error("'__gc'")),
    Attack("S11 __close loop", "local x <close> = setmetatable({}, {__close = function() while true do end end})", .stopped),
    Attack("S12 __close loop while dying", "local x <close> = setmetatable({}, {__close = function() while true do end end}) while true do end", .stopped),
    Attack("S12b error in __close while dying", "local x <close> = setmetatable({}, {__close = function() error('no') end}) while true do end", .stopped),
    Attack("S12c many closers", """
      local c = setmetatable({}, {__close = function() while true do end end})
      local function f(n) local a <close> = c; local b <close> = c; if n > 0 then return (f(n - 1)) end while true do end end
      f(1000)
      """, .stopped),
    Attack("S12d closers at every level of a deep recursion", """
      local c = setmetatable({}, {__close = function() end})
      local function f(n) local a <close> = c; return (f(n + 1)) end
      f(1)
      """),
    Attack("S13 coroutine tree", """
      local function tree(n) if n == 0 then return end for i = 1, 60 do coroutine.wrap(tree)(n - 1) end end
      tree(8)
      """, .stopped),
    Attack("S13b coroutine tree by resume", """
      local function tree(n) if n == 0 then return end for i = 1, 25 do coroutine.resume(coroutine.create(tree), n - 1) end end
      tree(40)
      """, .stopped),
    Attack("S14 nested resume", "local function f() return coroutine.wrap(f)() end f()", .error("attack.lua:1: ")),
    Attack("S14b nested resume, results", "local function f(n) return select(2, coroutine.resume(coroutine.create(f), n + 1)) end print(f(1))", .any),
    Attack("S15 coroutine.close is absent", "coroutine.close(coroutine.create(print))", .error("attempt to call a nil value (field 'close')")),
    Attack("S15b nested closing through wrap", """
      local function f(n)
        return coroutine.wrap(function()
          local x <close> = setmetatable({}, {__close = function() if n > 0 then pcall(f(n - 1)) end end})
          error("x")
        end)
      end
      pcall(f(20000))
      """, .any),
    Attack("S16 wrap in a pcall loop", "while true do pcall(coroutine.wrap(function() while true do end end)) end", .stopped),
    Attack("S17 a hundred looping coroutines", "for i = 1, 100 do coroutine.resume(coroutine.create(function() while true do end end)) end", .stopped),
    Attack("S17b coroutines that yield for ever", "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end", .stopped),
    Attack("S18 yield from the main chunk", "coroutine.yield()", .error("attempt to yield from outside a coroutine")),
    Attack("S18b yield across gsub", "coroutine.wrap(function() string.gsub('a', 'a', coroutine.yield) end)()", .error("attempt to yield across a C-call boundary")),
    Attack("S19 rep of nothing", "string.rep('', 1 << 62)", .ok),
    Attack("S19b rep of nothing with a separator of nothing", "string.rep('', 1 << 62, '')", .ok),
    Attack("S20 rep of a terabyte", "string.rep('x', 1 << 40)", .error("resulting string too large")),
    Attack("S20b rep in a loop", "while true do string.rep('x', 4000000) end", .stopped),
    Attack("S21 doubling concat", "local s = 'x' while true do s = s .. s end", .any),
    Attack("S21b doubling concat, caught", "while true do pcall(function() local s = 'x' while true do s = s .. s end end) end", .stopped),
    Attack("S22 200-way concat", "local s = ('x'):rep(100000) while true do local t = \(Array(repeating: "s", count: 100).joined(separator: ".."))  end", .any),
    Attack("S23 table of 10^9", "local t = {} for i = 1, 1e9 do t[i] = i end", .stopped),
    Attack("S23b table with 10^6 keys", "local t = {} for i = 1, 1e6 do t['k' .. i] = i end", .any),
    Attack("S23c table.pack and nested tables", "local t = {} while true do t = {t, {}, {}} end", .stopped),
    Attack("S24 closures", "local t = {} for i = 1, 1e9 do t[i] = function() return i end end", .stopped),
    Attack("S24b coroutines", "local t = {} for i = 1, 1e9 do t[i] = coroutine.create(print) end", .stopped),
    Attack("S24c memory, caught", "while true do pcall(function() local t = {} for i = 1, 1e9 do t[i] = {} end end) end", .stopped),
    Attack("S25 lazy pattern", "string.find(('a'):rep(3000), '.-.-.-b')", .stopped),
    Attack("S25b lazy pattern on a long subject", "string.find(('a'):rep(200000), '.-b')", .stopped),
    Attack("S26 a* twelve times", "string.find(('a'):rep(40), ('a*'):rep(12) .. 'b')", .stopped),
    Attack("S27 %b()", "string.find(('('):rep(100000), '%b()')", .stopped),
    Attack("S28 back references", "string.find(('a'):rep(2000), '(.-)%1(.-)%2b')", .stopped),
    Attack("S29 a class of 100 KB", "string.find(('a'):rep(100000), '[' .. ('b'):rep(100000) .. ']')", .stopped),
    Attack("S29b class in a repetition", "string.find(('a'):rep(100000), '[^' .. ('b'):rep(100000) .. ']*c')", .stopped),
    Attack("S30 plain find", "local s, p = ('a'):rep(1000000), ('a'):rep(500000) .. 'b' while true do s:find(p, 1, true) end", .stopped),
    Attack("S31 gsub with a C callback", "while true do string.gsub(('x'):rep(10000), '.', collectgarbage) end", .any),
    Attack("S31b gsub with rep", "string.gsub(('x 1000000 '):rep(100000), '(x) (%d+)', string.rep)", .any),
    Attack("S31c gsub in gsub", "local function f(s) return (s:gsub('.', f)) end f(('x'):rep(100))", .any),
    Attack("S31d gmatch", "while true do for w in ('x '):rep(100000):gmatch('%a+') do end end", .stopped),
    Attack("S32 load(collectgarbage)", "load(collectgarbage)", .error("'load' takes a string")),
    Attack("S33 endless reader", "load(function() return ' ' end)", .error("'load' takes a string")),
    Attack("S34 binary chunk", "print(load('\\27Lua'))", .ok),
    Attack("S35 binary mode", "print(load('return 1', 'x', 'b'))", .ok),
    Attack("S36 table.move 2^63", "table.move({}, 1, math.maxinteger - 1, 2)", .error("table.move")),
    Attack("S37 insert with __len", "table.insert(setmetatable({}, {__len = function() return 2^53 end}), 1, 1)", .error("table.insert")),
    Attack("S37b remove with __len", "table.remove(setmetatable({}, {__len = function() return 2^53 end}), 1)", .error("table.remove")),
    Attack("S37c sort with __len", "table.sort(setmetatable({}, {__len = function() return 2^30 end}))", .error("table.sort")),
    Attack("S37d concat with __len and __index", "table.concat(setmetatable({}, {__len = function() return 2^53 end, __index = rawlen}))", .any),
    Attack("S37e unpack with __len", "table.unpack(setmetatable({}, {__len = function() return 2^53 end}))", .error("too many results to unpack")),
    Attack("S37f insert at the front for ever", "local t = {} for i = 1, 100000 do t[i] = i end while true do table.insert(t, 1, 0) table.remove(t, 1) end", .stopped),
    Attack("S38 invalid order function", "local t = {} for i = 1, 1000 do t[i] = i end table.sort(t, function() return true end)", .ok),
    Attack("S38b looping order function", "table.sort({3, 2, 1}, function() while true do end end)", .stopped),
    Attack("S38c sorting long strings", "local a, b, t = ('x'):rep(1e6) .. 'a', ('x'):rep(1e6) .. 'b', {} for i = 1, 100000 do t[i] = i % 2 == 0 and a or b end table.sort(t)", .stopped),
    Attack("S38d sort in sort", "local function f() table.sort({3, 2, 1, 5, 4}, function(a, b) f() return a < b end) end f()", .any),
    Attack("S39 unpack 10^7", "local t = {} t[1] = 1 return table.unpack(t, 1, 1e7)", .error("too many results to unpack")),
    Attack("S40 __call cycle", "local mt = {} local t = setmetatable({}, mt) mt.__call = t t()", .error("'__call' must be a function")),
    Attack("S40b __call chain", "local t = setmetatable({}, {__call = print}) for i = 1, 1e4 do t = setmetatable({}, {__call = t}) end t()", .error("'__call' must be a function")),
    Attack("S41 colliding integer keys", "local t = {} for i = 1, 1 << 20 do t[i * ((1 << 20) - 1)] = i end", .any),
    Attack("S41b colliding keys, caught", "local t = {} for i = 1, 1 << 20 do pcall(rawset, t, i * ((1 << 14) - 1), i) end", .any),
    Attack("S45 190 nested functions", String(repeating: "local function f() ", count: 210) + String(repeating: "end ", count: 210), .error("C stack overflow")),
    Attack("S46 error(nil)", "error(nil)", .error("error object is nil")),
    Attack("S46b error({})", "error({})", .error("error object is a table value")),
    Attack("S46c looping __tostring as error", "error(setmetatable({}, {__tostring = function() while true do end end}))", .error("error object is a table value")),
    Attack("S46d __name of 1 MB", "local t = setmetatable({}, {__name = ('x'):rep(1e6)}) error(t)", .error("error object is a table value")),
    Attack("S46e looping __tostring in print", "print(setmetatable({}, {__tostring = function() while true do end end}))", .stopped),
    Attack("S46f __name of 1 MB in a message", "local t = setmetatable({}, {__name = ('x'):rep(1e6)}) local x = t + 1", .error("arithmetic")),
    Attack("S46g message of 4 MB", "error(('x'):rep(4000000))", .error("xxx")),
    Attack("S48 os.exit", "os.exit(7)", .error("attempt to call a nil value (field 'exit')")),
    Attack("S48b os.execute", "os.execute('true')", .error("attempt to call a nil value (field 'execute')")),
    Attack("S48c io.open", "io.open('/etc/passwd')", .error("attempt to index a nil value (global 'io')")),
    Attack("S48d require", "require('os')", .error("attempt to call a nil value (global 'require')")),
    Attack("S48e package.loadlib", "package.loadlib('x', '*')", .error("attempt to index a nil value (global 'package')")),
    Attack("S48f debug", "debug.sethook()", .error("attempt to index a nil value (global 'debug')")),
    Attack("S48g string.dump", "string.dump(print)", .error("attempt to call a nil value (field 'dump')")),
    Attack("S48h dofile", "dofile('/etc/passwd')", .error("attempt to call a nil value (global 'dofile')")),
    Attack("S48i warn", "warn('@on')", .error("attempt to call a nil value (global 'warn')")),
    Attack("S48j collectgarbage('stop')", "collectgarbage('stop')", .error("only collectgarbage('count')")),
    Attack("S48k weak tables", "setmetatable({}, {__mode = 'k'})", .error("'__mode' is not available")),
    Attack("S49 string metatable", "getmetatable('').__index = nil", .error("attempt to index a nil value")),
    Attack("S50 _ENV = nil", "local _ENV = nil; print(1)", .error("'_ENV'")),
    Attack("S50b looping _ENV", "local _ENV = setmetatable({}, {__index = function() while true do end end}) print(1)", .stopped),
    Attack("S50c globals removed", "local g = _G for k in pairs(g) do g[k] = nil end while true do end", .stopped),
    Attack("A14 next on an emptied table", "local t = {} for i = 1, 200000 do t[i] = i end for i = 1, 200000 do t[i] = nil end while true do next(t) end", .stopped),
    Attack("A14b comparing long strings", "local a, b = ('x'):rep(4000000), ('x'):rep(4000000) while true do local c = a == b end", .stopped),
    Attack("A14c ordering long strings", "local a, b = ('x'):rep(2000000) .. 'a', ('x'):rep(2000000) .. 'b' while true do local c = a < b end", .stopped),
    Attack("A14d long strings as numbers", "local s = (' '):rep(4000000) .. '1' while true do local x = s + 1 end", .stopped),
    Attack("A14e tonumber of long strings", "local s = (' '):rep(4000000) .. '1' while true do tonumber(s) end", .stopped),
    Attack("A14f math on long strings", "local s = ('1'):rep(4000000) while true do math.floor(s) end", .stopped),
    Attack("A14g hashing long strings", "local s, t = ('x'):rep(1000000), {} while true do t[s .. 'y'] = nil end", .any),
    Attack("A23 deep Lua recursion", "local function f() return f() + 1 end f()", .any),
    Attack("A23b recursion through gsub", "local function f() return (string.gsub('a', 'a', f)) end f()", .error("C stack overflow")),
    Attack("A23c recursion through metamethods", "local t t = setmetatable({}, {__index = function(_, k) return t[k + 1] end}) print(t[1])", .any),
    Attack("A23d recursion through tostring", "local t t = setmetatable({}, {__tostring = function() return tostring(t) end}) print(t)", .error("C stack overflow")),
    Attack("A23e recursion through format", "local t t = setmetatable({}, {__tostring = function() return string.format('%s', t) end}) print(t)", .error("C stack overflow")),
    Attack("A23f recursion through pcall", "local function f() return pcall(f) end print(f())", .any),
    Attack("A23g nested parentheses", "return " + String(repeating: "(", count: 1000) + "1" + String(repeating: ")", count: 1000), .error("C stack overflow")),
    Attack("A23h load in load", "local function f(n) return load('return ...')(n > 0 and f(n - 1)) end f(150)", .any),
    Attack("A23i recursion through load", "function f() load('f()')() end f()", .any),
    Attack("A23j recursion through sort", "local function f() table.sort({2, 1}, f) end f()", .error("C stack overflow")),
    Attack("A26 format widths", "string.format('%99999d', 1)", .error("invalid conversion")),
    Attack("A26b pack 2 GB", "string.pack('c2147483647', 'x')", .error("too large")),
    Attack("A26c pack in a loop", "while true do string.pack('c1000000', 'x') end", .stopped),
    Attack("A27 100,000 do", String(repeating: "do ", count: 15000) + String(repeating: "end ", count: 15000), .error("C stack overflow")),
    Attack("A27b load in a loop", "local s = ('local x '):rep(15) while true do load(s) end", .stopped),
    Attack("A27c load of long sources", "local s = ('x = 1 '):rep(20000) while true do load(s) end", .stopped),
    Attack("A28 print floods", "while true do print(('x'):rep(100000)) end", .stopped),
    Attack("A31 utf8 iterator", "local f = utf8.codes('') local s = 'x' .. ('\\x80'):rep(1000000) while true do pcall(f, s, 1) end", .stopped),
    Attack("A31b utf8.len", "local s = ('x'):rep(1000000) while true do utf8.len(s) end", .stopped),
    Attack("A31c utf8.offset", "local s = ('x'):rep(1000000) while true do utf8.offset(s, 999999) end", .stopped),
    Attack("A31d string functions", "local s = ('x'):rep(4000000) while true do s:upper() s:reverse() s:lower() s:byte(-1) s:sub(2) end", .stopped),
    Attack("A31e select with many values", "local t = {} for i = 1, 9999 do t[i] = i end while true do select(2, table.unpack(t)) end", .stopped),
    Attack("A31f vararg growth", "local function f(...) return f(1, ...) end f()", .any),
    Attack("A31g table.concat", "local t = {} for i = 1, 100000 do t[i] = 'x' end while true do table.concat(t) end", .stopped),
    Attack("A31h metatable per object", "for i = 1, 50000 do setmetatable({}, {__index = {}}) end", .any),
    Attack("A31i many live metatables", "local t = {} for i = 1, 20000 do t[i] = setmetatable({}, {}) end print(#t)", .ok),
    Attack("A32 resuming the running coroutine", "local co = coroutine.running() print(coroutine.status(co), coroutine.resume(co))", .ok),
    Attack("A33 os.date", "while true do os.date(('%c'):rep(10000)) end", .any),
  ]

  @Test("ends cleanly and leaves the state usable", arguments: attacks)
  func attack(_ attack: Attack) throws {
    let state = try LuaState.forTest()
    let bystander = try LuaState.forTest()
    try bystander.load("x = ('abc'):rep(2)", name: "bystander")
    let start = threadMilliseconds()
    let failure = guardedAgainstHanging(attack.name) { state.failure(of: attack.source) }
    let used = threadMilliseconds() - start
    // The deadline is 50 ms. What cannot be interrupted in the middle may add to it, but not much; a hundred thousand
    // closers die one by one, each at its first instruction.
    #expect(used < (attack.name.hasPrefix("S12d") ? 500 : 150) * slowdown * slowness, "used \(used) ms: \(failure?.message ?? "ok")")
    switch attack.outcome {
    case .stopped: #expect([.instructions, .time, .memory].contains(failure?.reason), "\(failure?.message ?? "ended by itself")")
    case .error(let text): #expect(failure?.message.contains(text) == true, "\(failure?.message ?? "no error")")
    case .ok: #expect(failure == nil)
    case .any: break
    }
    if let failure {
      #expect(failure.message.utf8.count < 1100)
      #expect(!failure.message.utf8.contains { $0 < 0x20 })
    }
    // Same state, next call.
    let after = try state.compile("local t = {} for i = 1, 10 do t[i] = i end return #t", name: "after")
    #expect(try state.call(after).first == .int(10))
    #expect(try bystander.call(bystander.compile("return x:upper()", name: "after")) == [LuaValue("ABCABC")])
  }

  @Test("memory is given back after a memory kill")
  func memoryReturns() throws {
    let state = try LuaState.forTest(ms: 2000, loadMS: 2000)
    let before = state.statistics.memory
    for _ in 0..<5 {
      #expect(throws: LuaFailure.self) { try state.load("local t = {} for i = 1, 1e9 do t[i] = {} end", name: "m") }
    }
    #expect(state.run("for i = 1, 200 do local s = ('x'):rep(1000000) end") == "")
    #expect(state.statistics.memory < before + (8 << 20))
  }

  @Test("each kind of limit has its own reason")
  func reasons() throws {
    let state = try LuaState.forTest(ms: 20, loadMS: 2000, instructions: 100_000)
    func reason(_ source: String, budget: SHLBudget? = nil) throws -> LuaFailure.Reason? {
      let function = try state.function(source)
      do throws(LuaFailure) {
        _ = try state.call(function, budget: budget)
        return nil
      } catch { return error.reason }
    }
    #expect(try reason("function() while true do end end") == .instructions)
    #expect(try reason("function() while true do end end", budget: SHLBudget(instructions: -1, wall_ns: 0, lock_ns: 0)) == .time)
    #expect(try reason("function() local t = {} for i = 1, 1e9 do t[i] = {} end end", budget: SHLBudget(instructions: -1, wall_ns: -1, lock_ns: 0)) == .memory)
    #expect(try reason("function() error('x') end") == .script)
    #expect(try reason("function() for i = 1, 20000 do end end") == nil)
    #expect(try reason("function() for i = 1, 20000 do end end", budget: SHLBudget(instructions: 5000, wall_ns: 0, lock_ns: 0)) == .instructions)
  }

  @Test("small instruction budgets are deterministic")
  func deterministic() throws {
    let state = try LuaState.forTest()
    let function = try state.function("function(n) for i = 1, n do end return n end")
    let budget = SHLBudget(instructions: 5000, wall_ns: -1, lock_ns: 0)
    for _ in 0..<50 {
      #expect(throws: LuaFailure.self) { try state.call(function, [.int(20000)], budget: budget) }
      #expect(try state.call(function, [.int(3500)], budget: budget) == [.int(3500)])
    }
  }

  @Test("messages name file and line, and have a traceback")
  func positions() throws {
    let state = try LuaState.forTest()
    do throws(LuaFailure) {
      try state.load("local function f()\n  while true do end\nend\nf()", name: "hello.lua")
      Issue.record("ran for ever and ended")
    } catch {
      #expect(error.message.hasPrefix("hello.lua:2: stopped: "))
      #expect(error.source == "hello.lua")
      #expect(error.line == 2)
      #expect(error.traceback == ["hello.lua:2: in local 'f'", "hello.lua:4: in main chunk"])
    }
  }

  @Test("S47 messages are shown escaped")
  func escaped() throws {
    let state = try LuaState.forTest()
    #expect(state.run(#"error("a\0b\27[31mc\xffd\u{e9}\n\u{85}", 0)"#) == #"error: test:1: a\x00b\x1B[31mc\xFFdé\n\xC2\x85"#)
  }
}

/// Sanitizers slow everything down; bounds that catch hangs need not be tight.
#if DEBUG
  let slowdown = 4.0
#else
  let slowdown = 1.0
#endif
