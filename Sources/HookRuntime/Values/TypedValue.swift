// TypedValue — values of the program as Swift values of a type that code of ours names, and back.
//
// A value is taken as its own type, as `Any`, or, when it is an object, as a class it inherits from. It is made of a value of
// its own type, of an instance of a subclass, of what an Optional holds, of what conforms where it is an existential, or of an
// `Any` that holds one of these.
// Nothing is converted: an `Int` is no `Double`, and a number no `Bool`.

package enum TypedValue {
  /// The value of `type` can be taken as T.
  package static func canRead<T>(_: T.Type, _ type: TypeInfo) -> Bool { canRead(Metadata(T.self), type) }

  /// Whether T, given as its metadata, can be read.
  package static func canRead(_ wanted: Metadata, _ type: TypeInfo) -> Bool {
    if type.metadata == wanted { return true }
    if wanted == any { return type.isCopyable && !type.isBorrowedFunction }
    if type.isBorrowedFunction { return wanted.isSameFunction(as: type.metadata) }
    return isObject(type, of: wanted)
  }

  /// A value of T, or what is in one, may become one of `type`; whether a certain value does, only `store` tells.
  package static func canStore(_ given: Metadata, _ type: TypeInfo) -> Bool {
    if type.isConstrained { return false }
    if type.metadata == given || given == any { return true }
    if type.isBorrowedFunction { return given.isSameFunction(as: type.metadata) }
    if case .object = type.kind,
      given == anyObject || isClass(given) && (given.isSubclass(of: type.metadata) || type.metadata.isSubclass(of: given))
    {
      return true
    }
    if case .optional(let payload) = type.kind { return canStore(given, payload) }
    return false
  }

  /// T is a class, not AnyObject and no protocol.
  package static func isClass<T>(_: T.Type) -> Bool { isClass(Metadata(T.self)) }

  private static let any = Metadata(Any.self)
  private static let anyObject = Metadata(AnyObject.self)
  private static func isClass(_ type: Metadata) -> Bool { if case .classType = type.kind { true } else { false } }

  private static func isReference(_ type: Metadata) -> Bool {
    if isClass(type) || type == anyObject { return true }
    return if case .reference? = type.existentialForm { true } else { false }
  }

  private static func isObject(_ type: TypeInfo, of wanted: Metadata) -> Bool {
    guard case .object = type.kind else { return false }
    return wanted == anyObject || isClass(wanted) && type.metadata.isSubclass(of: wanted)
  }

  // MARK: Reading

  /// A copy of the value at `memory`, which lies there as `type` says; nil where T is another type.
  package static func load<T>(_ memory: UnsafeRawPointer, _ type: TypeInfo, as: T.Type = T.self) -> T? {
    if type.metadata == Metadata(T.self) { return loadExact(memory, type) }
    if Metadata(T.self) == any {
      guard type.isCopyable else { return nil }
      func box<Value>(_: Value.Type) -> Any? { loadExact(memory, type) as Value? }
      // Any is T.
      return _openExistential(type.metadata.type, do: box).map { $0 as! T }
    }
    // A reference is one word, whatever class it is taken as.
    return isObject(type, of: Metadata(T.self)) ? memory.assumingMemoryBound(to: T.self).pointee : nil
  }

  /// Reads for who asks for what the value turns out to be: a subclass of what is declared, a protocol, what an Optional
  /// or an existential holds.
  package static func cast<T>(_ memory: UnsafeRawPointer, _ type: TypeInfo, to: T.Type = T.self) -> T? {
    if let value = load(memory, type, as: T.self) { return value }
    guard type.isCopyable, let content = load(memory, type, as: Any.self), let value = content as? T else { return nil }
    // A cast converts where a library says so: an NSNumber to a Bool.
    switch Metadata(T.self).kind {
    case .structure, .enumeration, .tuple, .function: return Metadata(Swift.type(of: content)) == Metadata(T.self) ? value : nil
    default: return value
    }
  }

  /// Generic code has closures in another form than they travel in.
  private static func loadExact<T>(_ memory: UnsafeRawPointer, _ type: TypeInfo) -> T? {
    let general = TypeResolver.shared.general(type)
    // Of the type itself, in the form that memory of the type has.
    if general === type { return memory.assumingMemoryBound(to: T.self).pointee }
    guard case .closure = type.kind else { return nil }
    let moved = OwnedValue(uninitialized: general)
    defer { moved.forget() }
    do throws(FunctionProblem) { try FunctionValue(memory, type, borrowOwner: 0).store(at: moved.memory, as: general) } catch { return nil }
    return moved.memory.assumingMemoryBound(to: T.self).move()
  }

  /// The closure at `memory`, which must not escape, as one that may, for as long as the borrow lasts; nil where T is another type.
  package static func borrowed<T>(_ memory: UnsafeRawPointer, _ type: TypeInfo, until borrow: ClosureBorrow, as: T.Type = T.self) -> T? {
    guard Metadata(T.self).isSameFunction(as: type.metadata), case .success(let info) = TypeResolver.shared.type(of: Metadata(T.self))
    else {
      return nil
    }
    let made = OwnedValue(uninitialized: TypeResolver.shared.general(info))
    defer { made.forget() }
    let function = FunctionValue(memory, type, borrowOwner: 1)
    do throws(FunctionProblem) { try function.store(at: made.memory, as: made.info, until: borrow) } catch { return nil }
    return made.memory.assumingMemoryBound(to: T.self).move()
  }

  // MARK: Making

  /// Makes a value of `type` at `memory`, which has none; false, with nothing made, where `value` is no such value.
  package static func store<T>(_ value: T, as type: TypeInfo, at memory: UnsafeMutableRawPointer) -> Bool {
    if type.isConstrained { return false }
    if type.metadata == Metadata(T.self) { return storeExact(value, type, memory) }
    if type.isBorrowedFunction { return Metadata(T.self).isSameFunction(as: type.metadata) && storeExact(value, type, memory) }
    if Metadata(T.self) == any { return storeContent(of: value, type, memory) }
    switch type.kind {
    case .object:
      guard isReference(Metadata(T.self)) else { return false }
      // Of reference type: not boxed.
      let object = value as AnyObject
      guard Metadata(Swift.type(of: object) as Any.Type).isSubclass(of: type.metadata) else { return false }
      memory.initializeMemory(as: AnyObject.self, to: object)
      return true
    case .optional(let payload):
      guard store(value, as: payload, at: memory) else { return false }
      type.metadata.injectEnumTag(memory, 0)
      return true
    case .existential: return storeContent(of: value, type, memory)
    default: return false
    }
  }

  /// A value of the type in memory of its own; nil where `value` is no such value.
  package static func owned<T>(_ value: T, as type: TypeInfo) -> OwnedValue? {
    let made = OwnedValue(uninitialized: type)
    if store(value, as: type, at: made.memory) { return made }
    made.forget()
    return nil
  }

  /// Initializes the memory with a value of exactly the type, in the form that values of it have there; false where that cannot be.
  private static func storeExact<T>(_ value: T, _ type: TypeInfo, _ memory: UnsafeMutableRawPointer) -> Bool {
    let general = TypeResolver.shared.general(type)
    if general === type {
      memory.initializeMemory(as: T.self, to: value)
      return true
    }
    guard case .closure = type.kind else { return false }
    let function = withUnsafePointer(to: value) { FunctionValue(UnsafeRawPointer($0), general, borrowOwner: 0) }
    do throws(FunctionProblem) { try function.store(at: memory, as: type) } catch { return false }
    return true
  }

  /// Initializes the memory with what the value holds, where that is of the type, or conforms to it.
  private static func storeContent<T>(of value: T, _ type: TypeInfo, _ memory: UnsafeMutableRawPointer) -> Bool {
    // T is Any, or what an existential is to hold.
    let content = value as Any
    let held = Metadata(Swift.type(of: content))
    switch type.kind {
    case .object:
      guard isClass(held) else { return false }
      return store(content as AnyObject, as: type, at: memory)
    case .optional(let payload) where held != type.metadata:
      guard storeContent(of: value, payload, memory) else { return false }
      type.metadata.injectEnumTag(memory, 0)
      return true
    case .existential: break
    // A cast converts where a library says so: an NSNumber to a Bool.
    default: if held != type.metadata { return false }
    }
    func cast<Value>(_: Value.Type) -> Bool { (content as? Value).map { storeExact($0, type, memory) } ?? false }
    return _openExistential(type.metadata.type, do: cast)
  }
}
