// ObservedProperty — a property of a class: how it is read, and which functions of the program write it.
private import SwiftMangling

/// A property as instances of one class have it (or, static, the class itself).
struct ObservedProperty {
  let name: String
  /// The class of the instances; a subclass of the one that declares the property.
  let type: Metadata
  let info: TypeInfo
  /// Where it is stored; nil for a computed one and for what is stored behind accessors (`lazy`, property wrappers).
  let field: StoredField?
  private let getter: (callable: Callable, entry: UInt)?
  let isStatic: Bool

  /// The property as it was found before, or now. Throws when there is no such property, or nothing of it can be read.
  static func named(_ name: String, of type: Metadata, isStatic: Bool = false) throws(ObserveError) -> ObservedProperty {
    try ObservedNames.shared.property(.init(name: name, type: type, isStatic: isStatic, withSubclasses: false)) { () throws(ObserveError) in
      try ObservedProperty(name, of: type, isStatic: isStatic)
    }
  }

  /// Throws when there is no such property, or nothing of it can be read.
  private init(_ name: String, of type: Metadata, isStatic: Bool = false) throws(ObserveError) {
    self.name = name
    self.type = type
    self.isStatic = isStatic
    let field = isStatic ? nil : type.storedFields.first { $0.name == name && $0.reference != .unmanaged }
    var refusal: CallError?
    switch CallableLookup.shared.member(name, of: type, isStatic: isStatic) {
    case .property(.success(let get), _, _)?: getter = (get, VirtualCall.entry(of: get, for: type))
    case .property(.failure(let reason), _, _)?: (getter, refusal) = (nil, reason)
    case .methods?, nil:
      getter = nil
      if field == nil { throw .noProperty(name, type: CallCheck.name(type), known: StoredField.names(in: type)) }
    }
    self.field = field
    // The stored type is the declared one; a getter's result is what a computed property is.
    if let stored = try? field?.type.get() {
      info = stored
    } else if let result = getter?.callable.result {
      info = result
    } else {
      throw .unreadable("\(CallCheck.name(type)).\(name)", reason: refusal?.description ?? "its type is not known in this process")
    }
    guard info.isCopyable else { throw .unreadable("\(CallCheck.name(type)).\(name)", reason: "its values cannot be copied") }
  }

  /// What it is now; nil while somebody on this thread is changing it, and where its getter cannot run.
  /// - Parameter object: an instance of `type`; the class itself, or 0, for a static one.
  func read(_ object: UInt) -> OwnedValue? {
    if let field, let value = load(field, object) { return value }
    guard let getter, let result = getter.callable.result else { return nil }
    if !isStatic {
      do throws(CallError) { try CallCheck.object(object, for: getter.callable) } catch { return nil }
    }
    let value = OwnedValue(uninitialized: result)
    return withUnsafeTemporaryAllocation(byteCount: getter.callable.blockBytes + 16, alignment: 16) { block in
      let receiver: UInt
      switch getter.callable.receiver {
      case .metatype: receiver = UInt(bitPattern: type.pointer)
      default: receiver = object
      }
      let error = ProgramCall.unseen {
        getter.callable.run(block.baseAddress!, receiver: receiver, entry: getter.entry, result: value.memory)
      }
      guard error == 0 else {
        ProgramCall.release(error)
        value.forget()
        return nil
      }
      return value
    }
  }

  /// The stored bits, copied. A weak reference is loaded.
  private func load(_ field: StoredField, _ object: UInt) -> OwnedValue? {
    guard let base = UnsafeRawPointer(bitPattern: object) else { return nil }
    let place = object + UInt(field.offset)
    if OpenAccesses.strongest(in: place..<place + UInt(max(info.size, 1))) == .modifying { return nil }
    let memory = base + field.offset
    switch field.reference {
    case .value:
      let value = OwnedValue(uninitialized: info)
      info.metadata.initialize(value.memory, copying: memory)
      return value
    case .weak where info.size == 8:
      let value = OwnedValue(uninitialized: info)
      // A weak variable's memory, as any has it; an Optional reference is one word.
      value.memory.initializeMemory(as: AnyObject?.self, repeating: memory.assumingMemoryBound(to: WeakWord.self).pointee.object, count: 1)
      return value
    case .weak, .unowned, .unmanaged: return nil
    }
  }

