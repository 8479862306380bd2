// Patch — one loaded script: its Lua state, what it installed, what went wrong with it.
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge
private import Glibc
private import Synchronization

/// Loading is all or nothing: a patch that fails half-way leaves no hook behind.
package final class Patch: @unchecked Sendable {
  // Lists change while the main chunk runs (under the state's lock) and at unload; `state` is thread-safe by its own lock.
  package let path: String
  package let fileName: String
  package let header: PatchHeader
  let log: HostLog
  let lua: LuaState
  /// The shim's state, for calls on every hooked call.
  let state: OpaquePointer
  // Written while the patch is made; calls read it without the check of exclusive access.
  @exclusivity(unchecked) var classes = HandleClasses()
  /// What names mean for the program's types; guarded by the state's lock.
  let callIns = MemberCache()
  /// Fields of structs and tuples that were read, by TypeInfo; guarded by the state's lock.
  let fields = RecentNames<ValueField>(count: 64)
  /// What the script said `swift.allow_leak` of; guarded by the state's lock.
  var leftCopies = LeftCopies()
  /// Selectors that `method` and `class` resolved, by handle number.
  var selectors: [ResolvedSelector] = []
  var classNames: [String] = []
  /// The iterator of `pairs` of a handle, kept at its first use; 0 before. Guarded by the state's lock.
  var nextFunction: SHLRef = 0
  private let installed = Mutex(Installed())
  private struct Installed {
    var hooks: [HookToken] = []
    var kept = 0
    /// Those whose selectors were spelled out: somebody waits for their calls.
    var exact: [HookToken] = []
  }
  /// Hooks that wait, by handle number. Guarded by the state's lock.
  var batches: [HookBatch] = []
  /// Selectors hooked for objects, whose gaps were told.
  var toldOfObjects: Set<String> = []
  /// By handle number; they stay when they are over.
  var rules: [InstalledRule] = []
  /// By handle number, as above.
  var observations: [LuaObservation] = []
  var watches: [DelegateWatch] = []
  var definedClasses: [RuntimeClass] = []
  /// `class.define`, which is a field of `class`.
  var defineFunction: SHLRef = 0
  /// Messages it answers.
  var forwards: [ScriptForward] = []
  var isLoading = true
  /// Whether the statement `patch { … }` ran; it runs once.
  var didRunHeader = false

  init(path: String, header: PatchHeader, log: HostLog) throws(PatchError) {
    self.path = path
    self.header = header
    self.log = log
    fileName = path.split(separator: "/").last.map(String.init) ?? path
    do throws(LuaFailure) { lua = try LuaState() } catch { throw .noLua(error.message) }
    state = lua.raw
    Self.ids.withLock { [key = ObjectIdentifier(self), id = self.id] in $0[key] = id }
    try PatchAPI.register(self)
  }

  deinit { Self.ids.withLock { [key = ObjectIdentifier(self)] in $0[key] = nil } }

  /// The ids of all patches there are.
  private static let ids = Mutex<[ObjectIdentifier: String]>([:])
  /// What another patch of the same id made is this one's to replace.
  func mayReplace(_ other: ObjectIdentifier) -> Bool { other != ObjectIdentifier(self) && Self.ids.withLock { $0[other] } == id }

  var id: String { header.id ?? fileName }

  /// The patch's text has the word, so that its handlers may ask how long calls take. Reading the clock costs what a tenth of an
  /// `after` handler does.
  private(set) var namesDuration = false

  /// Runs the main chunk.
  func run(_ source: [UInt8]) throws(PatchError) {
    defer { isLoading = false }
    namesDuration = String(decoding: source, as: UTF8.self).holds("duration")
    let outcome: Result<Void, LuaFailure> = source.withUnsafeBytes { bytes in
      do throws(LuaFailure) { return .success(try lua.load(bytes, name: fileName)) } catch { return .failure(error) }
    }
    if case .failure(let failure) = outcome {
      removeAll()
      throw .failed(failure.line > 0 ? failure.message : "\(fileName): \(failure.message)")
    }
  }

  /// False from the moment the patch is unloaded: closures made of its functions stop calling them, and its handlers that
  /// wait are dropped when their call goes on.
  var isLive: Bool { live.load(ordering: .relaxed) }
  private let live = Atomic<Bool>(true)

  /// Ends the patch for the program: its hooks are removed, its closures do what was agreed on. The Lua state ends when
  /// the last call in flight has left it.
  package func unload() { removeAll() }

  /// Takes out everything the patch installed; calls in flight finish with what they started with.
  func removeAll() {
    live.store(false, ordering: .relaxed)
    HookEngine.shared.stopWaiting(owner: id)
    let tokens = installed.withLock { installed in
      defer { installed.hooks = [] }
      return installed.hooks
    }
    HookEngine.shared.remove(tokens)
    for observation in observations { _ = observation.end() }
    for watch in watches { watch.remove() }
    for type in definedClasses { type.withdraw(by: self) }
    for forward in forwards { forward.handler.remove() }
    forwards = []
  }

  /// Notes what the patch installed; any thread. Hooks of objects end with them, so those that are over are dropped from time
  /// to time.
  /// - Parameter areExact: their selectors were spelled out, and somebody waits for their calls.
  func add(_ tokens: [HookToken], areExact: Bool) {
    installed.withLock { installed in
      if areExact { installed.exact += tokens }
      installed.hooks += tokens
      guard installed.hooks.count > 2 * installed.kept + 64 else { return }
      installed.hooks.removeAll { HookEngine.shared.isEnabled($0) == nil }
      installed.kept = installed.hooks.count
    }
    // Unloaded meanwhile.
    if !isLive { HookEngine.shared.remove(tokens) }
  }
  var hookCount: Int { installed.withLock { $0.hooks.count } }
  /// `, 2 waiting`; empty when nothing waits.
  var waitingText: String {
    let count = HookEngine.shared.waits(owner: id).count { !$0.hasLanded }
    return count == 0 ? "" : ", \(count) waiting"
  }

  // MARK: Telling

  /// Says which spelled-out selectors were hooked and never called.
  func tellUncalled() {
    // A selector may be hooked in several images, one of which delivers its calls.
    var calls: [String: UInt64] = [:]
    for token in installed.withLock({ $0.exact }) { calls[token.selector, default: 0] += HookEngine.shared.deliveredCalls(token) ?? 1 }
    for (selector, _) in calls.filter({ $0.value == 0 }).sorted(by: { $0.key < $1.key }) {
      log.note("never called", "\(fileName): '\(selector)' was hooked and never called; see explain for copies a hook misses")
    }
    for wait in HookEngine.shared.waits(owner: id) where !wait.hasLanded {
      let reason = wait.refused.first.map { "appeared and could not be hooked: \($0.reason)" } ?? "was waited for and never appeared"
      log.note("never appeared", "\(fileName): '\(wait.selector)' \(reason)")
    }
  }

  func failed(_ selector: String, _ position: String, _ message: String, instead: String? = nil) {
    log.failure(patch: id, selector: selector, position: position, message: message, instead: instead)
  }
  func disabled(_ selector: String, _ position: String, failures: Int, seconds: UInt64, instead: String? = nil) {
    log.say(
      "\(fileName): \(position) '\(selector)' failed \(failures) times in \(seconds) s and is switched off; \(instead ?? "the program runs on with the original")"
    )
    log.append(.failure, "handler switched off") { fields in
      fields.add("patch", id)
      fields.add("selector", selector)
      fields.add("position", position)
      fields.add("failures", Int64(failures))
      fields.add("seconds", seconds)
    }
  }
  func skipped(_ selector: String, _ reason: String) { log.skipped(patch: id, selector: selector, reason: reason) }
}

/// What `method "…"` found.
struct ResolvedSelector {
  /// Empty where it is waited for.
  var families: [Family]
  var images: [ImageCatalog]
  var text: String
  var isGlob: Bool

  /// Hooks on it land on what images bring later, too.
  var waits: Bool

  init(_ found: [(ImageCatalog, Family)], _ text: String, waits: Bool = false) {
    self.waits = waits
    families = found.map(\.1)
    images = found.map(\.0)
    self.text = text
    isGlob = SelectorPattern(text).isGlob
  }
}

package enum PatchError: Error, Sendable {
  case noLua(String)
  case unreadable(path: String, why: String)
  case header(String)
  case failed(String)
  case otherTarget(String)
}

extension PatchError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noLua(let why): "Lua cannot be used: \(why)"
    case .unreadable(let path, let why): "\(path): \(why)"
    case .header(let text): text
    case .failed(let text): text
    case .otherTarget(let text): text
    }
  }
}
