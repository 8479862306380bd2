// Arguments that go from registers to Lua without a detour, names that are looked up once, texts that come again.

import CLuaShim
import Glibc
import LuaBridge
import LuaKit
import Testing

@Suite("arguments straight from registers")
struct PlaceTests {
  /// What a native call left: registers, then stack arguments.
  private final class Frame {
    /// The frame, and its stack arguments behind it.
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 1024, alignment: 16)
    var slots: [HKTValueSlot] = []
    /// Floating-point registers have room for all that the tests add.
    private var used = MemoryLayout<HKTFrame>.offset(of: \.xmm)!
    private var usedOnStack = 0
    private var frame: UnsafeMutablePointer<HKTFrame> { memory.assumingMemoryBound(to: HKTFrame.self) }
    init() {
      memory.initializeMemory(as: UInt8.self, repeating: 0xA5, count: 1024)
      frame.pointee.stack = (memory + MemoryLayout<HKTFrame>.size).assumingMemoryBound(to: UInt64.self)
    }
    deinit { memory.deallocate() }

    func add<T>(_ kind: HKTValueKind, _ value: T, onStack: Bool = false) {
      let place = HKTFramePlace(bits: UInt16(onStack ? usedOnStack | Int(HKT_ON_STACK) : used))
      // Of a text the bits alone: it lives as long as the test's own copy.
      withUnsafeBytes(of: value) { place.address(in: frame).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
      slots.append(HKTValueSlot(kind: kind, place: place))
      let size = max(8, MemoryLayout<T>.size)
      if onStack { usedOnStack += size } else { used += size }
    }

    /// Calls `function`, which takes the call and the arguments; answers its status and first result.
    func call(_ state: LuaState, _ function: LuaReference) -> (SHLStatus, LuaValue?) {
      let invocation = UnsafeMutablePointer<SHLInvocation>.allocate(capacity: 1)
      defer { invocation.deallocate() }
      var result = SHLValue()
      let status = slots.withUnsafeBufferPointer { slots in
        var from = SHLPlaces(frame: frame, slots: slots.baseAddress, count: Int32(slots.count))
        return shl_invoke_places(state.raw, function.raw, memory, &from, &result, 0, invocation)
      }
      guard status == SHL_OK else {
        shl_error_free(state.raw, invocation.pointee.error)
        return (status, nil)
      }
      defer { shl_invoke_end(invocation) }
      return (
        status,
        invocation.pointee.count == 0
          ? nil : LuaValue(result, in: UnsafeMutableRawPointer(invocation).assumingMemoryBound(to: SHLScope.self), of: state)
      )
    }
  }

  @Test("every kind of number, Bools and texts, in registers and on the stack")
  func kinds() throws {
    let state = try LuaState.forTest()
    let show = try state.function(
      "function(call, ...) local t = table.pack(...) for i = 1, t.n do t[i] = math.type(t[i]) == 'float' and ('%a'):format(t[i]) or tostring(t[i]) end return table.concat(t, ' ') end"
    )
    for onStack in [false, true] {
      let frame = Frame()
      frame.add(.int64, Int64.min, onStack: onStack)
      frame.add(.int32, Int32(-2), onStack: onStack)
      frame.add(.int16, Int16(-3), onStack: onStack)
      frame.add(.int8, Int8(-4), onStack: onStack)
      frame.add(.uint64, UInt64(Int64.max), onStack: onStack)
      frame.add(.uint32, UInt32.max, onStack: onStack)
      frame.add(.uint16, UInt16.max, onStack: onStack)
      frame.add(.uint8, UInt8.max, onStack: onStack)
      frame.add(.bool, UInt8(0xFF), onStack: onStack)
      frame.add(.bool, UInt8(0xFE), onStack: onStack)
      frame.add(.double, -0.5, onStack: onStack)
      frame.add(.float, Float(0.25), onStack: onStack)
      frame.add(.string, "fifteen bytes..", onStack: onStack)
      let expected = "\(Int64.min) -2 -3 -4 \(Int64.max) \(UInt32.max) 65535 255 true false -0x1p-1 0x1p-2 fifteen bytes.."
      #expect(frame.call(state, show) == (SHL_OK, LuaValue(expected)))
    }
  }

  @Test("what needs more than a look is left to the other way, and nothing runs")
  func refusals() throws {
    let state = try LuaState.forTest()
    #expect(state.run("calls = 0") == "")
    let count = try state.function("function() calls = calls + 1 end")
    let foreign = 1 << 60 as UInt64
    for (kind, words) in [
      (.uint64, (UInt64.max, 0)), (.string, (0, 0)), (.string, (5, foreign)), (.string, (1 << 60, 0)), (.none, (0, 0)), (.void, (0, 0)),
      (.object, (0, 0)),
    ] as [(HKTValueKind, (UInt64, UInt64))] {
      let frame = Frame()
      frame.add(.int64, 1)
      frame.add(.string, "a")
      frame.add(kind, words)
      #expect(frame.call(state, count).0 == SHL_SLOW_PATH)
    }
    let many = Frame()
    for i in 0...Int(SHL_MOST_PLACES) { many.add(.int64, i) }
    #expect(many.call(state, count).0 == SHL_SLOW_PATH)
    many.slots.removeLast()
    #expect(state.run("print(calls)") == "0")
    #expect(many.call(state, count).0 == SHL_OK)
    #expect(state.run("print(calls)") == "1")
    #expect(shl_statistics(state.raw).coroutines_made == 1)
  }

