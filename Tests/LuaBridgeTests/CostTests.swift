// What a call costs: allocations are checked, times are shown (SCRIPTHOST_BENCH=1).

import CLuaShim
import CStockLua
import Glibc
import LuaBridge
import LuaKit
import Testing

@Suite("costs")
struct CostTests {
  /// Calls `function` n times from Swift as hook dispatch does; nanoseconds per call.
  @inline(never)
  static func time(_ state: LuaState, _ function: LuaReference, _ arguments: [SHLValue], results: Int = 1, _ n: Int) -> Double {
    let invocation = UnsafeMutablePointer<SHLInvocation>.allocate(capacity: 1)
    let buffer = UnsafeMutableBufferPointer<SHLValue>.allocate(capacity: max(results, 1))
    defer {
      invocation.deallocate()
      buffer.deallocate()
    }
    invocation.initialize(to: SHLInvocation())
    let raw = state.raw, reference = function.raw, count = Int32(arguments.count)
    var start = timespec(), end = timespec()
    arguments.withUnsafeBufferPointer { arguments in
      clock_gettime(CLOCK_MONOTONIC, &start)
      for _ in 0..<n {
        let status = shl_invoke(raw, reference, arguments.baseAddress, count, buffer.baseAddress, Int32(results), nil, invocation)
        if status != SHL_OK { fatalError("invoke failed: \(status)") }
        shl_invoke_end(invocation)
      }
      clock_gettime(CLOCK_MONOTONIC, &end)
    }
    return (Double(end.tv_sec - start.tv_sec) * 1e9 + Double(end.tv_nsec - start.tv_nsec)) / Double(n)
  }

  @Test("a call with scalars and a call token allocates nothing, in Lua or for the pool")
  func noAllocation() throws {
    let state = try LuaState.forTest()
    let f = try state.function("function(call, a, b, c) return a + b end")
    let arguments = [shl_call_here(Unmanaged.passUnretained(state).toOpaque()), shl_int(1), shl_int(2), shl_number(3)]
    _ = Self.time(state, f, arguments, 10)
    let before = state.statistics
    _ = Self.time(state, f, arguments, 10_000)
    let after = state.statistics
    #expect(after.allocations == before.allocations)
    #expect(after.memory == before.memory)
    #expect(after.coroutines_made == before.coroutines_made)
    #expect(after.invocations - before.invocations == 10_000)
  }

  @Test("globals are made when a text names them, once")
  func globalsByName() throws {
    let state = try LuaState.forTest()
    let host: SHLFunction = { _, callback in shl_return(callback, shl_int(7)) == SHL_OK ? 0 : -1 }
    let named = UnsafeMutableBufferPointer<SHLNamed>.allocate(capacity: 3)  // never freed: the state refers to it
    _ = named.initialize(from: (["seven", "group.seven", "group.other"] as [String]).map { SHLNamed(name: strdup($0), fn: host, id: -1) })
    #expect(shl_register_all(state.raw, named.baseAddress, 3, nil) == SHL_OK)
    let few = state.statistics.memory
    #expect(few < 14_000)
    try state.load("local x = 1", name: "t")
    let some = state.statistics.memory
    try state.load("x = string.rep('a', 2) .. math.floor(1.5) .. seven()", name: "t")
    #expect(try state.answers("return x") == [LuaValue("aa17")])
    #expect(state.statistics.memory > some + 1000)
    // By strings, after a text that names nothing else.
    #expect(try state.answers("return _G['gr' .. 'oup']['se' .. 'ven']()") == [.int(7)])
    #expect(try state.answers("return ('x')['up' .. 'per']('a')") == [LuaValue("A")])
    #expect(try state.answers("return load('return tab' .. 'le.concat({1, 2})')()") == [LuaValue("12")])
    // What a script puts in the place of one stays.
    try state.load("utf8 = nil coroutine = { mine = 1 }", name: "t")
    #expect(try state.answers("return utf8, coroutine.mine, _G.utf8") == [.nil, .int(1), .nil])
    let fresh = try LuaState.forTest()
    let other = UnsafeMutableBufferPointer<SHLNamed>.allocate(capacity: 1)
    other.initializeElement(at: 0, to: SHLNamed(name: strdup("group.seven"), fn: host, id: -1))
    #expect(shl_register_all(fresh.raw, other.baseAddress, 1, nil) == SHL_OK)
    #expect(try fresh.withScope { shl_set_global($0, "group.seven", shl_int(3)) } == SHL_OK)
    #expect(try fresh.answers("return group.seven") == [.int(3)])
    #expect(try fresh.answers("return _ENV['tab' .. 'le'].concat({ 1, 2 })") == [LuaValue("12")])
    #expect(try fresh.answers("return math.maxinteger") == [.int(.max)])
  }

  @Test("one allocation for a new short string, one for a handle")
  func fewAllocations() throws {
    let state = try LuaState.forTest(ms: 1000)
    let cls = try state.addClass(Zoo().description(name: "Cost"))
    let f = try state.function("function(x) end")
    for value in [literal("a string that is not short, but short enough to be made directly"), shl_handle(cls, 1, 2, 3)] {
      _ = Self.time(state, f, [value], 10)
      let before = state.statistics.allocations
      _ = Self.time(state, f, [value], 1000)
      #expect(state.statistics.allocations - before <= 1000)
    }
  }

  @Test("times", .enabled(if: getenv("SCRIPTHOST_BENCH") != nil))
  func times() throws {
    let state = try LuaState.forTest(ms: 10_000, loadMS: 10_000)
    let n = 3_000_000
    let cls = try state.addClass(Zoo().description(name: "Cost"))
    let sum = try state.function("function(a, b, c) return a + b end")
    let empty = try state.function("function() end")
    let same = try state.function("function(x) return x end")
    #expect(addMember(state, 0, "original", { _, cb in shl_return(cb, shl_int(1)) == SHL_OK ? 0 : -1 }) == SHL_OK)
    #expect(shl_register(state.raw, "native", { _, cb in shl_return(cb, shl_int(1)) == SHL_OK ? 0 : -1 }, nil) == SHL_OK)
    let around = try state.function("function(call, a) return call:original() end")
    let callback = try state.function("(function() local native = native return function(a) return native(a) end end)()")
    let here = shl_call_here(Unmanaged.passUnretained(state).toOpaque())
    for _ in 0..<2 {
      let bare = stock_lua_time_pcall(Int64(n), false), hooked = stock_lua_time_pcall(Int64(n), true)
      func show(_ name: String, _ ns: Double) {
        print("  \(name): \((ns * 10).rounded() / 10) ns, \((ns / bare * 100).rounded() / 100) of a bare pcall")
      }
      show("bare pcall of a + b", bare)
      show("with a count hook", hooked)
      show("invoke [empty, no arguments]", Self.time(state, empty, [], results: 0, n))
      show("invoke [three scalars, one result]", Self.time(state, sum, [shl_int(1), shl_int(2), shl_number(3)], n))
      show("invoke [call token, three scalars]", Self.time(state, empty, [here, shl_int(1), shl_int(2), shl_number(3)], n))
      show("invoke [short string in]", Self.time(state, empty, [literal("hello world")], results: 0, n))
      show("invoke [short string in and out]", Self.time(state, same, [literal("hello world")], n))
      show("invoke [handle in]", Self.time(state, empty, [shl_handle(cls, 1, 2, 3)], results: 0, n))
      show("invoke [one callback]", Self.time(state, callback, [shl_int(1)], n))
      show("invoke [call:original()]", Self.time(state, around, [here, shl_int(1)], n))
    }
  }
}