  private struct WeakWord { weak var object: AnyObject? }

  // MARK: Who writes

  /// The functions that write the property: setters and in-place accesses of every class that declares or overrides it.
  struct Writers {
    var found: [(image: ImageCatalog, family: Family)] = []
    /// What no hook can see, in words.
    var unseen: [String] = []
  }

  /// - Parameter subclasses: those of the class's subclasses, too, known in this process now.
  func writers(withSubclasses subclasses: Bool) -> Writers {
    ObservedNames.shared.writers(.init(name: name, type: type, isStatic: isStatic, withSubclasses: subclasses)) {
      findWriters(withSubclasses: subclasses)
    }
  }

  private func findWriters(withSubclasses subclasses: Bool) -> Writers {
    var writers = Writers()
    let escaped = name.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "\\*")
    let pattern = SelectorPattern("**.\(escaped).*")
    // Subclasses, and extensions of the class, may be in any image.
    for (image, family) in ProcessCatalog.shared.current().flatMap({ image in image.families(matching: pattern).map { (image, $0) } }) {
      let declaration = family.declaration
      guard declaration.name == name, declaration.isStatic == isStatic, !declaration.isSubscript, let owner = owner(of: declaration),
        type.isSubclass(of: owner) || subclasses && owner.isSubclass(of: type)
      else { continue }
      switch declaration.kind {
      case .setter, .modify: writers.found.append((image, family))
      // Its frame may have no size, and then two open accesses have the same: nothing tells whose end comes.
      case .modify2: writers.unseen.append("in-place changes through '\(family.selector)': their end is not seen")
      default: break
      }
    }
    if let field, field.isVar {
      let module = CallCheck.name(field.owner).prefix { $0 != "." }
      writers.unseen.append(
        "writes inside \(module) that the compiler stored straight into the field: it does so where the class is not open, and in initialisers"
      )
    }
    for (image, family) in writers.found {
      guard let copies = image.inlinedCopies(of: family), copies > 0 else { continue }
      writers.unseen.append("\(copies) inlined cop\(copies == 1 ? "y" : "ies") of '\(family.selector)'")
    }
    return writers
  }

  private func owner(of declaration: Declaration) -> Metadata? {
    guard let context = declaration.context, declaration.contextKind == .classType,
      case .success(let info) = TypeResolver.shared.type(.nominal(context, kind: .classType, arguments: []))
    else { return nil }
    return info.metadata
  }
}

/// What was found of properties, until another image comes: each search looks through the names of all images.
private final class ObservedNames: @unchecked Sendable {
  // What varies is behind `lock`.
  struct Key: Hashable {
    var name: String
    var type: Metadata
    var isStatic: Bool
    var withSubclasses: Bool
  }

  static let shared = ObservedNames()
  private let lock = RecursiveLock()
  private var seen: UInt64 = .max
  private var properties: [Key: ObservedProperty] = [:]
  private var writers: [Key: ObservedProperty.Writers] = [:]

  func property(_ key: Key, _ find: () throws(ObserveError) -> ObservedProperty) throws(ObserveError) -> ObservedProperty {
    if let known = lock.withLock({ () -> ObservedProperty? in forgetStale(); return properties[key] }) { return known }
    let change = LoadedImages.changeCount
    let found = try find()
    lock.withLock {
      forgetStale()
      if seen == change { properties[key] = found }
    }
    return found
  }

  func writers(_ key: Key, _ find: () -> ObservedProperty.Writers) -> ObservedProperty.Writers {
    if let known = lock.withLock({ () -> ObservedProperty.Writers? in forgetStale(); return writers[key] }) { return known }
    let change = LoadedImages.changeCount
    let found = find()
    lock.withLock {
      forgetStale()
      if seen == change { writers[key] = found }
    }
    return found
  }

  /// Forgets what was found before an image came.
  private func forgetStale() {
    let now = LoadedImages.changeCount
    if seen == now { return }
    seen = now
    properties = [:]
    writers = [:]
  }
}
