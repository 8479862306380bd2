// ObservationGuard — observations of properties that are doubled, ended twice, or have nothing that handles their changes.
//
// An observer is an object (Swift's `owner:`), or a place in a script: the function that handles the changes, by file and line. What ends
// with its object or its observer is no mistake.
internal import HookRuntime

enum ObservationGuard {
  static func begin(_ run: GuardRun) { _ = connection }

  private static let connection: Void = ObserverBook.shared.onMistake { mistake in
    switch mistake {
    case .doubled(let path): hit(path, doubled, outcome: "the first one goes on alone", at: GuardSite.of(nil))
    case .endedTwice(let path): hit(path, endedTwice, outcome: "nothing was ended", at: GuardSite.of(nil))
    }
  }

  static let doubled = "the same observer observes the same property of it already"
  static let endedTwice = "it was ended before"
  static let unhandled = "nothing handles the changes"

  /// Counts and records it.
  /// - Returns: whether it is to have no effect.
  static func hit(_ path: String, _ problem: String, outcome: String, at site: GuardSite.Sender) -> Bool {
    guard let run = GuardRegistry.shared.active(.observation, at: site) else { return false }
    let isContained = run.settings.mode == .contain
    run.hit(path, problem, outcome: isContained ? outcome : "nothing was changed", at: site)
    return isContained
  }
}
