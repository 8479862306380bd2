// ValueBridge — from Swift memory to Lua values, by type. Exact, or a handle that carries the type.
//
// What a script receives in a handler is borrowed: a handle to the place, valid until the handler ends. With serial 0 nothing is
// borrowed: handles own a copy or a reference, until they are collected.
internal import CHookTrampoline
internal import CLuaShim
private import Glibc
internal import HookRuntime
internal import Journal
internal import LuaBridge

/// Sixteen bytes per string argument: small strings live in registers and need an address.
typealias Scratch = UnsafeMutablePointer<(UInt64, UInt64)>

struct ValueBridge {
  let classes: HandleClasses
  /// The call from which what is read is borrowed; 0: handles own what they stand for.
  let serial: UInt64
  /// Where tables are read and kept handles found; needed for both.
  var scope: UnsafeMutablePointer<SHLScope>?
  /// Tables around the value being made.
  var depth = 0

  init(classes: HandleClasses, serial: UInt64, scope: UnsafeMutablePointer<SHLScope>? = nil) {
    self.classes = classes
    self.serial = serial
    self.scope = scope
  }

  static let null = shl_constant_value(1)
  static func isNull(_ value: SHLValue) -> Bool { value.tag == SHL_CONSTANT && value.i == 1 }
  /// nil where a table could not hold it: the outermost none, where `null` is one inside a `some`.
  static let none = shl_constant_value(2)
  static func isNone(_ value: SHLValue) -> Bool { value.tag == SHL_CONSTANT && value.i == 2 }
  /// Longer texts stay handles, which can be passed on: as strings they would take more than a script may have. SHLLimits.string_bytes.
  static let longestText = 4 << 20

