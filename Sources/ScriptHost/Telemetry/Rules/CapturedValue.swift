// CapturedValue — what a path led to, for as long as the call that owns it is looked at. Owns nothing.
internal import HookRuntime
internal import Journal

enum CapturedValue {
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case double(Double)
  case text(UnsafeRawBufferPointer)
  /// Anything else, as it lies in memory.
  case other(UnsafeRawPointer, Unmanaged<TypeInfo>)
  /// It cannot be read; why, in a word or two.
  case missing(String)

  /// The value at `memory`.
  init(_ memory: UnsafeRawPointer, _ type: Unmanaged<TypeInfo>) {
    self = type._withUnsafeGuaranteedRef { info in
      switch info.kind {
      case .bool: .bool(memory.load(as: UInt8.self) & 1 == 1)
      case .integer(64, true): .integer(memory.loadUnaligned(as: Int64.self))
      case .integer(64, false): .unsigned(memory.loadUnaligned(as: UInt64.self))
      case .integer(32, true): .integer(Int64(memory.loadUnaligned(as: Int32.self)))
      case .integer(32, false): .unsigned(UInt64(memory.loadUnaligned(as: UInt32.self)))
      case .integer(16, true): .integer(Int64(memory.loadUnaligned(as: Int16.self)))
      case .integer(16, false): .unsigned(UInt64(memory.loadUnaligned(as: UInt16.self)))
      case .integer(8, true): .integer(Int64(memory.load(as: Int8.self)))
      case .integer(8, false): .unsigned(UInt64(memory.load(as: UInt8.self)))
      case .float(64): .double(memory.loadUnaligned(as: Double.self))
      case .float(32): .double(Double(memory.loadUnaligned(as: Float.self)))
      default: .other(memory, type)
      }
    }
  }

  /// Whether a condition that names it alone holds.
  var isTrue: Bool {
    switch self {
    case .null, .missing: false
    case .bool(let value): value
    default: true
    }
  }

  /// As a number, where it is one.
  var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .double(let value): value
    case .bool(let value): value ? 1 : 0
    default: nil
    }
  }

  /// Adds the value to a record.
  func add(_ name: FieldName.Borrowed, _ printer: ValuePrinter, _ writer: inout FieldWriter) {
    switch self {
    case .null: writer.addNull(name)
    case .bool(let value): writer.add(name, value)
    case .integer(let value): writer.add(name, value)
    case .unsigned(let value): writer.add(name, value)
    case .double(let value): writer.add(name, value)
    case .text(let bytes): writer.add(name, utf8: bytes)
    case .missing(let why): Self.add(name, "<\(why)>", &writer)
    case .other: Self.add(name, shown(printer), &writer)
    }
  }

  private static func add(_ name: FieldName.Borrowed, _ text: String, _ writer: inout FieldWriter) {
    var text = text
    text.withUTF8 { writer.add(name, utf8: UnsafeRawBufferPointer($0)) }
  }

  /// The value as people read it.
  func shown(_ printer: ValuePrinter) -> String {
    switch self {
    case .null: return "nil"
    case .bool(let value): return "\(value)"
    case .integer(let value): return "\(value)"
    case .unsigned(let value): return "\(value)"
    case .double(let value): return "\(value)"
    case .text(let bytes): return String(decoding: bytes, as: UTF8.self)
    case .missing(let why): return "<\(why)>"
    case .other(let memory, let type):
      var text = ""
      printer.print(memory, type.takeUnretainedValue(), into: &text)
      return text
    }
  }
}
