// Functions of the program that Lua can call.

private import CLuaShim

/// A closure on its way through C.
private final class Box: Sendable {
  let body: @Sendable (LuaCallback) throws -> Void
  init(_ body: @escaping @Sendable (LuaCallback) throws -> Void) { self.body = body }
}

extension LuaState {
  /// Makes a global function; "log.warn" makes or extends the table `log`. What it throws becomes a Lua error at the
  /// line of the caller.
  package func register(
    _ name: String, _ body: @escaping @Sendable (LuaCallback) throws -> Void
  ) throws(LuaFailure) {
    let box = Box(body)
    keepAlive(box)
    let status = shl_register(
      raw, name,
      { context, callback in
        guard let context, let callback else { return -1 }
        // The context is the box given below, kept alive by the state that calls us.
        let box = Unmanaged<Box>.fromOpaque(context).takeUnretainedValue()
        do {
          try box.body(LuaCallback(callback))
          return 0
        } catch {
          var text = String(describing: error)
          return text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { shl_fail(callback, $0.baseAddress, $0.count) }
          }
        }
      }, Unmanaged.passUnretained(box).toOpaque())
    if status != SHL_OK { throw LuaFailure(status, consuming: nil, of: raw) }
  }

  /// Sends each `print` here: text without a newline, chunk name, line.
  package func setPrint(_ body: @escaping @Sendable (_ text: String, _ source: String, _ line: Int) -> Void) {
    let box = PrintBox(body)
    keepAlive(box)
    shl_set_sink(
      raw,
      { context, text, length, source, line in
        guard let context else { return }
        // The context is the box given below, kept alive by the state that calls us.
        let box = Unmanaged<PrintBox>.fromOpaque(context).takeUnretainedValue()
        let bytes = UnsafeRawBufferPointer(start: text, count: length)
        box.body(String(decoding: bytes, as: UTF8.self), source.map { String(cString: $0) } ?? "", Int(line))
      }, Unmanaged.passUnretained(box).toOpaque())
  }
}

private final class PrintBox: Sendable {
  let body: @Sendable (String, String, Int) -> Void
  init(_ body: @escaping @Sendable (String, String, Int) -> Void) { self.body = body }
}
