// LuaCallback — a call from Lua to a function of the host.
package import CLuaShim

/// What a host function sees of its call. Valid until the function returns; never leaves its thread.
///
/// Nothing here raises: C raises after Swift has returned.
package struct LuaCallback {
  package let raw: UnsafeMutablePointer<SHLCallback>

  package init(_ raw: UnsafeMutablePointer<SHLCallback>) { self.raw = raw }

  /// For tables, references and calls. The scope is the callback's first member.
  package var scope: UnsafeMutablePointer<SHLScope> {
    UnsafeMutableRawPointer(raw).assumingMemoryBound(to: SHLScope.self)
  }

  // MARK: Arguments

  /// Arguments given; for methods argument 0 is the receiver.
  package var count: Int { Int(raw.pointee.argc) }

  /// Argument by 0-based position; nil beyond the end. Bytes are valid until the function returns.
  package subscript(index: Int) -> SHLValue { shl_arg(raw, Int32(truncatingIfNeeded: index)) }

  /// Argument as text; nil when it is not a UTF-8 string.
  package func text(_ index: Int) -> String? { self[index].text }

  /// The text of any argument, as `tostring` gives it.
  package func shown(_ index: Int) -> String {
    shl_arg_text(raw, Int32(truncatingIfNeeded: index)).text ?? "?"
  }

  /// The text of any value, as `tostring` gives it; nil where that is no UTF-8.
  package func shown(_ value: SHLValue) -> String? {
    let mark = shl_mark(scope)
    defer { shl_drop(scope, mark) }
    return shl_value_text(scope, value).text
  }

  /// The key of an index operation, when it is a string.
  package var name: String? {
    raw.pointee.name.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: raw.pointee.name_length), as: UTF8.self) }
  }

  /// The bytes of that key, valid until the function returns. Lua keeps short strings once, at one address.
  package var rawName: UnsafeRawBufferPointer? {
    raw.pointee.name.map { UnsafeRawBufferPointer(start: $0, count: raw.pointee.name_length) }
  }

  /// File and line of the Lua code that called.
  package var caller: (source: String, line: Int) {
    var line: Int32 = 0
    let source = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { buffer in
      shl_caller(raw, buffer.baseAddress, 160, &line) ? String(cString: buffer.baseAddress!) : "?"
    }
    return (source, Int(line))
  }

  /// Calls `body` with each key and value of a table; ends at once when it answers false.
  package func forEach(in table: SHLValue, _ body: (SHLValue, SHLValue) -> Bool) { scope.forEach(in: table, body) }

  // MARK: Results

  /// Appends a result; at most eight. Bytes are copied at once.
  package func give(_ value: SHLValue) { _ = shl_return(raw, value) }
  package func give(_ value: LuaValue) { value.withRaw { _ = shl_return(raw, $0) } }
  package func give(_ text: String) { give(LuaValue(text)) }

  /// What a host function answers when it is done.
  package func done() -> Int32 { 0 }
  package func done(_ value: SHLValue) -> Int32 { shl_return(raw, value) == SHL_OK ? 0 : fail("out of memory") }
  package func done(_ text: String) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { done(shl_string($0.baseAddress, $0.count)) }
    }
  }

  /// What it answers when it failed: a Lua error with the caller's place before the text.
  package func fail(_ text: String) -> Int32 {
    // What fails is caught and tried again at no cost for the script, however long it took.
    spent()
    var text = text
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { shl_fail(raw, $0.baseAddress, $0.count) }
    }
  }

  // MARK: Time

  /// For functions that may take long, when they are done: the script is charged for it, and stopped where its time is over.
  package func spent() { shl_spent(raw) }

  /// The call is being stopped: what was found out for it may be half of it, and is kept nowhere.
  package var isStopped: Bool { shl_is_stopped(raw) }

  // MARK: The lock

  /// Runs program code with the state's lock given back. Nothing of this call may be used inside.
  package func unlocked<Result>(_ body: () -> Result) -> Result {
    let unlocked = shl_unlock_all(scope)
    let result = body()
    _ = shl_relock(scope, unlocked)
    return result
  }
}

extension SHLValue {
  /// The text of a UTF-8 string; nil for everything else.
  package var text: String? { tag == SHL_STRING ? String(validating: bytes, as: UTF8.self) : nil }
}

extension UnsafeMutablePointer<SHLScope> {
  /// Calls `body` with each key and value of a table; ends at once when it answers false.
  package func forEach(in table: SHLValue, _ body: (SHLValue, SHLValue) -> Bool) {
    var cursor: Int32 = 0
    var key = SHLValue()
    var value = SHLValue()
    let mark = shl_mark(self)
    while shl_table_next(self, table, &cursor, &key, &value), body(key, value) {}
    shl_drop(self, mark)
  }
}