  /// The value at `memory`. Strings point into the object that owns them (or into `scratch`): push them at once.
  /// - Parameter isElement: none is `swift.null`, since nil would be a hole.
  func lua(_ memory: UnsafeRawPointer, _ info: TypeInfo, borrowed: BorrowedValue, scratch: Scratch, isElement: Bool = false) -> SHLValue {
    switch info.kind {
    case .bool: return shl_bool(memory.load(as: UInt8.self) & 1 == 1)
    case .integer(let bits, let signed): return integer(memory, bits, signed, borrowed)
    case .float(32): return shl_number(Double(memory.loadUnaligned(as: Float.self)))
    case .float: return shl_number(memory.loadUnaligned(as: Double.self))
    case .string:
      let text = Self.string(memory.loadUnaligned(as: UInt64.self), memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self), scratch)
      return text.s.n > Self.longestText ? handle(memory, borrowed) : text
    case .cString: return cString(memory, borrowed)
    case .object: return reference(memory.loadUnaligned(as: UInt.self))
    case .void: return isElement ? Self.null : shl_nil()
    case .optional(let payload): return optional(memory, info, payload, borrowed, scratch, isElement)
    case .existential: return existential(memory, info, borrowed, scratch)
    case .structure:
      if let standard = StandardType.of(info) { return self.standard(standard, memory, borrowed, scratch) }
      return handle(memory, borrowed)
    case .closure: return ClosureBridge.lua(memory, info, self)
    case .enumeration, .tuple, .metatype, .opaque: return handle(memory, borrowed)
    }
  }

  /// What an Optional holds, for Lua.
  /// - Parameter isElement: none is swift.null, as nil would leave a gap.
  private func optional(
    _ memory: UnsafeRawPointer, _ info: TypeInfo, _ payload: TypeInfo, _ borrowed: BorrowedValue, _ scratch: Scratch, _ isElement: Bool
  ) -> SHLValue {
    guard let tag = info.metadata.enumTag(memory) else { return handle(memory, borrowed) }
    if tag != 0 { return isElement ? Self.null : shl_nil() }
    // There is a value, though it says nothing.
    if case .void = payload.kind { return shl_bool(true) }
    if case .optional = payload.kind {
      // nil is none, null is some(none); what is nested deeper keeps its type.
      guard let inner = payload.metadata.enumTag(memory) else { return handle(memory, borrowed) }
      if inner != 0 { return isElement ? handle(memory, borrowed) : Self.null }
      if isElement { return handle(memory, borrowed) }
      if case .optional(let third) = payload.kind, case .optional = third.kind { return handle(memory, borrowed) }
    }
    return lua(memory, payload, borrowed: borrowed.part(payload, at: 0), scratch: scratch)
  }

  // MARK: Handles

  /// A handle to the value where it lies, or to a copy where nothing is borrowed.
  func handle(_ memory: UnsafeRawPointer, _ borrowed: BorrowedValue) -> SHLValue {
    // What the script owns may be collected at any time: a part of it is copied as well.
    if serial == 0 || borrowed.serial == 0 { return copied(memory, borrowed.info) }
    let (a, b, c) = borrowed.words()
    return shl_handle(classes.value, a, b, c)
  }

  /// A handle to a copy of the value, for what may go or change its type while the script has the handle.
  func copied(_ memory: UnsafeRawPointer, _ info: TypeInfo) -> SHLValue {
    if case .closure = info.kind { return ClosureBridge.lua(memory, info, self) }
    guard info.isCopyable else { return shl_handle(classes.value, CallValues.notDecodedMark, 0, 0) }
    let copy = OwnedValue(uninitialized: info)
    info.metadata.initialize(copy.memory, copying: memory)
    return own(copy)
  }

  /// The value as it is now, of memory that may change or go: what is no plain value is copied.
  /// - Parameter borrowed: where the value is, if it stays there as long as the handler; what cannot be copied is borrowed from there.
  func snapshot(
    _ memory: UnsafeRawPointer, _ info: TypeInfo, _ scratch: Scratch, isElement: Bool = false, borrowed: BorrowedValue? = nil
  ) -> SHLValue {
    // What a script sees of an Optional is its payload, and so is what is copied.
    if case .optional(let payload) = info.kind, info.metadata.enumTag(memory) == 0 {
      // Without a copy there is no handle to the payload: the variable may be nil before it is used.
      switch payload.kind {
      case .optional, .void: break
      default: return snapshot(memory, payload, scratch)
      }
    }
    let place = BorrowedValue(root: .memory(UInt(bitPattern: memory)), info: info, serial: serial)
    let isWhole =
      switch info.kind {
      case .structure: StandardType.of(info) == nil
      case .enumeration, .tuple, .metatype, .opaque: true
      default: false
      }
    let made = isWhole ? nil : lua(memory, info, borrowed: place, scratch: scratch, isElement: isElement)
    if let made, made.tag != SHL_HANDLE || made.cls != classes.value || serial == 0 || made.h.a != place.words().0 { return made }
    // What an Optional holds is a value of its payload's type.
    let held = made.map { BorrowedValue($0) } ?? place
    if !info.isCopyable, let borrowed, held.info === info { return handle(memory, borrowed) }
    return copied(memory, held.info)
  }

  /// A handle to a new value: the call's while one runs, else the script's own.
  func own(_ value: OwnedValue) -> SHLValue {
    if serial != 0, let call = ScriptThread.call(serial) {
      let memory = call.pointee.borrowScope().adopt(value)
      let (a, b, c) = BorrowedValue(root: .memory(UInt(bitPattern: memory)), info: value.info, serial: serial).words()
      return shl_handle(classes.value, a, b, c)
    }
    if StackPromoted.settle(value.memory, value.info, for: .keep) != nil {
      value.destroy()
      return shl_handle(classes.value, CallValues.inFrameMark, 0, 0)
    }
    let (a, b, _) = BorrowedValue(root: .memory(UInt(bitPattern: value.memory)), info: value.info, serial: 0).words()
    return shl_handle(classes.ownedValue, a, b, 0)
  }

  /// A borrowed instance that stays for the call by itself: an argument, `self`.
  @inline(__always)
  func object(_ address: UInt) -> SHLValue {
    address == 0 ? shl_nil() : shl_handle(classes.object, UInt64(address), 0, serial)
  }

  /// An instance that was read out of memory, which may let go of it.
  func reference(_ found: UInt) -> SHLValue {
    // Scripts see what the program sees: not what a watch on delegates put before it.
    let address = hkt_has_proxies() && found != 0 ? Behaviour.behindProxy(found) : found
    guard address != 0 else { return shl_nil() }
    if serial == 0 { return kept(address, classes.keptObject) }
    ScriptThread.call(serial)?.pointee.borrowScope().retain(address)
    return object(address)
  }

  /// The error in a box, as a borrowed or a kept handle.
  func error(_ box: UInt) -> SHLValue {
    guard box != 0 else { return shl_nil() }
    if serial == 0 { return kept(box, classes.keptError) }
    ScriptThread.call(serial)?.pointee.borrowScope().retain(box)
    return shl_handle(classes.error, UInt64(box), 0, serial)
  }

  /// The state's handle that keeps an instance (or an error box): the one that lives, or a new one, which retains it.
  func kept(_ address: UInt, _ cls: UInt32) -> SHLValue {
    var found = SHLValue()
    if let scope, shl_handle_find(scope, cls, UInt64(address), &found) { return found }
    if cls == classes.keptObject, Instance.isEnding(address) { return shl_nil() }
    if cls == classes.keptObject, StackPromoted.find(object: address) != nil { return shl_handle(classes.value, CallValues.inFrameMark, 0, 0) }
    // Alive: somebody we read it from owns it. The handle's release gives this back.
    let pointer = UnsafeRawPointer(bitPattern: address)!
    let object = Unmanaged<AnyObject>.fromOpaque(pointer).retain()
    if cls == classes.keptObject { hkt_keep_memory(pointer) }
    let handle = shl_handle(cls, UInt64(address), 0, 0)
    guard let scope else { return handle }
    if shl_handle_make(scope, handle, &found) { return found }
    object.release()
    if cls == classes.keptObject { hkt_release_memory(pointer) }
    return shl_nil()
  }

  // MARK: Numbers and text

  /// The integer of so many bits at `memory`; a handle where Lua has no such number.
  private func integer(_ memory: UnsafeRawPointer, _ bits: Int, _ signed: Bool, _ borrowed: BorrowedValue) -> SHLValue {
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
      return value <= UInt64(Int64.max) ? shl_int(Int64(value)) : handle(memory, borrowed)
    default: return shl_int(memory.loadUnaligned(as: Int64.self))
    }
  }

  /// A text; nil for NULL, a handle for an address that cannot be read.
  private func cString(_ memory: UnsafeRawPointer, _ borrowed: BorrowedValue) -> SHLValue {
    let address = memory.loadUnaligned(as: UInt.self)
    if address == 0 { return shl_nil() }
    guard let count = CText.withBytes(address, { $0.count }), count <= Self.longestText else { return handle(memory, borrowed) }
    return shl_string(UnsafePointer(bitPattern: address), count)
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

  /// A text that nobody in the program owns: the call keeps it, or the thread until its next one.
  func text(_ text: String, _ scratch: Scratch) -> SHLValue {
    var text = text
    text.makeContiguousUTF8()
    let held = Self.stringInfo.map { info in
      let value = OwnedValue(uninitialized: info)
      value.memory.initializeMemory(as: String.self, to: text)
      return value
    }
    guard let held else { return shl_nil() }
    let words = held.memory.load(as: (UInt64, UInt64).self)
    if serial != 0, let call = ScriptThread.call(serial) { _ = call.pointee.borrowScope().adopt(held) } else { ScriptThread.hold(held) }
    return Self.string(words.0, words.1, scratch)
  }
  private static let stringInfo = try? TypeResolver.shared.type(of: Metadata(String.self)).get()

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
    case SHL_CONSTANT: "swift.null"
    default: "something else"
    }
  }

  /// What an option or a field of a rule was set to, in the words of `PatchHeader.Literal.spelled`.
  static func spelled(_ value: SHLValue) -> String {
    switch value.tag {
    case SHL_BOOL: "\(value.b)"
    case SHL_INT: "the number \(value.i)"
    case SHL_NUMBER: "the number \(value.n)"
    case SHL_STRING: "the text '\(EventText.printable(String((value.text ?? "").prefix(64))))'"
    default: describe(value)
    }
  }

  /// As `describe` above, with the type of a Swift value.
  func describe(_ value: SHLValue) -> String {
    if let borrowed = classes.borrowedValue(value) { return "a value of type \(borrowed.info.name)" }
    if let object = classes.object(value) { return "an object of type \(Instance.typeName(object))" }
    if classes.isError(value) { return "an error" }
    return Self.describe(value)
  }
}

extension TypeInfo {
  /// A reference to any object, without witness tables.
  var isAnyObject: Bool { metadata.existentialForm == .reference && scalars?.count == 1 }
  /// `Any`: any value, without witness tables.
  var isAny: Bool { metadata.pointer == Metadata(Any.self).pointer }
  /// A class instance, also behind a protocol, or an Optional of one: scripts see the instance.
  var isObject: Bool {
    switch kind {
    case .object: true
    case .optional(let payload): payload.isObject
    case .existential: metadata.existentialForm == .reference
    default: false
    }
  }
}
