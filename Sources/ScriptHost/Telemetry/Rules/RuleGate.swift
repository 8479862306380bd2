// RuleGate — which of the calls that a rule's condition lets in are recorded: sample, once_per, dedupe, rate. No lock, no memory.
internal import CHookTrampoline
internal import Synchronization

/// Shared by all functions that one rule is on. Any thread.
final class RuleGate: Sendable {
  private let threshold: UInt64
  private let period: UInt64
  private let burst: UInt64
  private let window: UInt64
  /// Of a rate: when the next record would be due if they came evenly.
  private let due = Atomic<UInt64>(0)
  private let repeats: RecentHashes?
  private let seen: HashSet?

  /// Calls that were left out, by why.
  let byCondition = Atomic<UInt64>(0)
  let bySample = Atomic<UInt64>(0)
  let byRate = Atomic<UInt64>(0)
  let asRepeat = Atomic<UInt64>(0)

  init(_ definition: RuleDefinition) {
    threshold = definition.sample >= 1 ? .max : UInt64(definition.sample * Double(UInt64.max >> 1)) << 1
    period = definition.rate.map { $0.period / UInt64($0.count) } ?? 0
    burst = definition.rate.map(\.period) ?? 0
    window = definition.dedupe ?? 0
    // Rules of one name share what was seen: one action that two functions tell of is one event.
    repeats = window > 0 ? RecentHashes.named(definition.name) : nil
    seen = definition.oncePer == nil ? nil : HashSet()
  }

  /// Nobody asked for a sample.
  var samplesAll: Bool { threshold == .max }
  var hasDedupe: Bool { repeats != nil }
  var hasOncePer: Bool { seen != nil }

  /// A share of all calls, by chance.
  @inline(__always)
  func samples() -> Bool {
    if threshold == .max { return true }
    if mixed(hkt_ticks()) < threshold { return true }
    bySample.add(1, ordering: .relaxed)
    return false
  }

  /// The first of this hash.
  func isFirst(_ hash: UInt64) -> Bool {
    guard let seen, !seen.insert(hash) else { return true }
    asRepeat.add(1, ordering: .relaxed)
    return false
  }

  /// No equal one within the window.
  func isNew(_ hash: UInt64) -> Bool {
    guard let repeats, repeats.note(hash, now: hkt_now_ns(), window: window) else { return true }
    asRepeat.add(1, ordering: .relaxed)
    return false
  }

  /// There is room in the rate: bursts of a whole period's number are let through.
  func hasRoom() -> Bool {
    guard period > 0 else { return true }
    let now = hkt_now_ns()
    var was = due.load(ordering: .relaxed)
    while true {
      let begin = max(was, now)
      if begin + period > now + burst {
        byRate.add(1, ordering: .relaxed)
        return false
      }
      let (done, found) = due.weakCompareExchange(expected: was, desired: begin + period, ordering: .relaxed)
      if done { return true }
      was = found
    }
  }
}

/// Words that several threads read and change, each whole. Never freed: rules are few, and calls may be in it.
struct AtomicWords: @unchecked Sendable {
  // Atomics in memory that is never moved nor freed.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  let count: Int

  init(count: Int) {
    self.count = count
    words = .allocate(capacity: count)
    for index in 0..<count { (words + index).initialize(to: Atomic(0)) }
  }

  /// Words that another one made.
  init(at address: UInt64, count: Int) {
    self.count = count
    // What `address` of one of these was.
    words = UnsafeMutableRawPointer(bitPattern: UInt(address))!.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  var address: UInt64 { UInt64(UInt(bitPattern: words)) }

  @inline(__always)
  subscript(index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> { words + index }
}

/// When hashes were last seen, for about a thousand of them: a tag and milliseconds in one word.
final class RecentHashes: Sendable {
  private let slots = AtomicWords(count: 1024)
  private static let probes = 8
  private static let all = Mutex<[String: RecentHashes]>([:])

  /// The one that all rules of the name share.
  static func named(_ name: String) -> RecentHashes {
    all.withLock { all in
      if let known = all[name] { return known }
      let made = RecentHashes()
      all[name] = made
      return made
    }
  }

  /// Notes that the hash was seen at `now`, unless it was within the window before; answers whether it was.
  func note(_ hash: UInt64, now: UInt64, window: UInt64) -> Bool {
    let tag = hash >> 32 | 1
    let time = now / 1_000_000 & 0xFFFF_FFFF
    let start = Int(hash & 1023)
    var oldest = start
    var oldestAge: UInt64 = 0
    for probe in 0..<Self.probes {
      let at = (start + probe) & 1023
      let word = slots[at].pointee.load(ordering: .relaxed)
      let age = (time &- word) & 0xFFFF_FFFF
      if word >> 32 == tag {
        if age * 1_000_000 < window { return true }
        // Of several that find it due at once, one records it.
        return !slots[at].pointee.compareExchange(expected: word, desired: tag << 32 | time, ordering: .relaxed).exchanged
      }
      if word == 0 || age >= oldestAge {
        oldest = at
        oldestAge = word == 0 ? .max : age
        if word == 0 { break }
      }
    }
    let word = slots[oldest].pointee.load(ordering: .relaxed)
    let (done, found) = slots[oldest].pointee.compareExchange(expected: word, desired: tag << 32 | time, ordering: .relaxed)
    return !done && found >> 32 == tag
  }
}

/// Hashes that were seen, at most some thousands; beyond them nothing counts as seen.
final class HashSet: Sendable {
  private let slots = AtomicWords(count: 16384)
  private static let probes = 64

  /// True when it was not there before.
  func insert(_ hash: UInt64) -> Bool {
    let wanted = hash == 0 ? 1 : hash
    for probe in 0..<Self.probes {
      let at = (Int(truncatingIfNeeded: wanted) & 16383 &+ probe) & 16383
      let (done, found) = slots[at].pointee.compareExchange(expected: 0, desired: wanted, ordering: .relaxed)
      if done { return true }
      if found == wanted { return false }
    }
    return true
  }
}
