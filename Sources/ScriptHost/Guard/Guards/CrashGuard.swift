// CrashGuard — the guards there are, what each can do, and how Swift code switches them.
private import CCrash
private import Journal

/// A kind of mistake that is caught before it ends the program. All are off until they are asked for.
public enum CrashGuard: String, CaseIterable, Sendable {
  /// Messages by name that nothing answers.
  case unknownSelector = "unknown_selector"
  /// Observers of properties that are added twice, or taken away without having been added.
  case observation
  /// Observers of NotificationCenter whose object is gone.
  case notifications
  /// Repeating timers that alone keep their target.
  case timers
  /// Indices and ranges beyond the end of Foundation's reference collections, strings and data.
  case containers
  /// Messages by name to NSNull.
  case null
  /// Calls on objects of chosen types that have ended.
  case zombies
  /// Calls of chosen functions on another thread than the main one.
  case mainThread = "main_thread"

  /// One sentence, for lists.
  package var summary: String {
    switch self {
    case .unknownSelector: "messages by name that nothing answers"
    case .observation: "observations that are doubled, or ended twice"
    case .notifications: "notification observers whose object is gone"
    case .timers: "repeating timers that alone keep their target"
    case .containers: "indices and ranges beyond the end of Foundation's collections and strings"
    case .null: "messages by name to NSNull"
    case .zombies: "calls on objects that have ended"
    case .mainThread: "calls that belong on the main thread"
    }
  }
}

/// What becomes of a hit. Every mode records it.
public enum GuardMode: String, CaseIterable, Sendable {
  /// The program does what it does without the guard.
  case report
  /// The mistake has no effect: a neutral value is answered, or the call is ignored.
  case contain
  /// The process ends with a message that names the place: for tests.
  case assert
}

/// What a guard is asked to do.
public struct GuardSettings: Sendable {
  public var mode: GuardMode
  /// Only calls made by code of these modules, or of images of these file names; empty: all.
  public var modules: [String] = []
  /// At most so many records in a second; all hits are counted.
  public var recordsPerSecond = 10
  /// Of `zombies`: patterns of types, `Shop.*Session`.
  public var types: [String] = []
  /// Of `mainThread`: selectors or patterns.
  public var methods: [String] = []
  /// Of `zombies`: so many objects are kept at most.
  public var objectLimit = 1000
  /// Of `zombies`: so many bytes are kept at most.
  public var byteLimit = 8 << 20

  public init(mode: GuardMode = .contain) { self.mode = mode }

  /// The most that a script may say of objects, records or bytes.
  static let most = 1_000_000_000
}

/// Why a guard cannot do what it is asked for.
public struct GuardProblem: Error, CustomStringConvertible, Sendable {
  public let description: String
  init(_ text: String) { description = text }
}

/// A guard at work; removing it twice answers false.
public struct GuardHandle: Sendable {
  let run: GuardRun
  /// So many hits so far.
  public var hits: UInt64 { run.hits }
  /// What it does not watch, one sentence each.
  public var notes: [String] { run.notes }
  @discardableResult
  public func remove() -> Bool { GuardRegistry.shared.stop(run) }
}

/// Switches guards from Swift code.
///
///     try CrashGuards.enable(.containers, mode: .contain)
///
/// Any thread. Hits go to the listener, and to the journal in a program that runs under ScriptHost.
public enum CrashGuards {
  /// Begins; what was enabled before under the same name goes on beside it.
  /// - Throws: why it cannot work in this program.
  @discardableResult
  public static func enable(_ guarded: CrashGuard, mode: GuardMode = .contain) throws(GuardProblem) -> GuardHandle {
    try enable(guarded, GuardSettings(mode: mode))
  }

  /// Begins with all settings there are; what was enabled before under the same name goes on beside it.
  @discardableResult
  public static func enable(_ guarded: CrashGuard, _ settings: GuardSettings) throws(GuardProblem) -> GuardHandle {
    GuardHandle(run: try GuardRegistry.shared.start(guarded, settings, owner: "swift", log: HostLog(recorder: nil, isVerbose: false)))
  }

  /// Ends all that Swift code has enabled of a guard; answers whether there was one.
  @discardableResult
  public static func disable(_ guarded: CrashGuard) -> Bool { GuardRegistry.shared.stop(guarded, owner: "swift") }

  /// The hits of a guard so far, whoever enabled it.
  public static func hits(_ guarded: CrashGuard) -> UInt64 { GuardRegistry.shared.hits(guarded) }

  /// Notified of every hit that is recorded, on its thread, before the program goes on; nil: nobody is.
  public static func onHit(_ listener: (@Sendable (GuardHit) -> Void)?) { GuardRegistry.shared.listen(listener) }
}

/// One mistake that was caught.
public struct GuardHit: Sendable {
  public let guarded: CrashGuard
  public let mode: GuardMode
  /// The function that was called, or the message.
  public let selector: String
  /// What was wrong: `index 7 is not in 0..<3`.
  public let problem: String
  /// What was done: `answered nil`.
  public let outcome: String
  /// The function that made the call, `Shop.Cart.total() + 40`; empty where it is not known.
  public let site: String
}

extension HostLog {
  /// A guard caught something: a record, a breadcrumb, and with `-v` a line.
  /// - Parameters:
  ///   - owner: the patch that asked for the guard.
  ///   - count: hits of the guard so far.
  func guarded(_ hit: GuardHit, owner: String, count: UInt64) {
    leaveCrumb(CCRASH_FAILURE, "guard \(hit.guarded.rawValue): \(hit.selector): \(hit.problem)")
    append(.event, "guard") { fields in
      fields.add("guard", hit.guarded.rawValue)
      fields.add("mode", hit.mode.rawValue)
      fields.add("patch", owner)
      fields.add("selector", hit.selector)
      fields.add("problem", hit.problem)
      fields.add("outcome", hit.outcome)
      if !hit.site.isEmpty { fields.add("site", hit.site) }
      fields.add("hits", count)
    }
    guard isVerbose else { return }
    say("guard \(hit.guarded.rawValue): '\(hit.selector)': \(hit.problem); \(hit.outcome)\(hit.site.isEmpty ? "" : " (in '\(hit.site)')")")
  }
}
