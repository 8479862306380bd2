// CanaryChild — the other side of a trial: a process of the program that loads one patch, says how that went, and ends before `main`.
private import CHookTrampoline
private import Glibc
private import Journal
internal import LuaBridge

/// What the child says on HKT_CHILD_ANSWER, a word at the beginning of each line. The last line tells how far it came.
enum CanaryWords {
  /// The host is there; from now on an end is the patch's.
  static let began = "began"
  /// The last word, with the number of tests.
  static let passed = "passed"
  /// The last word, with the reason.
  static let refused = "refused"
  /// The last word, with the failure of a test.
  static let failed = "failed"
  /// With the name of the test that begins.
  static let testing = "testing"
  /// With the function of the recorded call that is made before the patch is loaded.
  static let recalling = "recalling"
  /// With the function of the recorded call that is made with the patch.
  static let replaying = "replaying"
  /// The last word, with the recorded call whose result changed.
  static let changed = "changed"
  /// The patch is there, and `main` begins: the program's self-test.
  static let loaded = "loaded"

  static func say(_ word: String, _ rest: String = "") {
    let shown = String(rest.map { $0 == "\n" ? " " : $0 }.prefix(1000))
    _ = withoutWriteSignals {
      Array("\(word)\(shown.isEmpty ? "" : " " + shown)\n".utf8).withUnsafeBytes { write(Int32(HKT_CHILD_ANSWER), $0.baseAddress, $0.count) }
    }
  }
}

extension BootTask {
  /// In a child that tries a patch: before anything of it is read.
  static let canaryBegin = BootTask("canary begins", .scripts, priority: 110) { context in
    guard context.settings.has(.canaryChild) else { return .goOn }
    hkt_become_child()
    CanaryWords.say(CanaryWords.began)
    return .goOn
  }

  /// In a child that tries a patch: says how it went, and ends the process.
  static let canary = BootTask("canary", .scripts, priority: -90) { context in
    guard let kind = context.settings.text(.canaryChild), let patches = context.patches else { return .goOn }
    // What waits for the program to be up has only this process.
    for phase in [PatchPhase.up, .idle] { patches.reached(phase) }
    if let problem = patches.list.compactMap({ $0.state == .loaded ? nil : $0.state.why }).first {
      end(CanaryWords.refused, problem)
    }
    if kind == CanaryKind.selfTest.rawValue {
      CanaryWords.say(CanaryWords.loaded)
      return .goOn
    }
    if kind == CanaryKind.replay.rawValue {
      let (count, change) = asProgram { CallReplay.compare { CanaryWords.say(CanaryWords.replaying, $0) } }
      if let change { end(CanaryWords.changed, change) }
      end(CanaryWords.passed, "\(count)")
    }
    let tests = ScriptTests.all
    // As the program runs, not as the host.
    if let thread = hkt_thread(), !tests.isEmpty { hkt_host_end(thread) }
    for test in tests {
      CanaryWords.say(CanaryWords.testing, test.name)
      if let problem = ScriptTests.run(test).problem { end(CanaryWords.failed, "'\(test.name)': \(problem)") }
    }
    end(CanaryWords.passed, "\(tests.count)")
  }

  private static func end(_ word: String, _ rest: String) -> Never {
    CanaryWords.say(word, rest)
    _exit(0)
  }
}
