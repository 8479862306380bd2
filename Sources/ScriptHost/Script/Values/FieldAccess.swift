// FieldAccess — stored fields of objects and values, read and written where they lie. No accessor, no observer runs.
private import CHookTrampoline
internal import CLuaShim
internal import HookRuntime

enum FieldAccess {
  /// What a weak field's first word is: the runtime's weak reference, as any weak variable has it.
  private struct Weak { weak var object: AnyObject? }

  /// The value of `field` for Lua.
  /// - Parameters:
  ///   - base: the first byte of the object or value that has the field.
  ///   - borrowed: where that is; what is read is borrowed as long, or copied with serial 0.
  static func read(
    _ field: StoredField, _ base: UnsafeRawPointer, _ borrowed: BorrowedValue, _ bridge: ValueBridge, _ scratch: Scratch
  ) -> Result<SHLValue, BridgeError> {
    let memory = base + field.offset
    let owner = { (try? TypeResolver.shared.type(of: field.owner).get().name) ?? "this type" }
    switch field.reference {
    case .value:
      guard case .success(let info) = field.type else {
        return .failure(.notMadeHere(type: owner(), why: "the type of field '\(field.name)' is not known"))
      }
      // A variable of an object may change while the script has a handle to its value.
      if field.isVar, case .classType = field.owner.kind {
        return .success(bridge.snapshot(memory, info, scratch, borrowed: borrowed.part(info, at: field.offset)))
      }
      return .success(bridge.lua(memory, info, borrowed: borrowed.part(info, at: field.offset), scratch: scratch))
    case .weak:
      // Loading a weak reference retains what it finds; nil once that object's deinit began.
      guard let object = memory.assumingMemoryBound(to: Weak.self).pointee.object else { return .success(shl_nil()) }
      return .success(bridge.reference(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())))
    case .unowned:
      // The object's memory stays while there are unowned references; loading one of a dead object would abort.
      let address = memory.loadUnaligned(as: UInt.self)
      if address == 0 || Instance.isEnding(address) { return .success(shl_nil()) }
      return .success(bridge.reference(address))
    case .unmanaged:
      return .failure(.notMadeHere(type: owner(), why: "field '\(field.name)' is unowned(unsafe): nothing tells whether its object lives"))
    }
  }

  /// A stored field by name, its own class's or an inherited one.
  static func find(_ name: String, in type: Metadata) -> StoredField? {
    ((try? TypeResolver.shared.type(of: type).get().fields) ?? type.storedFields).first { $0.name == name }
  }

  /// Before a setter overwrites the field: callers of the handler that runs may have borrowed what is there.
  static func keepOld(_ field: StoredField, of object: UnsafeRawPointer) throws(BridgeError) {
    try checkIsThere(field, of: object)
    guard case .value = field.reference, case .success(let info) = field.type, !info.isTrivial, info.isCopyable else { return }
    let old = OwnedValue(uninitialized: info)
    // The program's own variable, read as its setter would.
    info.metadata.initialize(old.memory, copying: object + field.offset)
    end(old, of: object)
  }

  /// A function that has the object in its frame, and knows that what it calls does not look at the field, puts nothing there: what a setter
  /// would end is whatever the stack held before.
  private static func checkIsThere(_ field: StoredField, of object: UnsafeRawPointer) throws(BridgeError) {
    guard hkt_is_in_frame(object), case .success(let info) = field.type, !info.isTrivial else { return }
    let owner = (try? TypeResolver.shared.type(of: field.owner).get().name) ?? "this type"
    throw .fieldFixed(
      field.name, type: owner,
      why: "the object lies in the frame of the function that made it, "
        + "which may have left the field without a value; hook that function, or its initialiser")
  }

  /// What a field of the object held. A function that has the object in its frame, or its code, may end the value it put there by what it knows,
  /// without a look at the field: then one reference is lost rather than one too many given up.
  private static func end(_ old: OwnedValue, of object: UnsafeRawPointer) {
    if hkt_is_in_frame(object) { DeferredReleases.leave(old) } else { DeferredReleases.keep(old) }
  }

  /// Puts `value` into a stored `var` of an object. What was there ends; observers do not run.
  static func write(_ value: SHLValue, to field: StoredField, of object: UnsafeRawPointer, _ bridge: ValueBridge) throws(BridgeError) {
    let memory = UnsafeMutableRawPointer(mutating: object) + field.offset
    let owner = (try? TypeResolver.shared.type(of: field.owner).get().name) ?? "this type"
    guard field.isVar else { throw .fieldFixed(field.name, type: owner, why: "it is a 'let'") }
    try checkIsThere(field, of: object)
    switch field.reference {
    case .weak:
      guard field.type.isSingleReference else { throw .fieldFixed(field.name, type: owner, why: "it is a weak reference of protocol type") }
      if value.tag == SHL_NIL { memory.assumingMemoryBound(to: Weak.self).pointee.object = nil; return }
      guard case .success(let info) = field.type, case .optional(let payload) = info.kind else {
        throw .fieldFixed(field.name, type: owner, why: "its type is not known")
      }
      let made = OwnedValue(uninitialized: payload)
      do throws(BridgeError) { try bridge.store(value, as: payload, at: made.memory) } catch {
        made.forget()
        throw error
      }
      // One reference, which the weak variable does not keep.
      memory.assumingMemoryBound(to: Weak.self).pointee.object = made.memory.load(as: AnyObject.self)
      made.destroy()
    case .unowned, .unmanaged: throw .fieldFixed(field.name, type: owner, why: "it is an unowned reference")
    case .value:
      guard case .success(let info) = field.type else { throw .fieldFixed(field.name, type: owner, why: "its type is not known") }
      guard info.isCopyable else { throw .notCopyable(type: info.name) }
      let made = OwnedValue(uninitialized: info)
      do throws(BridgeError) { try bridge.store(value, as: info, at: made.memory, inPlaceOf: UnsafeRawPointer(memory)) } catch {
        made.forget()
        throw error
      }
      try StackPromoted.settle(made, for: .pass)
      // The old value ends after the new one is in place: its deinit may look at the field; and callers of what runs may have borrowed it.
      let old = OwnedValue(uninitialized: info)
      old.memory.copyMemory(from: memory, byteCount: info.size)
      memory.copyMemory(from: made.memory, byteCount: info.size)
      made.forget()
      end(old, of: object)
    }
  }
}

extension Result where Success == TypeInfo, Failure == TypeProblem {
  /// A class reference without witness tables, or an Optional of one.
  fileprivate var isSingleReference: Bool {
    guard case .success(let info) = self else { return false }
    if case .optional(let payload) = info.kind { return payload.size == 8 }
    return info.size == 8
  }
}
