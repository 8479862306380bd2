// FunctionCall — calls a function value of the program: its arguments from memory, its result into memory.
package import CHookTrampoline
private import SwiftMangling
private import Glibc

extension FunctionPlan {
  /// Calls the code, as compiled code would; the program's hooks fire inside. All checks were made before.
  ///
  /// Owned arguments are given away. All others stay the caller's; `inout` ones hold afterwards what the callee left.
  /// - Parameters:
  ///   - context: the closure's context, kept alive by the caller; 0 for functions without.
  ///   - arguments: the address of each argument's value.
  ///   - result: room for the result (at least 16 bytes), which is the caller's afterwards.
  ///   - trap: a trap of the function ends up here, and its call is left: the arguments are lost, there is no result. nil: it is the
  ///     program's.
  /// - Returns: the thrown error's box, owned by the caller, and nothing in `result`; 0 for none.
  package func invoke(
    code: UInt, context: UInt, arguments: UnsafeBufferPointer<UnsafeMutableRawPointer>, result: UnsafeMutableRawPointer,
    trap: UnsafeMutablePointer<HKTTrap>? = nil
  ) -> UInt {
    let size = MemoryLayout<HKTFrame>.size
    return withUnsafeTemporaryAllocation(byteCount: size + call.stack.bytes, alignment: 16) { memory in
      memset(memory.baseAddress!, 0, memory.count)
      let frame = memory.baseAddress!.bindMemory(to: HKTFrame.self, capacity: 1)
      frame.pointee.stack = (memory.baseAddress! + size).assumingMemoryBound(to: UInt64.self)
      frame.pointee.indirect_result = UInt64(UInt(bitPattern: result))
      frame.pointee.self_register = UInt64(context)
      for (index, argument) in arguments.enumerated() { put(argument, index, frame) }
      guard case .parts(let parts) = call.result.location else { return run(code, frame, result, error, trap) }
      // Elements in memory go straight to where they lie in the tuple; those that come together are packed otherwise.
      for part in parts where part.location != .address(.indirectResult) { put(result + part.offset, part.location, frame, isResult: true) }
      let info = call.result.info
      return withUnsafeTemporaryAllocation(byteCount: max(info?.size ?? 0, 16), alignment: max(info?.alignment ?? 0, 16)) { packed in
        frame.pointee.indirect_result = UInt64(UInt(bitPattern: packed.baseAddress!))
        return run(code, frame, result, error, trap)
      }
    }
  }

  private func run(
    _ code: UInt, _ frame: UnsafeMutablePointer<HKTFrame>, _ result: UnsafeMutableRawPointer,
    _ error: (info: TypeInfo, location: Location)?, _ trap: UnsafeMutablePointer<HKTTrap>?
  ) -> UInt {
    guard let error else { return run(code, frame, result, trap) }
    return withUnsafeTemporaryAllocation(byteCount: max(error.info.size, 16), alignment: max(error.info.alignment, 16)) { room in
      put(room.baseAddress!, error.location, frame, isResult: true)
      if run(code, frame, result, trap) == 0 { return 0 }
      if case .pieces = error.location {
        _ = ValueReader(frame).withMemory(error.location, error.info, isResult: true) {
          // The bits are moved, as those of a result.
          room.baseAddress!.copyMemory(from: $0, byteCount: error.info.size)
        }
      }
      return error.info.metadata.box(room.baseAddress!)
    }
  }

