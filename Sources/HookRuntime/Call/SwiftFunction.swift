// SwiftFunction — calling functions of the program by name, from Swift.
//
//     let add = try SwiftFunction("Shop.Cart.add(_:price:quantity:)")
//     let count = try add.call(on: cart, "apple", 2.5, 1) as Int
//
//     let make = try SwiftFunction("static Shop.Cart.make()")
//     let cart = try make.call() as AnyObject
//
//     let title = try SwiftProperty("Shop.Cart.title")
//     try title.set("new", on: cart)
private import CHookTrampoline
private import SwiftMangling

/// A function, method, initialiser or accessor of this process, found by its selector. Any thread may call it; whether the
/// function itself may run there is for the caller to know.
///
/// Methods of classes run the implementation of the object's own class. Hooks on the function see the call; made from a
/// handler of the function itself, it goes to the layers below that handler.
///
/// A call throws `CallError`, before anything ran, when the arguments do not fit, and otherwise what the function throws.
public struct SwiftFunction: Sendable {
  package let callable: Callable

  /// Finds the function. Throws when there is none, when several have the name, and when it cannot be called by name: async,
  /// generic, private and coroutine functions, and those of which the compiler left no body of the declared convention.
  public init(_ selector: String) throws(CallError) {
    callable = try CallableLookup.shared.callable(selector)
    if callable.isAsync { throw .cannotWait(selector: selector) }
  }

  package init(_ callable: Callable) { self.callable = callable }

  /// An initialiser as a class made at run time inherits it.
  init(_ maker: InstanceMaker, of type: Metadata) {
    callable = maker.callable
    inherited = (type, maker.entry)
  }
  /// The class that an initialiser is called on, and its code for that class, where it is not the one that declares it.
  private var inherited: (type: Metadata, entry: UInt)?

  /// The full name, `Shop.Cart.add(_:price:quantity:)`.
  public var selector: String { callable.selector }
  /// The number of arguments it takes, default ones included.
  public var argumentCount: Int { callable.argumentCount }

  /// Calls a method on an instance.
  ///
  /// Arguments are of exactly the declared types; an instance of a subclass, and a value where an Optional is declared, will
  /// do. For an `inout` argument give an `UnsafeMutablePointer` to the variable.
  public func call<Result, each Argument>(on object: AnyObject, _ arguments: repeat each Argument) throws -> Result {
    try finish(run(object, repeat each arguments))
  }

  /// Calls a method on an instance and drops the result.
  public func call<each Argument>(on object: AnyObject, _ arguments: repeat each Argument) throws {
    drop(try run(object, repeat each arguments))
  }

  /// Calls a method of a struct or enum on a copy of the value; mutating ones are refused by `init`.
  public func call<Value, Result, each Argument>(onValue value: Value, _ arguments: repeat each Argument) throws -> Result {
    try finish(run(nil, value: { Self.store(value, as: $0, $1) }, repeat each arguments))
  }

  /// Calls a free function, a static method or an initialiser.
  public func call<Result, each Argument>(_ arguments: repeat each Argument) throws -> Result {
    try finish(run(nil, repeat each arguments))
  }

  /// Calls a free function or a static method and drops the result.
  public func call<each Argument>(_ arguments: repeat each Argument) throws { drop(try run(nil, repeat each arguments)) }

  // MARK: One call

