// HookPlan — a hook that is asked for: what it means, that the closure fits, and how it is installed.
internal import CHookTrampoline
private import Synchronization

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

struct HookPlan {
  let record: HookRecord
  private(set) var requests: [HookRequest]
  private let isPattern: Bool
  private let signature: HandlerSignature
  private let options: HookOptions
  private let run: Handler.Run
  private let asyncBody: AsyncHandlerRun.Body?

  /// Throws when the selector means nothing, or the closure does not fit what it means. Nothing is installed yet.
  init(
    _ place: HookPlace, _ selector: String, _ signature: HandlerSignature, _ options: HookOptions, run: @escaping Handler.Run,
    asyncBody: AsyncHandlerRun.Body? = nil
  ) throws(HookError) {
    self.asyncBody = asyncBody
    isPattern = SelectorPattern(selector).isGlob
    if isPattern, !signature.arguments.isEmpty || signature.result != nil { throw .patternWithArguments(selector: selector) }
    requests = try place.resolve(selector, options.scope)
    self.signature = signature
    self.options = options
    self.run = run
    record = HookRecord(signature.position, site: options.site)
    for index in requests.indices { requests[index].backEnd = options.backEnd }
    if isPattern { return }
    for request in requests {
      switch HookEngine.shared.plans(of: request.family, in: request.image) {
      case .success(let plans): try signature.check(request.family, plans, waits: asyncBody != nil)
      case .failure(let reason): throw HookError(request.family.selector, reason)
      }
    }
  }

  func layer(_ family: Family, group: String? = nil) -> LayerSpec {
    LayerSpec(
      function: asyncBody == nil ? Handler.layer : AsyncHandlerRun.layer,
      context: Unmanaged.passRetained(Handler(family, signature.position, site: options.site, run: run, asyncBody: asyncBody)).toOpaque(),
      phases: signature.position.phases, priority: options.priority, isHostWork: false, canWait: asyncBody != nil,
      readsValues: signature.readsValues,
      owner: options.owner, group: group, isOnce: options.isOnce
    ) { Unmanaged<Handler>.fromOpaque($0!).release() }
  }

  /// Installs it now, or makes it part of the group that is being made on this thread.
  func install() throws(HookError) -> Hook {
    if let group = HookGroup.Draft.current {
      group.plans.append(self)
      return Hook(record: record)
    }
    let report = HookEngine.shared.install(requests, atomically: !isPattern) { layer($0) }
    if !isPattern || report.tokens.isEmpty, let (name, reason) = report.refused.first { throw HookError(name, reason) }
    record.become(report.tokens.map(\.token), report)
    return Hook(record: record)
  }

  /// Leaves out what of a pattern cannot be hooked, so that the rest can be installed together with other hooks.
  mutating func settlePattern() {
    guard isPattern else { return }
    var refused: [String] = []
    requests.removeAll { request in
      guard case .failure(let reason) = HookEngine.shared.plans(of: request.family, in: request.image) else { return false }
      refused.append("\(request.family.selector): \(reason)")
      return true
    }
    record.state.withLock { $0.refused = refused }
  }
}
