// Functions of the program that Lua can call.

package import CLuaShim

/// What a function sees of its call. Valid until the function returns; never leaves its thread.
package struct LuaCallback: ~Copyable {
  package let raw: UnsafeMutablePointer<SHLCallback>

  package init(_ raw: UnsafeMutablePointer<SHLCallback>) { self.raw = raw }

  /// For tables, references and calls. The scope is the callback's first member.
  package var scope: UnsafeMutablePointer<SHLScope> {
    UnsafeMutableRawPointer(raw).assumingMemoryBound(to: SHLScope.self)
  }

  /// Arguments given; for methods argument 0 is the receiver.
  package var count: Int { Int(raw.pointee.argc) }

  /// Argument by 0-based position; nil beyond the end. Bytes are valid until the function returns.
  package subscript(index: Int) -> SHLValue { shl_arg(raw, Int32(truncatingIfNeeded: index)) }

  /// Argument as text; nil when it is not a UTF-8 string.
  package func text(_ index: Int) -> String? {
    let value = self[index]
    return value.tag == SHL_STRING ? String(validating: value.bytes, as: UTF8.self) : nil
  }

  /// Appends a result; at most eight. Bytes are copied at once.
  package func give(_ value: SHLValue) { _ = shl_return(raw, value) }
  package func give(_ value: LuaValue) { value.withRaw { _ = shl_return(raw, $0) } }
  package func give(_ text: String) { give(LuaValue(text)) }

  /// Runs program code with the state's lock given back. Nothing of this call may be used inside.
  package func unlocked<Result>(_ body: () -> Result) -> Result {
    let unlocked = shl_unlock_all(scope)
    let result = body()
    _ = shl_relock(scope, unlocked)
    return result
  }
}

/// A closure on its way through C.
private final class Box: Sendable {
  let body: @Sendable (borrowing LuaCallback) throws -> Void
  init(_ body: @escaping @Sendable (borrowing LuaCallback) throws -> Void) { self.body = body }
}

extension LuaState {
  /// Makes a global function; "log.warn" makes or extends the table `log`. What it throws becomes a Lua error at the
  /// line of the caller.
  package func register(
    _ name: String, _ body: @escaping @Sendable (borrowing LuaCallback) throws -> Void
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

  /// Adds a class of handles; see `SHLClass`. `description.ctx` must outlive the state.
  package func addClass(_ description: SHLClass) throws(LuaFailure) -> UInt32 {
    var description = description
    var id: UInt32 = 0
    let status = shl_class(raw, &description, &id)
    if status != SHL_OK { throw LuaFailure(status, consuming: nil, of: raw) }
    return id
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
