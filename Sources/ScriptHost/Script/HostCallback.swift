// HostCallback — a Lua call of a host function, in Swift words. Nothing here can raise: C raises after Swift returned.
internal import CLuaShim

struct HostCallback {
  let raw: UnsafeMutablePointer<SHLCallback>

  var count: Int { Int(raw.pointee.argc) }
  func argument(_ index: Int) -> SHLValue { shl_arg(raw, Int32(index)) }

  func string(_ index: Int) -> String? {
    let value = argument(index)
    guard value.tag == SHL_STRING else { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: value.s.p, count: value.s.n), as: UTF8.self)
  }
  /// The key of an index operation, when it is a string.
  var name: String? {
    raw.pointee.name.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: raw.pointee.name_length), as: UTF8.self) }
  }
  /// The receiver's running call, for methods and fields of `call`.
  var call: UnsafeMutablePointer<ScriptCall>? { raw.pointee.host?.assumingMemoryBound(to: ScriptCall.self) }

  func fail(_ text: String) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { shl_fail(raw, $0.baseAddress, $0.count) }
    }
  }
  func done() -> Int32 { 0 }
  func done(_ value: SHLValue) -> Int32 { shl_return(raw, value) == SHL_OK ? 0 : fail("out of memory") }
  func done(_ text: String) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in bytes.withMemoryRebound(to: CChar.self) { done(shl_string($0.baseAddress, $0.count)) } }
  }
  /// The text of any argument, as `tostring` gives it.
  func text(_ index: Int) -> String {
    let value = shl_arg_text(raw, Int32(index))
    guard value.tag == SHL_STRING else { return "?" }
    return String(decoding: UnsafeRawBufferPointer(start: value.s.p, count: value.s.n), as: UTF8.self)
  }
  /// File and line of the Lua code that called.
  var caller: (source: String, line: Int) {
    var line: Int32 = 0
    let source = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { buffer in
      shl_caller(raw, buffer.baseAddress, 160, &line) ? String(cString: buffer.baseAddress!) : "?"
    }
    return (source, Int(line))
  }
  func field(_ table: SHLValue, _ name: String) -> SHLValue {
    var name = name
    return name.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { shl_table_field(&raw.pointee.scope, table, $0.baseAddress, $0.count) }
    }
  }
}

/// A host function with a patch as context.
func withPatch(_ context: UnsafeMutableRawPointer?, _ callback: UnsafeMutablePointer<SHLCallback>?, _ body: (Patch, HostCallback) -> Int32) -> Int32 {
  // The context is the patch, which outlives its state.
  Unmanaged<Patch>.fromOpaque(context!)._withUnsafeGuaranteedRef { body($0, HostCallback(raw: callback!)) }
}
