// ValueBridge+Store — from Lua values to Swift memory: every type exactly, or an error that says what was expected.
internal import CLuaShim
private import Glibc
internal import HookRuntime

extension ValueBridge {
  /// Initialises `memory` with the Swift value of `value`.
  func store(_ value: SHLValue, as info: TypeInfo, at memory: UnsafeMutableRawPointer) throws(BridgeError) {
    if Self.isNone(value) { return try store(info.isAny ? Self.null : shl_nil(), as: info, at: memory) }
    switch info.kind {
    case .bool:
      if value.tag != SHL_BOOL { return try storeHandle(value, info, memory, "Bool") }
      memory.storeBytes(of: value.b ? 1 : 0, as: UInt8.self)
    case .integer(let bits, let signed): try storeInteger(value, bits, signed, info, memory)
    case .float(32):
      memory.storeBytes(of: Float(try number(value, "Float", largest: Double(Float.greatestFiniteMagnitude))), as: Float.self)
    case .float: memory.storeBytes(of: try number(value, "Double", largest: .infinity), as: Double.self)
    case .string:
      if value.tag == SHL_HANDLE { return try storeHandle(value, info, memory, "String") }
      memory.bindMemory(to: String.self, capacity: 1).initialize(to: try string(value, "String"))
    case .cString:
      if value.tag == SHL_NIL { return memory.storeBytes(of: 0, as: UInt.self) }
      if value.tag == SHL_STRING { throw .notMadeHere(type: "cstring", why: "who frees it is not known here") }
      try storeHandle(value, info, memory, "cstring")
    case .optional(let payload): try storeOptional(value, info, payload, memory)
    case .object: try storeObject(value, info, memory)
    case .void: try checkVoid(value)
    case .existential: try storeExistential(value, info, memory)
    case .structure: try storeStructure(value, info, memory)
    case .tuple: try storeTuple(value, info, memory)
    case .enumeration: try storeCase(value, info, memory)
    case .closure: try ClosureBridge.store(value, as: info, at: memory, self)
    case .metatype, .opaque: try storeHandle(value, info, memory, info.name)
    }
  }

  /// `()` has one value: nothing, `swift.null` where nil would be a hole, or what a `some` of it is read as.
  private func checkVoid(_ value: SHLValue) throws(BridgeError) {
    let isOne = value.tag == SHL_NIL || Self.isNull(value) || value.tag == SHL_BOOL && value.b
    if !isOne { throw .wrongType(expected: "(), which is nil or true", found: describe(value)) }
  }

  /// Copies the value a handle stands for, if it is of the very type.
  func storeHandle(_ value: SHLValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer, _ expected: String) throws(BridgeError) {
    guard let borrowed = classes.borrowedValue(value) else {
      if value.tag == SHL_NIL { throw .notNil(type: expected) }
      if let box = classes.errorBox(value), let (error, type) = ErrorAPI.opened(box), type.metadata == info.metadata {
        return info.metadata.initialize(memory, copying: error)
      }
      if value.tag == SHL_HANDLE { throw wrong(expected, value) }
      switch info.kind {
      case .metatype, .opaque: throw .notConvertible(type: info.name)
      default: throw wrong(expected, value)
      }
    }
    guard borrowed.info === info || borrowed.info.metadata == info.metadata && borrowed.info.size == info.size else {
      throw .wrongType(expected: info.name, found: "a value of type \(borrowed.info.name)")
    }
    guard info.isCopyable else { throw .notCopyable(type: info.name) }
    guard borrowed.withMemory({ info.metadata.initialize(memory, copying: $0) }) != nil else { throw .gone(ValueAPI.gone(borrowed)) }
  }

  /// Makes an Optional at `memory`, which holds none yet.
  /// - Parameter payload: the type in it.
  private func storeOptional(_ value: SHLValue, _ info: TypeInfo, _ payload: TypeInfo, _ memory: UnsafeMutableRawPointer)
    throws(BridgeError)
  {
    if let borrowed = classes.borrowedValue(value), borrowed.info.metadata == info.metadata { return try storeHandle(value, info, memory, info.name) }
    if value.tag == SHL_NIL { return info.metadata.injectEnumTag(memory, 1) }
    if Self.isNull(value) {
      // A nested none where there can be one, else none.
      switch payload.kind {
      case .optional: try store(shl_nil(), as: payload, at: memory)
      case .existential where payload.isAny: try store(value, as: payload, at: memory)
      default: return info.metadata.injectEnumTag(memory, 1)
      }
    } else {
      try store(value, as: payload, at: memory)
    }
    info.metadata.injectEnumTag(memory, 0)
  }

