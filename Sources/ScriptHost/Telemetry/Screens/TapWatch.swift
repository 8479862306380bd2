// TapWatch — what taps tell of people: one control tapped again and again (rage), and taps after which nothing happened (dead).
//
// Effects are what other rules see: a screen that comes or goes, a request that begins, a tracked call, a span. A program in which nothing else is
// watched has only dead taps.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal
internal import Synchronization

/// Counts everything that rules see but taps.
enum Effects {
  private static let counted = Atomic<UInt64>(0)
  /// Some rule asks; until then nothing is counted.
  private static let used = Atomic<Bool>(false)

  static var count: UInt64 { counted.load(ordering: .relaxed) }
  static func use() { used.store(true, ordering: .relaxed) }

  @inline(__always)
  static func note() { if _slowPath(used.load(ordering: .relaxed)) { counted.add(1, ordering: .relaxed) } }
}

/// Of one `control` rule. Any thread.
final class TapWatch: Sendable {
  /// Taps of one action on one control.
  private struct Taps {
    var times: [UInt64] = []
    /// Reported; until the control is left alone for as long.
    var isReported = false
  }
  private let rage: RuleDefinition.Rate?
  private let dead: UInt64?
  private let rageName: FieldName
  private let deadName: FieldName
  private let log: HostLog
  private let taps = Mutex<[UInt64: Taps]>([:])
  /// Of more controls the longest left alone are forgotten.
  private static let most = 1024

  init(_ control: ControlDefinition, log: HostLog) {
    rage = control.rage
    dead = control.dead
    rageName = FieldName("\(control.name).rage", masked: false)
    deadName = FieldName("\(control.name).dead", masked: false)
    self.log = log
    if dead != nil { Effects.use() }
  }

  /// A tap was recorded.
  /// - Parameters:
  ///   - about: type, action, target and frame, as records have them.
  ///   - effects: what was counted before it.
  func note(_ object: UInt, _ about: UnsafeRawBufferPointer, before effects: UInt64) {
    let now = hkt_now_ns()
    if let rage, let count = count(mixed(UInt64(object)) ^ hash(about), rage, now) {
      log.append(.event, rageName) { fields in
        fields.addEncoded(about)
        fields.add("taps", Int64(count))
        fields.add("within_ns", rage.period)
      }
    }
    guard let dead else { return }
    let copy = Array(about)
    RuleClock.after(dead) { [log, deadName] in
      guard Effects.count == effects else { return }
      log.append(.event, deadName) { fields in
        copy.withUnsafeBytes { fields.addEncoded($0) }
        fields.add("after_ns", dead)
      }
    }
  }

  /// How many they are now, where that is to be reported.
  private func count(_ key: UInt64, _ rage: RuleDefinition.Rate, _ now: UInt64) -> Int? {
    taps.withLock { all in
      if all.count >= Self.most, all[key] == nil, let oldest = all.min(by: { $0.value.times.last ?? 0 < $1.value.times.last ?? 0 }) {
        all[oldest.key] = nil
      }
      var known = all[key] ?? Taps()
      defer { all[key] = known }
      if let last = known.times.last, now &- last > rage.period { known = Taps() }
      // Of what is told, only the last one counts.
      if known.isReported { known.times = [] }
      known.times.append(now)
      known.times.removeAll { now &- $0 > rage.period }
      guard known.times.count >= rage.count, !known.isReported else { return nil }
      known.isReported = true
      return known.times.count
    }
  }
}
