// AsyncCallable — the call of an async function in the task of a handler that awaits it.
package import CHookTrampoline

extension Callable {
  /// An async function pointer in memory: {32-bit relative address of the code, 32-bit size of the callee's context}.
  private static func read(_ pointer: UInt) -> (entry: UInt, contextSize: UInt32)? {
    guard let record = UnsafeRawPointer(bitPattern: pointer) else { return nil }
    return (pointer &+ UInt(bitPattern: Int(record.load(as: Int32.self))), record.load(fromByteOffset: 4, as: UInt32.self))
  }

  /// The code of an async function pointer.
  static func code(of pointer: UInt) -> UInt { read(pointer)?.entry ?? 0 }

  /// The call made ready, for HKT_AWAIT. `block` and `result` are used until it has returned.
  /// - Parameters:
  ///   - pointer: the implementation's async function pointer.
  ///   - receiver: the object or metatype, kept alive by the caller; 0 for none.
  /// - Returns: nil when memory ran out. To be freed with hkt_async_callee_free.
  package func callee(
    _ block: UnsafeMutableRawPointer, receiver: UInt, pointer: UInt, result: UnsafeMutableRawPointer?
  ) -> UnsafeMutablePointer<HKTAsyncCallee>? {
    guard let (entry, contextSize) = Self.read(pointer),
      let callee = hkt_async_callee_new(UnsafeMutableRawPointer(bitPattern: entry), contextSize, UInt32(8 * stackSlots))
    else { return nil }
    let frame = UnsafeMutableRawPointer(callee).advanced(by: MemoryLayout<HKTAsyncCallee>.offset(of: \.frame)!).assumingMemoryBound(
      to: HKTFrame.self)
    load(frame, block, receiver, result, frame.pointee.stack)
    // Where an async function finds the address of its result.
    if frame.pointee.indirect_result != 0 { frame.pointee.integer.0 = frame.pointee.indirect_result }
    return callee
  }

  /// The call has returned: as `run` answers.
  package func finish(
    _ callee: UnsafeMutablePointer<HKTAsyncCallee>, _ block: UnsafeMutableRawPointer, result: UnsafeMutableRawPointer?
  ) -> UInt {
    // What throws nothing leaves anything in the register.
    let error = plan.mayThrow ? UInt(callee.pointee.frame.results.error) : 0
    return withUnsafeMutablePointer(to: &callee.pointee.frame) { unload($0, block, result, error) }
  }
}
