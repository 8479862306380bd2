// FieldReader — reads the payload that FieldWriter wrote.
//
// The bytes may come from a damaged file or another program: nothing is trusted,
// the depth is bounded, and what cannot be read ends the fields.

/// The value of a field.
package enum FieldValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case double(Double)
  /// Text; `fullLength` is its length in bytes before it was cut, nil when it is whole.
  case string(String, fullLength: Int? = nil)
  case list([FieldValue])
  case object([Field])
  case masked
  /// An identifier of one word or, with `high`, of two.
  case identifier(UInt64, high: UInt64? = nil)

  /// What is shown instead of a masked value.
  package static let maskedText = "<masked>"
}

/// A named value.
package struct Field: Equatable, Sendable {
  package let name: String
  package let value: FieldValue

  package init(_ name: String, _ value: FieldValue) {
    self.name = name
    self.value = value
  }
}

/// Decodes one payload.
struct FieldReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  /// Nesting beyond this is not read.
  private static let maximumDepth = 64

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The record's name, read first.
  mutating func name() -> String { shortText() ?? "" }

  /// All fields up to the end of the bytes.
  mutating func fields() -> [Field] { group(depth: 0) }

  private mutating func group(depth: Int) -> [Field] {
    var fields: [Field] = []
    while let tag = byte().flatMap(FieldTag.init), let name = shortText(), tag != .end,
      let value = value(tag, depth: depth)
    {
      fields.append(Field(name, value))
    }
    return fields
  }

  private mutating func value(_ tag: FieldTag, depth: Int) -> FieldValue? {
    switch tag {
    case .null: .null
    case .no: .bool(false)
    case .yes: .bool(true)
    case .masked: .masked
    case .integer: integer(UInt64.self).map { .integer(Int64(bitPattern: $0)) }
    case .unsigned: integer(UInt64.self).map { .unsigned($0) }
    case .double: integer(UInt64.self).map { .double(Double(bitPattern: $0)) }
    case .identifier: integer(UInt64.self).map { .identifier($0) }
    case .longIdentifier: longIdentifier()
    case .string: integer(UInt32.self).flatMap { text(Int($0)) }.map { .string($0) }
    case .cutString: cutString()
    case .list where depth < Self.maximumDepth: .list(group(depth: depth + 1).map(\.value))
    case .object where depth < Self.maximumDepth: .object(group(depth: depth + 1))
    case .list, .object, .end: nil
    }
  }

  private mutating func cutString() -> FieldValue? {
    guard let kept = integer(UInt32.self), let whole = integer(UInt32.self), let text = text(Int(kept))
    else { return nil }
    return .string(text, fullLength: Int(whole))
  }

  private mutating func longIdentifier() -> FieldValue? {
    guard let high = integer(UInt64.self), let low = integer(UInt64.self) else { return nil }
    return .identifier(low, high: high)
  }

  private mutating func byte() -> UInt8? {
    guard position < bytes.count else { return nil }
    defer { position += 1 }
    return bytes[position]
  }

  private mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type) -> T? {
    guard position + T.bitWidth / 8 <= bytes.count else { return nil }
    defer { position += T.bitWidth / 8 }
    return T(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: T.self))
  }

  private mutating func shortText() -> String? { byte().flatMap { text(Int($0)) } }

  private mutating func text(_ length: Int) -> String? {
    guard length <= bytes.count - position else { return nil }
    defer { position += length }
    return String(decoding: bytes[position..<(position + length)], as: UTF8.self)
  }
}
