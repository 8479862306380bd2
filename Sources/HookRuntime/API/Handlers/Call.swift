// Call — a call in flight, as a handler sees it.

private import CHookTrampoline

/// One call of a hooked function, good until the handler returns, and on its thread: kept longer, it answers
/// ``HandlerError/callIsOver``.
///
/// `Position` says what the handler may do with it, `Output` what an `around` handler returns, `Argument` which arguments it takes.
public struct Call<Position: CallPosition, Instance, Output, each Argument> {
  // Copyable: swiftc 6.3 crashes on closures that take another closure beside a value that is not.
  @usableFromInline let running: RunningHandler

  @inlinable init(_ running: RunningHandler) { self.running = running }

  /// What the handler sees and changes.
  private func state() throws(HandlerError) -> UnsafeMutablePointer<HandlerCall> { try running.state() }

  /// The object or value that the method runs on, the type of a static member.
  ///
  /// nil for free functions and initialisers, after a `deinit`, in bodies from which the optimiser removed it, and behind the original where
  /// that consumed the value, or may have. In a `deinit` it must not be kept: the object is gone when the handler returns.
  public var instance: Instance? { try? state().pointee.instance() }

  /// The full name of the function: `Shop.Cart.total(tax:)`.
  public var selector: String { running.expected.pointee.selector }
  /// Hooked calls around this one, on its thread or in its task.
  public var depth: Int { running.expected.pointee.view.depth }
  /// The time since the call began; zero in a `before` handler.
  public var duration: Duration { .nanoseconds(Int64(clamping: running.expected.pointee.view.durationNanoseconds)) }

  // MARK: Arguments

  /// The number of arguments the function takes.
  public var argumentCount: Int { running.expected.pointee.view.plan.arguments.count }

  /// An argument as it is now. Its type is its own, `Any`, or a superclass's.
  public func argument<T>(_ key: ArgumentKey, as type: T.Type = T.self) throws(HandlerError) -> T {
    try state().pointee.argument(position(key))
  }

  /// Replaces an argument for the handlers inside and the original; of an `inout` argument, the caller's variable.
  ///
  /// Once the original has run, only the caller's variables can be set; another run gets what is passed to `original`.
  /// - Parameters:
  ///   - key: the label, or the position from 0.
  ///   - value: of the argument's type.
  public func set<T>(_ key: ArgumentKey, to value: T) throws(HandlerError) {
    try state().pointee.setArgument(position(key), to: value)
  }

  private func position(_ key: ArgumentKey) throws(HandlerError) -> Int {
    switch key.key {
    case .position(let index): return index
    case .label(let label): return try state().pointee.position(of: label)
    }
  }
}

/// What a handler may do with its call.
public protocol CallPosition {}
/// Positions from which an outcome can be seen.
public protocol OutcomePosition: CallPosition {}

/// Where the handlers of calls stand.
public enum Positions {
  /// The original runs afterwards.
  public enum Before: CallPosition {}
  /// The original runs when the handler says so.
  public enum Around: OutcomePosition {}
  /// Around an async function, which is awaited.
  public enum AsyncAround: OutcomePosition {}
  /// The original has run.
  public enum After: OutcomePosition {}
}

extension Call where Position: OutcomePosition {
  /// What the original returned, or a handler inside made of it, or the result that this handler set. In `around` once there is one of these.
  public func result<T>(as type: T.Type = T.self) throws(HandlerError) -> T { try state().pointee.result() }

  /// What the original threw; nil where it returned, and where a result was set in the error's place.
  public var error: (any Error)? {
    do throws(HandlerError) { return try state().pointee.error } catch { return error }
  }

  /// Makes `value` what the call returns, also where the original threw. (To make the call throw, throw.)
  public func setResult<T>(to value: T) throws(HandlerError) { try state().pointee.setResult(to: value) }
}

extension Call where Position == Positions.Around {
  /// Runs the handlers inside this one and the original, with the arguments as they are now. Throws what they throw.
  ///
  /// It can run any number of times, but where it consumes what it is given and cannot be given a copy.
  @discardableResult @inlinable
  public func original() throws -> Output {
    try running.runOriginal()
    // Output is Void then, and leaves the result alone.
    return Output.self == Void.self ? unsafeBitCast((), to: Output.self) : try running.output()
  }

  /// Runs the original with these arguments, which are the first ones of the function; those behind them stay as they are.
  @discardableResult @inlinable
  public func original(_ arguments: repeat each Argument) throws -> Output {
    var index = 0
    for argument in repeat each arguments {
      try running.setArgument(index, to: argument)
      index += 1
    }
    return try original()
  }
}

extension Call where Position == Positions.AsyncAround {
  /// Runs the handlers inside this one and the original, in this task, with the arguments as they are now. Throws what they throw.
  @discardableResult
  public func original() async throws -> Output {
    let state = try state()
    try state.pointee.prepareOriginal()
    await running.task?.proceed()
    if let error = state.pointee.error { throw error }
    return try state.pointee.output()
  }

