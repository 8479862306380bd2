// The border: values, host functions, handles, call tokens, references, tables.

import CLuaShim
import Glibc
import LuaBridge
import LuaKit
import Synchronization
import Testing

@Suite("values across the border")
struct ValueTests {
  @Test("every scalar comes back as it went")
  func scalars() throws {
    let state = try LuaState.forTest()
    let same = try state.function("function(...) return ... end")
    let values: [LuaValue] = [
      .nil, .bool(true), .bool(false), .int(0), .int(.max), .int(.min), .number(0.5), .number(-0.0), .number(.infinity), .number(1e300),
      .number(3), LuaValue(""), LuaValue("häß€"), .string([0, 1, 2, 0, 255]), LuaValue(String(repeating: "x", count: 200)),
      LuaValue(String(repeating: "y", count: 100_000)),
    ]
    for value in values { #expect(try state.call(same, [value]) == [value]) }
    #expect(try state.call(same, values) == values)
    #expect(try state.call(state.function("function(x) return math.type(x), x ~= x end"), [.number(.nan)]) == [LuaValue("float"), .bool(true)])
  }

  @Test("returning nothing is not returning nil")
  func nothing() throws {
    let state = try LuaState.forTest()
    #expect(try state.call(state.function("function() end")) == [])
    #expect(try state.call(state.function("function() return nil end")) == [.nil])
    #expect(try state.call(state.function("function() return nil, 1, nil end")) == [.nil, .int(1), .nil])
  }

  @Test("a string beyond the limit is refused on the way in")
  func longString() throws {
    let state = try LuaState.forTest()
    let length = try state.function("function(s) return #s end")
    #expect(throws: LuaFailure.self) { try state.call(length, [.string([UInt8](repeating: 120, count: 5 << 20))]) }
    #expect(try state.call(length, [LuaValue("abc")]) == [.int(3)])
  }

  @Test("stack-bound values are refused as arguments, stale references are errors")
  func badValues() throws {
    let state = try LuaState.forTest()
    var slot = SHLValue()
    slot.tag = SHL_TABLE
    slot.slot = 1
    var invocation = SHLInvocation()
    let f = try state.function("function(x) return x end")
    withUnsafeMutablePointer(to: &invocation) { invocation in
      #expect(shl_invoke(state.raw, f.raw, &slot, 1, nil, 0, nil, invocation) == SHL_BAD_ARGUMENT)
      shl_error_free(state.raw, invocation.pointee.error)
      #expect(shl_invoke(state.raw, 123_456, nil, 0, nil, 0, nil, invocation) == SHL_ERROR)
      shl_error_free(state.raw, invocation.pointee.error)
      var unknown = shl_handle(9, 1, 2, 3)
      #expect(shl_invoke(state.raw, f.raw, &unknown, 1, nil, 0, nil, invocation) == SHL_ERROR)
      shl_error_free(state.raw, invocation.pointee.error)
    }
    #expect(try state.call(f, [.int(1)]) == [.int(1)])
  }
}

@Suite("functions of the program")
struct FunctionTests {
  @Test("arguments, results, dotted names")
  func register() throws {
    let state = try LuaState.forTest()
    try state.register("log.warn") { call in
      for i in 0..<call.count { call.give(call[i]) }
      call.give("done")
    }
    try state.register("log.info") { _ in }
    #expect(state.run("print(log.warn(1, 'two', nil, 2.5, true)) print(select('#', log.info()))") == "1\ttwo\tnil\t2.5\ttrue\tdone\n0")
    #expect(state.run("print(#log.warn(('x'):rep(5000)), #(select(2, log.warn('', ('y'):rep(900), ('z'):rep(900)))))") == "5000\t900")
  }

  struct Sad: Error, CustomStringConvertible {
    let description: String
  }

  @Test("what a function throws is an error at the line of its caller")
  func throwing() throws {
    let state = try LuaState.forTest()
    try state.register("fail") { call throws in throw Sad(description: "no such thing '\(call.text(0) ?? "?")'") }
    #expect(state.run("local x = 1\nfail('abc')") == "error: test:2: no such thing 'abc'")
    #expect(state.run("print(pcall(fail, 1))") == "false\tno such thing '?'")
    #expect(state.run("local ok, e = pcall(function() fail('in') end) print(e)") == "test:1: no such thing 'in'")
    #expect(state.run("print(coroutine.wrap(function() return pcall(fail) end)())") == "false\tno such thing '?'")
  }