  /// - Returns: memory of the caller's that holds the result, nil for Void.
  /// - Parameter value: makes the value that is `self` of a struct or enum; false when it is of another type.
  fileprivate func run<each Argument>(
    _ object: AnyObject?, value: ((TypeInfo, UnsafeMutableRawPointer) -> Bool)? = nil, _ arguments: repeat each Argument
  ) throws -> UnsafeMutableRawPointer? {
    let receiver = try receiver(object, isValue: value != nil)
    var given = 0
    for _ in repeat (each Argument).self { given += 1 }
    guard given == callable.argumentCount else {
      throw CallError.wrongCount(selector: selector, expected: callable.argumentCount, found: given)
    }
    let block = UnsafeMutableRawPointer.allocate(byteCount: max(callable.blockBytes, 16), alignment: 16)
    defer { block.deallocate() }
    var index = 0
    do throws(CallError) {
      for argument in repeat each arguments {
        try store(argument, index, block)
        index += 1
      }
    } catch {
      for made in 0..<index { destroy(made, block) }
      throw error
    }
    if case .value(let info) = callable.receiver, value?(info, block + callable.selfOffset) != true {
      for made in 0..<index { destroy(made, block) }
      throw CallError.wrongReceiver(selector: selector, expected: info.name, found: "a value of another type")
    }
    let result = callable.result.map { UnsafeMutableRawPointer.allocate(byteCount: max($0.size, 16), alignment: max($0.alignment, 16)) }
    let error = callable.run(block, receiver: receiver.word, entry: receiver.entry, result: result)
    withExtendedLifetime(object) {}
    if callable.hasInout {
      index = 0
      for argument in repeat each arguments {
        copyBack(argument, index, block)
        index += 1
      }
    }
    guard error == 0 else {
      result?.deallocate()
      // The word is an owned reference to the box that `any Error` is; what is thrown has one of its own.
      let thrown = unsafeBitCast(error, to: (any Error).self)
      ProgramCall.release(error)
      throw thrown
    }
    return result
  }

  private func receiver(_ object: AnyObject?, isValue: Bool) throws(CallError) -> (word: UInt, entry: UInt) {
    switch (callable.receiver, object) {
    case (.value, nil) where isValue: return (0, callable.entry)
    case (_, nil) where isValue: throw .wrongReceiver(selector: selector, expected: "none, or an object", found: "a value")
    case (.none, nil): return (0, callable.entry)
    case (.metatype(let type), nil):
      return (UInt(bitPattern: (inherited?.type ?? type).pointer), inherited?.entry ?? callable.entry)
    case (.object(let owner), let object?):
      let word = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
      let type = Metadata(Swift.type(of: object) as Any.Type)
      guard type.isSubclass(of: owner) else {
        throw .wrongReceiver(selector: selector, expected: CallCheck.name(owner), found: CallCheck.name(type))
      }
      try CallCheck.object(word, for: callable)
      return (word, VirtualCall.entry(of: callable, for: type))
    case (.value(let info), _):
      throw .wrongReceiver(
        selector: selector, expected: info.name, found: object == nil ? "none" : "an object; values are called with call(onValue:)")
    case (.object(let owner), nil): throw .wrongReceiver(selector: selector, expected: CallCheck.name(owner), found: "none; use call(on:)")
    case (_, let object?):
      throw .wrongReceiver(selector: selector, expected: "none", found: CallCheck.name(Metadata(Swift.type(of: object) as Any.Type)))
    }
  }

  // MARK: Arguments

  private func store<T>(_ value: T, _ index: Int, _ block: UnsafeMutableRawPointer) throws(CallError) {
    let argument = callable.arguments[index]
    let info = argument.info
    let place = block + argument.offset
    if argument.isInout {
      guard let source = (value as? any MutablePointer)?.address(of: info.metadata.type) else {
        throw wrong(index, "UnsafeMutablePointer<\(info.name)>", T.self)
      }
      return info.metadata.initialize(place, copying: source)
    }
    guard Self.store(value, as: info, place) else { throw wrong(index, info.name, T.self) }
  }

  private static func store<T>(_ value: T, as info: TypeInfo, _ place: UnsafeMutableRawPointer) -> Bool {
    if info.metadata == Metadata(T.self) {
      place.bindMemory(to: T.self, capacity: 1).initialize(to: value)
      return true
    }
    switch info.kind {
    case .object:
      guard T.self is AnyObject.Type, Metadata(Swift.type(of: value as AnyObject) as Any.Type).isSubclass(of: info.metadata) else {
        return false
      }
      place.bindMemory(to: AnyObject.self, capacity: 1).initialize(to: value as AnyObject)
      return true
    case .optional(let payload):
      guard store(value, as: payload, place) else { return false }
      info.metadata.injectEnumTag(place, 0)
      return true
    default: return false
    }
  }

