// ProtobufWriter — the wire format of protocol buffers, as far as OTLP uses it (protobuf.dev/programming-guides/encoding).

struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  // MARK: Fields. Numbers are those of the message's definition; a default value is left out by the caller where it matters.

  mutating func message(_ field: Int, _ body: (inout ProtobufWriter) -> Void) {
    var inner = ProtobufWriter()
    body(&inner)
    self.bytes(field, inner.bytes)
  }

  mutating func string(_ field: Int, _ value: String) { bytes(field, Array(value.utf8)) }

  mutating func bytes(_ field: Int, _ value: [UInt8]) {
    tag(field, 2)
    varint(UInt64(value.count))
    bytes += value
  }

  mutating func uint(_ field: Int, _ value: UInt64) {
    tag(field, 0)
    varint(value)
  }
  mutating func int(_ field: Int, _ value: Int64) { uint(field, UInt64(bitPattern: value)) }
  mutating func bool(_ field: Int, _ value: Bool) { uint(field, value ? 1 : 0) }
  /// sint32: small negative numbers stay short.
  mutating func zigzag(_ field: Int, _ value: Int32) { uint(field, UInt64(UInt32(bitPattern: value << 1 ^ value >> 31))) }

  mutating func fixed64(_ field: Int, _ value: UInt64) {
    tag(field, 1)
    append(value)
  }
  mutating func double(_ field: Int, _ value: Double) { fixed64(field, value.bitPattern) }

  /// A packed list of varints.
  mutating func packed(_ field: Int, _ values: [UInt64]) {
    var inner = ProtobufWriter()
    for value in values { inner.varint(value) }
    bytes(field, inner.bytes)
  }

  // MARK: Parts

  private mutating func tag(_ field: Int, _ wireType: UInt64) { varint(UInt64(field) << 3 | wireType) }

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private mutating func append(_ value: UInt64) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
}