  @Test("errors and kills end as they do with values")
  func failures() throws {
    let state = try LuaState.forTest()
    let frame = Frame()
    frame.add(.int64, 7)
    #expect(frame.call(state, try state.function("function(call, x) error('no ' .. x) end")).0 == SHL_ERROR)
    let endless = frame.call(state, try state.function("function() while true do end end")).0
    #expect(endless == SHL_KILLED_INSTRUCTIONS || endless == SHL_KILLED_TIME)
    #expect(frame.call(state, try state.function("function(call, x) return x end")) == (SHL_OK, .int(7)))
  }

  @Test("texts that come again are the texts that came, whatever else does")
  func texts() throws {
    let state = try LuaState.forTest()
    let seed = UInt64.random(in: 0...UInt64.max)
    print("texts: seed \(seed)")
    var random = Random(seed: seed)
    let first = try state.function("function(call, a, b) return a .. '|' .. b end")
    // Few texts, of which many share their first and last eight bytes, and all lengths around those that are looked up.
    let ends = ["aaaaaaaa", "aaaaaaab", "bbbbbbbb"]
    var pool: [String] = []
    for length in [0, 1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 39, 40, 41, 60, 95, 96] {
      for _ in 0..<3 {
        let middle = String((0..<max(0, length - 16)).map { _ in "xyz".randomElement(using: &random)! })
        pool.append(String((ends.randomElement(using: &random)! + middle + ends.randomElement(using: &random)!).prefix(length)))
      }
    }
    for round in 0..<20_000 {
      let texts = (pool.randomElement(using: &random)!, pool.randomElement(using: &random)!)
      let frame = Frame()
      frame.add(.string, texts.0)
      frame.add(.string, texts.1)
      let answer = frame.call(state, first)
      // Literals' forms and foreign ones are left to the other way.
      if answer.0 == SHL_SLOW_PATH { continue }
      guard answer == (SHL_OK, LuaValue(texts.0 + "|" + texts.1)) else {
        Issue.record("round \(round) of seed \(seed): '\(texts.0)' and '\(texts.1)' came as \(answer)")
        return
      }
      // Garbage, so that the collector runs among them.
      if round % 500 == 0 { #expect(state.run("for i = 1, 2000 do local t = {tostring(i)} end").isEmpty) }
    }
    #expect(shl_statistics(state.raw).memory < 2 << 20)
  }

  @Test("members that are looked up again are those of the name, also when names are many or are given anew")
  func members() throws {
    let state = try LuaState.forTest(loadMS: 1000)
    var description = SHLClass()
    var cls: UInt32 = 0
    description.index = { _, cb in
      let cb = cb!
      let name =
        cb.pointee.name.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: cb.pointee.name_length), as: UTF8.self) } ?? "-"
      return LuaCallback(cb).done("\(name) \(cb.pointee.field)")
    }
    "thing".withCString {
      description.name = $0
      #expect(shl_class(state.raw, &description, &cls) == SHL_OK)
    }
    for i in 0..<30 as Range<Int32> { #expect(addMember(state, cls, "field\(i)", id: i) == SHL_OK) }
    let long = String(repeating: "long", count: 12)
    #expect(addMember(state, cls, long, id: 99) == SHL_OK)
    func method(_ name: String, _ answer: @escaping SHLFunction) { #expect(addMember(state, cls, name, answer) == SHL_OK) }
    for i in 0..<10 { method("method\(i)") { _, cb in LuaCallback(cb!).done("first") } }
    let made = cls
    try state.register("thing") { $0.give(shl_handle(made, 1, 2, 3)) }
    let names = """
      local t, out = thing(), {}
      for round = 1, 3 do
        for i = 0, 29 do assert(t['field' .. i] == 'field' .. i .. ' ' .. i) end
        for i = 0, 9 do assert(t['method' .. i](t) == WANTED) end
        assert(t[('long'):rep(12)] == ('long'):rep(12) .. ' 99')
        assert(t.other == 'other -1' and t[1] == '- -1' and t[1.5] == '- -1' and t['1'] == '1 -1' and t[true] == '- -1' and t[t] == '- -1')
      end
      """
    #expect(state.run(names.replacing("WANTED", with: "'first'")) == "")
    for i in 0..<10 { method("method\(i)") { _, cb in LuaCallback(cb!).done("second") } }
    #expect(state.run(names.replacing("WANTED", with: "'second'")) == "")
    #expect(addMember(state, cls, "method3", id: 55) == SHL_OK)
    #expect(state.run("local t = thing() print(t.method3, t.method4(t), t.method3)") == "method3 55\tsecond\tmethod3 55")
  }
}
