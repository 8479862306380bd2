// Calls that stop in the middle: as many as tasks of a program can be in at once.

import CLuaShim
import LuaBridge
import LuaKit
import Testing

@Suite struct WaitingTests {
  @Test("a hundred thousand calls wait in one state, and each goes on as itself")
  func manyWait() throws {
    let state = try LuaState.forTest()
    // What the call stands for when it goes on.
    let original: SHLFunction = { _, callback in
      shl_wait(callback, { _, callback in shl_return(callback, shl_int(Int64(Int(bitPattern: callback!.pointee.host)))) == SHL_OK ? 0 : -1 }, nil, false)
    }
    #expect(addMember(state, 0, "original", original) == SHL_OK)
    let function = try state.function("function(call, n) return call:original() + n end")
    var result = SHLValue()
    let invocation = UnsafeMutablePointer<SHLInvocation>.allocate(capacity: 1)
    invocation.initialize(to: SHLInvocation())
    defer { invocation.deallocate() }
    let count = 100_000
    var waiting: [OpaquePointer?] = []
    for number in 0..<count {
      var call: OpaquePointer?
      let arguments = [shl_call_here(UnsafeMutableRawPointer(bitPattern: 16)), shl_int(Int64(number))]
      let status = shl_start(state.raw, function.raw, arguments, 2, &result, 1, nil, invocation, &call)
      guard status == SHL_WAITING else { return #expect(status == SHL_WAITING, "call \(number)") }
      waiting.append(call)
    }
    for number in (0..<count).reversed() {
      var again: OpaquePointer?
      let host = UnsafeMutableRawPointer(bitPattern: 16 * (number + 1))
      let status = shl_continue(state.raw, waiting[number], host, &result, 1, nil, invocation, &again)
      guard status == SHL_OK, result.i == Int64(16 * (number + 1) + number) else {
        return #expect(Bool(false), "call \(number) went on with status \(status.rawValue) and \(result.i)")
      }
    }
  }
}
