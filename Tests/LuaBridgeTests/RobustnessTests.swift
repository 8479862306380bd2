// Allocations that fail one after the other, threads, limits of the machine.

import CLuaShim
import Glibc
import LuaBridge
import LuaKit
import Synchronization
import Testing

@Suite("failing allocations")
struct FailingAllocationTests {
  @Test("opening fails cleanly at every allocation, then succeeds")
  func opening() throws {
    var n: Int64 = 1
    while n < 5000 {
      var limits = SHLLimits()
      limits.fail_allocation = n
      do throws(LuaFailure) {
        let state = try LuaState(limits: limits)
        if shl_statistics(state.raw).allocations < UInt64(n) { break }
      } catch { #expect(error.reason == .noMemory) }
      n += 1
    }
    #expect(n > 50 && n < 5000)
  }

  /// One operation of the shim; true when it did all it should.
  struct Operation: CustomTestStringConvertible, Sendable {
    let name: String
    let run: @Sendable (LuaState, [LuaReference], UInt32) throws -> Bool
    var testDescription: String { name }
  }

  static let functions = [
    "function(...) return ... end",
    "function(a) local t = {} for i = 1, 20 do t[i] = {i, tostring(i)} end return #t end",
    "function(s) return (s:gsub('%w+', function(w) return w:upper() .. #w end)) end",
    "function() return host('x', {1, 2}, print) end",
    "function() local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield('v' .. i) end end) return co() .. co() end",
    "function() return pcall(error, {}) end",
    "function() error('with position ' .. 1) end",
    "function() return h(5).name end",
    "function() local t = setmetatable({}, {__index = function(_, k) return k .. 'x' end, __call = function() return 1 end}) return t.a, t(), table.concat({1, 2, 3}, ','), string.format('%s %p', t, t), ('a b'):rep(50, '-') end",
    "function() table.sort({3, 2, 1, 5, 4, 9, 8, 7, 6, 0}) return load('return 1 + 1')() end",
  ]

  static func invoke(_ i: Int, _ values: LuaValue...) -> @Sendable (LuaState, [LuaReference], UInt32) throws -> Bool {
    { state, functions, _ in
      _ = try state.call(functions[i], values)
      return true
    }
  }

  static let operations: [Operation] = [
    Operation(name: "invoke with scalars", run: invoke(0, .int(1), .number(2), .bool(true), .nil)),
    Operation(name: "invoke with strings", run: invoke(0, LuaValue("short"), LuaValue(String(repeating: "long", count: 100)))),
    Operation(name: "invoke with handles") { state, f, cls in
      _ = try state.call(f[0], [.handle(cls: cls, a: 1, b: 2, c: 3)])
      return true
    },
    Operation(name: "invoke with unique handles") { state, f, cls in
      _ = try state.call(f[0], [.handle(cls: cls + 1, a: 1, b: 2, c: 3), .handle(cls: cls + 1, a: 4, b: 2, c: 3)])
      return true
    },
    Operation(name: "invoke, many arguments") { state, f, _ in
      _ = try state.call(f[0], (0..<60).map { .int($0) })
      return true
    },
    Operation(name: "tables in the script", run: invoke(1, .nil)),
    Operation(name: "gsub in the script", run: invoke(2, LuaValue("the quick brown fox"))),
    Operation(name: "a host function, its arguments and results", run: invoke(3)),
    Operation(name: "coroutines", run: invoke(4)),
    Operation(name: "pcall", run: invoke(5)),
    Operation(name: "handles from a host function", run: invoke(7)),
    Operation(name: "library functions", run: invoke(8)),
    Operation(name: "sort and load", run: invoke(9)),
    Operation(name: "load") { state, _, _ in
      try state.load("local a, b = 1, 'two' function g(x) return x .. b end", name: "load.lua")
      return true
    },
    Operation(name: "load a text that names globals") { state, _, _ in
      try state.load("local a, b = math.pi, utf8.char(65) return coroutine, os, a, b", name: "load.lua")
      return true
    },
    Operation(name: "compile") { state, _, _ in
      _ = try state.compile("return function(a, b) return a .. b end", name: "compile.lua")
      return true
    },
    Operation(name: "register") { state, _, _ in
      let status = shl_register(state.raw, "fresh.function", { _, _ in 0 }, nil)
      if status == SHL_NO_MEMORY { throw LuaFailure(.noMemory, "") }
      return status == SHL_OK
    },
    Operation(name: "add a class with members") { state, _, _ in
      var d = SHLClass(), id: UInt32 = 0
      d.flags = UInt32(SHL_UNIQUE)
      var status = "Fresh".withCString { name in
        d.name = name
        return shl_class(state.raw, &d, &id)
      }
      if status == SHL_OK { status = addMember(state, id, "field", id: 1) }
      if status == SHL_OK { status = addMember(state, id, "method", { _, _ in 0 }) }
      if status == SHL_NO_MEMORY { throw LuaFailure(.noMemory, "") }
      return status == SHL_OK || status == SHL_BAD_ARGUMENT  // the 64 classes may be used up by then
    },
    Operation(name: "constant") { state, _, _ in
      let status = shl_constant(state.raw, 40, "c.d.e", "text")
      if status == SHL_NO_MEMORY { throw LuaFailure(.noMemory, "") }
      return status == SHL_OK
    },
    Operation(name: "scope: tables and references") { state, _, _ in
      let done = try state.withScope { scope in
        let table = shl_table_new(scope, 4, 4)
        guard table.tag == SHL_TABLE,
          shl_table_set_field(scope, table, "key", 3, literal("value")) == SHL_OK,
          shl_table_set_at(scope, table, 1, shl_int(1)) == SHL_OK,
          shl_set_global(scope, "some.table", table) == SHL_OK,
          shl_table_field(scope, table, "key", 3).tag == SHL_STRING
        else { return false }
        let reference = shl_keep(scope, table)
        shl_forget(state.raw, reference)
        return reference != 0
      }
      if !done { throw LuaFailure(.noMemory, "") }
      return true
    },
  ]

  @Test("an operation fails cleanly at every allocation, and works afterwards", arguments: operations)
  func sweep(_ operation: Operation) throws {
    let zoo = Zoo()
    let state = try LuaState.forTest(ms: 2000, loadMS: 2000)
    let cls = try state.addClass(zoo.description(name: "Swept", release: true))
    _ = try state.addClass(zoo.description(name: "SweptUnique", flags: UInt32(SHL_UNIQUE)))
    try state.register("host") { [unowned state] call in
      call.give("a result")
      call.give(LuaValue(String(repeating: "x", count: 3000)))
      let table = shl_table_new(call.scope, 0, 0)
      _ = shl_table_set_at(call.scope, table, 1, literal("in a table"))
      var info = SHLFunctionInfo()
      shl_forget(state.raw, shl_arg_function_ref(call.raw, 2, &info))
      _ = shl_arg_text(call.raw, 1)
      call.give(table)
    }
    // The class id is 1 in every test state.
    try state.register("h") { call in call.give(.handle(cls: 1, a: 1, b: 0, c: 0)) }
    _ = addMember(state, cls, "name", id: 7)
    let functions = try Self.functions.map { try state.function($0) }
    var n: Int64 = 0
    var failures = 0
    while n < 3000 {
      n += 1
      shl_fail_allocation(state.raw, n)
      do {
        _ = try operation.run(state, functions, cls)
      } catch let error as LuaFailure {
        failures += 1
        #expect(error.reason == .noMemory || error.reason == .script || error.reason == .memory, "\(error.message)")
      }
      let fired = shl_statistics(state.raw).allocations
      shl_fail_allocation(state.raw, 0)
      // Usable at once, with an empty stack.
      let depth = try state.withScope { shl_mark($0) }
      #expect(depth == 1, "stack height after failure \(n)")
      if try untouched(state, operation, functions, cls, n, fired) { break }
    }
    #expect(n < 3000)
    #expect(try operation.run(state, functions, cls))
  }

  /// Did the last run need fewer allocations than `n`? Then no failure can have happened in it.
  private func untouched(
    _ state: LuaState, _ operation: Operation, _ functions: [LuaReference], _ cls: UInt32, _ n: Int64, _ before: UInt64
  ) throws -> Bool {
    let start = shl_statistics(state.raw).allocations
    _ = try? operation.run(state, functions, cls)
    return shl_statistics(state.raw).allocations - start + 2 < UInt64(n)
  }

  @Test("closing gives everything back")
  func closing() throws {
    // The allocator's own account must end at zero; a leak of host memory shows in the address sanitizer.
    for _ in 0..<50 {
      let state = try LuaState.forTest()
      _ = state.run("t = {} for i = 1, 1000 do t[i] = {tostring(i), function() end, coroutine.create(print)} end")
      _ = state.run("error({})")
      _ = state.run("while true do t[#t + 1] = {} end")
    }
  }
}

@Suite("threads and stacks")
struct ThreadTests {
  @Test("four threads in one state: every call is whole")
  func oneState() throws {
    let state = try LuaState.forTest(ms: 5000, loadMS: 5000)
    try state.load("n = 0 log = {} function add(x) local before = n n = n + x return before + x == n and n or 'torn' end", name: "t")
    try state.register("pause") { call in call.unlocked { _ = sched_yield() } }
    try state.load("function through(x) n = n + x pause() local t = {} for i = 1, 10 do t[i] = x .. '' end return #t end", name: "t")
    let add = try state.function("add"), through = try state.function("through")
    let bad = Atomic(0)
    runThreads(4) { _ in
      for i in 0..<2000 {
        let ok: Bool
        if i % 5 == 0 {
          ok = (try? state.call(through, [.int(1)])) == [.int(10)]
        } else {
          if case .int? = (try? state.call(add, [.int(1)]))?.first { ok = true } else { ok = false }
        }
        if !ok { bad.add(1, ordering: .relaxed) }
      }
    }
    let wrong = bad.load(ordering: .relaxed)
    #expect(wrong == 0)
    #expect(state.run("print(n)") == "8000")
    #expect(state.statistics.coroutines_made <= 16)
  }

