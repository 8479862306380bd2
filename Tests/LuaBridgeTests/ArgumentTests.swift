// Arguments of a running call that Lua reads and changes by their numbers, and what is left to the host.

import CLuaShim
import Glibc
import LuaBridge
import LuaKit
import Testing

@Suite("arguments without a call of the host")
struct ArgumentTests {
  /// A call whose arguments are words, one of each kind given; the host answers "host" to what it is asked.
  private final class Call {
    let state: LuaState
    let arguments = UnsafeMutablePointer<SHLArguments>.allocate(capacity: 1)
    private let slots: UnsafeMutablePointer<HKTValueSlot>
    private let frame = UnsafeMutablePointer<HKTFrame>.allocate(capacity: 1)
    private let words: UnsafeMutablePointer<UInt64>

    init(_ kinds: [HKTValueKind], _ values: [UInt64]) throws {
      state = try LuaState.forTest()
      slots = .allocate(capacity: kinds.count)
      words = .allocate(capacity: values.count)
      for (i, kind) in kinds.enumerated() {
        (slots + i).initialize(to: HKTValueSlot(kind: kind, place: HKTFramePlace(bits: UInt16(8 * i) | UInt16(HKT_ON_STACK))))
      }
      for (i, word) in values.enumerated() { words[i] = word }
      arguments.initialize(to: SHLArguments())
      arguments.pointee.serial = 77
      frame.initialize(to: HKTFrame())
      frame.pointee.stack = words
      arguments.pointee.from = SHLPlaces(frame: frame, slots: slots, count: Int32(kinds.count))
      arguments.pointee.readable = true
      arguments.pointee.changeable = true
      var description = SHLClass()
      description.index = { _, callback in LuaCallback(callback!).done("host") }
      description.newindex = { _, callback in LuaCallback(callback!).fail("host") }
      var cls: UInt32 = 0
      "arguments".withCString {
        description.name = $0
        #expect(shl_class(state.raw, &description, &cls) == SHL_OK)
      }
      #expect(addMember(state, UInt32(SHL_CLASS_CALL), "args", id: 3) == SHL_OK)
      #expect(shl_arguments_class(state.raw, cls, 3) == SHL_OK)
      let made = cls
      try state.register("other") { $0.give(shl_handle(made, 0, 0, 78)) }
    }
    deinit {
      arguments.deallocate()
      slots.deallocate()
      frame.deallocate()
      words.deallocate()
    }

    /// What the function of `call` and `args` returns, as text; its error otherwise.
    func run(_ body: String) throws -> String {
      let function = try state.function("function(call) local args = call.args \(body) end")
      let invocation = UnsafeMutablePointer<SHLInvocation>.allocate(capacity: 1)
      defer { invocation.deallocate() }
      var values = [shl_call_here(arguments)]
      var result = SHLValue()
      let status = shl_invoke(state.raw, function.raw, &values, 1, &result, 1, nil, invocation)
      guard status == SHL_OK else { return "error: " + LuaFailure(status, consuming: invocation.pointee.error, of: state.raw).message }
      defer { shl_invoke_end(invocation) }
      guard invocation.pointee.count > 0 else { return "" }
      return LuaValue(result, in: UnsafeMutableRawPointer(invocation).assumingMemoryBound(to: SHLScope.self), of: state)?.text ?? "?"
    }

    func staged(_ index: Int) -> UInt64? {
      guard arguments.pointee.staged >> UInt8(index) & 1 != 0 else { return nil }
      return withUnsafeBytes(of: &arguments.pointee.bits) { $0.load(fromByteOffset: 16 * index, as: UInt64.self) }
    }
  }

  private static let kinds: [HKTValueKind] = [
    .int64, .uint64, .int32, .uint32, .int16, .uint8,
    .double, .bool, .int64,
  ]
  private static let values: [UInt64] = [1, 2, 3, 4, 5, 6, (2.5).bitPattern, 1, 9]

  @Test("what is read is what lies there, or was put there before")
  func reading() throws {
    let call = try Call(Self.kinds, Self.values)
    let all = "local t = {} for i = 1, 9 do t[i] = tostring(args[i]) end return table.concat(t, ' ')"
    #expect(try call.run(all) == "1 2 3 4 5 6 2.5 true 9")
    #expect(try call.run("args[1] = -7 args[3] = -1 args[6] = 255 args[7] = 0.5 args[8] = false " + all) == "-7 2 -1 4 5 255 0.5 false 9")
    #expect(call.staged(0) == UInt64(bitPattern: -7) && call.staged(1) == nil && call.staged(2) == 0xFFFF_FFFF && call.staged(7) == 0)
    #expect(try call.run("return tostring(args[0]) .. args[10] .. args[1.5] .. args.name") == "hosthosthosthost")
  }

  static let refused = [
    "args[1] = 1.0", "args[1] = '1'", "args[1] = nil", "args[1] = true", "args[2] = -1", "args[3] = 2147483648", "args[3] = -2147483649",
    "args[4] = -1", "args[4] = 4294967296", "args[5] = 32768", "args[6] = 256", "args[6] = -1", "args[7] = 1", "args[7] = false",
    "args[8] = 1", "args[8] = nil", "args[9] = 1", "args[0] = 1", "args[10] = 1", "args.name = 1", "args[1.5] = 1", "args[args] = 1",
  ]
  @Test("what is not exactly of its kind is left to the host", arguments: refused)
  func refusals(_ statement: String) throws {
    let call = try Call(Self.kinds, Self.values)
    #expect(try call.run(statement) == "error: test:1: host")
    #expect(call.arguments.pointee.staged == 0)
  }

  @Test("what the host keeps for itself, and other calls' arguments, are left to it")
  func closed() throws {
    let call = try Call(Self.kinds, Self.values)
    #expect(try call.run("return other()[1]") == "host")
    #expect(try call.run("other()[1] = 2") == "error: test:1: host")
    call.arguments.pointee.borrowed = 1
    #expect(try call.run("args[1] = 2") == "error: test:1: host")
    #expect(try call.run("args[2] = 2 return tostring(args[2])") == "2")
    call.arguments.pointee.changeable = false
    #expect(try call.run("args[2] = 2") == "error: test:1: host")
    call.arguments.pointee.readable = false
    #expect(try call.run("return args[2]") == "host")
    #expect(try call.run("kept = args") == "" && call.state.run("print(kept[1])") == "host")
  }
}
