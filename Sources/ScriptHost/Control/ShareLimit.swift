// ShareLimit — hooks that take more than their share of the process's time are made rarer or switched off.
//
// A patch has a share by its header (`max_share`), by `run --max-share`, or by the policy. Once a second the worker compares what each of
// its hooks took with the time the process had: what its threads computed, at least the time that passed.
private import Glibc
internal import HookRuntime
internal import Journal
private import Synchronization

/// Belongs to the worker, which is one thread; `wait` and `look` to the control thread.
final class ShareLimit: @unchecked Sendable {
  // `next` belongs to the control thread, the rest to the worker's.
  private let patches: PatchRegistry
  private let worker: HostWorker
  private var next: UInt64 = 0
  private var watched: Set<String> = []
  private var before: [UInt64: UInt64] = [:]
  private var times: ProcessTime?

  /// How often hooks are looked at, in nanoseconds.
  private static let every: UInt64 = 1_000_000_000

  init(_ patches: PatchRegistry, _ worker: HostWorker) {
    self.patches = patches
    self.worker = worker
  }

  /// How long the control thread may sleep, in milliseconds; nil when nothing is limited.
  var wait: Int32? { patches.hasShares || Measurement.isOn ? 1000 : nil }

  func look(_ now: UInt64) {
    guard now >= next, patches.hasShares else { return }
    next = now + Self.every
    worker.add { [self] in check() }
  }

  private func check() {
    let rules = patches.shares
    let owners = Set(rules.keys)
    for owner in owners.subtracting(watched) { HookEngine.shared.watch(owner: owner, true) }
    for owner in watched.subtracting(owners) { HookEngine.shared.watch(owner: owner, false) }
    watched = owners
    let now = ProcessTime()
    let figures = HookEngine.shared.figures()
    defer {
      before = Dictionary(figures.map { ($0.info.token.id, $0.took.time) }) { first, _ in first }
      times = now
    }
    guard let times else { return }
    let had = now.since(times)
    guard had > 0 else { return }
    for figure in figures where figure.info.isEnabled {
      guard let rule = rules[figure.info.owner], let earlier = before[figure.info.token.id] else { continue }
      let share = Double(figure.took.time &- min(figure.took.time, earlier)) / Double(had)
      if share > rule.share { limit(figure, share, rule) }
    }
  }

  private func limit(_ figure: HookFigures, _ share: Double, _ rule: ShareRule) {
    let took = "took \(ShareRule.text(share)) of the process's time, its share is \(ShareRule.text(rule.share))"
    let consequence = rule.consequence ?? (figure.facts is RuleFacts ? .sample : .off)
    var done: String
    switch consequence {
    case .off:
      done = "switched off"
      guard HookEngine.shared.limit(figure.info.token, .off, why: "switched off: it \(took)") else { return }
    case .sample:
      var count = figure.info.oneIn
      let wanted = Double(figure.info.oneIn) * share / rule.share
      while Double(count) < wanted, count < 1 << 20 { count *= 2 }
      done = "it takes part in 1 of \(count) calls"
      guard HookEngine.shared.limit(figure.info.token, .oneIn(count), why: "1 of \(count) calls: it \(took)") else { return }
    }
    let name = figure.facts.map { "\($0.title): " } ?? ""
    // Made rarer again and again is reported once.
    let text = "\(name)\(figure.info.position) '\(figure.info.selector)' \(took); \(done)"
    if figure.info.oneIn == 1 { patches.log.say(text) }
    patches.log.append(.failure, "hook limited") { fields in
      fields.add("patch", figure.info.owner)
      fields.add("selector", figure.info.selector)
      fields.add("position", figure.info.position)
      fields.add("message", text)
    }
  }
}

/// What the process had of time until now.
struct ProcessTime {
  private let passed = clockNanoseconds(CLOCK_MONOTONIC)
  private let computed = clockNanoseconds(CLOCK_PROCESS_CPUTIME_ID)

  /// What its threads computed, at least what passed.
  func since(_ earlier: ProcessTime) -> UInt64 { max(passed &- earlier.passed, computed &- earlier.computed) }
}

/// Each run of all handlers is measured as long as somebody asks for their times.
enum Measurement {
  /// Asked for on the worker or the observer, ended on the observer.
  private static let changing = Mutex<Void>(())
  /// 0: nobody asks.
  private static let until = Atomic<UInt64>(0)

  static var isOn: Bool { until.load(ordering: .relaxed) != 0 }

  /// - Parameter hold: for so many nanoseconds from now.
  static func ask(hold: UInt64) {
    changing.withLock { _ in
      let was = until.exchange(clockNanoseconds(CLOCK_MONOTONIC) &+ hold, ordering: .relaxed)
      if was == 0 { HookEngine.shared.watchAll(true) }
    }
  }

  /// On the control thread: ends it when nobody has asked for long enough.
  static func end(_ now: UInt64, _ observer: HostWorker) {
    let time = until.load(ordering: .relaxed)
    guard time != 0, now > time else { return }
    observer.add {
      changing.withLock { _ in
        // Somebody may have asked meanwhile.
        if until.compareExchange(expected: time, desired: 0, ordering: .relaxed).exchanged { HookEngine.shared.watchAll(false) }
      }
    }
  }
}