  private func run(
    _ code: UInt, _ frame: UnsafeMutablePointer<HKTFrame>, _ result: UnsafeMutableRawPointer, _ trap: UnsafeMutablePointer<HKTTrap>?
  ) -> UInt {
    let target = UnsafeMutableRawPointer(bitPattern: code)
    if let trap {
      if !hkt_call_program_contained(frame, target, call.stack.bytes, trap) { return 0 }
    } else {
      hkt_call_program(frame, target, call.stack.bytes)
    }
    if shape.isThrowing, frame.pointee.results.error != 0 { return UInt(frame.pointee.results.error) }
    guard let info = call.result.info else { return 0 }
    switch call.result.location {
    case .pieces, .parts:
      _ = ValueReader(frame).withMemory(call.result.location, info, isResult: true) {
        // The bits are moved: the registers hold nothing any more.
        result.copyMemory(from: $0, byteCount: info.size)
      }
    case .address, .optimizedOut, .unknown: break
    }
    return 0
  }

  /// Puts the argument's value into the registers and slots of the frame.
  private func put(_ memory: UnsafeMutableRawPointer, _ index: Int, _ frame: UnsafeMutablePointer<HKTFrame>) {
    let argument = call.arguments[index]
    put(memory, argument.location, frame)
    // C callees rely on narrow integers being widened.
    if shape.convention == .c, case .pieces(let pieces) = argument.location, case .integer(let bits, true)? = argument.info?.kind, bits < 64
    {
      let word =
        bits == 8 ? Int64(memory.load(as: Int8.self)) : bits == 16 ? Int64(memory.load(as: Int16.self)) : Int64(memory.load(as: Int32.self))
      ValueWriter.set(pieces[0].place, UInt64(bitPattern: word), in: frame)
    }
  }

  /// - Parameter isResult: what is in registers is not there yet; only addresses are passed.
  private func put(
    _ memory: UnsafeMutableRawPointer, _ location: Location, _ frame: UnsafeMutablePointer<HKTFrame>, isResult: Bool = false
  ) {
    switch location {
    case .pieces where isResult: break
    case .address(let place): ValueWriter.set(place, UInt64(UInt(bitPattern: memory)), in: frame)
    case .pieces(let pieces): for piece in pieces { ValueWriter.set(piece, memory, in: frame) }
    case .parts(let parts):
      for part in parts {
        // Pieces count from the start of the whole value, an address is the part's own.
        if case .address = part.location { put(memory + part.offset, part.location, frame) } else { put(memory, part.location, frame) }
      }
    case .optimizedOut, .unknown: break
    }
  }
}

extension Metadata {
  /// Moves the error value of this type at `memory` into a box, as `any Error` has it; 0 when the type is no error.
  package func box(_ memory: UnsafeMutableRawPointer) -> UInt {
    func move<E: Error>(_ type: E.Type) -> UInt {
      ErrorBox(memory.assumingMemoryBound(to: E.self).move()).word
    }
    guard let type = type as? any Error.Type else { return 0 }
    return move(type)
  }
}

extension FunctionPlan {
  /// Makes the error in `box` what the call throws. False, with nothing changed, where the function throws errors of
  /// another type; else the box is given away.
  package func setError(_ box: UInt, in call: UnsafeMutablePointer<HKTCall>) -> Bool {
    guard shape.isThrowing else { return false }
    let frame = call.pointee.frame!
    guard let error else {
      frame.pointee.results.error = UInt64(box)
      return true
    }
    // The word is an owned reference to the box that `any Error` is.
    let held = unsafeBitCast(box, to: (any Error).self)
    guard Metadata(Swift.type(of: held)) == error.info.metadata else { return false }
    let value = OwnedValue(uninitialized: error.info)
    func store<E: Error>(_ error: E) { value.memory.bindMemory(to: E.self, capacity: 1).initialize(to: error) }
    store(held)
    Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: box)!).release()
    let place = ResultPlan(type: .tuple([]), info: error.info, location: error.location)
    if case .address(let at) = error.location {
      let target = UnsafeMutableRawPointer(bitPattern: UInt(ValueReader(frame).argumentWord(at)))
      if error.info.size > 0 { target?.copyMemory(from: value.memory, byteCount: error.info.size) }
      value.forget()
    } else {
      ValueWriter(call).setResult(place, to: value)
    }
    frame.pointee.results.error = 1
    return true
  }
}
