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
    try before(selector, HookOptions(isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  /// Runs `body` instead of each call; `call.original()` runs the original. What `body` returns is what the call returns.
  @discardableResult
  public func around<Output, each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Output, repeat each Argument>, repeat each Argument) throws -> Output
  ) throws(HookError) -> Hook {
    try around(selector, HookOptions(isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  /// Runs `body` instead of each call. Returning nothing, it leaves the original's result as it is.
  @discardableResult
  public func around<each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Void, repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try around(selector, HookOptions(isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  /// Runs `body` instead of each call of an async function, in the caller's task; `try await call.original()` awaits the original.
  @discardableResult
  public func around<Output, each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Output, repeat each Argument>, repeat each Argument) async throws -> Output
  ) throws(HookError) -> Hook {
    try around(selector, HookOptions(isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  /// The same, leaving the original's result as it is.
  @discardableResult
  public func around<each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Void, repeat each Argument>, repeat each Argument) async throws -> Void
  ) throws(HookError) -> Hook {
    try around(selector, HookOptions(isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  /// Runs `body` after each call, whether it returned or threw.
  @discardableResult
  public func after(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AfterCall) throws -> Void
  ) throws(HookError) -> Hook {
    try after(selector, HookOptions(isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  /// Runs `body` after each call with the result, and arguments behind it. For a function that may throw, the result is taken
  /// as `Result<Output, any Error>`.
  @discardableResult
  public func after<Output, each Argument>(
    _ selector: String, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AfterCall, Output, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try after(selector, HookOptions(isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }
}

/// The same for functions by their full names, free functions among them.
extension Hooks where Instance == Any {
  @discardableResult
  public static func before<each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (BeforeCall<repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try Self(.program).before(
      selector, HookOptions(scope: scope, isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  @discardableResult
  public static func around<Output, each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Output, repeat each Argument>, repeat each Argument) throws -> Output
  ) throws(HookError) -> Hook {
    try Self(.program).around(
      selector, HookOptions(scope: scope, isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  @discardableResult
  public static func around<each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AroundCall<Void, repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try Self(.program).around(
      selector, HookOptions(scope: scope, isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  @discardableResult
  public static func around<Output, each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Output, repeat each Argument>, repeat each Argument) async throws -> Output
  ) throws(HookError) -> Hook {
    try Self(.program).around(
      selector, HookOptions(scope: scope, isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  @discardableResult
  public static func around<each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AsyncAroundCall<Void, repeat each Argument>, repeat each Argument) async throws -> Void
  ) throws(HookError) -> Hook {
    try Self(.program).around(
      selector, HookOptions(scope: scope, isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  @discardableResult
  public static func after(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    file: String = #fileID, line: Int = #line, _ body: @escaping @Sendable (AfterCall) throws -> Void
  ) throws(HookError) -> Hook {
    try Self(.program).after(
      selector, HookOptions(scope: scope, isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }

  @discardableResult
  public static func after<Output, each Argument>(
    _ selector: String, scope: HookScope = .type, once: Bool = false, priority: Int = 0, backEnd: BackEnd? = nil,
    file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (AfterCall, Output, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try Self(.program).after(
      selector, HookOptions(scope: scope, isOnce: once, priority: priority, backEnd: backEnd, file: file, line: line), body)
  }
}

// MARK: Closures as handlers

extension Hooks {
  private func before<each Argument>(
    _ selector: String, _ options: HookOptions,
    _ body: @escaping @Sendable (BeforeCall<repeat each Argument>, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    try install(selector, HandlerSignature(.before, Self.types(repeat (each Argument).self)), options) { state throws(HandlerError) in
      try Self.ending(&state) { running, state in
        var index = 0
        try body(BeforeCall(running), repeat Self.next((each Argument).self, state, &index))
      }
    }
  }

  private func around<Output, each Argument>(
    _ selector: String, _ options: HookOptions,
    _ body: @escaping @Sendable (AroundCall<Output, repeat each Argument>, repeat each Argument) throws -> Output
  ) throws(HookError) -> Hook {
    let signature = HandlerSignature(.around, Self.types(repeat (each Argument).self), result: Output.self)
    return try install(selector, signature, options) { state throws(HandlerError) in
      try Self.ending(&state) { running, state in
        var index = 0
        let output = try body(AroundCall(running), repeat Self.next((each Argument).self, state, &index))
        if Output.self != Void.self { try state.pointee.setResult(to: output) }
      }
    }
  }

  private func around<Output, each Argument>(
    _ selector: String, _ options: HookOptions,
    _ body: @escaping @Sendable (AsyncAroundCall<Output, repeat each Argument>, repeat each Argument) async throws -> Output
  ) throws(HookError) -> Hook {
    let signature = HandlerSignature(.around, Self.types(repeat (each Argument).self), result: Output.self)
    let asyncBody: AsyncHandlerRun.Body = { run in
      var index = 0
      let output = try await body(AsyncAroundCall(RunningHandler(run)), repeat Self.next((each Argument).self, run.state, &index))
      if Output.self != Void.self { try run.state.pointee.setResult(to: output) }
    }
    return try HookPlan(place, selector, signature, options, run: { _ in }, asyncBody: asyncBody).install()
  }

  private func after(
    _ selector: String, _ options: HookOptions, _ body: @escaping @Sendable (AfterCall) throws -> Void
  ) throws(HookError) -> Hook {
    try install(selector, HandlerSignature(.after, []), options) { state throws(HandlerError) in
      try Self.ending(&state) { running, _ in try body(AfterCall(running)) }
    }
  }

  private func after<Output, each Argument>(
    _ selector: String, _ options: HookOptions,
    _ body: @escaping @Sendable (AfterCall, Output, repeat each Argument) throws -> Void
  ) throws(HookError) -> Hook {
    let signature = HandlerSignature(.after, Self.types(repeat (each Argument).self), result: Output.self)
    return try install(selector, signature, options) { state throws(HandlerError) in
      try Self.ending(&state) { running, state in
        var index = 0
        try body(AfterCall(running), state.pointee.outcome(), repeat Self.next((each Argument).self, state, &index))
      }
    }
  }

  private func install(
    _ selector: String, _ signature: HandlerSignature, _ options: HookOptions, _ run: @escaping Handler.Run
  ) throws(HookError) -> Hook {
    try HookPlan(place, selector, signature, options, run: run).install()
  }

  private static func types<each Argument>(_ types: repeat (each Argument).Type) -> [Any.Type] {
    var all: [Any.Type] = []
    for type in repeat each types { all.append(type) }
    return all
  }

  private static func next<T>(
    _: T.Type, _ state: UnsafeMutablePointer<HandlerCall>, _ index: inout Int
  ) throws(HandlerError) -> T {
    defer { index += 1 }
    return try state.pointee.argument(index)
  }

  /// Runs the closure, and ends the call as it did.
  private static func ending(
    _ state: inout HandlerCall, _ body: (RunningHandler, UnsafeMutablePointer<HandlerCall>) throws -> Void
  ) throws(HandlerError) {
    if let thrown = RunningHandler.run(&state, body) { try state.finish(throwing: thrown) } else { try state.finish() }
  }
}
