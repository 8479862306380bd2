// SafeMode+Words — how a program stands, in sentences.

extension SafeMode {
  /// How it stands now.
  package func told() -> [String] {
    var lines = [failures == 0 ? "the last start was good" : "\(failures) start\(failures == 1 ? "" : "s") failed one after another"]
    for (stamp, reason) in retired.sorted(by: { $0.key.path < $1.key.path }) {
      let why =
        switch reason {
        case .suspect: "it was at work in a crash"
        case .newest: "it was the newest when starts failed"
        case .trial: "the start it came back with failed"
        }
      lines.append("'\(stamp.path)' is not loaded: \(why); it is loaded again when it is changed")
    }
    for stamp in waiting { lines.append("'\(stamp.path)' is out with all others and comes back after a good start") }
    if let trial { lines.append("'\(trial.path)' came back with the newest start") }
    return lines
  }

  /// What the next start does, if the newest one does not change it.
  package func planned() -> [String] {
    var lines: [String] = []
    switch failures {
    case ..<Self.retiresAt: lines.append(waiting.isEmpty ? "the next start loads all patches but those named here" : "the next start tries one patch more")
    case Self.retiresAt:
      lines.append("the next start leaves out \(suspect.map { "the suspected patch '\($0)'" } ?? "the newest patch") and clears: \(shown(caches))")
    case ..<Self.clearsDataAt: lines.append("the next start loads no patch and clears: \(shown(caches))")
    default: lines.append("the next start loads no patch and clears: \(shown(caches + data))")
    }
    return lines + retired.keys.map(\.path).sorted().map { "'\($0)' stays out" }
  }

  private func shown(_ paths: [String]) -> String { paths.isEmpty ? "nothing, as no patch registered any" : paths.map { "'\($0)'" }.joined(separator: ", ") }
}
