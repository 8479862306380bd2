// Call — a call in flight, as a handler sees it.

/// One call of a hooked function, good until the handler returns: it can be neither copied nor kept.
///
/// `Position` says what the handler may do with it, `Output` what an `around` handler returns, `Argument` which arguments it takes.
public struct Call<Position: CallPosition, Instance, Output, each Argument>: ~Copyable {
  // Lives in the frame of the layer function that runs the handler; this value cannot leave the handler.
  let state: UnsafeMutablePointer<HandlerCall>

  init(_ state: UnsafeMutablePointer<HandlerCall>) { self.state = state }

  /// The object or value that the method runs on, the type of a static member.
  ///
  /// nil for free functions and initialisers, after a `deinit`, and in bodies from which the optimiser removed it. In a `deinit`
  /// it must not be kept: the object is gone when the handler returns.
  public var instance: Instance? { state.pointee.instance() }

  /// The full name of the function: `Shop.Cart.total(tax:)`.
  public var selector: String { state.pointee.selector }
  /// Hooked calls around this one, on its thread or in its task.
  public var depth: Int { state.pointee.view.depth }
  /// The time since the call began; zero in a `before` handler.
  public var duration: Duration { .nanoseconds(Int64(clamping: state.pointee.view.durationNanoseconds)) }

  // MARK: Arguments

  /// The number of arguments the function takes.
  public var argumentCount: Int { state.pointee.view.plan.arguments.count }

  /// An argument as it is now. Its type is its own, `Any`, or a superclass's.
  public func argument<T>(_ key: ArgumentKey, as type: T.Type = T.self) throws(HandlerError) -> T {
    try state.pointee.argument(position(key))
  }

  /// Replaces an argument for the handlers inside and the original; of an `inout` argument, the caller's variable.
  /// - Parameter key: the label, or the position from 0.
  public func set<T>(_ key: ArgumentKey, to value: T) throws(HandlerError) {
    try state.pointee.setArgument(position(key), to: value)
  }

  private func position(_ key: ArgumentKey) throws(HandlerError) -> Int {
    switch key.key {
    case .position(let index): return index
    case .label(let label): return try state.pointee.position(of: label)
    }
  }
}

/// What a handler may do with its call.
public protocol CallPosition {}
/// The original runs afterwards.
public enum Before: CallPosition {}
/// The original runs when the handler says so.
public enum Around: CallPosition {}
/// The original has run.
public enum After: CallPosition {}
/// Positions from which an outcome can be seen.
public protocol OutcomePosition: CallPosition {}
extension Around: OutcomePosition {}
extension After: OutcomePosition {}

extension Call where Position: OutcomePosition {
  /// What the original returned, or a handler inside made of it. In `around` once the original ran.
  public func result<T>(as type: T.Type = T.self) throws(HandlerError) -> T { try state.pointee.result() }

  /// What the original threw; nil where it returned.
  public var error: (any Error)? { state.pointee.error }

  /// Makes `value` what the call returns, also where the original threw. (To make the call throw, throw.)
  public func setResult<T>(to value: T) throws(HandlerError) { try state.pointee.setResult(to: value) }
}

extension Call where Position == Around {
  /// Runs the handlers inside this one and the original, with the arguments as they are now. Throws what they throw.
  ///
  /// It can run any number of times, but where it consumes what it is given and cannot be given a copy.
  @discardableResult
  public func original() throws -> Output {
    try state.pointee.checkThread()
    try state.pointee.runOriginal()
    if let error = state.pointee.error { throw error }
    return try state.pointee.output()
  }

  /// The same with these arguments, which are the first ones of the function; those behind them stay as they are.
  @discardableResult
  public func original(_ arguments: repeat each Argument) throws -> Output {
    var index = 0
    for argument in repeat each arguments {
      try state.pointee.setArgument(index, to: argument)
      index += 1
    }
    return try original()
  }
}

/// Which argument: its label, or its position from 0.
public struct ArgumentKey: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, Sendable {
  enum Key { case position(Int), label(String) }
  let key: Key
  public init(stringLiteral label: String) { key = .label(label) }
  public init(integerLiteral position: Int) { key = .position(position) }
  public init(_ position: Int) { key = .position(position) }
  public init(_ label: String) { key = .label(label) }
}

