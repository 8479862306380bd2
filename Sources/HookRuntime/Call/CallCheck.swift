// CallCheck — what must hold of `self` before a call is made.
private import CHookTrampoline

package enum CallCheck {
  /// Throws when calling `callable` on the instance now could stop the program.
  package static func object(_ object: UInt, for callable: Callable) throws(CallError) {
    guard let pointer = UnsafeRawPointer(bitPattern: object) else { return }
    let type = Metadata(pointer.load(as: UnsafeRawPointer.self))
    let range = object..<object + UInt(max(type.instanceSize, 16))
    if let open = open(in: range), open == .modifying || !callable.isGetter {
      throw .accessOpen(selector: callable.selector, type: name(type), isModifying: open == .modifying)
    }
    // Async methods go to their actor themselves.
    if !callable.isAsync, let descriptor = type.descriptor, descriptor.isActor, !isInside(object) {
      throw .outsideActor(selector: callable.selector, type: name(type))
    }
  }

  /// Throws when writing the field in place now could disturb an access.
  package static func write(_ object: UInt, _ field: StoredField) throws(CallError) {
    guard let pointer = UnsafeRawPointer(bitPattern: object) else { return }
    let type = Metadata(pointer.load(as: UnsafeRawPointer.self))
    guard let open = open(in: object..<object + UInt(max(type.instanceSize, 16))) else { return }
    throw .accessOpen(selector: name(type) + "." + field.name, type: name(type), isModifying: open == .modifying)
  }

  /// What the runtime knows of, and hooked members of structs that run on a value inside the object: the optimiser drops the
  /// runtime's record where it sees that nobody else looks.
  private static func open(in range: Range<UInt>) -> OpenAccesses.Kind? {
    var found = OpenAccesses.strongest(in: range)
    var each = hkt_thread()?.pointee.top
    while let call = each, found != .modifying {
      let (offset, changes) = CallView(call).withPlan { ($0.selfAddressOffset, $0.changesSelfInPlace) }
      if offset >= 0, range.contains(UnsafeRawPointer(call.pointee.frame).load(fromByteOffset: offset, as: UInt.self)) {
        let kind: OpenAccesses.Kind = changes ? .modifying : .reading
        found = max(found ?? kind, kind)
      }
      each = call.pointee.up
    }
    return found
  }

  /// A hooked method of the object is running on this thread.
  private static func isInside(_ object: UInt) -> Bool {
    var each = hkt_thread()?.pointee.top
    while let call = each {
      let view = CallView(call)
      if let own = view.selfAddress, UInt(bitPattern: own) == object { return true }
      each = call.pointee.up
    }
    return false
  }

  package static func name(_ type: Metadata) -> String { _typeName(type.type, qualified: true) }

  /// The object is of the callable's class.
  package static func type(_ type: Metadata, for callable: Callable) throws(CallError) {
    guard let owner = callable.owner, !type.isSubclass(of: owner) else { return }
    throw .wrongReceiver(selector: callable.selector, expected: name(owner), found: name(type))
  }
}
