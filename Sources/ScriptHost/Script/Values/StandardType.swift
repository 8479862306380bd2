// StandardType — types of the standard library that scripts see as plain values, or that keep rules of their own.
internal import CLuaShim
internal import HookRuntime

enum StandardType: UInt, Sendable {
  case substring, character, unicodeScalar, staticString
  case int128, uint128, float16, float80
  case anyHashable

  private static let table: [Metadata: StandardType] = [
    Metadata(Substring.self): .substring, Metadata(Character.self): .character, Metadata(Unicode.Scalar.self): .unicodeScalar,
    Metadata(StaticString.self): .staticString, Metadata(Int128.self): .int128, Metadata(UInt128.self): .uint128,
    Metadata(Float16.self): .float16, Metadata(Float80.self): .float80, Metadata(AnyHashable.self): .anyHashable,
  ]

  static func of(_ info: TypeInfo) -> StandardType? { TypeNote(of: info).standard }
  /// By a look into the table: `of` remembers what it says.
  static func find(_ info: TypeInfo) -> StandardType? { table[info.metadata] }
}

extension ValueBridge {
  /// A value of a standard type that Lua has a plain value for; what does not fit keeps its type.
  func standard(_ type: StandardType, _ memory: UnsafeRawPointer, _ borrowed: BorrowedValue, _ scratch: Scratch) -> SHLValue {
    switch type {
    // The memory holds a value of the type its metadata names; each read copies it.
    case .substring:
      let part = memory.assumingMemoryBound(to: Substring.self).pointee
      return part.utf8.count > Self.longestText ? handle(memory, borrowed) : text(String(part), scratch)
    case .character: return text(String(memory.assumingMemoryBound(to: Character.self).pointee), scratch)
    case .unicodeScalar: return text(String(Character(memory.assumingMemoryBound(to: Unicode.Scalar.self).pointee)), scratch)
    case .staticString: return text(memory.assumingMemoryBound(to: StaticString.self).pointee.description, scratch)
    case .int128: return Int64(exactly: memory.loadUnaligned(as: Int128.self)).map(shl_int) ?? handle(memory, borrowed)
    case .uint128: return Int64(exactly: memory.loadUnaligned(as: UInt128.self)).map(shl_int) ?? handle(memory, borrowed)
    case .float16: return shl_number(Double(memory.loadUnaligned(as: Float16.self)))
    case .float80:
      let value = memory.assumingMemoryBound(to: Float80.self).pointee
      if value.isNaN { return shl_number(.nan) }
      return Double(exactly: value).map(shl_number) ?? handle(memory, borrowed)
    case .anyHashable: return natural(memory.assumingMemoryBound(to: AnyHashable.self).pointee.base, scratch)
    }
  }

  /// Initialises `memory` with a value of a standard type.
  func store(_ value: SHLValue, standard type: StandardType, _ info: TypeInfo, at memory: UnsafeMutableRawPointer) throws(BridgeError) {
    switch type {
    case .substring: memory.initializeMemory(as: Substring.self, to: Substring(try string(value, "Substring")))
    case .character:
      let text = try string(value, "Character")
      guard let only = text.first, text.count == 1 else {
        throw .outOfRange(value: "a string of \(text.count) characters", type: "Character")
      }
      memory.initializeMemory(as: Character.self, to: only)
    case .unicodeScalar:
      let scalars = try string(value, "Unicode.Scalar").unicodeScalars
      guard let only = scalars.first, scalars.count == 1 else {
        throw .outOfRange(value: "a string of \(scalars.count) scalars", type: "Unicode.Scalar")
      }
      memory.initializeMemory(as: Unicode.Scalar.self, to: only)
    case .staticString: throw .notMadeHere(type: "StaticString", why: "its text is part of the program's code")
    case .int128: memory.initializeMemory(as: Int128.self, to: try exact(value, "Int128"))
    case .uint128: memory.initializeMemory(as: UInt128.self, to: try exact(value, "UInt128"))
    case .float16:
      memory.initializeMemory(as: Float16.self, to: Float16(try number(value, "Float16", largest: Double(Float16.greatestFiniteMagnitude))))
    case .float80:
      guard let exact = Float80(value, classes) else { throw wrong("Float80", value) }
      memory.initializeMemory(as: Float80.self, to: exact)
    case .anyHashable:
      let given = try any(value)
      guard let made = given as? AnyHashable else {
        throw .noConformance(_typeName(Swift.type(of: given), qualified: true), type: "AnyHashable")
      }
      memory.initializeMemory(as: AnyHashable.self, to: made)
    }
  }
}
