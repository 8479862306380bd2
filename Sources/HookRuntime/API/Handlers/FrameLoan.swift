// FrameBorrow — what a handler was given and wants to keep: it may lie in the frame of the call's caller.
//
// Where the optimiser shows that nothing outlives a call, it puts objects and the buffers of arrays into the caller's frame, and
// reference counts do not help (docs/abi-notes.md, "Objects in frames").
private import CHookTrampoline

enum FrameBorrow {
  /// The value, fit to outlive the call; nil where it cannot be made so.
  static func settle<T>(_ value: T) -> T? {
    guard case .success(let info) = TypeResolver.shared.type(of: Metadata(T.self)), !info.isTrivial else { return value }
    if let list = value as? any ListInFrame { return list.settled() as? T }
    return withUnsafeBytes(of: value) { isInFrame($0, info) } ? nil : value
  }

  private static func isInFrame(_ bytes: UnsafeRawBufferPointer, _ info: TypeInfo) -> Bool {
    guard let memory = bytes.baseAddress, !bytes.isEmpty else { return false }
    if hkt_frame_object_among(memory, bytes.count / 8) != nil { return true }
    guard case .object = info.kind, let object = memory.load(as: UnsafeRawPointer?.self) else { return false }
    // Where its fields are, whatever they are; the object's own two words are none of them.
    let words = min(Metadata(object.load(as: UnsafeRawPointer.self)).instanceSize / 8 - 2, 64)
    return words > 0 && hkt_frame_object_among(object + 16, words) != nil
  }

  fileprivate static func isInFrame(_ object: AnyObject) -> Bool { hkt_is_in_frame(Unmanaged.passUnretained(object).toOpaque()) }
}

/// Arrays, which get a buffer of their own.
private protocol ListInFrame {
  func settled() -> Self?
}

extension Array: ListInFrame {
  fileprivate func settled() -> Self? {
    // The buffer is an object, and all that an array is.
    let isBound = FrameBorrow.isInFrame(unsafeBitCast(self, to: AnyObject.self))
    var copy: [Element] = []
    copy.reserveCapacity(count)
    for element in self {
      guard let settled = FrameBorrow.settle(element) else { return nil }
      copy.append(settled)
    }
    return isBound ? copy : self
  }
}

extension Call {
  /// A value that the handler was given, fit to be kept when it has returned.
  ///
  /// In optimised code an object that nothing outlives may lie in the frame of the function that made it, and so may the elements of
  /// an array. Using them in the handler is fine; what is to be kept comes from here. Throws ``HandlerError/inFrame(type:)`` where it
  /// cannot be kept.
  public func keep<T>(_ value: T) throws(HandlerError) -> T {
    guard let settled = FrameBorrow.settle(value) else { throw .inFrame(type: Metadata(T.self).name) }
    return settled
  }
}
