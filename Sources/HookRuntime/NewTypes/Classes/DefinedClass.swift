// DefinedClass — classes made at run time, written in Swift.
//
//     let fast = try DefinedClass("Shop.FastCart", inheriting: Cart.self) { type in
//       type.property("visits", 0)
//       type.override("total(tax:)") { call in
//         call.proceed()                                          // the superclass's
//         call.setResult(to: call.result(as: Double.self)! * 0.9)
//       }
//       type.method("discount(_:)") { (cart: AnyObject, percent: Int) -> Double in Double(percent) / 100 }
//       type.deinit { cart in print("gone") }
//     }
//     let cart: Cart = try fast.make("init(title:)", "x")
private import CHookTrampoline

/// A class that inherits from an open class of the program and was made at run time. It is there for the rest of the process.
public struct DefinedClass: Sendable {
  package let runtimeClass: RuntimeClass

  /// What is said of a class when it is made.
  public struct Definition {
    fileprivate var fields: [RuntimeClass.Field] = []
    fileprivate var steps: [Step] = []

    /// In a struct: the compiler does not get over an array of functions with a typed error.
    fileprivate struct Step {
      let run: (RuntimeClass) throws(NewTypeError) -> Void
    }

    /// Adds a stored property. Instances begin with `value`, and end it.
    public mutating func property<Value: Sendable>(_ name: String, _ value: Value) {
      // Every type of a value in Swift code is known to the resolver, but for closures, which are refused below.
      guard case .success(let info) = TypeResolver.shared.type(of: Metadata(Value.self)) else {
        return steps.append(Self.unknownLayout(of: name))
      }
      fields.append(.init(name: name, info: info) { $0.bindMemory(to: Value.self, capacity: 1).initialize(to: value) })
    }

    private static func unknownLayout(of name: String) -> Step {
      Step { (type) throws(NewTypeError) in throw .field(name, reason: "the layout of its type is not known") }
    }

    /// Overrides a method or accessor that the class inherits: `total(tax:)`, `title.get`, `static make()`.
    ///
    /// `HookedCall.proceed()` runs the superclass's. Calls that the body makes on its own object run the body again.
    /// - Parameters:
    ///   - member: a selector of the superclass, as scripts spell it.
    ///   - missingDirectCalls: make the override although calls were found that the compiler made direct, which do not reach it.
    ///   - body: runs instead of the superclass's.
    public mutating func override(_ member: String, missingDirectCalls: Bool = false, _ body: @escaping HookedCall.Handler) {
      let step = Step { (type) throws(NewTypeError) in
        try type.override(member, missing: missingDirectCalls) { _ in .closure(UInt32(HKT_ON_AROUND), body) }
      }
      steps.append(step)
    }

    /// Adds a method that calls by name reach: `SwiftFunction`, scripts. The body gets the object first.
    /// - Parameters:
    ///   - name: with a label, or `_`, for each further parameter: `discount(for:)`.
    ///   - body: gets the object, then the arguments.
    public mutating func method<Result, each Argument>(
      _ name: String, _ body: @escaping @Sendable (AnyObject, repeat each Argument) throws -> Result
    ) {
      let step = Step { (type) throws(NewTypeError) in
        var parameters: [Metadata] = []
        for parameter in repeat (each Argument).self { parameters.append(Metadata(parameter)) }
        let signature = try MethodSignature(name, parameters: parameters, result: Metadata(Result.self))
        try type.add(signature) { _ in .closure(UInt32(HKT_ON_AROUND)) { try $0.answer(with: body) } }
      }
      steps.append(step)
    }

    /// Runs when an instance ends, before its properties and the superclass's `deinit`. The object must not be kept.
    public mutating func `deinit`(_ body: @escaping @Sendable (AnyObject) -> Void) {
      let step = Step { (type) throws(NewTypeError) in
        try type.atEnd { _ in .closure(UInt32(HKT_ON_ENTER)) { if let object = $0.object { body(object) } } }
      }
      steps.append(step)
    }
  }

  /// Makes the class. `name` is `Module.Name`; without a module it is in `Script`.
  public init(_ name: String, inheriting superclass: AnyClass, _ define: (inout Definition) -> Void = { _ in }) throws(NewTypeError) {
    var definition = Definition()
    define(&definition)
    // A class once registered stays: what can fail, fails before.
    let made = try RuntimeClass.make(name, superclass: Metadata(superclass), fields: definition.fields, replaces: { _ in false }) {
      (type) throws(NewTypeError) in
      for step in definition.steps { try step.run(type) }
    }
    runtimeClass = made
  }

  /// `Shop.FastCart`
  public var name: String { runtimeClass.name }
  /// The class itself, for `is` and `type(of:)`.
  public var type: AnyClass {
    // Metadata of a class, made here.
    runtimeClass.metadata.type as! AnyClass
  }

  /// Makes an instance by an initialiser of the superclass.
  public func make<Instance: AnyObject, each Argument>(_ initialiser: String = "init()", _ arguments: repeat each Argument) throws
    -> Instance
  {
    let maker = try runtimeClass.maker(initialiser)
    let function = SwiftFunction(maker.callable, inheritedBy: runtimeClass.metadata, at: maker.entry)
    let made: Instance = try function.call(repeat each arguments)
    let problem = runtimeClass.problem(ofMade: Unmanaged.passUnretained(made).toOpaque())
    if let problem { throw NewTypeError.initialiser(initialiser, of: name, reason: problem) }
    return made
  }

  /// The value of an added property.
  public func value<Value>(_ property: String, of object: AnyObject, as type: Value.Type = Value.self) -> Value? {
    place(property, object, type)?.pointee
  }
  /// Changes an added property; false when there is none of this name and type.
  @discardableResult
  public func set<Value>(_ property: String, of object: AnyObject, to value: Value) -> Bool {
    guard let place = place(property, object, Value.self) else { return false }
    place.pointee = value
    return true
  }

  /// Where the object has the added property; nil where it has none of this name and type.
  private func place<Value>(_ property: String, _ object: AnyObject, _ type: Value.Type) -> UnsafeMutablePointer<Value>? {
    let pointer = Unmanaged.passUnretained(object).toOpaque()
    guard Metadata(pointer.load(as: UnsafeRawPointer.self)).isSubclass(of: runtimeClass.metadata),
      let (memory, info) = runtimeClass.place(of: property, in: pointer), info.metadata == Metadata(type)
    else { return nil }
    // The property is of this very type.
    return memory.assumingMemoryBound(to: Value.self)
  }
}

extension HookedCall {
  /// Runs `body` with the object and the arguments, and leaves what it returns.
  fileprivate borrowing func answer<Result, each Argument>(with body: (AnyObject, repeat each Argument) throws -> Result) throws {
    // The method is called on objects of its class, with the types it was made with.
    guard let object else { throw UnansweredCall() }
    var index = -1
    func next<T>(_ type: T.Type) throws -> T {
      index += 1
      guard let value = argument(index, as: type) else { throw UnansweredCall() }
      return value
    }
    let result = try body(object, repeat next((each Argument).self))
    if Result.self != Void.self, !setResult(to: result) { throw UnansweredCall() }
  }
}
