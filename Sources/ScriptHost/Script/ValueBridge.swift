// ValueBridge — between Swift memory and Lua values, by type. Exact, or an error that says what was expected.
internal import CHookTrampoline
internal import CLuaShim
private import Glibc
internal import HookRuntime

/// Why a Lua value cannot become a Swift value.
enum BridgeError: Error, Equatable {
  case wrongType(expected: String, found: String)
  case outOfRange(value: String, type: String)
  case invalidUTF8
  case notNil(type: String)
  case notConvertible(type: String)
  case expired
  case runsOnce(String)
  /// Of a function: a sentence.
  case closure(String)

  var description: String {
    switch self {
    case .wrongType(let expected, let found): "expected \(expected), got \(found)"
    case .outOfRange(let value, let type): "\(value) does not fit in \(type)"
    case .invalidUTF8: "expected a String, got bytes that are not UTF-8"
    case .notNil(let type): "expected \(type), got nil"
    case .notConvertible(let type): "values of type '\(type)' cannot be made in a script yet; pass on the one you were given"
    case .runsOnce(let selector):
      "'\(selector)' cannot run twice for one call: its first run consumed what cannot be copied, or left what cannot be released"
    case .closure(let text): text
    case .expired: "this object was only lent for the call it came with, which is over"
    }
  }
}

/// Handle classes of one state.
struct HandleClasses {
  var object: UInt32 = 0
  var value: UInt32 = 0
  var arguments: UInt32 = 0
  var method: UInt32 = 0
  var type: UInt32 = 0
  var hook: UInt32 = 0
  var error: UInt32 = 0
  /// Functions of the program.
  var closure: UInt32 = 0
  /// What `swift.closure` answers.
  var function: UInt32 = 0
  /// Whose classes these are; it outlives its state.
  var patch: Unmanaged<Patch>?
}

/// Where a lent value lives while its call lasts: an argument or the result of the frame, or memory inside an object.
/// Packed into a handle's three words: a = root and offset (or address), b = TypeInfo, c = serial of the call.
struct LentValue {
  enum Root: Equatable {
    case argument(Int)
    case result
    case memory(UInt)
  }
  var root: Root
  var offset: Int
  var info: TypeInfo
  var serial: UInt64

  private static let memoryMark: UInt64 = 1 << 63

  func words() -> (UInt64, UInt64, UInt64) {
    let info = UInt64(UInt(bitPattern: Unmanaged.passUnretained(self.info).toOpaque()))
    switch root {
    case .argument(let index): return (UInt64(index) << 32 | UInt64(offset), info, serial)
    case .result: return (0x7FFF << 32 | UInt64(offset), info, serial)
    case .memory(let address): return (Self.memoryMark | UInt64(address + UInt(offset)), info, serial)
    }
  }

  init(root: Root, offset: Int, info: TypeInfo, serial: UInt64) {
    self.root = root
    self.offset = offset
    self.info = info
    self.serial = serial
  }

  init(_ value: SHLValue) {
    let a = value.h.a
    // TypeInfos are kept by the resolver for ever; the word was made by `words`.
    info = Unmanaged<TypeInfo>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(value.h.b))!).takeUnretainedValue()
    serial = value.h.c
    if a & Self.memoryMark != 0 {
      root = .memory(UInt(a & ~Self.memoryMark))
      offset = 0
    } else {
      offset = Int(a & 0xFFFF_FFFF)
      root = a >> 32 == 0x7FFF ? .result : .argument(Int(a >> 32))
    }
  }
}

/// Sixteen bytes per string argument: small strings live in registers and need an address.
typealias Scratch = UnsafeMutablePointer<(UInt64, UInt64)>

struct ValueBridge {
  let classes: HandleClasses
  let serial: UInt64
  /// Where Lua functions can be kept; needed to make closures of them.
  var scope: UnsafeMutablePointer<SHLScope>?

  init(classes: HandleClasses, serial: UInt64) {
    self.classes = classes
    self.serial = serial
  }

  // MARK: Swift to Lua

