// GuardRun — one guard at work for one owner: its mode, whose calls it looks at, what it counts and records.
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
private import Synchronization

/// Any thread.
final class GuardRun: Sendable {
  let guarded: CrashGuard
  let settings: GuardSettings
  /// A patch's id, or "swift".
  let owner: String
  /// What it belongs to; nil: what Swift code enabled belongs to nothing.
  let installation: Installation?
  private let log: HostLog
  private let isOver = Atomic<Bool>(false)
  private let count = Atomic<UInt64>(0)
  private let state = Mutex(State())

  private struct State {
    var tokens: [HookToken] = []
    var ends: [@Sendable () -> Void] = []
    var notes: [String] = []
    var watched = 0
    var places: [String: Place] = [:]
    /// The second in which records were last written, and how many.
    var second: UInt64 = 0
    var written = 0
    var unwritten: UInt64 = 0
    /// By return address: whether its code is in the chosen modules.
    var scopes: [UInt: Bool] = [:]
  }

  /// Hits of one function.
  struct Place: Sendable {
    var hits: UInt64
    var problem: String
    var site: String
  }
  private static let mostPlaces = 500

  init(_ guarded: CrashGuard, _ settings: GuardSettings, owner: String, log: HostLog, installation: Installation? = nil) {
    self.installation = installation
    self.guarded = guarded
    self.settings = settings
    self.owner = owner
    self.log = log
  }

  var isOn: Bool { !isOver.load(ordering: .relaxed) && installation?.isLive != false }
  var hits: UInt64 { count.load(ordering: .relaxed) }
  var notes: [String] { state.withLock(\.notes) }
  /// Functions that are watched.
  var watched: Int { state.withLock(\.watched) }
  var places: [(selector: String, place: Place)] {
    state.withLock { $0.places.sorted { ($1.value.hits, $0.key) < ($0.value.hits, $1.key) }.map { ($0.key, $0.value) } }
  }
  /// Hits that the rate left no record of.
  var unwritten: UInt64 { state.withLock(\.unwritten) }

  // MARK: What it consists of

  func note(_ text: String) { state.withLock { if $0.notes.count < 200 { $0.notes.append(text) } } }
  /// A note that the patch's author has to see: what was asked for is not done.
  func tell(_ text: String) {
    note(text)
    log.say("guard '\(guarded.rawValue)' of \(owner): \(text)")
  }
  func add(_ end: @escaping @Sendable () -> Void) { state.withLock { $0.ends.append(end) } }
  func watches(_ count: Int) { state.withLock { $0.watched += count } }

  /// Installs layers; functions that refuse are noted.
  /// - Returns: how many functions are hooked.
  @discardableResult
  func install(_ requests: [HookRequest], _ layer: @escaping (Family) -> LayerSpec) -> Int {
    let report = HookEngine.shared.install(requests, layer: layer)
    state.withLock {
      $0.tokens += report.tokens.map(\.token)
      $0.notes += report.refused.prefix(100).map { "'\($0.selector)' is not watched: \($0.reason)" }
    }
    return report.tokens.count
  }

  /// Once; false when it was over.
  func end() -> Bool {
    guard !isOver.exchange(true, ordering: .relaxed) else { return false }
    let (tokens, ends) = state.withLock { state in
      defer { (state.tokens, state.ends) = ([], []) }
      return (state.tokens, state.ends)
    }
    HookEngine.shared.remove(tokens)
    for end in ends { end() }
    return true
  }

  // MARK: A hit

  /// Whose code makes the call decides whether the guard looks at it.
  /// - Parameter address: where the call returns to; 0 where that is not known, which is in no module.
  func includes(_ address: UInt) -> Bool {
    if settings.modules.isEmpty { return true }
    if let known = state.withLock({ $0.scopes[address] }) { return known }
    let found = GuardSite.modules(of: address).contains { settings.modules.contains($0) }
    state.withLock { if $0.scopes.count < 10_000 { $0.scopes[address] = found } }
    return found
  }

  /// Of what is asked for by name, where no hook is in between.
  func includes(_ site: GuardSite.Sender) -> Bool {
    switch site {
    case .code(let address): includes(address())
    case .script(let place): settings.modules.isEmpty || settings.modules.contains(String(place.prefix { $0 != ":" }))
    }
  }

