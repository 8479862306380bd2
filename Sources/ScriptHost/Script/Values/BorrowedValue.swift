// BorrowedValue — where a Swift value is that a script's handle stands for, packed into the handle's three words.
internal import CLuaShim
internal import HookRuntime

/// Handle classes of one state.
struct HandleClasses {
  /// An instance borrowed for one call; unique while it is borrowed.
  var object: UInt32 = 0
  /// An instance that a script keeps.
  var keptObject: UInt32 = 0
  var weakObject: UInt32 = 0
  /// A value borrowed for one call, or one that is not there.
  var value: UInt32 = 0
  /// A value of the script's own.
  var ownedValue: UInt32 = 0
  var error: UInt32 = 0
  var keptError: UInt32 = 0
  var arguments: UInt32 = 0
  var method: UInt32 = 0
  var type: UInt32 = 0
  var hook: UInt32 = 0
  /// What `track` and its kin answer.
  var rule: UInt32 = 0
  var observation: UInt32 = 0
  /// What `delegates` answers.
  var delegates: UInt32 = 0
  /// Functions of the program.
  var closure: UInt32 = 0
  /// What `swift.closure` answers.
  var function: UInt32 = 0
  /// What `timer.after` and `timer.every` answer.
  var timer: UInt32 = 0
  /// What `notification.on` answers.
  var subscription: UInt32 = 0
  /// What `use` answers.
  var preset: UInt32 = 0
  /// Whose classes these are; it outlives its state.
  var patch: Unmanaged<Environment>?

  func isObject(_ value: SHLValue) -> Bool { value.tag == SHL_HANDLE && (value.cls == object || value.cls == keptObject) }
  func isValue(_ value: SHLValue) -> Bool { value.tag == SHL_HANDLE && (value.cls == self.value || value.cls == ownedValue) }
  func isError(_ value: SHLValue) -> Bool { value.tag == SHL_HANDLE && (value.cls == error || value.cls == keptError) }

  /// The instance an object handle stands for; nil when the call that borrowed it is over, the script let it go, or the program has ended it
  /// although it is kept.
  func object(_ value: SHLValue) -> UnsafeRawPointer? {
    guard isObject(value), value.cls == keptObject || ScriptThread.isCurrent(value.h.c) else { return nil }
    guard let object = UnsafeRawPointer(bitPattern: UInt(value.h.a)) else { return nil }
    return value.cls == keptObject && Instance.isEnding(UInt(value.h.a)) ? nil : object
  }

  /// A kept instance that the program has ended all the same (`hkt_keep_memory`); its memory is there.
  func endedObject(_ value: SHLValue) -> UnsafeRawPointer? {
    guard value.tag == SHL_HANDLE, value.cls == keptObject, let object = UnsafeRawPointer(bitPattern: UInt(value.h.a)) else { return nil }
    return Instance.isEnding(UInt(value.h.a)) ? object : nil
  }

  /// Why the handle stands for no instance any more.
  func gone(_ value: SHLValue) -> BridgeError { endedObject(value).map { .ending(type: Instance.typeName($0)) } ?? .expired }

  /// The error box an error handle stands for, as above.
  func errorBox(_ value: SHLValue) -> UInt? {
    guard isError(value), value.cls == keptError || ScriptThread.isCurrent(value.h.c) else { return nil }
    return UInt(value.h.a)
  }

  /// The error a handle stands for, nil as well for one that the script kept and let go; 0 where the error's type is not known.
  func liveErrorBox(_ value: SHLValue) -> UInt? {
    guard let box = errorBox(value), box != 0 || value.cls != keptError else { return nil }
    return box
  }

  /// The value a handle stands for; nil for other handles, and for a value that is not there.
  func borrowedValue(_ value: SHLValue) -> BorrowedValue? { isValue(value) && value.h.b != 0 ? BorrowedValue(value) : nil }
}

/// Where a value lives while its call lasts: an argument, the result or `self` of the frame, or memory that stays as long as
/// the call (inside an object, or in what `BorrowScope` holds). With serial 0: memory the handle owns.
/// Packed into a handle's three words: a = root and offset (or address), b = TypeInfo, c = serial of the call.
struct BorrowedValue {
  enum Root: Equatable {
    case argument(Int)
    /// The result of the run of the original with this number, from 0.
    case result(Int)
    /// The struct or enum the method runs on.
    case selfValue
    case memory(UInt)
  }
  var root: Root
  var offset: Int
  var info: TypeInfo
  var serial: UInt64

  private static let memoryMark: UInt64 = 1 << 63
  private static let resultMark: UInt64 = 0x7F00
  private static let selfMark: UInt64 = 0x7FFE

  func words() -> (UInt64, UInt64, UInt64) {
    let info = UInt64(UInt(bitPattern: Unmanaged.passUnretained(self.info).toOpaque()))
    switch root {
    case .argument(let index): return (UInt64(index) << 32 | UInt64(offset), info, serial)
    case .result(let run): return ((Self.resultMark + UInt64(run & 0x7F)) << 32 | UInt64(offset), info, serial)
    case .selfValue: return (Self.selfMark << 32 | UInt64(offset), info, serial)
    case .memory(let address): return (Self.memoryMark | UInt64(address + UInt(offset)), info, serial)
    }
  }

  init(root: Root, offset: Int = 0, info: TypeInfo, serial: UInt64) {
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
      switch a >> 32 {
      case Self.resultMark..<Self.resultMark + 0x80: root = .result(Int(a >> 32 - Self.resultMark))
      case Self.selfMark: root = .selfValue
      default: root = .argument(Int(a >> 32))
      }
    }
  }

  /// A part of the value.
  func part(_ info: TypeInfo, at distance: Int) -> BorrowedValue {
    BorrowedValue(root: root, offset: offset + distance, info: info, serial: serial)
  }

  /// Gives `body` the value's memory; nil when its call is over, or it is gone.
  func withMemory<R>(_ body: (UnsafeRawPointer) -> R) -> R? {
    if serial == 0 {
      guard case .memory(let address) = root else { return nil }
      return UnsafeRawPointer(bitPattern: address + UInt(offset)).map(body)
    }
    return ScriptThread.call(serial).flatMap { $0.pointee.withMemory(of: self, body) }
  }
}
