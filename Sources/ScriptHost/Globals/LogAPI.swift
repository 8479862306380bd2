// LogAPI — log.debug, log.info, log.warn and log.error: a message with fields, to the journal and the terminal.
internal import CLuaShim
internal import Journal
internal import LuaBridge

enum LogAPI {
  static let functions: [(String, SHLFunction)] = [
    ("log.debug", { logLine("debug", $0, $1) }), ("log.info", { logLine("info", $0, $1) }),
    ("log.warn", { logLine("warn", $0, $1) }), ("log.error", { logLine("error", $0, $1) }),
  ]

  /// `log.info(message, fields?)` and its kin: records a line of the script's, with the fields that it gave.
  private static func logLine(_ level: String, _ context: UnsafeMutableRawPointer?, _ callback: UnsafeMutablePointer<SHLCallback>?) -> Int32
  {
    withPatch(context, callback) { patch, callback in
      guard callback.count > 0 else { return callback.fail("'log.\(level)' takes a message") }
      let (source, line) = callback.caller
      let fields = callback[1]
      guard fields.tag == SHL_NIL || fields.tag == SHL_TABLE else {
        return callback.fail("'log.\(level)' takes a message and a table of fields")
      }
      let message = callback.shown(0)
      patch.log.log(level: level, patch: patch.id, message: message, source: source, line: line) { writer in
        guard fields.tag == SHL_TABLE else { return }
        callback.forEach(in: fields) { key, value in
          if let name = key.text { add(value, patch.recordsSecrets ? FieldName(name, masked: false) : FieldName(given: name), &writer, callback) }
          return true
        }
      }
      return callback.done()
    }
  }

  /// Bytes of what is shown of a value of the program.
  private static let longestField = 256

  private static func add(_ value: SHLValue, _ name: FieldName, _ writer: inout FieldWriter, _ callback: LuaCallback) {
    switch value.tag {
    case SHL_NIL: writer.addNull(name)
    case SHL_BOOL: writer.add(name, value.b)
    case SHL_INT: writer.add(name, value.i)
    case SHL_NUMBER: writer.add(name, value.n)
    case SHL_STRING: writer.add(name, utf8: UnsafeRawBufferPointer(start: value.s.p, count: value.s.n))
    case SHL_HANDLE: addShown(value, name, &writer, callback)
    default: writer.add(name, ValueBridge.describe(value))
    }
  }

  /// What `print` shows of a value of the program.
  private static func addShown(_ value: SHLValue, _ name: FieldName, _ writer: inout FieldWriter, _ callback: LuaCallback) {
    guard var text = callback.shown(value) else { return writer.add(name, ValueBridge.describe(value)) }
    text.withUTF8 { bytes in
      var kept = min(bytes.count, longestField)
      // Whole characters.
      while kept > 0, kept < bytes.count, bytes[kept] & 0xC0 == 0x80 { kept -= 1 }
      writer.add(name, utf8: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<kept]), fullLength: bytes.count)
    }
  }
}
