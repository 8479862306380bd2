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

  /// The value leads into the frame of a function: by one of its words or, of an object, by a field.
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
  /// cannot be kept, and ``HandlerError/ending(type:)`` for an object whose `deinit` runs.
  public func keep<T>(_ value: T) throws(HandlerError) -> T {
    if let type = EndingObjects.found(in: value) { throw .ending(type: type) }
    guard let settled = FrameBorrow.settle(value) else { throw .inFrame(type: Metadata(T.self).name) }
    return settled
  }
}

/// Objects whose `deinit` runs: no reference keeps them.
private enum EndingObjects {
  /// The class of the first one that the value holds, in itself or in what it is made of; nil for none.
  static func found<T>(in value: T) -> String? {
    guard case .success(let info) = TypeResolver.shared.type(of: Metadata(T.self)), !info.isTrivial else { return nil }
    return withUnsafeBytes(of: value) { bytes in bytes.baseAddress.flatMap { found(at: $0, info, depth: 0) } }
  }

  /// The type of what of the value lies in a frame; nil for nothing. Looks into fields and payloads.
  private static func found(at memory: UnsafeRawPointer, _ info: TypeInfo, depth: Int) -> String? {
    guard depth < deepest else { return nil }
    switch info.kind {
    case .object: return found(memory.loadUnaligned(as: UInt.self))
    case .existential where info.metadata.existentialForm == .reference: return found(memory.loadUnaligned(as: UInt.self))
    case .existential: return info.openExistential(memory).flatMap { found(at: $0.0, $0.1, depth: depth + 1) }
    case .optional(let payload):
      return info.metadata.enumTag(memory) == 0 ? found(at: memory, payload, depth: depth + 1) : nil
    case .structure, .tuple:
      for field in info.fields where field.reference == .value {
        guard case .success(let type) = field.type, !type.isTrivial else { continue }
        if let found = found(at: memory + field.offset, type, depth: depth + 1) { return found }
      }
      return nil
    default: return nil
    }
  }
  private static let deepest = 16

  private static func found(_ word: UInt) -> String? {
    // A reference that a value of this type holds leads to a native object.
    guard let object = UnsafeRawPointer(bitPattern: word), hkt_is_ending(object) else { return nil }
    return Metadata(object.load(as: UnsafeRawPointer.self)).name
  }
}
