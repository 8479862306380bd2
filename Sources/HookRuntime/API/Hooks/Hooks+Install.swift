// Hooks+Install — one way from every verb to the engine.
internal import CHookTrampoline

/// What a verb was given beside the closure.
struct HookOptions {
  var scope: HookScope = .type
  var isOnce: Bool
  var priority: Int
  var backEnd: BackEnd?
  /// `Shop/Checkout.swift`
  var file: String
  var line: Int

  var site: String { "\(file):\(line)" }
  /// The module that made the hook.
  var owner: String { String(file.prefix { $0 != "/" }) }
}

/// A hook that is asked for.
struct HookPlan {
  let requests: [HookRequest]
  let isPattern: Bool
  let signature: HandlerSignature
  let options: HookOptions
  let run: Handler.Run

  /// Throws when the selector means nothing, or the closure does not fit what it means.
  init(
    _ place: HookPlace, _ selector: String, _ signature: HandlerSignature, _ options: HookOptions, run: @escaping Handler.Run
  ) throws(HookError) {
    isPattern = SelectorPattern(selector).isGlob
    if isPattern, !signature.arguments.isEmpty || signature.result != nil { throw .patternWithArguments(selector: selector) }
    requests = try place.resolve(selector, options.scope).map {
      var request = $0
      request.backEnd = options.backEnd
      return request
    }
    self.signature = signature
    self.options = options
    self.run = run
    for request in requests where !isPattern {
      switch HookEngine.shared.plans(of: request.family, in: request.image) {
      case .success(let plans): try signature.check(request.family, plans)
      case .failure(let reason): throw HookError(request.family.selector, reason)
      }
    }
  }

  func layer(_ family: Family) -> LayerSpec {
    LayerSpec(
      function: Handler.layer,
      context: Unmanaged.passRetained(Handler(family, signature.position, site: options.site, run: run)).toOpaque(),
      phases: signature.position.phases, priority: options.priority, isHostWork: false, readsValues: signature.readsValues,
      owner: options.owner, isOnce: options.isOnce
    ) { Unmanaged<Handler>.fromOpaque($0!).release() }
  }

  func install() throws(HookError) -> Hook {
    let report = HookEngine.shared.install(requests, atomically: !isPattern, layer: layer)
    if !isPattern, let (name, reason) = report.refused.first { throw HookError(name, reason) }
    if report.tokens.isEmpty, let (name, reason) = report.refused.first { throw HookError(name, reason) }
    return Hook(
      report.tokens.map(\.token), position: signature.position, site: options.site,
      refused: report.refused.map { "\($0.selector): \($0.reason)" })
  }
}
