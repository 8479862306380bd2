// CodeExits — the calls a function makes, and the jumps by which it is left.
internal import CHookTrampoline

enum CodeExits {
  /// Finds them, in the order of the code.
  /// - Parameters:
  ///   - code: the function's first byte; `size` bytes are read.
  ///   - address: where it runs.
  ///   - most: how many there may be.
  /// - Returns: nil where there are more, and where the bytes hold an instruction that the decoder does not know: files may be damaged.
  static func find(_ code: UnsafeRawPointer, size: UInt64, address: UInt64, most: Int) -> [HKTExit]? {
    var exits = [HKTExit](repeating: HKTExit(), count: most)
    // SIZE_MAX, which is -1 here, stands for an unknown instruction.
    let count = hkt_find_exits(code.assumingMemoryBound(to: UInt8.self), size, address, &exits, most)
    return (0...most).contains(count) ? Array(exits.prefix(count)) : nil
  }

  /// Whether the function returns, or goes on elsewhere, as far as its code tells.
  static func mayReturn(_ code: UnsafeRawPointer, size: UInt64, address: UInt64) -> Bool {
    hkt_may_return(code.assumingMemoryBound(to: UInt8.self), size, address)
  }
}
