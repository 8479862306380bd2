// AwaitedFunction — the function that an async body goes on to and does nothing else: a thunk's, a base's whose arguments the optimiser dropped.
//
// Its code has no branch, and names one async function pointer: the jump at its end goes where that leads.
private import CHookTrampoline

extension ImageCatalog {
  /// Nil of bodies that do more. Asked under the lock.
  func awaited(by body: Body) -> ImageSymbol? {
    let address = body.address - bias, pointers = asyncEntries.pointers
    guard body.size <= Self.longestThunk, !pointers.isEmpty,
      let code = file.bytes(at: address, count: body.size)?.baseAddress?.assumingMemoryBound(to: UInt8.self), Self.isStraight(code, body.size)
    else { return nil }
    var use = HKTBranch()
    guard hkt_find_uses(code, UInt64(body.size), address, pointers, pointers.count, &use, 1) == 1, let entry = asyncEntries.code(of: use.to),
      entry != address
    else { return nil }
    return symbols.symbols(at: entry).first { $0.isFunction && $0.size > 0 }
  }

  /// The longest code that is taken for a thunk, in bytes.
  private static let longestThunk = 256

  /// All of the code is run, up to a jump to where a register says, and calls no more than what makes the context.
  private static func isStraight(_ code: UnsafePointer<UInt8>, _ size: Int) -> Bool {
    var at = 0, calls = 0
    var seen = HKTQuickDecode()
    while at < size, hkt_quick_decode(code + at, UInt64(size - at), &seen) {
      switch seen.course {
      case HKT_COURSE_JUMP_INDIRECT: return true
      case HKT_COURSE_CALL where calls == 0: calls += 1
      case HKT_COURSE_NEXT: break
      default: return false
      }
      at += Int(seen.length)
    }
    return false
  }
}