  @Test("functions of scripts arrive with their declaration, and can be called inside and later")
  func functionArguments() throws {
    let state = try LuaState.forTest()
    let facts = Output()
    let kept = Mutex<[LuaReference]>([])
    try state.register("on") { [unowned state] call in
      var info = SHLFunctionInfo()
      let reference = shl_arg_function_ref(call.raw, 0, &info)
      guard reference != 0 else { throw Sad(description: "argument 1 is no function") }
      let source = withUnsafePointer(to: &info.source) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
      facts.add("\(info.parameters) \(info.variadic) \(info.native) \(source):\(info.line)")
      kept.withLock { $0.append(LuaReference(reference, in: state)) }
      var arguments = [shl_int(20), shl_int(22)], result = SHLValue(), count: Int32 = 0
      var error: UnsafeMutablePointer<SHLError>?
      let status = shl_call(call.scope, shl_ref_value(reference), &arguments, 2, &result, 1, &count, &error)
      if status != SHL_OK { throw LuaFailure(status, consuming: error, of: state.raw) }
      call.give(count > 0 ? result : shl_nil())
    }
    #expect(state.run("print(on(function(a, b) return a + b end))\nprint(on(function(...) return 'v' end))\nprint(on(print))\nprint(pcall(on, 5))\nprint(pcall(on, function() error('inner') end))") == """
      42
      v
      20\t22
      nil
      false\targument 1 is no function
      false\ttest:5: inner
      """)
    #expect(facts.text == "2 false false test:1\n0 true false test:2\n0 true true [C]:0\n0 false false test:5")
    let first = kept.withLock { $0.first! }
    #expect(try state.call(first, [.int(1), .int(2)]) == [.int(3)])
    kept.withLock { $0.removeAll() }
  }

  @Test("tables are read and built without raising")
  func tables() throws {
    let state = try LuaState.forTest()
    try state.register("describe") { call in
      let table = call[0]
      var parts = ["n=\(shl_table_length(call.scope, table))"]
      let name = shl_table_field(call.scope, table, "name", 4)
      parts.append("name=" + String(decoding: name.bytes, as: UTF8.self))
      parts.append("first=\(shl_table_at(call.scope, table, 1).i)")
      var position: Int32 = 0, key = SHLValue(), value = SHLValue(), keys: [String] = []
      while shl_table_next(call.scope, table, &position, &key, &value) {
        keys.append(key.tag == SHL_INT ? "\(key.i)" : String(decoding: key.bytes, as: UTF8.self))
        if value.tag == SHL_TABLE { keys.append("{\(shl_table_length(call.scope, value))}") }
      }
      parts.append(keys.sorted().joined(separator: ","))
      call.give(parts.joined(separator: " "))
    }
    try state.register("build") { call in
      let table = shl_table_new(call.scope, 2, 1), inner = shl_table_new(call.scope, 0, 0)
      _ = shl_table_set_at(call.scope, table, 1, shl_int(7))
      _ = shl_table_set_field(call.scope, inner, "x", 1, shl_bool(true))
      _ = shl_table_set_field(call.scope, table, "inner", 5, inner)
      #expect(shl_table_set(call.scope, table, shl_nil(), shl_int(1)) == SHL_BAD_ARGUMENT)
      #expect(shl_table_set(call.scope, table, shl_number(.nan), shl_int(1)) == SHL_BAD_ARGUMENT)
      #expect(shl_table_set(call.scope, shl_int(1), shl_int(1), shl_int(1)) == SHL_BAD_ARGUMENT)
      call.give(table)
    }
    #expect(state.run("print(describe{5, {1, 2}, name = 'n', setmetatable({}, {__call = print})})") == "n=3 name=n first=5 1,2,3,name,{0},{2}")
    #expect(state.run("local t = build() print(t[1], t.inner.x, #t)") == "7\ttrue\t1")
    #expect(state.run("print(pcall(describe, 5)) print(pcall(describe))").contains("n=0 name= first="))
    #expect(state.run("print(describe(setmetatable({}, {__index = error, __len = error, __pairs = error})))") == "n=0 name= first=0 ")
    #expect(state.run("local t = {} for i = 1, 20000 do t[i] = 'v' .. i end print((describe(t):match('^n=%d+')))") == "n=20000")
  }

  @Test("globals can be set from outside")
  func globals() throws {
    let state = try LuaState.forTest()
    try state.withScope { scope in
      let table = shl_table_new(scope, 0, 0)
      _ = shl_table_set_field(scope, table, "k", 1, literal("v"))
      #expect(shl_set_global(scope, "a.b.config", table) == SHL_OK)
    }
    #expect(state.run("print(a.b.config.k, a.x, math.pi > 3)") == "v\tnil\ttrue")
  }

  @Test("the lock is free while program code runs, and its time is not the script's")
  func unlocked() throws {
    let state = try LuaState.forTest(ms: 60, loadMS: 60)
    try state.register("sleep") { call in call.unlocked { _ = usleep(100_000) } }
    try state.register("nested") { [unowned state] call in
      call.give(call.unlocked { (try? state.call(state.compile("return 'inside'", name: "n")).first?.text) ?? "?" })
    }
    #expect(state.run("local x = 0 for i = 1, 100000 do x = x + i end sleep() for i = 1, 100000 do x = x + i end print(x)") == "10000100000")
    #expect(state.run("print(nested())").contains("inside"))
  }

  @Test("re-entry is bounded")
  func reentry() throws {
    let state = try LuaState.forTest(ms: 1000, loadMS: 1000)
    let deepest = Atomic(0)
    try state.register("again") { [unowned state] call throws in
      deepest.add(1, ordering: .relaxed)
      let f = try state.function("function() again() end")
      _ = try state.call(f)
    }
    let message = state.run("again()")
    // By the count, by the stack of the thread, or by the budget that all of them share: whichever comes first.
    #expect(message.contains("error: "))
    let depth = deepest.load(ordering: .relaxed)
    #expect(depth <= 1000)
    #expect(state.run("print(1)") == "1")
  }

  @Test("a kill passes through functions of the program")
  func killThrough() throws {
    let state = try LuaState.forTest()
    let reached = Atomic(false)
    try state.register("run") { call in
      var error: UnsafeMutablePointer<SHLError>?
      let status = shl_call(call.scope, call[0], nil, 0, nil, 0, nil, &error)
      #expect(status == SHL_KILLED_TIME || status == SHL_KILLED_INSTRUCTIONS)
      shl_error_free(nil, error)
    }
    try state.register("reach") { _ in reached.store(true, ordering: .relaxed) }
    #expect(state.run("pcall(function() run(function() while true do end end) end) reach()").contains("stopped"))
    let wasReached = reached.load(ordering: .relaxed)
    #expect(!wasReached)
  }
}

/// What test handles do, with the state's output as a log.
final class Zoo: Sendable {
  let log = Output()
  let released = Atomic(0)

  /// A class whose handles are (a, b, c); index answers `a` for "a", methods for names with M, else fails.
  func description(name: StaticString, flags: UInt32 = 0, release: Bool = false) -> SHLClass {
    var d = SHLClass()
    d.name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    d.flags = flags
    d.ctx = Unmanaged.passUnretained(self).toOpaque()
    d.index = { _, cb in
      let cb = cb!, me = shl_arg(cb, 0), key = shl_arg(cb, 1)
      if cb.pointee.field == 7 { return shl_return(cb, literal("seven")) == SHL_OK ? 0 : -1 }
      if key.tag == SHL_INT { return shl_return(cb, shl_int(key.i * 10)) == SHL_OK ? 0 : -1 }
      let text = String(decoding: key.bytes, as: UTF8.self)
      if text == "a" { return shl_return(cb, shl_int(Int64(me.h.a))) == SHL_OK ? 0 : -1 }
      if text.hasPrefix("m_") { return shl_return_method(cb) == SHL_OK ? 0 : -1 }
      return shl_fail(cb, "no member", 9)
    }
    d.newindex = { ctx, cb in
      let zoo = Unmanaged<Zoo>.fromOpaque(ctx!).takeUnretainedValue(), cb = cb!
      zoo.log.add("set \(String(decoding: shl_arg(cb, 1).bytes, as: UTF8.self)) \(shl_arg(cb, 2).i)")
      return 0
    }
    d.invoke = { _, cb in
      let cb = cb!
      let name = String(cString: cb.pointee.name), me = shl_arg(cb, 0)
      var text = "\(name)(\(me.h.a), \(cb.pointee.argc - 1) more)"
      return text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { shl_return(cb, shl_string($0.baseAddress, $0.count)) == SHL_OK ? 0 : -1 }
      }
    }
    d.call = { _, cb in shl_return(cb!, literal("called")) == SHL_OK ? 0 : -1 }
    d.tostring = { _, cb in
      var text = "<\(shl_arg(cb!, 0).h.a)>"
      return text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { shl_return(cb!, shl_string($0.baseAddress, $0.count)) == SHL_OK ? 0 : -1 }
      }
    }
    d.equal = { _, cb in
      let x = shl_arg(cb!, 0), y = shl_arg(cb!, 1)
      return shl_return(cb!, shl_bool(x.tag == SHL_HANDLE && y.tag == SHL_HANDLE && x.h.a == y.h.a)) == SHL_OK ? 0 : -1
    }
    d.length = { _, cb in shl_return(cb!, shl_int(3)) == SHL_OK ? 0 : -1 }
    d.less = { _, cb in shl_return(cb!, shl_bool(shl_arg(cb!, 0).h.a < shl_arg(cb!, 1).h.a)) == SHL_OK ? 0 : -1 }
    if release {
      d.release = { ctx, _, _, _ in
        Unmanaged<Zoo>.fromOpaque(ctx!).takeUnretainedValue().released.add(1, ordering: .relaxed)
      }
    }
    return d
  }
}

@Suite("handles and calls")
struct HandleTests {
  @Test("index, newindex, methods, call, tostring, equality, length, order")
  func operations() throws {
    let zoo = Zoo()
    let state = try LuaState.forTest()
    let cls = try state.addClass(zoo.description(name: "Cart"))
    #expect(addMember(state, cls, "known", id: 7) == SHL_OK)
    #expect(addMember(state, cls, "twice", { _, cb in shl_return(cb!, shl_int(Int64(shl_arg(cb!, 0).h.a) * 2)) == SHL_OK ? 0 : -1 }) == SHL_OK)
    try state.load("""
      function test(h, same, other)
        print(h.a, h[4], h.known, h:m_add(1, 2), h(), tostring(h), #h, h == same, h == other, h < other, h:twice())
        h.x = 5
        print(pcall(function() return h.bad end))
        print(pcall(function() return h.m_x(1) end))
        print(pcall(function() return h.twice(1) end))
        print(pcall(function() return h + 1 end))
        print(pcall(function() return h .. 'x' end))
        print(type(h), getmetatable(h), string.format('%s', h), h.m_a == h.m_a)
        local f = h.m_late print(f(other, 1))
        return h
      end
      """, name: "h.lua")
    let test = try state.function("test")
    let output = Output()
    state.setPrint { text, _, _ in output.add(text) }
    let h = LuaValue.handle(cls: cls, a: 21, b: 2, c: 3)
    #expect(try state.call(test, [h, .handle(cls: cls, a: 21, b: 9, c: 9), .handle(cls: cls, a: 22, b: 0, c: 0)]) == [h])
    #expect(output.text == """
      21\t40\tseven\tm_add(21, 2 more)\tcalled\t<21>\t3\ttrue\tfalse\ttrue\t42
      false\th.lua:4: no member
      false\th.lua:5: 'm_x' is a method, called on a number value; write 'value:m_x(...)' with a colon
      false\th.lua:6: 'twice' is a method of a Cart, called on a number value; write 'value:twice(...)' with a colon
      false\th.lua:7: attempt to perform arithmetic on a Cart value (upvalue 'h')
      false\th.lua:8: attempt to concatenate a Cart value (upvalue 'h')
      userdata\tnil\t<21>\ttrue
      m_late(22, 1 more)
      """)
    #expect(zoo.log.text == "set x 5")
  }

  @Test("a method of one class refuses handles of another")
  func wrongClass() throws {
    let zoo = Zoo()
    let state = try LuaState.forTest()
    let a = try state.addClass(zoo.description(name: "A")), b = try state.addClass(zoo.description(name: "B"))
    #expect(addMember(state, a, "only", { _, cb in 0 }) == SHL_OK)
    let f = try state.function("function(x, y) return pcall(x.only, y) end")
    let answer = try state.call(f, [.handle(cls: a, a: 1, b: 0, c: 0), .handle(cls: b, a: 1, b: 0, c: 0)])
    #expect(answer.last?.text?.contains("'only' is a method of a A") == true)
  }

  @Test("released once each, after collection, outside the collector")
  func release() throws {
    let zoo = Zoo()
    var state: LuaState? = try LuaState.forTest(ms: 2000, loadMS: 2000)
    let cls = try state!.addClass(zoo.description(name: "Owned", release: true))
    let keep = try state!.function("function(h) kept = kept or {} kept[#kept + 1] = h end")
    let drop = try state!.function("function(h) end")
    for i in 0..<1000 {
      _ = try state!.call(i % 10 == 0 ? keep : drop, [.handle(cls: cls, a: UInt64(i), b: 0, c: 0)])
    }
    _ = state!.run("for i = 1, 200000 do local t = {} end")
    _ = state!.run("")
    let early = zoo.released.load(ordering: .relaxed)
    #expect(early >= 800 && early <= 900)
    _ = consume keep
    _ = consume drop
    state = nil
    let all = zoo.released.load(ordering: .relaxed)
    #expect(all == 1000)
  }

  @Test("unique handles are the same table key while one lives")
  func unique() throws {
    let zoo = Zoo()
    let state = try LuaState.forTest(ms: 2000, loadMS: 2000)
    let cls = try state.addClass(zoo.description(name: "U", flags: UInt32(SHL_UNIQUE)))
    let f = try state.function("function(x, y, z) return rawequal(x, y), rawequal(x, z), ({[x] = 'found'})[y] end")
    let x = LuaValue.handle(cls: cls, a: 5, b: 1, c: 0)
    #expect(try state.call(f, [x, x, .handle(cls: cls, a: 5, b: 2, c: 0)]) == [.bool(true), .bool(false), LuaValue("found")])
    let keep = try state.function("function(h) kept = kept or {} kept[#kept + 1] = h return #kept end")
    for i in 0..<30_000 { _ = try state.call(keep, [.handle(cls: cls, a: UInt64(i) * 8, b: 0, c: 0)]) }
    #expect(try state.call(keep, [x]) == [.int(30_001)])
  }

  @Test("a kept handle stands in for new ones of its object until it is let go")
  func standIn() throws {
    let zoo = Zoo()
    let state = try LuaState.forTest(ms: 2000, loadMS: 2000)
    let borrowed = try state.addClass(zoo.description(name: "Borrowed", flags: UInt32(SHL_UNIQUE)))
    var description = zoo.description(name: "Kept", flags: UInt32(SHL_UNIQUE), release: true)
    description.stands_in_for = borrowed
    let kept = try state.addClass(description)
    let same = try state.function("function(x, y) return rawequal(x, y) end")
    let keep = try state.function("function(h) held = h return h end")
    let k = LuaValue.handle(cls: kept, a: 7, b: 0, c: 0)
    let l = LuaValue.handle(cls: borrowed, a: 7, b: 0, c: 3)
    #expect(try state.call(same, [l, k]) == [.bool(false)], "a borrowed handle never stands in")
    _ = try state.call(keep, [k])
    #expect(try state.call(same, [l, k]) == [.bool(true)])
    #expect(try state.call(same, [.handle(cls: borrowed, a: 8, b: 0, c: 3), k]) == [.bool(false)])
    try state.withScope { scope in
      var found = SHLValue()
      #expect(shl_handle_find(scope, kept, 7, &found))
      #expect(!shl_handle_find(scope, kept, 8, &found))
      #expect(!shl_handle_find(scope, borrowed, 9, &found))
    }
  }

  @Test("a handle can be raised and comes back as the error's value")
  func raising() throws {
    let zoo = Zoo()
    let state = try LuaState.forTest()
    let cls = try state.addClass(zoo.description(name: "Error"))
    #expect(shl_register(state.raw, "throw", { _, cb in shl_raise(cb, shl_handle(1, 77, 8, 9)) }, nil) == SHL_OK)
    #expect(cls == 1)
    var error: UnsafeMutablePointer<SHLError>?
    let source = "local ok, e = pcall(throw) print(ok, tostring(e))\nthrow()"
    #expect(shl_load(state.raw, "t.lua", source, source.utf8.count, nil, &error) == SHL_ERROR)
    let value = try #require(error).pointee.value
    #expect(value.tag == SHL_HANDLE && value.h.a == 77 && value.h.c == 9)
    #expect(error!.pointee.line == 2)
    shl_error_free(state.raw, error)
  }

  @Test("constants are equal to themselves only and have a text")
  func constants() throws {
    let state = try LuaState.forTest()
    #expect(shl_constant(state.raw, 1, "swift.null", "null") == SHL_OK)
    #expect(shl_constant(state.raw, 2, nil, "other") == SHL_OK)
    #expect(state.run("print(swift.null, swift.null == swift.null, swift.null == nil, type(swift.null), ({[swift.null] = 1})[swift.null])") == "null\ttrue\tfalse\tuserdata\t1")
    #expect(state.run("print(pcall(function() return swift.null.x end))") == "false\ttest:1: this value has no fields")
    let f = try state.function("function(x) return x, x == swift.null end")
    #expect(try state.call(f, [.constant(1)]) == [.constant(1), .bool(true)])
    #expect(try state.call(f, [.constant(2)]) == [.constant(2), .bool(false)])
  }

  /// A host call: a box with a number.
  final class Call { var number: Int64 = 5 }

  @Test("call tokens work while the call runs, and say so afterwards")
  func tokens() throws {
    let state = try LuaState.forTest()
    var d = SHLClass()
    "call".withCString { name in
      d.name = name
      d.index = { _, cb in
        let call = Unmanaged<Call>.fromOpaque(cb!.pointee.host).takeUnretainedValue()
        if cb!.pointee.field == 3 { return shl_return(cb, shl_int(call.number)) == SHL_OK ? 0 : -1 }
        return shl_fail(cb, "no such field", 13)
      }
      d.newindex = { _, cb in
        let call = Unmanaged<Call>.fromOpaque(cb!.pointee.host).takeUnretainedValue()
        call.number = shl_arg(cb, 2).i
        return 0
      }
      #expect(shl_call_class(state.raw, &d) == SHL_OK)
    }
    #expect(addMember(state, 0, "result", id: 3) == SHL_OK)
    #expect(addMember(state, 0, "original", { _, cb in
      let call = Unmanaged<Call>.fromOpaque(cb!.pointee.host).takeUnretainedValue()
      return shl_return(cb, shl_int(call.number + shl_arg(cb, 1).i)) == SHL_OK ? 0 : -1
    }) == SHL_OK)
    let call = Call()
    let host = Unmanaged.passUnretained(call).toOpaque()
    let f = try state.function("function(call) kept = call; call.result = 6; return call.result, call:original(10), tostring(call) end")
    #expect(state.call(f, callOf: host) == [.int(6), .int(16), LuaValue("call")])
    #expect(state.run("kept:original(1)") == "error: test:1: this call is over; take what is needed from 'call' while the handler runs")
    #expect(state.run("kept.result = 1").contains("this call is over"))
    #expect(state.run("local f = kept.unknown").contains("this call is over"))
    #expect(state.run("print(tostring(kept))") == "call (over)")
    #expect(withExtendedLifetime(call) { call.number == 6 })

    // What a call had is used again for later ones: the old ones stay over.
    #expect(state.run("first = kept") == "")
    for _ in 0..<100 {
      #expect(state.call(f, callOf: host)[1] == .int(16))
      #expect(state.run("print(pcall(function() return kept.result end))").contains("this call is over"))
    }
    #expect(state.run("local m = first print(pcall(function() return m:original(5) end))").contains("this call is over"))
  }

  @Test("a method called on the wrong kind of value says how to write it")
  func methodWithoutColon() throws {
    let state = try LuaState.forTest()
    #expect(addMember(state, 0, "original", { _, _ in 0 }) == SHL_OK)
    let f = try state.function("function(call) return select(2, pcall(function() return call.original(5) end)) end")
    let said = state.call(f, callOf: Unmanaged.passUnretained(state).toOpaque())
    #expect(said == [LuaValue("test:1: 'original' is a method of a call, called on a number value; write 'value:original(...)' with a colon")])
  }

  @Test("a recovery point may cut a host function short, with the lock given back or inside another entry")
  func guardedCalls() throws {
    let state = try LuaState.forTest()
    #expect(shl_register(state.raw, "cut", { ctx, cb in
      // What a recovery point leaves behind when code between unlock and relock traps.
      _ = UnsafeMutableRawPointer(cb!).assumingMemoryBound(to: SHLScope.self).withMemoryRebound(to: SHLScope.self, capacity: 1) { shl_unlock_all($0) }
      return shl_fail(cb, "trapped", 7)
    }, nil) == SHL_OK)
    for _ in 0..<10 { #expect(state.run("print(pcall(cut))") == "false\ttrapped") }
    #expect(state.run("print(1)") == "1")
  }
}
