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
  private let allowingLeak: Bool

  /// Finds the function. Throws when there is none, when several have the name, and when it cannot be called by name: async,
  /// generic, private and coroutine functions, and those of which the compiler left no body of the declared convention.
  /// - Parameters:
  ///   - selector: its full name, as ``selector`` has it.
  ///   - allowingLeak: methods of structs and enums are found, too, whose code does not tell whether they consume their self. A call of
  ///     one of these does not end the copy of the value that it was made on, and may leave it behind.
  public init(_ selector: String, allowingLeak: Bool = false) throws(CallError) {
    self.allowingLeak = allowingLeak
    callable = try CallableLookup.shared.callable(selector)
    if callable.mayLeaveSelf, !allowingLeak { throw .mayLeaveCopy(selector: callable.selector) }
    if callable.isGeneric { throw .refused(selector: selector, reason: CallRefusal.generic(CallBlock.onlyScripts).description) }
    if callable.isAsync { throw .cannotWait(selector: selector) }
  }

  package init(_ callable: Callable) { (self.callable, allowingLeak) = (callable, false) }

  /// An initialiser as a class inherits it: called on `type`, at `entry`.
  init(_ callable: Callable, inheritedBy type: Metadata, at entry: UInt) {
    (self.callable, allowingLeak) = (callable, false)
    inherited = (type, entry)
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
    try finish(run(nil, value: { TypedValue.store(value, as: $0, at: $1) }, repeat each arguments))
  }

  /// Calls a free function, a static method or an initialiser.
  public func call<Result, each Argument>(_ arguments: repeat each Argument) throws -> Result {
    try finish(run(nil, repeat each arguments))
  }

  /// Calls a free function or a static method and drops the result.
  public func call<each Argument>(_ arguments: repeat each Argument) throws { drop(try run(nil, repeat each arguments)) }

  // MARK: One call

  /// - Returns: the result, nil for Void.
  /// - Parameter value: makes the value that is `self` of a struct or enum; false when it is of another type.
  fileprivate func run<each Argument>(
    _ object: AnyObject?, value: ((TypeInfo, UnsafeMutableRawPointer) -> Bool)? = nil, _ arguments: repeat each Argument
  ) throws -> OwnedValue? {
    let receiver = try receiver(object, isValue: value != nil)
    var count = 0
    for _ in repeat (each Argument).self { count += 1 }
    var block = try CallBlock(callable, count: count, allowingLeak: allowingLeak)
    for argument in repeat each arguments { try block.add(argument) }
    if let value { try block.setSelf(value) }
    defer { withExtendedLifetime(object) {} }
    return try block.run(receiver: receiver.word, entry: receiver.entry)
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

  // MARK: Result

  fileprivate func finish<Result>(_ value: OwnedValue?) throws -> Result {
    guard let value else {
      if let nothing = () as? Result { return nothing }
      throw CallError.wrongResult(selector: selector, expected: "nothing", found: Metadata(Result.self).name)
    }
    defer { ProgramCall.asProgram { value.destroy() } }
    if let result = TypedValue.cast(value.memory, value.info, to: Result.self) { return result }
    throw CallError.wrongResult(selector: selector, expected: value.info.name, found: Metadata(Result.self).name)
  }

  fileprivate func drop(_ value: OwnedValue?) { ProgramCall.asProgram { value?.destroy() } }
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
