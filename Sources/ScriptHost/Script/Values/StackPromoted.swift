// StackPromoted — what lies in the frame of a function that runs, and must not outlive it.
//
// Where the optimiser shows that nothing outlives a call, it puts objects and the buffers of arrays into the caller's frame;
// closures' contexts, too. A script that keeps such a value, stores it or passes it on makes it outlive the call, which
// nothing in its reference counts can help: the memory is another's next. So whatever leaves the call that borrowed it is looked
// at here. Arrays get a buffer of their own, as they would by a copy; objects stay, and the script is notified. Only the script can
// know that the one it passes an object to does not keep it: it says so with `swift.lend`.
//
// Looked at are the value's own references, through structs, enums, existentials and arrays, and the first words of the
// objects these refer to. What a program keeps out of sight further on is not found (docs/abi-notes.md).
private import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum StackPromoted {
  /// What becomes of a value.
  enum Use {
    /// A script keeps it.
    case keep
    /// The program gets it: fit is also what `swift.lend` was said of.
    case pass
  }

  /// Makes the value at `memory`, which belongs to us alone, fit to outlive the calls that run.
  /// - Returns: the type of what cannot be; nil when the value is fit.
  static func settle(_ memory: UnsafeMutableRawPointer, _ info: TypeInfo, for use: Use) -> String? {
    Search(use: use).find(memory, info, isOurs: true)
  }

  /// Makes the value fit to outlive the calls that run; it is ended and its memory freed when it cannot be.
  static func settle(_ value: OwnedValue, for use: Use) throws(BridgeError) {
    guard let type = settle(value.memory, value.info, for: use) else { return }
    value.destroy()
    throw .inFrame(type: type)
  }

  /// The type of what cannot outlive the calls that run, in a value that somebody else has; nil for none.
  static func find(in memory: UnsafeRawPointer, _ info: TypeInfo, for use: Use = .keep) -> String? {
    Search(use: use).find(in: memory, info)
  }

  /// Looks for an object.
  static func find(object address: UInt) -> String? { Search(use: .keep).find(object: address) }

  /// `swift.lend(object)`: whoever gets it does not keep it, says the script.
  static let passBorrowed: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard patch.classes.isObject(callback[0]) else {
        return callback.fail("'swift.lend' takes a Swift object, got \(ValueBridge.describe(callback[0]))")
      }
      guard let object = patch.classes.object(callback[0]) else { return callback.fail(ObjectAPI.expired) }
      // What a script keeps lies in no frame, and is passed on anyway.
      ScriptThread.call(callback[0].h.c)?.pointee.borrowScope().vouched.insert(UInt(bitPattern: object))
      return callback.done(.argument(0))
    }
  }
}

/// One look at a value.
private struct Search {
  let use: StackPromoted.Use
  /// How many values this one lies in.
  var depth = 0
  /// Nothing so deep was put into a frame: boxes of indirect cases and lists are filled by code that no optimiser unrolls so far.
  private static let deepest = 128

  /// The type of something in the value that lies in a frame; nil where nothing does. The value is left as it is.
  func find(in memory: UnsafeRawPointer, _ info: TypeInfo) -> String? {
    find(UnsafeMutableRawPointer(mutating: memory), info, isOurs: false)
  }

  func find(object address: UInt) -> String? {
    guard let object = UnsafeRawPointer(bitPattern: address) else { return nil }
    if hkt_is_in_frame(object) { return isBorrowed(address) ? nil : Instance.typeName(object) }
    // Where its fields are, whatever they are; the object's own two words are none of them.
    let fields = max(0, min(Instance.type(object).instanceSize / 8 - 2, mostWords))
    return hkt_frame_object_among(object + 16, fields).flatMap { isBorrowed(address) ? nil : Instance.typeName($0) }
  }

  private func isBorrowed(_ address: UInt) -> Bool {
    guard use == .pass else { return false }
    var each = ScriptThread.current()?.pointee.top
    while let call = each {
      if call.pointee.borrows?.takeUnretainedValue().vouched.contains(address) == true { return true }
      each = call.pointee.up
    }
    return false
  }

  /// A closure's context lies in a frame, or holds what does.
  private func find(context address: UInt) -> Bool {
    guard let object = UnsafeRawPointer(bitPattern: address) else { return false }
    return hkt_is_in_frame(object) || hkt_frame_object_among(object + 16, hkt_context_words(object, mostWords)) != nil
  }

  /// Of the objects that a value refers to, this much is looked at.
  private var mostWords: Int { 64 }

  /// As `find(in:_:)` does.
  /// - Parameter isOurs: what lies in a frame is replaced by a copy where that can be.
  func find(_ memory: UnsafeMutableRawPointer, _ info: TypeInfo, isOurs: Bool) -> String? {
    if info.isTrivial { return nil }
    switch info.kind {
    case .void, .bool, .integer, .float, .string, .cString, .metatype: return nil
    case .object: return find(object: memory.loadUnaligned(as: UInt.self))
    case .closure:
      // Closures that do not escape are borrowed by their type.
      guard !info.isBorrowedFunction, info.metadata.function?.convention == .swift else { return nil }
      return find(context: memory.loadUnaligned(fromByteOffset: 8, as: UInt.self)) ? info.name : nil
    case .optional(let payload): return info.metadata.enumTag(memory) == 0 ? find(memory, payload, isOurs: isOurs) : nil
    case .existential: return find(existential: memory, info)
    case .structure:
      if let collection = CollectionType.of(info) { return find(collection, memory, info, isOurs: isOurs) }
      return find(fields: memory, info, isOurs: isOurs)
    case .tuple: return find(fields: memory, info, isOurs: isOurs)
    case .enumeration:
      guard depth < Self.deepest else { return nil }
      return info.withPayload(of: memory) { Search(use: use, depth: depth + 1).find(in: $0, $1) } ?? nil
    case .opaque: return find(words: memory, info)
    }
  }

