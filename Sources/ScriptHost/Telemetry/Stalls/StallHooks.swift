// StallHooks — hooks on C functions by which stalls are seen.
internal import CHookTrampoline
internal import HookRuntime

enum StallHooks {
  /// The function in all images that import it now.
  static func requests(_ function: String) -> [HookRequest] {
    guard case .success(let families) = SelectorLookup.resolve(function, suggesting: false) else { return [] }
    return families.map { HookRequest(image: $0, family: $1, mayChoose: true) }
  }

  /// Hooks the function, and what images bring of it from now on. The layer reads no values.
  /// - Returns: What is not hooked, one sentence each.
  static func install(_ function: String, _ layer: @escaping HKTLayerFunction, phases: Int) -> [String] {
    // A C function is an address.
    nonisolated(unsafe) let layer = layer
    @Sendable func spec(_: Family) -> LayerSpec {
      LayerSpec(function: layer, context: nil, phases: UInt32(phases), readsValues: false, owner: "stalls", facts: WatchFacts(function))
    }
    let requests = requests(function)
    let report = HookEngine.shared.install(requests, layer: spec)
    let known = Set(requests.map { FamilyName($0.family) })
    _ = HookEngine.shared.wait(WaitRequest(selector: function, owner: "stalls", mayChoose: true, known: known, layer: spec))
    return problems(report)
  }

  static func problems(_ report: HookEngine.Report) -> [String] { report.refused.map { "stalls: '\($0.0)' is not watched: \($0.1)" } }
}