  // MARK: Numbers and text

  /// The bytes as text, nil when they are not UTF-8. Decoding repairs what is invalid, so text that has the same bytes was
  /// valid; `String(validating:as:)` would do, but is not specialised and takes three times as long.
  static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    var text = String(decoding: bytes, as: UTF8.self)
    let isSame = text.withUTF8 {
      $0.count == bytes.count && (bytes.isEmpty || memcmp($0.baseAddress!, bytes.baseAddress!, bytes.count) == 0)
    }
    return isSame ? text : nil
  }

  func string(_ value: SHLValue, _ type: String) throws(BridgeError) -> String {
    guard value.tag == SHL_STRING else { throw wrong(type, value) }
    guard let text = Self.text(UnsafeRawBufferPointer(start: value.s.p, count: value.s.n)) else { throw .invalidUTF8 }
    return text
  }

  /// A floating-point number: exact, but for the digits a narrower type lacks.
  func number(_ value: SHLValue, _ type: String, largest: Double) throws(BridgeError) -> Double {
    switch value.tag {
    case SHL_NUMBER:
      if value.n.isFinite, value.n.magnitude > largest { throw .outOfRange(value: "\(value.n)", type: type) }
      return value.n
    case SHL_INT:
      guard let exact = Double(exactly: value.i), exact.magnitude <= largest else { throw .outOfRange(value: "\(value.i)", type: type) }
      return exact
    default:
      if let borrowed = classes.borrowedValue(value), let number = borrowed.withMemory({ Self.number($0, borrowed.info) }) ?? nil { return number }
      throw wrong(type, value)
    }
  }

  private static func number(_ memory: UnsafeRawPointer, _ info: TypeInfo) -> Double? {
    switch info.kind {
    case .float(32): return Double(memory.loadUnaligned(as: Float.self))
    case .float: return memory.loadUnaligned(as: Double.self)
    default: return nil
    }
  }

  /// Puts an integer of so many bits at `memory`, if it fits.
  private func storeInteger(_ value: SHLValue, _ bits: Int, _ signed: Bool, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer)
    throws(BridgeError)
  {
    if !signed, bits == 64 { return memory.storeBytes(of: try exact(value, ValuePrinter.short(info.name)) as UInt64, as: UInt64.self) }
    let number: Int64 = try exact(value, ValuePrinter.short(info.name))
    let fits =
      switch (bits, signed) {
      case (8, true): Int8(exactly: number) != nil
      case (16, true): Int16(exactly: number) != nil
      case (32, true): Int32(exactly: number) != nil
      case (8, false): UInt8(exactly: number) != nil
      case (16, false): UInt16(exactly: number) != nil
      case (32, false): UInt32(exactly: number) != nil
      default: true
      }
    guard fits else { throw .outOfRange(value: "\(number)", type: ValuePrinter.short(info.name)) }
    withUnsafeBytes(of: number.littleEndian) { memory.copyMemory(from: $0.baseAddress!, byteCount: bits / 8) }
  }

  /// An integer, from a Lua number or a handle of any integer type.
  func exact<I: FixedWidthInteger>(_ value: SHLValue, _ type: @autoclosure () -> String) throws(BridgeError) -> I {
    switch value.tag {
    case SHL_INT:
      guard let exact = I(exactly: value.i) else { throw .outOfRange(value: "\(value.i)", type: type()) }
      return exact
    case SHL_NUMBER:
      guard let exact = I(exactly: value.n) else { throw .outOfRange(value: "\(value.n)", type: type()) }
      return exact
    default:
      guard let wide = WideInteger(value, classes) else { throw wrong(type(), value) }
      guard let exact = I(exactly: wide) else { throw .outOfRange(value: wide.description, type: type()) }
      return exact
    }
  }

  // MARK: Objects

  /// Puts a reference to the handle's object at `memory`, retained, if it is of the class.
  private func storeObject(_ value: SHLValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    guard classes.isObject(value) else { throw wrong(info.name, value) }
    guard let object = classes.object(value) else { throw classes.gone(value) }
    guard Instance.type(object).isSubclass(of: info.metadata) else {
      throw .wrongType(expected: info.name, found: Instance.typeName(object))
    }
    try storeReference(object, memory)
  }

  /// Puts a reference at `memory`, retained, unless the object is about to end.
  func storeReference(_ object: UnsafeRawPointer, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    if Instance.isEnding(UInt(bitPattern: object)) { throw .ending(type: Instance.typeName(object)) }
    memory.bindMemory(to: AnyObject.self, capacity: 1).initialize(to: Instance.value(UInt(bitPattern: object)))
  }

  func wrong(_ expected: String, _ value: SHLValue) -> BridgeError {
    value.tag == SHL_NIL ? .notNil(type: expected) : .wrongType(expected: expected, found: describe(value))
  }
}

