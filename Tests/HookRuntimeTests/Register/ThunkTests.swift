import CHookTrampoline
import Testing

/// Thunks at 0x1000, which go to 0x2000 or somewhere near.
@Suite struct ThunkTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var code: String
    var kind = HKT_THUNK
    /// What it adds, by place: registers from 0, stack slots from 6, vector registers from 38.
    var constants: [Int: UInt64] = [:]
  }

  static let cases = [
    Case(testDescription: "a jump", code: "e9fb0f0000"),
    Case(testDescription: "constants in registers, then a jump", code: "be0500000031d2e9fb0f0000", constants: [1: 5, 2: 0]),
    Case(
      testDescription: "an address on the stack, by way of a register that has another one at last",
      code: "554889e54883ec104c8d0d000100004c890c244c8d0d00020000e8fb0f00004883c4105dc3", constants: [5: 0x121a, 6: 0x110f]),
    Case(
      testDescription: "its own stack argument moved along, a constant behind it",
      code: "554889e54883ec10488b451048890424c744240807000000e8fb0f00004883c4105dc3", constants: [7: 7]),
    Case(testDescription: "pushed constants", code: "554889e56a07ff7510e8fb0f00004883c4105dc3", constants: [7: 7]),
    Case(testDescription: "the stack argument at another place", code: "554889e5ff7510ff7510e8fb0f00004883c4105dc3", kind: HKT_NO_THUNK),
    Case(testDescription: "a field of self is passed", code: "498b7d10e9fb0f0000", kind: HKT_NO_THUNK),
    Case(testDescription: "a field of self is written", code: "49897d10e9fb0f0000", kind: HKT_NO_THUNK),
    Case(testDescription: "another self is passed", code: "4989fde9fb0f0000", kind: HKT_NO_THUNK),
    Case(testDescription: "two calls", code: "50e8fb0f0000e8000f000058c3", kind: HKT_NO_THUNK),
    Case(testDescription: "the result is changed", code: "50e8fb0f0000ffc058c3", kind: HKT_UNREAD_THUNK),
    Case(testDescription: "a zero in a vector register", code: "0f57c0e9fb0f0000", constants: [38: 0]),
    Case(
      testDescription: "zeros stored by way of a vector register", code: "4883ec180f57c00f110424e8fb0f00004883c418c3",
      constants: [6: 0, 7: 0]),
  ]

  @Test("a thunk adds constants to what it is given", arguments: cases)
  func reading(_ c: Case) {
    let digits = Array(c.code)
    let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
    var thunk = HKTThunk()
    #expect(hkt_read_thunk(bytes, UInt64(bytes.count), 0x1000, &thunk) == c.kind)
    guard c.kind == HKT_THUNK else { return }
    #expect(thunk.written == thunk.known)
    let places = (0..<Int(HKT_THUNK_PLACES)).filter { thunk.known >> UInt64($0) & 1 != 0 }
    let found = withUnsafeBytes(of: thunk.value) { values in
      Dictionary(uniqueKeysWithValues: places.map { ($0, values.load(fromByteOffset: 8 * $0, as: UInt64.self)) })
    }
    #expect(found == c.constants)
  }
}

@Suite struct BranchTests {
  /// A call at 0x1000, a jump of two bytes at 0x1005, one of six at 0x1007, and `eb` in a constant at 0x100e.
  static let code: [UInt8] = [0xe8, 0x1b, 0, 0, 0, 0xeb, 0x19, 0x0f, 0x84, 0x13, 0, 0, 0, 0xb8, 0xeb, 0x10, 0, 0, 0xc3]

  @Test("jumps of two bytes to functions close by are found, and told from bytes that only read as such")
  func short() {
    let targets: [UInt64] = [0x1020]
    var found = [HKTBranch](repeating: HKTBranch(), count: 8)
    let count = hkt_find_uses(Self.code, UInt64(Self.code.count), 0x1000, targets, 1, &found, found.count)
    #expect(found.prefix(count).map(\.from) == [0x1000, 0x1005, 0x1008, 0x100e])
    #expect(found.prefix(count).map { hkt_is_short_jump(Self.code[Int($0.from - 0x1000)]) } == [false, true, false, true])
    #expect(hkt_has_instruction(Self.code, UInt64(Self.code.count), 0x5))
    #expect(!hkt_has_instruction(Self.code, UInt64(Self.code.count), 0xe))
  }
}
