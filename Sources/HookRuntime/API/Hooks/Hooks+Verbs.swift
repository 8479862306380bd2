// Hooks+Verbs — before, around, after: what closures look like, and what they are turned into.
internal import CHookTrampoline

extension Hooks {
  public typealias BeforeCall<each Argument> = Call<Positions.Before, Instance, Void, repeat each Argument>
  public typealias AroundCall<Output, each Argument> = Call<Positions.Around, Instance, Output, repeat each Argument>
  public typealias AsyncAroundCall<Output, each Argument> = Call<Positions.AsyncAround, Instance, Output, repeat each Argument>
  public typealias AfterCall = Call<Positions.After, Instance, Void>

  /// Runs `body` before each call. It may change arguments with `call.set(_:to:)`.
  @discardableResult
  public func before<each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (BeforeCall<repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try install(Self.before(body), selector, once, priority, backEnd, file, line)
  }

  /// Runs `body` instead of each call; `call.original()` runs the original. What `body` returns is what the call returns.
  @discardableResult
  public func around<Output, each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Output, repeat each Argument>, repeat each Argument) throws -> Output
  ) throws(HookError) -> Hook {
    try install(Self.around(body), selector, once, priority, backEnd, file, line)
  }

  /// Runs `body` instead of each call. Returning nothing, it leaves the original's result as it is.
  @discardableResult
  public func around<each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Void, repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try install(Self.around(body), selector, once, priority, backEnd, file, line)
  }

  /// Runs `body` instead of each call of an async function, in the caller's task; `try await call.original()` awaits the original.
  @discardableResult
  public func around<Output, each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Output, repeat each Argument>, repeat each Argument) async throws -> Output
  ) throws(HookError) -> Hook {
    try install(Self.around(body), selector, once, priority, backEnd, file, line)
  }

  /// The same, leaving the original's result as it is.
  @discardableResult
  public func around<each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Void, repeat each Argument>, repeat each Argument) async throws -> Void
  ) throws(HookError) -> Hook {
    try install(Self.around(body), selector, once, priority, backEnd, file, line)
  }

  /// Runs `body` after each call, whether it returned or threw.
  @discardableResult
  public func after(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AfterCall) throws -> Void
  ) throws(HookError) -> Hook {
    try install(Self.after(body), selector, once, priority, backEnd, file, line)
  }

  /// Runs `body` after each call with the result, and arguments behind it. For a function that may throw, the result is taken
  /// as `Result<Output, any Error>`.
  @discardableResult
  public func after<Output, each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AfterCall, Output, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try install(Self.after(body), selector, once, priority, backEnd, file, line)
  }
}

/// The same for functions by their full names, free functions among them.
///
/// With `wait`, functions that are not there yet are hooked when an image brings them: those of a library that is opened later, more
/// matches of a pattern, specialisations. They are hooked before whoever opened the library goes on, but after its constructors
/// have run; that the closure fits is checked then, and what cannot be hooked is listed in ``Hook/refused`` and written to the
/// error output. Removing the hook ends the wait.
extension Hooks where Instance == Any {
  @discardableResult
  public static func before<each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (BeforeCall<repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try Self(.program).install(Self.before(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult
  public static func around<Output, each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Output, repeat each Argument>, repeat each Argument) throws -> Output
  ) throws(HookError) -> Hook {
    try Self(.program).install(Self.around(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult
  public static func around<each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Void, repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try Self(.program).install(Self.around(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult
  public static func around<Output, each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Output, repeat each Argument>, repeat each Argument) async throws -> Output
  ) throws(HookError) -> Hook {
    try Self(.program).install(Self.around(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult
  public static func around<each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Void, repeat each Argument>, repeat each Argument) async throws -> Void
  ) throws(HookError) -> Hook {
    try Self(.program).install(Self.around(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult
  public static func after(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line, _ body: @escaping @Sendable (AfterCall) throws -> Void
  ) throws(HookError) -> Hook {
    try Self(.program).install(Self.after(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult
  public static func after<Output, each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AfterCall, Output, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try Self(.program).install(Self.after(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }
}

// MARK: Closures as handlers

extension Hooks {
  /// All that verbs have in common.
  private func install(
    _ body: HandlerBody, _ selector: String, _ once: Bool, _ priority: Int, _ backEnd: BackEnd?, _ file: String, _ line: Int,
    scope: HookScope = .type, waits: Bool = false
  ) throws(HookError) -> Hook {
    let options = HookOptions(scope: scope, isOnce: once, priority: priority, backEnd: backEnd, waits: waits, file: file, line: line)
    return try HookPlan(place, selector, body, options).install()
  }

  private static func before<each Argument>(
    _ body: @escaping @Sendable (BeforeCall<repeat each Argument>, repeat each Argument) throws -> Void
  ) -> HandlerBody {
    HandlerBody(HandlerSignature(.before, types(repeat (each Argument).self))) { running, state in
      state.pointee.taken = 0
      try body(BeforeCall(running), repeat next((each Argument).self, state))
    }
  }

  private static func around<Output, each Argument>(
    _ body: @escaping @Sendable (AroundCall<Output, repeat each Argument>, repeat each Argument) throws -> Output
  ) -> HandlerBody {
    HandlerBody(HandlerSignature(.around, types(repeat (each Argument).self), result: Output.self)) { running, state in
      state.pointee.taken = 0
      let output = try body(AroundCall(running), repeat next((each Argument).self, state))
      if Output.self != Void.self { try state.pointee.setResult(to: output) }
    }
  }

  private static func around<Output, each Argument>(
    _ body: @escaping @Sendable (AsyncAroundCall<Output, repeat each Argument>, repeat each Argument) async throws -> Output
  ) -> HandlerBody {
    HandlerBody(waiting: HandlerSignature(.around, types(repeat (each Argument).self), result: Output.self)) { run in
      run.state.pointee.taken = 0
      let output = try await body(AsyncAroundCall(RunningHandler(run)), repeat next((each Argument).self, run.state))
      if Output.self != Void.self { try run.state.pointee.setResult(to: output) }
    }
  }

  private static func after(_ body: @escaping @Sendable (AfterCall) throws -> Void) -> HandlerBody {
    HandlerBody(HandlerSignature(.after, [])) { running, _ in try body(AfterCall(running)) }
  }

  private static func after<Output, each Argument>(
    _ body: @escaping @Sendable (AfterCall, Output, repeat each Argument) throws -> Void
  ) -> HandlerBody {
    // Asked once, for a conformance is looked up. A type never changes, and belongs to no thread.
    nonisolated(unsafe) let outcome = Output.self as? any Outcome.Type
    return HandlerBody(HandlerSignature(.after, types(repeat (each Argument).self), result: Output.self)) { running, state in
      state.pointee.taken = 0
      let result: Output = if let outcome { try state.pointee.outcome(outcome) } else { try state.pointee.output() }
      try body(AfterCall(running), result, repeat next((each Argument).self, state))
    }
  }

  private static func types<each Argument>(_ types: repeat (each Argument).Type) -> [Any.Type] {
    var all: [Any.Type] = []
    for type in repeat each types { all.append(type) }
    return all
  }

  /// The arguments one after the other. The count is kept in `state`: of a variable that the parts of a pack share, each use would be
  /// checked for exclusive access.
  private static func next<T>(_: T.Type, _ state: UnsafeMutablePointer<HandlerCall>) throws(HandlerError) -> T {
    defer { state.pointee.taken += 1 }
    return try state.pointee.argument(state.pointee.taken)
  }
}
