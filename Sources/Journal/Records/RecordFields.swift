// RecordFields — the fields of a record, asked for by name and kind.

/// Looks fields up. What is missing, or of another kind, is nil: the bytes may come from another build.
struct RecordFields {
  private let fields: [Field]

  init(_ record: JournalRecord) { fields = record.fields }

  subscript(_ name: String) -> FieldValue? { fields.first { $0.name == name }?.value }

  func text(_ name: String) -> String? {
    if case .string(let text, _)? = self[name] { text } else { nil }
  }

  func bool(_ name: String) -> Bool? {
    if case .bool(let value)? = self[name] { value } else { nil }
  }

  func unsigned(_ name: String) -> UInt64? {
    switch self[name] {
    case .unsigned(let value)?: value
    case .integer(let value)? where value >= 0: UInt64(value)
    default: nil
    }
  }

  func integer(_ name: String) -> Int64? {
    switch self[name] {
    case .integer(let value)?: value
    case .unsigned(let value)?: Int64(exactly: value)
    default: nil
    }
  }

  /// A number of any kind.
  func double(_ name: String) -> Double? {
    switch self[name] {
    case .double(let value)?: value
    case .integer(let value)?: Double(value)
    case .unsigned(let value)?: Double(value)
    default: nil
    }
  }

  func identifier(_ name: String) -> UInt64? {
    if case .identifier(let value, nil)? = self[name] { value } else { nil }
  }

  func trace(_ name: String) -> TraceID? {
    if case .identifier(let low, let high?)? = self[name] { TraceID(high: high, low: low) } else { nil }
  }

  func object(_ name: String) -> [Field] {
    if case .object(let fields)? = self[name] { fields } else { [] }
  }

  func list(_ name: String) -> [FieldValue] {
    if case .list(let values)? = self[name] { values } else { [] }
  }
}

extension FieldWriter {
  /// Adds a value that was read, or made, as a whole.
  package mutating func add(_ name: FieldName, _ value: FieldValue) {
    switch value {
    case .null: addNull(name)
    case .bool(let value): add(name, value)
    case .integer(let value): add(name, value)
    case .unsigned(let value): add(name, value)
    case .double(let value): add(name, value)
    case .string(var text, let whole): text.withUTF8 { add(name, utf8: UnsafeRawBufferPointer($0), fullLength: whole) }
    case .masked: add(FieldName(masking: name), false)
    case .identifier(let low, nil): add(name, identifier: low)
    case .identifier(let low, let high?): add(name, identifier: low, high: high)
    case .list(let values):
      beginList(name)
      for value in values { add(FieldWriter.noName, value) }
      end()
    case .object(let fields): add(name, fields)
    }
  }

  /// Adds a group of named fields; nothing when there are none. Their names are the caller's to have masked.
  package mutating func add(_ name: FieldName, _ fields: [Field]) {
    if fields.isEmpty { return }
    beginObject(name)
    for field in fields { add(FieldName(field.name, masked: false), field.value) }
    end()
  }
}