  private func copyBack<T>(_ value: T, _ index: Int, _ block: UnsafeMutableRawPointer) {
    let argument = callable.arguments[index]
    guard argument.isInout, let target = (value as? any MutablePointer)?.address(of: argument.info.metadata.type) else { return }
    argument.info.metadata.destroy(target)
    argument.info.metadata.initialize(target, copying: block + argument.offset)
    argument.info.metadata.destroy(block + argument.offset)
  }

  private func destroy(_ index: Int, _ block: UnsafeMutableRawPointer) {
    let argument = callable.arguments[index]
    argument.info.metadata.destroy(block + argument.offset)
  }

  private func wrong(_ index: Int, _ expected: String, _ found: Any.Type) -> CallError {
    .wrongArgument(
      selector: selector, position: index, label: callable.plan.arguments[index].label, expected: expected,
      found: _typeName(found, qualified: true))
  }

  // MARK: Result

  fileprivate func finish<Result>(_ memory: UnsafeMutableRawPointer?) throws -> Result {
    guard let memory, let info = callable.result else {
      if let nothing = () as? Result { return nothing }
      throw CallError.wrongResult(selector: selector, expected: "nothing", found: _typeName(Result.self, qualified: true))
    }
    defer { memory.deallocate() }
    if info.metadata == Metadata(Result.self) { return memory.assumingMemoryBound(to: Result.self).move() }
    if case .object = info.kind, let object = memory.assumingMemoryBound(to: AnyObject.self).move() as? Result { return object }
    if case .object = info.kind {} else { info.metadata.destroy(memory) }
    throw CallError.wrongResult(selector: selector, expected: info.name, found: _typeName(Result.self, qualified: true))
  }

  fileprivate func drop(_ memory: UnsafeMutableRawPointer?) {
    guard let memory else { return }
    callable.result?.metadata.destroy(memory)
    memory.deallocate()
  }
}

/// A property or subscript found by its selector without `.get` or `.set`.
public struct SwiftProperty: Sendable {
  private let getter: SwiftFunction
  private let setter: Result<SwiftFunction, CallError>

  /// Throws when there is no getter that can be called.
  public init(_ selector: String) throws(CallError) {
    getter = try SwiftFunction(selector + ".get")
    do throws(CallError) { setter = .success(try SwiftFunction(selector + ".set")) } catch { setter = .failure(error) }
  }

  /// Runs the getter. `indices` are those of a subscript.
  public func get<Value, each Index>(on object: AnyObject, _ indices: repeat each Index) throws -> Value {
    try getter.finish(getter.run(object, repeat each indices))
  }
  /// Runs the getter of a static or global property.
  public func get<Value>() throws -> Value { try getter.finish(getter.run(nil)) }

  /// Runs the setter; observers of the property run, too.
  public func set<Value, each Index>(_ value: Value, on object: AnyObject, _ indices: repeat each Index) throws {
    let setter = try setter.get()
    setter.drop(try setter.run(object, value, repeat each indices))
  }
  /// Runs the setter of a static or global property.
  public func set<Value>(_ value: Value) throws {
    let setter = try setter.get()
    setter.drop(try setter.run(nil, value))
  }
}

/// Any `UnsafeMutablePointer`, for inout arguments.
private protocol MutablePointer {
  func address(of type: Any.Type) -> UnsafeMutableRawPointer?
}
extension UnsafeMutablePointer: MutablePointer {
  fileprivate func address(of type: Any.Type) -> UnsafeMutableRawPointer? {
    type == Pointee.self ? UnsafeMutableRawPointer(self) : nil
  }
}
