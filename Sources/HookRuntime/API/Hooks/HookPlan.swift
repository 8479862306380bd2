// HookPlan — a hook that is asked for: what it means, that the closure fits, and how it is installed.
private import Synchronization

/// What a verb was given beside the closure.
struct HookOptions {
  var scope: HookScope = .type
  var isOnce: Bool
  var priority: Int
  var backEnd: BackEnd?
  /// What is not there yet may come with an image.
  var waits = false
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
  private let selector: String
  private let isPattern: Bool
  private let layers: HandlerLayers

  /// Throws when the selector means nothing, or the closure does not fit what it means. Nothing is installed yet.
  init(
    _ place: HookPlace, _ selector: String, _ body: HandlerBody, _ options: HookOptions
  ) throws(HookError) {
    self.selector = selector
    isPattern = SelectorPattern(selector).isGlob
    let signature = body.signature
    if isPattern, !signature.arguments.isEmpty || signature.result != nil { throw .patternWithArguments(selector: selector) }
    do throws(HookError) { requests = try place.resolve(selector, options.scope) } catch {
      guard options.waits, error.mayAppear else { throw error }
      requests = []
    }
    layers = HandlerLayers(body: body, options: options)
    record = HookRecord(signature.position, site: options.site)
    for index in requests.indices { (requests[index].backEnd, requests[index].mayChoose) = (options.backEnd, true) }
    if isPattern { return }
    for request in requests { try layers.check(request.family, in: request.image) }
  }

  func layer(_ family: Family, group: String? = nil) -> LayerSpec { layers.layer(family, group: group) }

  /// Installs it now, or makes it part of the group that is being made on this thread.
  func install() throws(HookError) -> Hook {
    if let group = HookGroup.Draft.current {
      group.plans.append(self)
      return Hook(record: record)
    }
    let report = HookEngine.shared.install(requests, atomically: !isPattern) { layer($0) }
    if !isPattern || report.tokens.isEmpty, let (name, reason) = report.refused.first { throw HookError(name, reason) }
    record.become(report.tokens.map(\.token), report)
    waitForMore()
    return Hook(record: record)
  }

  /// What is there is hooked; from now on what appears is, too, if that was asked for.
  func waitForMore(group: String? = nil) {
    if layers.options.waits { record.wait(HookEngine.shared.wait(layers.wish(selector, known: requests, group: group, record))) }
  }

  /// Leaves out what of a pattern cannot be hooked, so that the rest can be installed together with other hooks.
  mutating func settlePattern() {
    guard isPattern else { return }
    var refused: [String] = []
    requests.removeAll { request in
      guard case .failure(let reason) = layers.plans(request.family, in: request.image) else { return false }
      refused.append("\(request.family.selector): \(reason)")
      return true
    }
    record.state.withLock { $0.refused = refused }
  }

  /// It is for this function by name.
  func spells(_ selector: String) -> Bool { !isPattern && requests.contains { $0.family.selector == selector } }

  /// Leaves one function of a pattern out; false where there is no such.
  mutating func leaveOut(_ selector: String, _ reason: HookRefusal) -> Bool {
    guard isPattern, let index = requests.firstIndex(where: { $0.family.selector == selector }) else { return false }
    requests.remove(at: index)
    record.state.withLock { $0.refused.append("\(selector): \(reason)") }
    return true
  }
}