  func hit(_ selector: String, _ problem: String, outcome: String, at site: GuardSite.Sender) {
    switch site {
    case .code(let address): hit(selector, problem, outcome: outcome, address: address())
    case .script(let place): hit(selector, problem, outcome: outcome, script: place)
    }
  }

  /// Counts a hit and records it, at most so often as the settings say.
  /// - Parameters:
  ///   - selector: the function, or the message.
  ///   - problem: what is wrong.
  ///   - outcome: what is done about it.
  ///   - address: where the call returns to, 0 where nothing called.
  func hit(_ selector: String, _ problem: String, outcome: String, address: UInt = 0, script: String? = nil) {
    count.add(1, ordering: .relaxed)
    let isWritten = settings.mode == .assert || mayWrite()
    let site = isWritten ? script ?? GuardSite.name(address) : ""
    state.withLock { state in
      if state.places[selector] == nil, state.places.count >= Self.mostPlaces { return }
      var place = state.places[selector] ?? Place(hits: 0, problem: problem, site: site)
      place.hits += 1
      if isWritten { (place.problem, place.site) = (problem, site) }
      state.places[selector] = place
    }
    guard isWritten else { return }
    let hit = GuardHit(
      guarded: guarded, mode: settings.mode, selector: selector, problem: problem, outcome: outcome, site: site)
    log.guarded(hit, owner: owner, count: hits)
    GuardRegistry.shared.tell(hit)
    guard settings.mode == .assert else { return }
    let place = site.isEmpty ? "" : ", called by '\(site)'"
    log.say("guard '\(guarded.rawValue)' of \(owner): '\(selector)': \(problem)\(place); mode 'assert' ends the process")
    abort()
  }

  private func mayWrite() -> Bool {
    let second = hkt_now_ns() / 1_000_000_000
    return state.withLock { state in
      if state.second != second { (state.second, state.written) = (second, 0) }
      guard state.written < settings.recordsPerSecond else {
        state.unwritten += 1
        return false
      }
      state.written += 1
      return true
    }
  }

}

/// Where calls come from.
enum GuardSite {
  /// Who asks for something by name.
  enum Sender {
    /// Swift code; where its call returns to is looked for when it is asked.
    case code(() -> UInt)
    /// File and line.
    case script(String)
  }

  /// - Parameter script: where a script asked; nil: Swift code did, on this thread.
  static func of(_ script: String?) -> Sender {
    if let script { return .script(script) }
    var found: UInt?
    return .code {
      if let found { return found }
      let address = caller()
      found = address
      return address
    }
  }

  /// The innermost return address of this thread's stack that is in no code of the host; 0 where none is.
  private static func caller() -> UInt {
    // A function of the C library, of this type (execinfo.h).
    typealias Backtrace = @convention(c) (UnsafeMutablePointer<UnsafeMutableRawPointer?>, Int32) -> Int32
    guard let backtrace = dlsym(nil, "backtrace").map({ unsafeBitCast($0, to: Backtrace.self) }) else { return 0 }
    return withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: 64) { frames in
      let count = Int(backtrace(frames.baseAddress!, 64))
      let addresses = (0..<max(0, count)).map { UInt(bitPattern: frames[$0]) }
      let names = ThreadStacks.names(now: addresses)
      // Thunks of the compiler name nobody.
      let notMeant = ["HookRuntime.", "ScriptHost.", "libScriptHostBoot", "partial apply", "thunk"]
      return zip(addresses, names).dropFirst().first { _, name in
        let function = name.prefix { $0 != "(" }
        return !notMeant.contains { function.contains($0) }
      }?.0 ?? 0
    }
  }

  /// The function a call returns to.
  static func name(_ address: UInt) -> String {
    guard address != 0 else { return "" }
    // The first of a stack is an instruction, the others are returned to.
    return ThreadStacks.names(now: [address, address]).last ?? ""
  }

  /// The module of that function, and its image's file name.
  static func modules(of address: UInt) -> [String] {
    guard address != 0 else { return [] }
    let file = ThreadStacks.place(of: address)?.path.split(separator: "/").last.map(String.init)
    return [ThreadStacks.module(ofCaller: address), file].compactMap(\.self)
  }

  /// Where the call returns to.
  static func address(_ call: UnsafeMutablePointer<HKTCall>) -> UInt {
    // The word before the first stack argument is the return address; async calls have their frame elsewhere.
    guard call.pointee.is_async == 0, let stack = call.pointee.frame.pointee.stack else { return 0 }
    return UInt(stack[-1])
  }
}
