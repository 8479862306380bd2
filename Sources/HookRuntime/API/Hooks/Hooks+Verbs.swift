// Hooks+Verbs — before, around, after: what closures look like, and what they are turned into.

extension Hooks {
  public typealias BeforeCall<each Argument> = Call<Positions.Before, Instance, Void, repeat each Argument>
  public typealias AroundCall<Output, each Argument> = Call<Positions.Around, Instance, Output, repeat each Argument>
  public typealias AsyncAroundCall<Output, each Argument> = Call<Positions.AsyncAround, Instance, Output, repeat each Argument>
  public typealias AfterCall = Call<Positions.After, Instance, Void>

  /// Runs `body` before each call. It may change arguments with `call.set(_:to:)`.
  @discardableResult @inlinable
  public func before<each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (BeforeCall<repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try install(Self.before(body), selector, once, priority, backEnd, file, line)
  }

  /// Runs `body` instead of each call; `call.original()` runs the original. What `body` returns is what the call returns.
  @discardableResult @inlinable
  public func around<Output, each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Output, repeat each Argument>, repeat each Argument) throws -> Output
  ) throws(HookError) -> Hook {
    try install(Self.around(body), selector, once, priority, backEnd, file, line)
  }

  /// Runs `body` instead of each call. Returning nothing, it leaves the original's result as it is.
  @discardableResult @inlinable
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

  /// Hooks around the original, leaving its result as it is.
  @discardableResult
  public func around<each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Void, repeat each Argument>, repeat each Argument) async throws -> Void
  ) throws(HookError) -> Hook {
    try install(Self.around(body), selector, once, priority, backEnd, file, line)
  }

  /// Runs `body` after each call, whether it returned or threw.
  @discardableResult @inlinable
  public func after(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AfterCall) throws -> Void
  ) throws(HookError) -> Hook {
    try install(Self.after(body), selector, once, priority, backEnd, file, line)
  }

  /// Runs `body` after each call with the result, and arguments behind it. For a function that may throw, the result is taken
  /// as `Result<Output, any Error>`.
  @discardableResult @inlinable
  public func after<Output, each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AfterCall, Output, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try install(Self.after(body), selector, once, priority, backEnd, file, line)
  }
}

/// Hooks functions by their full names, free functions among them.
///
/// With `wait`, functions that are not there yet are hooked when an image brings them: those of a library that is opened later, more
/// matches of a pattern, specialisations. They are hooked before whoever opened the library goes on, but after its constructors
/// have run; that the closure fits is checked then, and what cannot be hooked is listed in ``Hook/refused`` and written to the
/// error output. Removing the hook ends the wait.
extension Hooks where Instance == Any {
  @discardableResult @inlinable
  public static func before<each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (BeforeCall<repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try Self.program.install(Self.before(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult @inlinable
  public static func around<Output, each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Output, repeat each Argument>, repeat each Argument) throws -> Output
  ) throws(HookError) -> Hook {
    try Self.program.install(Self.around(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult @inlinable
  public static func around<each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Void, repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try Self.program.install(Self.around(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult
  public static func around<Output, each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Output, repeat each Argument>, repeat each Argument) async throws -> Output
  ) throws(HookError) -> Hook {
    try Self.program.install(Self.around(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult
  public static func around<each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Void, repeat each Argument>, repeat each Argument) async throws -> Void
  ) throws(HookError) -> Hook {
    try Self.program.install(Self.around(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult @inlinable
  public static func after(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line, _ body: @escaping @Sendable (AfterCall) throws -> Void
  ) throws(HookError) -> Hook {
    try Self.program.install(Self.after(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }

  @discardableResult @inlinable
  public static func after<Output, each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    wait: Bool = false, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AfterCall, Output, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try Self.program.install(Self.after(body), selector, once, priority, backEnd, file, line, scope: scope, waits: wait)
  }
}

// MARK: Closures as handlers

extension Hooks {
  /// All that verbs have in common.
  @usableFromInline
  func install(
    _ body: HandlerBody, _ selector: String, _ once: Bool, _ priority: Int, _ backEnd: BackEnd?, _ file: String, _ line: Int,
    scope: HookScope = .type, waits: Bool = false
  ) throws(HookError) -> Hook {
    let options = HookOptions(scope: scope, isOnce: once, priority: priority, backEnd: backEnd, waits: waits, file: file, line: line)
    return try HookPlan(place, selector, body, options).install()
  }

  // The closures below are made where the user's closure is known, so that nothing generic is left between a call and one that takes no
  // arguments. (Packs are not taken apart there: swiftc 6.3 reads their elements as of any type.)

  @inlinable
  static func before<each Argument>(
    _ body: @escaping @Sendable (BeforeCall<repeat each Argument>, repeat each Argument) throws -> Void
  ) -> HandlerBody {
    HandlerBody(.before, types(repeat (each Argument).self)) { running in
      try body(BeforeCall(running), repeat running.next((each Argument).self))
    }
  }

  @inlinable
  static func around<Output, each Argument>(
    _ body: @escaping @Sendable (AroundCall<Output, repeat each Argument>, repeat each Argument) throws -> Output
  ) -> HandlerBody {
    HandlerBody(.around, types(repeat (each Argument).self), result: Output.self) { running in
      let output = try body(AroundCall(running), repeat running.next((each Argument).self))
      if Output.self != Void.self { try running.setResult(to: output) }
    }
  }

  static func around<Output, each Argument>(
    _ body: @escaping @Sendable (AsyncAroundCall<Output, repeat each Argument>, repeat each Argument) async throws -> Output
  ) -> HandlerBody {
    HandlerBody(waiting: HandlerSignature(.around, types(repeat (each Argument).self), result: Output.self)) { run in
      let running = RunningHandler(run)
      let output = try await body(AsyncAroundCall(running), repeat running.next((each Argument).self))
      if Output.self != Void.self { try running.setResult(to: output) }
    }
  }

  @inlinable
  static func after(_ body: @escaping @Sendable (AfterCall) throws -> Void) -> HandlerBody {
    HandlerBody(.after, []) { running in try body(AfterCall(running)) }
  }

  @inlinable
  static func after<Output, each Argument>(
    _ body: @escaping @Sendable (AfterCall, Output, repeat each Argument) throws -> Void
  ) -> HandlerBody {
    let outcome = OutcomeType(Output.self)
    return HandlerBody(.after, types(repeat (each Argument).self), result: Output.self) { running in
      let result: Output = if let outcome { try running.outcome(outcome) } else { try running.output() }
      try body(AfterCall(running), result, repeat running.next((each Argument).self))
    }
  }

  @inlinable
  static func types<each Argument>(_ types: repeat (each Argument).Type) -> [Any.Type] {
    var all: [Any.Type] = []
    for type in repeat each types { all.append(type) }
    return all
  }
}
