// GuardRegistry — every guard at work in this process.
internal import HookRuntime
internal import Journal
private import Synchronization

/// Any thread.
final class GuardRegistry: Sendable {
  static let shared = GuardRegistry()

  private struct State {
    var runs: [GuardRun] = []
    /// Hits of those that are over.
    var former: [CrashGuard: UInt64] = [:]
    var listener: (@Sendable (GuardHit) -> Void)?
  }
  private let state = Mutex(State())

  /// The one place that knows how each guard begins.
  private static func begin(_ run: GuardRun) throws(GuardProblem) {
    switch run.guarded {
    case .containers: try ContainerGuard.begin(run)
    case .mainThread: try MainThreadGuard.begin(run)
    case .zombies: try ZombieGuard.begin(run)
    // Those of scripts look for the guard themselves.
    case .timers: run.watches(1)
    case .notifications: try NotificationGuard.begin(run)
    case .unknownSelector, .null: try MessageGuard.begin(run)
    case .observation: ObservationGuard.begin(run)
    }
  }

  /// - Parameter installation: what the guard belongs to; it works while that is live.
  func start(
    _ guarded: CrashGuard, _ settings: GuardSettings, owner: String, log: HostLog, installation: Installation? = nil
  ) throws(GuardProblem) -> GuardRun {
    let run = GuardRun(guarded, settings, owner: owner, log: log, installation: installation)
    do throws(GuardProblem) { try Self.begin(run) } catch {
      _ = run.end()
      throw error
    }
    state.withLock { $0.runs.append(run) }
    return run
  }

  @discardableResult
  func stop(_ run: GuardRun) -> Bool {
    state.withLock { state in
      guard let index = state.runs.firstIndex(where: { $0 === run }) else { return }
      state.runs.remove(at: index)
      state.former[run.guarded, default: 0] += run.hits
    }
    return run.end()
  }

  func stop(_ guarded: CrashGuard, owner: String) -> Bool { stop { $0.guarded == guarded && $0.owner == owner } }
  func stop(_ guarded: CrashGuard, of installation: Installation) -> Bool { stop { $0.guarded == guarded && $0.installation === installation } }

  private func stop(_ isMeant: (GuardRun) -> Bool) -> Bool {
    let found = state.withLock { $0.runs.filter(isMeant) }
    for run in found { stop(run) }
    return !found.isEmpty
  }

  /// The guard that decides where no hook does: the one that began last.
  func active(_ guarded: CrashGuard) -> GuardRun? { state.withLock { $0.runs.last { $0.guarded == guarded && $0.isOn } } }

  /// That of those which look at what is asked for from there.
  func active(_ guarded: CrashGuard, at site: GuardSite.Sender) -> GuardRun? {
    let runs = state.withLock { $0.runs.filter { $0.guarded == guarded && $0.isOn } }
    return runs.last { $0.includes(site) }
  }

  func hits(_ guarded: CrashGuard) -> UInt64 {
    state.withLock { state in state.runs.reduce(state.former[guarded] ?? 0) { $1.guarded == guarded ? $0 + $1.hits : $0 } }
  }

  func listen(_ listener: (@Sendable (GuardHit) -> Void)?) { state.withLock { $0.listener = listener } }
  func tell(_ hit: GuardHit) { state.withLock(\.listener)?(hit) }

  /// The program ends: what guards have found out and not reported yet is reported.
  func finish() { for run in state.withLock(\.runs) { stop(run) } }

  /// What runs now, with what was hit most; of guards that are over only the number.
  var json: [JSONValue.Member] {
    let (runs, former) = state.withLock { ($0.runs, $0.former) }
    let over: [JSONValue] = former.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      ["guard": .string($0.key.rawValue), "hits": JSONValue($0.value)]
    }
    return [.init("guards", .array(runs.map(Self.json))), .init("over", .array(over))]
  }

  private static func json(_ run: GuardRun) -> JSONValue {
    [
      "guard": .string(run.guarded.rawValue), "summary": .string(run.guarded.summary), "mode": .string(run.settings.mode.rawValue),
      "owner": .string(run.owner), "modules": .array(run.settings.modules.map { .string($0) }), "watched": JSONValue(run.watched),
      "hits": JSONValue(run.hits), "not_recorded": JSONValue(run.unwritten), "notes": .array(run.notes.map { .string($0) }),
      "places": .array(
        run.places.prefix(50).map {
          [
            "selector": .string($0.selector), "hits": JSONValue($0.place.hits), "problem": .string($0.place.problem),
            "site": .string($0.place.site),
          ]
        }),
    ]
  }
}

extension BootTask {
  static let guards = BootTask("guards", .records, priority: -10) { context in
    context.atEnd { GuardRegistry.shared.finish() }
    return .goOn
  }
}