  /// Runs the original with these arguments, which are the first ones of the function; those behind them stay as they are.
  @discardableResult
  public func original(_ arguments: repeat each Argument) async throws -> Output {
    let state = try state()
    var index = 0
    for argument in repeat each arguments {
      try state.pointee.setArgument(index, to: argument, forNextRun: true)
      index += 1
    }
    return try await original()
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

/// A handler at work, and the proof that it still is.
@usableFromInline
struct RunningHandler {
  // In the frame of the layer function: to be touched while the thread says that this handler runs. Or the task's.
  private let pointer: UnsafeMutablePointer<HandlerCall>
  // Thread records are never freed; nil for a handler that runs in a task.
  private let thread: UnsafeMutablePointer<HKTThread>?
  private let number: UInt64
  let task: AsyncHandlerRun?

  private init(_ pointer: UnsafeMutablePointer<HandlerCall>, _ thread: UnsafeMutablePointer<HKTThread>) {
    self.pointer = pointer
    self.thread = thread
    number = thread.pointee.handler
    task = nil
  }

  init(_ task: AsyncHandlerRun) {
    pointer = task.state
    thread = nil
    number = 0
    self.task = task
  }

  /// The state of the handler, while it runs on its own thread or task.
  func state() throws(HandlerError) -> UnsafeMutablePointer<HandlerCall> {
    if let thread {
      guard thread.pointee.handler == number, hkt_thread_if_known() == thread else { throw .callIsOver }
    } else if task?.isOver != false {
      throw .callIsOver
    }
    return pointer
  }

  /// The call of a handler that cannot throw.
  var expected: UnsafeMutablePointer<HandlerCall> {
    do throws(HandlerError) { return try state() } catch { fatalError("\(error)") }
  }

  // MARK: For closures, which name the types of values

  /// The arguments one after the other. The count is kept in the state: of a variable that the parts of a pack share, each use would be
  /// checked for exclusive access.
  @inlinable
  func next<T>(_: T.Type) throws(HandlerError) -> T {
    if let memory = nextPlace(T.self) { return memory.assumingMemoryBound(to: T.self).pointee }
    return try taken()
  }

  /// Where the next argument lies, if it is of exactly this type and nobody has changed it.
  @usableFromInline
  func nextPlace(_ type: Any.Type) -> UnsafeRawPointer? {
    pointer.pointee.taken += 1
    return pointer.pointee.straight(pointer.pointee.taken - 1, Metadata(type))
  }

  /// The argument that `nextPlace` was asked for, by its plan.
  @usableFromInline
  func taken<T>() throws(HandlerError) -> T { try pointer.pointee.argumentByPlan(pointer.pointee.taken - 1) }

  /// What an `around` handler declares to return, or an `after` handler takes; Void leaves the result alone.
  @inlinable
  func output<T>() throws(HandlerError) -> T {
    // T is Void.
    if T.self == Void.self { return unsafeBitCast((), to: T.self) }
    if let memory = resultPlace(T.self) { return memory.assumingMemoryBound(to: T.self).pointee }
    return try result()
  }

  /// Where a result of exactly this type lies that nobody has changed.
  @usableFromInline
  func resultPlace(_ type: Any.Type) -> UnsafeRawPointer? { pointer.pointee.straightResult(Metadata(type)) }

  @usableFromInline
  func result<T>() throws(HandlerError) -> T { try state().pointee.result() }

  /// How the call ended, as an `after` handler declares it that takes a Result.
  @usableFromInline
  func outcome<T>(_ outcome: OutcomeType) throws(HandlerError) -> T {
    // T is that Result.
    try outcome.type.init(of: &pointer.pointee) as! T
  }

  @usableFromInline
  func setResult<T>(to value: T) throws(HandlerError) { try pointer.pointee.setResult(to: value) }

  /// For the next run of the original.
  @usableFromInline
  func setArgument<T>(_ index: Int, to value: T) throws(HandlerError) {
    try state().pointee.setArgument(index, to: value, forNextRun: true)
  }

  /// Runs the handlers inside and the original; throws what they threw.
  @usableFromInline
  func runOriginal() throws {
    let state = try state()
    try state.pointee.runOriginal()
    if let error = state.pointee.error { throw error }
  }

  /// Runs `body` as the innermost handler of the call's thread; answers what it threw.
  @inline(__always)
  static func run(_ state: UnsafeMutablePointer<HandlerCall>, _ body: Handler.Run) -> (any Error)? {
    let thread = state.pointee.view.call.pointee.thread.unsafelyUnwrapped
    thread.pointee.handlers &+= 1
    let outer = thread.pointee.handler
    thread.pointee.handler = thread.pointee.handlers
    defer { thread.pointee.handler = outer }
    do {
      try body(RunningHandler(state, thread))
      return nil
    } catch { return error }
  }
}
