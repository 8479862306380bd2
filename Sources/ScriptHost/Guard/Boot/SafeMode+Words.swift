// SafeMode+Words — how a program stands, in sentences.

extension SafeMode.Reason {
  /// Why a patch is out.
  package var words: String {
    switch self {
    case .suspect: "it was at work in a crash"
    case .changed: "it had changed something of the program before it crashed"
    case .newest: "it was the newest when starts failed"
    case .trial: "the start it came back with failed"
    }
  }
}

extension SafeMode {
  /// How it stands now.
  package func sentences() -> [String] {
    var lines = [failures == 0 ? "the last start was good" : failures == 1 ? "the last start failed" : "\(failures) starts failed one after another"]
    for (stamp, reason) in retired.sorted(by: { $0.key.path < $1.key.path }) {
      lines.append("'\(stamp.path)' is not loaded: \(reason.words); it is loaded again when it is changed")
    }
    for stamp in waiting { lines.append("'\(stamp.path)' is out with all others and comes back after a good start") }
    if let trial { lines.append("'\(trial.path)' came back with the newest start") }
    return lines
  }

  /// What the next start does, where all ended processes were noted.
  /// - Parameter namesOut: also each patch that is out already, as `sentences` does.
  package func planned(namesOut: Bool = true) -> [String] {
    var next = self
    if failures > Self.clearsDataAt { next.giveUp() }
    let first = next.failures == 0 && trial == nil ? next.waiting.first : nil
    var out = Set(next.retired.keys.map(\.path)).union(next.waiting.map(\.path))
    if let first { out.remove(first.path) }
    let others = out.isEmpty && condemned == nil ? "the next start loads all patches" : "the next start loads all patches but those named here"
    var lines: [String] = []
    switch next.failures {
    case Self.clearsDataAt...: lines.append("the next start loads no patch and clears: \(shown(caches + data))")
    case Self.emptiesAt...: lines.append("the next start loads no patch and clears: \(shown(caches))")
    case Self.retiresAt where condemned == nil && actedAt != Self.retiresAt && !blamesNone:
      lines.append("the next start leaves out \(next.newlyRetired) and clears: \(shown(caches))")
    case Self.retiresAt: lines.append("\(others), and clears: \(shown(caches))")
    default: lines.append(first.map { "the next start tries '\($0.path)' again" } ?? others)
    }
    if let condemned, next.failures < Self.emptiesAt { lines.append("'\(condemned.patch)' is left out: \(condemned.reason.words)") }
    return namesOut ? lines + out.sorted().map { "'\($0)' stays out" } : lines
  }

  /// Which patch the second failed start takes out.
  private var newlyRetired: String {
    if let suspect, blamed?.isOf(suspect) ?? !retired.keys.contains(where: { $0.isOf(suspect) }) { return "the suspected patch '\(suspect)'" }
    return "the newest patch" + (blamed.map { " '\($0.path)'" } ?? "")
  }

  private func shown(_ paths: [String]) -> String {
    paths.isEmpty ? "nothing, as no patch registered any" : paths.map { "'\($0)'" }.joined(separator: ", ")
  }
}