  private func find(existential memory: UnsafeRawPointer, _ info: TypeInfo) -> String? {
    switch info.metadata.existentialForm {
    // Boxes of errors are always in the heap, and so is what was put into them.
    case .error: nil
    case .reference: find(object: memory.loadUnaligned(as: UInt.self))
    case .opaque: info.openExistential(memory).flatMap { find(in: $0.value, $0.type) }
    case nil: find(words: memory, info)
    }
  }

  private func find(fields memory: UnsafeMutableRawPointer, _ info: TypeInfo, isOurs: Bool) -> String? {
    if info.fields.isEmpty { return find(words: memory, info) }
    for field in info.fields {
      let found: String?
      switch field.reference {
      case .value:
        guard case .success(let type) = field.type else { return find(words: memory, info) }
        found = find(memory + field.offset, type, isOurs: isOurs)
      // The count of unowned references lies in the object.
      case .unowned: found = find(object: (memory + field.offset).loadUnaligned(as: UInt.self))
      case .weak, .unmanaged: found = nil
      }
      if let found { return found }
    }
    return nil
  }

  /// A value of which only the bytes are known.
  private func find(words memory: UnsafeRawPointer, _ info: TypeInfo) -> String? {
    hkt_frame_object_among(memory, info.size / 8).map { Instance.typeName($0) }
  }

  private func find(_ collection: CollectionType, _ memory: UnsafeMutableRawPointer, _ info: TypeInfo, isOurs: Bool) -> String? {
    // The buffer's object comes first in all of them; Data keeps bytes alone, and dictionaries and sets are filled by code
    // that the optimiser does not follow.
    guard collection.isList, info.size <= 32, let buffer = UnsafeRawPointer(bitPattern: memory.loadUnaligned(as: UInt.self)),
      !collection.isBytes || info.size == 8
    else { return nil }
    let isBound = hkt_is_in_frame(buffer)
    let element = collection.element
    guard isBound || !element.isTrivial else { return nil }
    var found = isBound ? info.name : nil
    if found == nil {
      var index = 0
      while found == nil, let next = collection.withElement(memory, index, { find(in: $0, element) }) {
        found = next
        index += 1
      }
    }
    guard found != nil, isOurs, collection.isStored(memory) else { return found }
    return copy(collection, memory, info)
  }

  /// Puts the elements into a buffer of our own.
  private func copy(_ collection: CollectionType, _ memory: UnsafeMutableRawPointer, _ info: TypeInfo) -> String? {
    let element = collection.element
    let made = OwnedValue(uninitialized: info)
    var found: String?
    do throws(BridgeError) {
      try collection.makeList(collection.count(memory), at: made.memory) {
        (index: Int, target: UnsafeMutableRawPointer) throws(BridgeError) in
        _ = collection.withElement(memory, index) { element.metadata.initialize(target, copying: $0) }
        found = find(target, element, isOurs: true)
        if let found {
          element.metadata.destroy(target)
          throw .inFrame(type: found)
        }
      }
    } catch {
      made.forget()
      return found
    }
    info.metadata.destroy(memory)
    memory.copyMemory(from: made.memory, byteCount: info.size)
    made.forget()
    return nil
  }
}

extension StackPromoted {
  /// A function that a script calls may keep its self, which the compiler knew of none that the program calls, or what the
  /// script borrowed it. Nothing can undo that; it is said.
  struct Watch {
    private let objects: [(object: UnsafeRawPointer, references: Int)]

    /// nil where nothing of the kind lies in a frame.
    /// - Parameter receiver: the object the function is called on, 0 for none.
    init?(_ receiver: UInt) {
      let borrowed = ScriptThread.current()?.pointee.top?.pointee.borrows?.takeUnretainedValue().vouched
      let isInFrame = UnsafeRawPointer(bitPattern: receiver).map { hkt_is_in_frame($0) } ?? false
      guard isInFrame || borrowed?.isEmpty == false else { return nil }
      var addresses = borrowed ?? []
      if isInFrame { addresses.insert(receiver) }
      objects = addresses.compactMap(UnsafeRawPointer.init(bitPattern:)).filter { hkt_is_in_frame($0) }.map { ($0, hkt_retain_count($0)) }
    }

    /// The call is over, and what it returned was given to the script.
    func end(_ selector: String, _ patch: Environment) {
      for (object, references) in objects where hkt_retain_count(object) > references {
        patch.log.say(
          "\(patch.fileName): '\(selector)' kept a \(Instance.typeName(object)) that lies in the frame of the function that made it: "
            + "the program is going to use what is gone; do not call it with this object"
        )
      }
    }
  }
}
