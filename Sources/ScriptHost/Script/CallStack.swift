// CallStack — `call:stack()`: the functions of the program around a call, innermost first; frames of ours and of Lua are folded away.
//
// Stacks are read by frame pointers, which Swift code keeps and our own path through a call preserves. An async function is on no stack while
// it waits: its callers are the contexts it was given.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum CallStack {
  /// So many are answered where nothing is said, and at most.
  static let usual = 32, most = 128

  /// `call:stack(max?)`.
  static let function: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      guard let script = callback.call else { return callback.fail("this call is over; ask for its stack while its handler runs") }
      let wish = callback[1]
      guard wish.tag == SHL_NIL || wish.tag == SHL_INT && (1...Int64(most)).contains(wish.i) else {
        return callback.fail("'call:stack' takes how many functions to answer, 1 to \(most), found \(ValueBridge.spelled(wish))")
      }
      let limit = wish.tag == SHL_INT ? Int(wish.i) : usual
      // Naming code is the host's work: the first name of an image reads its symbols.
      shl_exempt_begin()
      let names = names(script.pointee.view.call, own: script.pointee.hook.map { $0.selector }, limit)
      shl_exempt_end()
      let table = shl_table_new(callback.scope, Int32(names.count), 0)
      guard table.tag == SHL_TABLE else { return callback.fail("out of memory") }
      for (index, name) in names.enumerated() {
        var copy = name
        let status = copy.withUTF8 { bytes in
          bytes.withMemoryRebound(to: CChar.self) { shl_table_set_at(callback.scope, table, Int64(index + 1), shl_string($0.baseAddress, $0.count)) }
        }
        guard status == SHL_OK else { return callback.fail("out of memory") }
      }
      callback.spent()
      return callback.done(table)
    }
  }

  /// - Parameter own: the function that is called.
  static func names(_ call: UnsafeMutablePointer<HKTCall>, own: String?, _ limit: Int) -> [String] {
    let callers = ThreadStacks.callers(call, limit: limit)
    let named = ThreadStacks.names(ofCallers: callers)
    return Array(((own.map { [$0] } ?? []) + named).prefix(limit))
  }
}

extension ThreadStacks {
  /// Addresses in the program to which the call and the calls around it return, innermost first.
  static func callers(_ call: UnsafeMutablePointer<HKTCall>, limit: Int) -> [UInt] {
    if call.pointee.is_async != 0 || call.pointee.site.pointee.flags & UInt64(HKT_SITE_ASYNC) != 0 { return waitingCallers(call, limit) }
    // Before its stack arguments are the caller's frame pointer, which the trampoline put there, and the return address.
    guard let stack = call.pointee.frame.pointee.stack else { return [] }
    var record = UInt(bitPattern: stack) - 16
    var found: [UInt] = []
    // Frames of ours between hooked calls are many.
    for _ in 0..<limit * 8 + 64 where found.count < limit * 4 {
      guard let (next, back) = words(at: record) else { break }
      found.append(back)
      guard next > record, next - record < 16 << 20, next & 7 == 0 else { break }
      record = next
    }
    return found
  }

  /// Of an async call: where those that wait for it go on. A context begins with the one around it and the code that goes on there.
  private static func waitingCallers(_ call: UnsafeMutablePointer<HKTCall>, _ limit: Int) -> [UInt] {
    var context = UInt(call.pointee.frame.pointee.async_context)
    var found: [UInt] = []
    while found.count < limit, context != 0, let (parent, resume) = words(at: context) {
      // The code begins there; as an address of a caller it is one that something returns to.
      found.append(resume + 1)
      if parent == context { break }
      context = parent
    }
    return found
  }

  private static func words(at address: UInt) -> (UInt, UInt)? {
    var pair: (UInt64, UInt64) = (0, 0)
    guard hkt_peek(UInt64(address), &pair, 16) else { return nil }
    // The mark of an async frame.
    return (UInt(pair.0 & ~(1 << 60)), UInt(pair.1))
  }
}