  /// The value at `memory`. Strings point into the object that owns them (or into `scratch`): push them at once.
  func lua(_ memory: UnsafeRawPointer, _ info: TypeInfo, lent: LentValue, scratch: Scratch) -> SHLValue {
    switch info.kind {
    case .bool: return shl_bool(memory.load(as: UInt8.self) & 1 == 1)
    case .integer(let bits, let signed): return integer(memory, bits, signed, lent)
    case .float(32): return shl_number(Double(memory.loadUnaligned(as: Float.self)))
    case .float: return shl_number(memory.loadUnaligned(as: Double.self))
    case .string:
      return Self.string(memory.loadUnaligned(as: UInt64.self), memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self), scratch)
    case .object: return object(memory.loadUnaligned(as: UInt.self))
    case .void: return shl_nil()
    case .closure: return ClosureBridge.lua(memory, info, self)
    case .optional(let payload):
      guard let tag = info.metadata.enumTag(memory) else { return opaque(lent) }
      if tag != 0 { return shl_nil() }
      var inner = lent
      inner.info = payload
      return lua(memory, payload, lent: inner, scratch: scratch)
    case .existential where info.metadata.existential.isClassBound:
      return object(memory.loadUnaligned(as: UInt.self))
    default: return opaque(lent)
    }
  }

  func opaque(_ lent: LentValue) -> SHLValue {
    let (a, b, c) = lent.words()
    return shl_handle(classes.value, a, b, c)
  }

  @inline(__always)
  func object(_ address: UInt) -> SHLValue {
    address == 0 ? shl_nil() : shl_handle(classes.object, UInt64(address), 0, serial)
  }

  private func integer(_ memory: UnsafeRawPointer, _ bits: Int, _ signed: Bool, _ lent: LentValue) -> SHLValue {
    switch (bits, signed) {
    case (8, true): return shl_int(Int64(memory.load(as: Int8.self)))
    case (16, true): return shl_int(Int64(memory.loadUnaligned(as: Int16.self)))
    case (32, true): return shl_int(Int64(memory.loadUnaligned(as: Int32.self)))
    case (8, false): return shl_int(Int64(memory.load(as: UInt8.self)))
    case (16, false): return shl_int(Int64(memory.loadUnaligned(as: UInt16.self)))
    case (32, false): return shl_int(Int64(memory.loadUnaligned(as: UInt32.self)))
    case (_, false):
      let value = memory.loadUnaligned(as: UInt64.self)
      // Lua integers end at Int64.max: larger ones stay exact as a handle.
      return value <= UInt64(Int64.max) ? shl_int(Int64(value)) : opaque(lent)
    default: return shl_int(memory.loadUnaligned(as: Int64.self))
    }
  }

  @inline(__always)
  static func string(_ word0: UInt64, _ word1: UInt64, _ scratch: Scratch) -> SHLValue {
    if word1 >> 61 & 1 == 1 {
      scratch.pointee = (word0, word1)
      return shl_string(UnsafeRawPointer(scratch).assumingMemoryBound(to: CChar.self), Int(word1 >> 56 & 0xF))
    }
    if let bytes = StringBits.inObject(word0, word1) {
      return shl_string(bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    return StringBits.withUTF8(word0, word1) { shl_string($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count) }
  }

  // MARK: Lua to Swift

  /// Initialises `memory` with the Swift value of `value`.
  func store(_ value: SHLValue, as info: TypeInfo, at memory: UnsafeMutableRawPointer) throws(BridgeError) {
    switch info.kind {
    case .bool:
      guard value.tag == SHL_BOOL else { throw wrong("Bool", value) }
      memory.storeBytes(of: value.b ? 1 : 0, as: UInt8.self)
    case .integer(let bits, let signed): try storeInteger(value, bits, signed, memory)
    case .float(let bits):
      let number: Double
      switch value.tag {
      case SHL_NUMBER: number = value.n
      case SHL_INT: number = Double(value.i)
      default: throw wrong(bits == 32 ? "Float" : "Double", value)
      }
      if bits == 32 { memory.storeBytes(of: Float(number), as: Float.self) } else { memory.storeBytes(of: number, as: Double.self) }
    case .string:
      guard value.tag == SHL_STRING else { throw wrong("String", value) }
      let bytes = UnsafeRawBufferPointer(start: value.s.p, count: value.s.n)
      guard let text = Self.text(bytes) else { throw .invalidUTF8 }
      memory.bindMemory(to: String.self, capacity: 1).initialize(to: text)
    case .optional(let payload):
      if value.tag == SHL_NIL {
        info.metadata.injectEnumTag(memory, 1)
      } else {
        try store(value, as: payload, at: memory)
        info.metadata.injectEnumTag(memory, 0)
      }
    case .object: try storeObject(value, info, memory)
    case .void: break
    case .closure: try ClosureBridge.store(value, as: info, at: memory, self)
    case .existential where value.tag == SHL_HANDLE && value.cls == classes.object && info.isAnyObject: try storeReference(value, memory)
    default:
      guard value.tag == SHL_HANDLE, value.cls == classes.value else {
        throw value.tag == SHL_NIL ? .notNil(type: info.name) : .notConvertible(type: info.name)
      }
      guard value.h.b != 0 else { throw .notConvertible(type: info.name) }
      try storeLent(LentValue(value), info, memory)
    }
  }

  /// The bytes as text, nil when they are not UTF-8. Decoding repairs what is invalid, so text that has the same bytes was
  /// valid; `String(validating:as:)` would do, but is not specialised and takes three times as long.
  static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    var text = String(decoding: bytes, as: UTF8.self)
    let isSame = text.withUTF8 {
      $0.count == bytes.count && (bytes.isEmpty || memcmp($0.baseAddress!, bytes.baseAddress!, bytes.count) == 0)
    }
    return isSame ? text : nil
  }

  private func storeInteger(_ value: SHLValue, _ bits: Int, _ signed: Bool, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    let name = (signed ? "Int" : "UInt") + (bits == 64 ? "" : "\(bits)")
    let number: Int64
    switch value.tag {
    case SHL_INT: number = value.i
    case SHL_NUMBER:
      guard let exact = Int64(exactly: value.n) else { throw .outOfRange(value: "\(value.n)", type: name) }
      number = exact
    default: throw wrong(name, value)
    }
    let fits =
      switch (bits, signed) {
      case (8, true): Int8(exactly: number) != nil
      case (16, true): Int16(exactly: number) != nil
      case (32, true): Int32(exactly: number) != nil
      case (8, false): UInt8(exactly: number) != nil
      case (16, false): UInt16(exactly: number) != nil
      case (32, false): UInt32(exactly: number) != nil
      case (_, false): number >= 0
      default: true
      }
    guard fits else { throw .outOfRange(value: "\(number)", type: name) }
    withUnsafeBytes(of: number.littleEndian) { memory.copyMemory(from: $0.baseAddress!, byteCount: bits / 8) }
  }

  private func storeObject(_ value: SHLValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    guard value.tag == SHL_HANDLE, value.cls == classes.object else { throw wrong(info.name, value) }
    guard ScriptThread.isCurrent(value.h.c) else { throw .expired }
    let object = UnsafeRawPointer(bitPattern: UInt(value.h.a))!
    let type = Metadata(object.load(as: UnsafeRawPointer.self))
    guard type.isSubclass(of: info.metadata) else {
      throw .wrongType(expected: info.name, found: (try? TypeResolver.shared.type(of: type).get().name) ?? "another class")
    }
    try storeReference(value, memory)
  }

  private func storeReference(_ value: SHLValue, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    guard ScriptThread.isCurrent(value.h.c) else { throw .expired }
    // A borrowed native object; the copy retains it.
    memory.bindMemory(to: AnyObject.self, capacity: 1).initialize(
      to: Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(value.h.a))!).takeUnretainedValue())
  }

  private func storeLent(_ lent: LentValue, _ info: TypeInfo, _ memory: UnsafeMutableRawPointer) throws(BridgeError) {
    guard lent.info === info else { throw .wrongType(expected: info.name, found: lent.info.name) }
    guard let call = ScriptThread.call(lent.serial) else { throw .expired }
    guard call.pointee.withMemory(of: lent, { info.metadata.initialize(memory, copying: $0) }) != nil else { throw .expired }
  }

  private func wrong(_ expected: String, _ value: SHLValue) -> BridgeError {
    value.tag == SHL_NIL ? .notNil(type: expected) : .wrongType(expected: expected, found: Self.describe(value))
  }

  static func describe(_ value: SHLValue) -> String {
    switch value.tag {
    case SHL_NIL: "nil"
    case SHL_BOOL: "a boolean"
    case SHL_INT: "an integer"
    case SHL_NUMBER: "a float"
    case SHL_STRING: "a string"
    case SHL_TABLE: "a table"
    case SHL_FUNCTION: "a function"
    case SHL_HANDLE: "a Swift value"
    default: "something else"
    }
  }
}

extension TypeInfo {
  /// A reference to any object, without witness tables.
  fileprivate var isAnyObject: Bool { metadata.existential.isClassBound && !metadata.existential.isError && scalars?.count == 1 }
  /// A class instance behind a protocol, or an Optional of one: scripts see the instance.
  var isObjectWithTables: Bool {
    switch kind {
    case .optional(let payload): payload.isObjectWithTables
    case .existential: metadata.existential.isClassBound && !metadata.existential.isError
    default: false
    }
  }
}
