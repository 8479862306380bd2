// OwnedResult — what a call into the program returned becomes the script's own: handles that keep it until they are collected.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

struct OwnedResult {
  private let bridge: ValueBridge
  private let callback: LuaCallback

  init(patch: Environment, callback: LuaCallback) {
    bridge = ValueBridge(classes: patch.classes, serial: 0, scope: callback.scope)
    self.callback = callback
  }

  /// It is given without a look at its type.
  @inline(__always)
  static func isScalar(_ kind: ValueSlot.Kind) -> Bool {
    switch kind {
    case .int64, .double, .bool, .void: true
    default: false
    }
  }

  /// Gives the number or Bool at `memory`; the kind is one of those that `isScalar` names.
  @inline(__always)
  static func giveScalar(_ memory: UnsafeMutableRawPointer, _ kind: ValueSlot.Kind, _ callback: LuaCallback) {
    switch kind {
    case .int64: callback.give(shl_int(memory.load(as: Int64.self)))
    case .double: callback.give(shl_number(memory.load(as: Double.self)))
    case .bool: callback.give(shl_bool(memory.load(as: UInt8.self) & 1 == 1))
    default: break
    }
  }

  /// Appends the value at `memory` to the callback's results and ends it there.
  func give(_ memory: UnsafeMutableRawPointer, _ info: TypeInfo, _ kind: ValueSlot.Kind) {
    if Self.isScalar(kind) { return Self.giveScalar(memory, kind, callback) }
    let borrowed = BorrowedValue(root: .memory(UInt(bitPattern: memory)), info: info, serial: 0)
    withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
      // Before there is a handle: what it alone keeps is the result's alone now.
      let bytes = HeldMemory.bytes(in: memory, info)
      // Bytes are copied at once; handles own a copy or a reference.
      give(bridge.lua(memory, info, borrowed: borrowed, scratch: $0.baseAddress!), weighing: bytes)
    }
    guard !info.isTrivial else { return }
    ProgramCall.asProgram { info.metadata.destroy(memory) }
  }

  /// Gives a value with a home of its own.
  func give(_ value: OwnedValue) {
    if isHandle(value.info) {
      let bytes = HeldMemory.bytes(in: value.memory, value.info) + value.info.size
      return give(bridge.own(value), weighing: bytes)
    }
    give(value.memory, value.info, .none)
    value.forget()
  }

  private func give(_ value: SHLValue, weighing bytes: Int) {
    guard bytes >= HeldMemory.least, value.tag == SHL_HANDLE || value.tag == SHL_OTHER else { return callback.give(value) }
    var made = value
    if value.tag == SHL_HANDLE, !shl_handle_make(callback.scope, value, &made) { return callback.give(value) }
    HeldMemory.weigh(made, bytes, callback.scope)
    callback.give(made)
  }

  /// Scripts see the value as a handle to it, so that the home can become the handle's.
  private func isHandle(_ info: TypeInfo) -> Bool {
    guard info.isCopyable else { return false }
    return switch info.kind {
    case .structure: StandardType.of(info) == nil
    case .enumeration, .tuple: true
    default: false
    }
  }
}
