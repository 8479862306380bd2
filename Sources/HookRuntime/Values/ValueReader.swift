// ValueReader — reads arguments and results of a call out of its frame. The one reader of saved registers.
package import CHookTrampoline

package struct ValueReader {
  package let frame: UnsafeMutablePointer<HKTFrame>
  package init(_ frame: UnsafeMutablePointer<HKTFrame>) { self.frame = frame }

  /// The 8 bytes at a place at entry.
  @inline(__always)
  package func argumentWord(_ place: Place) -> UInt64 {
    switch place {
    case .integer(let i):
      withUnsafePointer(to: &frame.pointee.integer) { UnsafeRawPointer($0).load(fromByteOffset: 8 * i, as: UInt64.self) }
    case .float(let i): withUnsafePointer(to: &frame.pointee.xmm) { UnsafeRawPointer($0).load(fromByteOffset: 16 * i, as: UInt64.self) }
    case .stack(let i): frame.pointee.stack[i]
    case .selfRegister: frame.pointee.self_register
    case .indirectResult: frame.pointee.indirect_result
    case .yielded, .x87: resultWord(place)
    }
  }

  /// The 8 bytes in a result register.
  @inline(__always)
  package func resultWord(_ place: Place) -> UInt64 {
    switch place {
    case .integer(let i), .yielded(let i):
      withUnsafePointer(to: &frame.pointee.results.integer) { UnsafeRawPointer($0).load(fromByteOffset: 8 * i, as: UInt64.self) }
    case .float(let i):
      withUnsafePointer(to: &frame.pointee.results.xmm) { UnsafeRawPointer($0).load(fromByteOffset: 16 * i, as: UInt64.self) }
    case .selfRegister: frame.pointee.results.self_register
    case .indirectResult: frame.pointee.indirect_result
    case .stack, .x87: 0
    }
  }

  /// Where the frame keeps a vector register, as it came in or as the callee left it.
  private func xmmAddress(_ i: Int, result: Bool) -> UnsafeRawPointer {
    let base = UnsafeRawPointer(frame)
    return base
      + (result
        ? MemoryLayout<HKTFrame>.offset(of: \.results)! + MemoryLayout<HKTResults>.offset(of: \.xmm)!
        : MemoryLayout<HKTFrame>.offset(of: \.xmm)!) + 16 * i
  }

  /// Where the trampoline keeps what a callee left on the x87 stack.
  static func x87(_ i: Int, in frame: UnsafeMutablePointer<HKTFrame>) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(frame) + MemoryLayout<HKTFrame>.offset(of: \.x87)! + 16 * i
  }

  /// Gives `body` the bytes of the value as they would lie in memory. Borrowed: valid only inside.
  package func withMemory<R>(_ location: Location, _ info: TypeInfo, isResult: Bool, _ body: (UnsafeRawPointer) -> R) -> R? {
    switch location {
    case .optimizedOut, .unknown: return nil
    case .parts: return location.isWhole ? withParts(location, info, isResult: isResult, body) : nil
    case .address(let place):
      // Nobody looks where a value without bytes is, and optimised callers pass anything.
      if info.size == 0 { return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 16) { body(UnsafeRawPointer($0.baseAddress!)) } }
      // An indirect result's address is what the caller passed in rax; swiftcc callees return it in rax as well, but need not.
      guard let memory = UnsafeRawPointer(bitPattern: UInt(argumentWord(place))) else { return nil }
      return body(memory)
    case .pieces(let pieces):
      let size = max(info.size, 16)
      return withUnsafeTemporaryAllocation(byteCount: (size + 15) / 8 * 8, alignment: 16) { buffer in
        let memory = buffer.baseAddress!
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: buffer.count)
        for piece in pieces { copy(piece, to: buffer, isResult: isResult) }
        return body(UnsafeRawPointer(memory))
      }
    }
  }

  /// Reads a value of which parts are missing, or lie in memory of their own: the missing ones are zeros, and
  /// `location.has` tells which they are. A moved value is no valid copy of types that care where they lie; those are
  /// never taken apart into more than their own address.
  package func withParts<R>(_ location: Location, _ info: TypeInfo, isResult: Bool, _ body: (UnsafeRawPointer) -> R) -> R? {
    guard case .parts(let parts) = location else { return withMemory(location, info, isResult: isResult, body) }
    guard info.metadata.isBitwiseTakable else { return nil }
    return withUnsafeTemporaryAllocation(byteCount: (max(info.size, 16) + 15) / 8 * 8, alignment: max(16, info.alignment)) { buffer in
      buffer.baseAddress!.initializeMemory(as: UInt8.self, repeating: 0, count: buffer.count)
      for part in parts {
        switch part.location {
        case .pieces(let pieces): for piece in pieces { copy(piece, to: buffer, isResult: isResult) }
        case .address(let place):
          guard let memory = UnsafeRawPointer(bitPattern: UInt(argumentWord(place))) else { continue }
          (buffer.baseAddress! + part.offset).copyMemory(from: memory + part.skip, byteCount: part.size)
        case .optimizedOut, .unknown, .parts: continue
        }
      }
      return body(UnsafeRawPointer(buffer.baseAddress!))
    }
  }

  /// Copies what lies in one register or slot to its place in the value.
  private func copy(_ piece: Piece, to value: UnsafeMutableRawBufferPointer, isResult: Bool) {
    let memory = value.baseAddress!
    if case .float(let i) = piece.place, piece.size > 8 {
      (memory + piece.offset).copyMemory(from: xmmAddress(i, result: isResult), byteCount: min(16, piece.size))
      return
    }
    if case .x87(let i) = piece.place {
      return (memory + piece.offset).copyMemory(from: Self.x87(i, in: frame), byteCount: min(piece.size, value.count - piece.offset))
    }
    withUnsafeBytes(of: isResult ? resultWord(piece.place) : argumentWord(piece.place)) {
      (memory + piece.offset).copyMemory(from: $0.baseAddress! + piece.skip, byteCount: min(piece.size, value.count - piece.offset, 8))
    }
  }
}