/// An integer of any standard type, exactly.
enum WideInteger: Comparable, CustomStringConvertible {
  case signed(Int128)
  case unsigned(UInt128)  // above Int128.max

  /// A Lua integer, or a handle whose value is an integer.
  init?(_ value: SHLValue, _ classes: HandleClasses) {
    if value.tag == SHL_INT { self = .signed(Int128(value.i)); return }
    guard let borrowed = classes.borrowedValue(value), let found = borrowed.withMemory({ WideInteger($0, borrowed.info) }), let found else {
      return nil
    }
    self = found
  }

  init?(_ memory: UnsafeRawPointer, _ info: TypeInfo) {
    switch info.kind {
    case .integer(8, true): self = .signed(Int128(memory.load(as: Int8.self)))
    case .integer(16, true): self = .signed(Int128(memory.loadUnaligned(as: Int16.self)))
    case .integer(32, true): self = .signed(Int128(memory.loadUnaligned(as: Int32.self)))
    case .integer(_, true): self = .signed(Int128(memory.loadUnaligned(as: Int64.self)))
    case .integer(8, false): self = .signed(Int128(memory.load(as: UInt8.self)))
    case .integer(16, false): self = .signed(Int128(memory.loadUnaligned(as: UInt16.self)))
    case .integer(32, false): self = .signed(Int128(memory.loadUnaligned(as: UInt32.self)))
    case .integer: self = .signed(Int128(memory.loadUnaligned(as: UInt64.self)))
    default:
      switch StandardType.of(info) {
      case .int128: self = .signed(memory.loadUnaligned(as: Int128.self))
      case .uint128:
        let value = memory.loadUnaligned(as: UInt128.self)
        self = Int128(exactly: value).map(WideInteger.signed) ?? .unsigned(value)
      default: return nil
      }
    }
  }

  static func < (a: WideInteger, b: WideInteger) -> Bool {
    switch (a, b) {
    case (.signed(let a), .signed(let b)): a < b
    case (.unsigned(let a), .unsigned(let b)): a < b
    case (.signed, .unsigned): true
    case (.unsigned, .signed): false
    }
  }

  var description: String {
    switch self {
    case .signed(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    }
  }
}

extension Float80 {
  /// A number of a script, or a handle of a Float80; nil for an integer that it lacks, which is compared as an integer.
  init?(_ value: SHLValue, _ classes: HandleClasses) {
    switch value.tag {
    case SHL_INT: self.init(value.i)
    case SHL_NUMBER: self.init(value.n)
    default:
      guard let borrowed = classes.borrowedValue(value), StandardType.of(borrowed.info) == .float80,
        let found = borrowed.withMemory({ $0.assumingMemoryBound(to: Float80.self).pointee })
      else { return nil }
      self = found
    }
  }
}

extension FixedWidthInteger {
  init?(exactly wide: WideInteger) {
    switch wide {
    case .signed(let value): self.init(exactly: value)
    case .unsigned(let value): self.init(exactly: value)
    }
  }
}
