// StallSettings — what counts as a stall, as scripts and the command say it.
internal import CLuaShim
internal import LuaBridge

/// Thresholds in nanoseconds; what is nil is not watched.
struct StallSettings: Sendable, Equatable {
  /// The main thread, once it waits for events, and the main queue.
  var main: UInt64?
  /// The pool on which tasks run.
  var pool: UInt64?
  /// Every other thread that waits for events.
  var loops: UInt64?
  /// Threads that wait for a lock.
  var locks: UInt64?
  /// Dispatch queues by their labels, as far as they are made from now on.
  var queues: [String: UInt64] = [:]
  /// Whether stacks are taken.
  var stacks = true
  /// The process is ended when a stall of the main thread lasts so long.
  var end: UInt64?

  /// What several owners want together: the lowest threshold of each place.
  static func all(_ settings: some Sequence<StallSettings>) -> StallSettings {
    func lower(_ a: UInt64?, _ b: UInt64?) -> UInt64? { a.map { a in b.map { min(a, $0) } ?? a } ?? b }
    return settings.reduce(into: StallSettings(stacks: false)) { sum, each in
      sum.main = lower(sum.main, each.main)
      sum.pool = lower(sum.pool, each.pool)
      sum.loops = lower(sum.loops, each.loops)
      sum.locks = lower(sum.locks, each.locks)
      sum.queues.merge(each.queues) { min($0, $1) }
      sum.stacks = sum.stacks || each.stacks
      sum.end = lower(sum.end, each.end)
    }
  }

  var thresholds: [UInt64] { [main, pool, loops, locks, end].compactMap(\.self) + queues.values }

  /// The shortest that is taken: below it the machine's own pauses are what is seen.
  static let shortest: UInt64 = 10_000_000

  private static let known = ["main", "pool", "loops", "locks", "queues", "stacks", "end_after"]

  /// Reads the table of `stalls { … }`; answers what is wrong with it.
  static func read(_ table: SHLValue, _ callback: LuaCallback) -> Result<StallSettings, Problem> {
    guard table.tag == SHL_TABLE else { return .failure(Problem("stalls takes a table, such as { main = \"250ms\", pool = \"500ms\" }")) }
    var settings = StallSettings()
    var problem: String?
    callback.forEach(in: table) { key, value in
      problem = key.text.map { settings.set($0, value, callback) } ?? "stalls: fields are named"
      return problem == nil
    }
    if let problem { return .failure(Problem(problem)) }
    if settings.thresholds.isEmpty { return .failure(Problem("stalls watches nothing; name main, pool, loops, locks or queues")) }
    if settings.end != nil, settings.main == nil { return .failure(Problem("stalls: 'end_after' goes with 'main'")) }
    return .success(settings)
  }

  struct Problem: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  private mutating func set(_ field: String, _ value: SHLValue, _ callback: LuaCallback) -> String? {
    func time(_ to: WritableKeyPath<StallSettings, UInt64?>) -> String? {
      guard let found = Self.time(value) else { return Self.wrongTime(field, value) }
      self[keyPath: to] = found
      return nil
    }
    switch field {
    case "main": return time(\.main)
    case "pool": return time(\.pool)
    case "loops": return time(\.loops)
    case "locks": return time(\.locks)
    case "end_after": return time(\.end)
    case "stacks":
      guard value.tag == SHL_BOOL else { return "stalls: 'stacks' is true or false, found \(ValueBridge.spelled(value))" }
      stacks = value.b
      return nil
    case "queues":
      guard value.tag == SHL_TABLE else { return "stalls: 'queues' maps labels to times, such as { [\"shop.db\"] = \"200ms\" }" }
      var problem: String?
      callback.forEach(in: value) { label, limit in
        if let label = label.text, let limit = Self.time(limit) {
          queues[label] = limit
        } else {
          problem = "stalls: 'queues' maps labels to times of at least 10ms, such as { [\"shop.db\"] = \"200ms\" }"
        }
        return problem == nil
      }
      return problem
    default: return "stalls: unknown field '\(field)'; known are \(Self.known.joined(separator: ", "))"
    }
  }

  private static func time(_ value: SHLValue) -> UInt64? { value.text.flatMap(RuleUnits.duration).flatMap { $0 >= shortest ? $0 : nil } }
  private static func wrongTime(_ field: String, _ value: SHLValue) -> String {
    "stalls: '\(field)' is a time of at least 10ms, such as \"250ms\", found \(ValueBridge.spelled(value))"
  }
}
