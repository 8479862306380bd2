// OwnedResult — what a call into the program returned becomes the script's: strong handles, ended when they are collected.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

struct OwnedResult {
  let patch: Patch
  let callback: LuaCallback

  /// Appends the value at `memory` to the callback's results and takes it over.
  func give(_ memory: UnsafeMutableRawPointer, _ info: TypeInfo, _ kind: ValueSlot.Kind) {
    switch kind {
    case .int64: callback.give(shl_int(memory.load(as: Int64.self)))
    case .double: callback.give(shl_number(memory.load(as: Double.self)))
    case .bool: callback.give(shl_bool(memory.load(as: UInt8.self) & 1 == 1))
    case .void: break
    case .object: give(object: memory.load(as: UInt.self))
    default: giveByType(memory, info)
    }
  }

  /// The same for a value with a home of its own.
  func give(_ value: OwnedValue) {
    if isPlain(value.info) {
      giveByType(value.memory, value.info)
      value.forget()
    } else {
      give(handleOf: value)
    }
  }

  private func give(object: UInt) {
    callback.give(object == 0 ? shl_nil() : shl_handle(patch.classes.keptObject, UInt64(object), 0, 0))
  }

  private func give(handleOf value: OwnedValue) {
    let lent = LentValue(root: .memory(UInt(bitPattern: value.memory)), offset: 0, info: value.info, serial: 0)
    let (a, b, c) = lent.words()
    callback.give(shl_handle(patch.classes.ownedValue, a, b, c))
  }

  /// Becomes a Lua value that owns nothing, or an object.
  private func isPlain(_ info: TypeInfo) -> Bool {
    switch info.kind {
    case .void, .bool, .integer, .float, .string, .object: true
    case .optional(let payload): isPlain(payload)
    case .existential: info.metadata.existential.isClassBound && !info.metadata.existential.isError
    default: false
    }
  }

  private func giveByType(_ memory: UnsafeMutableRawPointer, _ info: TypeInfo) {
    guard isPlain(info) else {
      let value = OwnedValue(uninitialized: info)
      value.info.metadata.initialize(value.memory, copying: memory)
      info.metadata.destroy(memory)
      return give(handleOf: value)
    }
    switch info.kind {
    case .object, .existential: give(object: memory.load(as: UInt.self))
    case .optional(let payload):
      guard info.metadata.enumTag(memory) == 0 else { return callback.give(shl_nil()) }
      giveByType(memory, payload)
    case .integer(64, false) where memory.load(as: UInt64.self) > UInt64(Int64.max):
      let value = OwnedValue(uninitialized: info)
      value.info.metadata.initialize(value.memory, copying: memory)
      give(handleOf: value)
    default:
      let lent = LentValue(root: .result, offset: 0, info: info, serial: 0)
      withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) {
        // Bytes are copied at once.
        callback.give(ValueBridge(classes: patch.classes, serial: 0).lua(memory, info, lent: lent, scratch: $0.baseAddress!))
      }
      if !info.isTrivial { info.metadata.destroy(memory) }
    }
  }

  // MARK: Collected handles

  typealias Release = @convention(c) (UnsafeMutableRawPointer?, UInt64, UInt64, UInt64) -> Void

  static let releaseObject: Release = { _, object, _, _ in ProgramCall.release(UInt(object)) }

  static let releaseValue: Release = { _, a, b, c in
    var handle = SHLValue()
    handle.h.a = a
    handle.h.b = b
    handle.h.c = c
    let lent = LentValue(handle)
    guard case .memory(let address) = lent.root, let memory = UnsafeMutableRawPointer(bitPattern: address) else { return }
    OwnedValue(memory: memory, info: lent.info).destroy()
  }
}
