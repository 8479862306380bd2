/// One byte of a mangled name, spelled as a character in patterns.
struct Letter: ExpressibleByUnicodeScalarLiteral, Equatable {
  let byte: UInt8

  @inline(__always) init(_ byte: UInt8) { self.byte = byte }
  @inline(__always) init(unicodeScalarLiteral scalar: Unicode.Scalar) {
    byte = UInt8(truncatingIfNeeded: scalar.value)
  }

  @inline(__always) var isDigit: Bool { byte &- 0x30 < 10 }
  @inline(__always) var isLower: Bool { byte &- 0x61 < 26 }
  @inline(__always) var isUpper: Bool { byte &- 0x41 < 26 }

  @inline(__always) static func ~= (pattern: Letter, value: Letter) -> Bool {
    pattern.byte == value.byte
  }
}