  @Test("four threads with a state each, one of them hostile")
  func separateStates() throws {
    let bad = Atomic(0)
    runThreads(4) { index in
      guard let state = try? LuaState.forTest(ms: 20, loadMS: 500) else {
        bad.add(1, ordering: .relaxed)
        return
      }
      for i in 0..<40 {
        if index == 0 {
          _ = state.failure(of: "while true do end")
        } else if state.run("local s = 0 for i = 1, 1000 do s = s + i end print(s, \(i))") != "500500\t\(i)" {
          bad.add(1, ordering: .relaxed)
        }
        if index == 0 && i > 5 { break }
      }
    }
    let wrong = bad.load(ordering: .relaxed)
    #expect(wrong == 0)
  }

  @Test("a busy state answers busy, in time")
  func busy() throws {
    let state = try LuaState.forTest(ms: 400, loadMS: 400)
    let inside = Atomic(false)
    try state.register("hold") { _ in
      inside.store(true, ordering: .releasing)
      usleep(300_000)
    }
    let f = try state.function("function() return 1 end")
    runThreads(2) { index in
      if index == 0 {
        _ = state.run("hold()")
      } else {
        while !inside.load(ordering: .acquiring) { usleep(1000) }
        let budgets = [SHLBudget(instructions: 0, wall_ns: 0, lock_ns: 1), SHLBudget(instructions: 0, wall_ns: 0, lock_ns: 20_000_000)]
        for budget in budgets {
          do throws(LuaFailure) {
            _ = try state.call(f, budget: budget)
            Issue.record("entered")
          } catch { #expect(error.reason == .busy) }
        }
        #expect((try? state.call(f, budget: SHLBudget(instructions: 0, wall_ns: 0, lock_ns: -1))) == [.int(1)])
      }
    }
  }

  @Test("references may be given back from any thread, even while another is inside")
  func forgetting() throws {
    let state = try LuaState.forTest(ms: 3000, loadMS: 3000)
    try state.register("pause") { _ in usleep(200) }
    let references = Mutex<[LuaReference]>(try (0..<400).map { try state.function("function() return \($0) end") })
    runThreads(3) { index in
      if index == 0 {
        _ = state.run("for i = 1, 200 do pause() end")
      } else {
        while references.withLock({ $0.popLast() }) != nil { usleep(50) }
      }
    }
    #expect(state.run("print(1)") == "1")
  }

  @Test("a thread with a small stack is refused, one with enough is not")
  func smallStack() throws {
    let state = try LuaState.forTest()
    let f = try state.function("function() return 1 end")
    let answers = Mutex<[LuaFailure.Reason?]>([])
    for size in [512 << 10, 4 << 20] {
      runThreads(1, stack: size, ownStack: true) { _ in
        do throws(LuaFailure) {
          _ = try state.call(f)
          answers.withLock { $0.append(nil) }
        } catch { answers.withLock { [reason = error.reason] in $0.append(reason) } }
      }
    }
    #expect(answers.withLock { $0 } == [.stackLow, nil])
  }

  @Test("deep recursion of every kind fits the stack that entry asks for")
  func recursionFits() throws {
    let state = try LuaState.forTest(ms: 2000, loadMS: 2000)
    let scripts = [
      "local function f() return (string.gsub('a', 'a', f)) end f()",
      "local t t = setmetatable({}, {__tostring = function() return string.format('%s', t) end}) print(t)",
      "local function f() load('f()')() end f()", "local function f() table.sort({2, 1}, f) end f()",
      "local function f() return coroutine.wrap(f)() end f()", "local function f() xpcall(f, f) end f()",
      "local function g() return (('a'):gsub('a', function() table.sort({2, 1}, function() coroutine.wrap(g)() end) end)) end g()",
      "return " + String(repeating: "(", count: 190) + "1" + String(repeating: ")", count: 190),
    ]
    runThreads(1, stack: 1100 << 10, ownStack: true) { _ in
      for script in scripts { _ = state.failure(of: script) }
    }
    #expect(state.run("print(1)") == "1")
  }

  @Test("a poisoned state answers so and is left alone")
  func poison() throws {
    let state = try LuaState.forTest()
    let f = try state.function("function() return 1 end")
    shl_poison(state.raw)
    do throws(LuaFailure) {
      _ = try state.call(f)
      Issue.record("entered")
    } catch { #expect(error.reason == .poisoned) }
    #expect(shl_register(state.raw, "x", { _, _ in 0 }, nil) == SHL_POISONED)
  }

  @Test("many states open and close without a trace")
  func manyStates() throws {
    let before = residentKilobytes()
    for _ in 0..<300 { _ = try LuaState.forTest().run("x = 1") }
    #expect(residentKilobytes() - before < 20_000)
    let states = try (0..<100).map { _ in try LuaState.forTest() }
    #expect(states.allSatisfy { $0.statistics.memory < 40_000 }, "\(states[0].statistics.memory) bytes")
  }
}

func residentKilobytes() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 200)
  fgets(&line, 200, file)
  let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
  return words.count > 1 ? (Int(words[1]) ?? 0) * 4 : 0
}

private final class Work: Sendable {
  let body: @Sendable (Int) -> Void
  let index: Int
  init(_ index: Int, _ body: @escaping @Sendable (Int) -> Void) {
    self.index = index
    self.body = body
  }
}

/// Runs `body` on threads of their own and waits for all.
func runThreads(_ count: Int, stack: Int = 8 << 20, ownStack: Bool = false, _ body: @escaping @Sendable (Int) -> Void) {
  var ids = [pthread_t](repeating: pthread_t(), count: count)
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setstacksize(&attributes, stack)
  var memory: UnsafeMutableRawPointer?
  if ownStack {  // the library would hand out a larger one from its cache
    memory = mmap(nil, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    pthread_attr_setstack(&attributes, memory!, stack)
  }
  for i in 0..<count {
    pthread_create(
      &ids[i], &attributes,
      { context in
        let work = Unmanaged<Work>.fromOpaque(context!).takeRetainedValue()
        work.body(work.index)
        return nil
      }, Unmanaged.passRetained(Work(i, body)).toOpaque())
  }
  for id in ids { pthread_join(id, nil) }
  pthread_attr_destroy(&attributes)
  if let memory { munmap(memory, stack) }
}
