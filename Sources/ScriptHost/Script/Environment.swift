// Environment — a Lua state with all that a script in it may reach, and the installation that its script fills.
//
// A patch has one, and so has a session of the console. The host functions of a state get it as their context (`withPatch`).
internal import CLuaShim
internal import HookRuntime
package import Journal
internal import LuaBridge
private import Glibc
internal import Synchronization

/// Any thread; what says so is guarded by the state's lock.
package final class Environment: @unchecked Sendable {
  // Set in init, but for what is guarded by the state's lock or by a lock of its own.
  /// Whose work it is: in records and lists.
  package let id: String
  /// The chunk's name, in positions and messages.
  package let fileName: String
  /// Of hooks that say nothing else.
  let priority: Int
  /// Whether the text begins with a header, which `patch { … }` may then stand for.
  let hasHeader: Bool
  /// Where `require` finds modules; nil: nowhere.
  let directory: RawPath?
  /// Where its file is; presets are looked for there first. Nil: it has none.
  let folder: RawPath?
  package let log: HostLog
  package let installation: Installation
  /// What the global `config` has.
  private let settings: PatchSettings
  private let hasConfig = Atomic<Bool>(false)
  /// The global `config`, once it was made.
  private let configTable = Mutex<LuaReference?>(nil)
  /// Of a session of the console: what it may change. Set before any script runs.
  var gate: ChangeGate?
  /// What it may touch and do under a policy; nil: everything.
  let rights: PatchRights?
  var policy: Policy? { rights?.policy }

  /// Values whose names say that they are secrets are recorded as they are: the policy grants that, and the patch asks for it.
  let recordsSecrets: Bool

  private var openState: LuaState?
  var lua: LuaState { openState! }  // closed by deinit only
  /// The shim's state, for calls on every hooked call.
  let state: OpaquePointer
  // Written while the environment is made; calls read it without the check of exclusive access.
  @exclusivity(unchecked) var classes = HandleClasses()

  // Guarded by the state's lock.
  /// What names mean for the program's types.
  let callIns = MemberCache()
  /// Fields of structs and tuples that were read, by TypeInfo.
  let fields = RecentNames<ValueField>(count: 64)
  /// What the program keeps of what the script gave it.
  var givenAway = GivenAway()
  /// What the script said `swift.allow_leak` of.
  var leftCopies = LeftCopies()
  /// Selectors that `method` and `class` resolved, by handle number.
  var selectors: [ResolvedSelector] = []
  var classNames: [String] = []
  /// The latest entry of each text in `selectors` and `classNames`: a handler that looks a name up at each call adds one.
  private var selectorNumbers: [String: Int] = [:]
  private var classNumbers: [String: Int] = [:]
  /// Images of which it was reported that inlined calls in them are not known.
  private let doubtfulImages = Mutex<Set<String>>([])
  /// The iterator of `pairs` of a handle, kept at its first use; 0 before.
  var nextFunction: SHLRef = 0
  /// So many times the host may still work for the load without its counting as the script's time.
  private var freeWorks = 2000
  /// Selectors hooked for objects, whose gaps were reported.
  var reportedObjects: Set<String> = []
  /// `class.define`, which is a field of `class`.
  var defineFunction: SHLRef = 0
  /// Messages it answers.
  var forwards: [ScriptForward] = []
  /// Statements of two parts whose second one has not come, as they are written: `track "added"`. Of the load; timers on other threads may
  /// run beside it.
  let halfStatements = Mutex<[String]>([])
  /// What functions of the state have as context.
  var keptAlive: [AnyObject] = []
  /// Whether the statement `patch { … }` ran; it runs once.
  var didRunHeader = false
  /// What `require` found, by name.
  var modules: [String: ModuleState] = [:]
  /// The text ran to its end: what it installed was there.
  var didLoad: Bool { loaded.load(ordering: .relaxed) }
  private let loaded = Atomic<Bool>(false)
  /// What failed of it since a test of it began; nil: no test runs.
  let heardFailures = Mutex<[String]?>(nil)
  /// How many of its handlers failed so often that they were switched off.
  package var switchedOff: Int { handlersOff.load(ordering: .relaxed) }
  private let handlersOff = Atomic<Int>(0)
  /// Why it was switched off by itself: a call of its trapped.
  let trapText = Mutex<String?>(nil)

  /// What handles name by their numbers. They stay when they are over, and go when the installation does.
  private var handles = Handles()
  private let handlesLock = RecursiveLock()
  private struct Handles {
    /// The keys are their kinds; each list is in the order of their numbers.
    var lists: [ObjectIdentifier: [AnyObject]] = [:]
  }

  /// - Parameters:
  ///   - id: whose work it is, in records and lists.
  ///   - fileName: the chunk's name, in positions and messages.
  ///   - priority: of hooks that say nothing else.
  ///   - directory: where `require` finds modules; nil: nowhere.
  ///   - folder: where its file is; nil: it has none.
  ///   - settings: what the global `config` has.
  ///   - staged: what is installed takes effect when the installation goes live.
  ///   - rights: under a policy.
  ///   - globals: gives the new state what its scripts may name.
  package init(
    id: String, fileName: String, priority: Int = 0, hasHeader: Bool = false, directory: RawPath? = nil, folder: RawPath? = nil,
    settings: PatchSettings = PatchSettings(), log: HostLog,
    staged: Bool = false, rights: PatchRights? = nil, globals: Globals
  ) throws(PatchError) {
    self.id = id
    self.fileName = fileName
    self.priority = priority
    self.hasHeader = hasHeader
    self.directory = directory
    self.folder = folder
    self.settings = settings
    self.log = log
    installation = Installation(staged: staged)
    self.rights = rights
    recordsSecrets = rights?.grantsSecrets ?? false
    let lua: LuaState
    var limits = SHLLimits()
    if let budgets = rights?.budgets {
      // 0 is the host's own, which is never more.
      limits.memory = min(budgets.memory ?? 0, 16 << 20)
      limits.call_instructions = min(budgets.instructions ?? 0, 10_000_000)
      limits.call_ns = min(budgets.time ?? 0, 100_000_000)
    }
    do throws(LuaFailure) { lua = try LuaState(limits: limits) } catch { throw .noLua(error.message) }
    openState = lua
    state = lua.raw
    Self.ids.withLock { [key = ObjectIdentifier(self)] in $0[key] = id }
    if let rights {
      HookRights.set(rights, of: id)
      callIns.refusal = { rights.refusal(selector: "\($0).\($1)", of: $0) }
    }
    installation.add { [weak self] in self?.dropHandles() }
    try globals(self)
  }

  deinit {
    Self.ids.withLock { [key = ObjectIdentifier(self)] in $0[key] = nil }
    configTable.withLock { $0 = nil }
    // Finalizers of scripts may run now, and want the rest to be there.
    openState = nil
  }

  /// Registers what scripts may name, classes of handles first: the stages of the globals come later.
  package typealias Globals = (Environment) throws(PatchError) -> Void

  /// The ids of all environments there are.
  private static let ids = Mutex<[ObjectIdentifier: String]>([:])
  /// What another environment of the same id made is this one's to replace.
  func mayReplace(_ other: ObjectIdentifier) -> Bool { other != ObjectIdentifier(self) && Self.ids.withLock { $0[other] } == id }

  /// Notes what a handle is for; answers the handle's number, which is one of those of its kind.
  func number<Kind: AnyObject>(_ new: Kind) -> UInt64 {
    handlesLock.withLock {
      handles.lists[ObjectIdentifier(Kind.self), default: []].append(new)
      return UInt64(handles.lists[ObjectIdentifier(Kind.self)]!.count - 1)
    }
  }

  /// What the handle with that number is for; nil when the installation is over.
  func handle<Kind: AnyObject>(_ number: UInt64, _ kind: Kind.Type = Kind.self) -> Kind? {
    handlesLock.withLock {
      guard let all = handles.lists[ObjectIdentifier(kind)], number < all.count else { return nil }
      // The list of a kind has nothing else.
      return unsafeDowncast(all[Int(number)], to: kind)
    }
  }

  /// The one object of its kind that belongs to the environment; made when it is first asked for.
  /// - Parameter end: what is done with a new one when the installation is over.
  func part<Part: AnyObject & Sendable>(make: () -> Part, end: @escaping @Sendable (Part) -> Void) -> Part {
    let key = ObjectIdentifier(Part.self)
    // The part of a kind is of that kind.
    if let known = parts.withLock({ $0[key] }) { return unsafeDowncast(known, to: Part.self) }
    let (part, isNew) = parts.withLock { made in
      if let known = made[key] { return (unsafeDowncast(known, to: Part.self), false) }
      let part = make()
      made[key] = part
      return (part, true)
    }
    if isNew { installation.add { end(part) } }
    return part
  }
  private let parts = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// They refer to functions, and these to the environment.
  private func dropHandles() {
    let dropped = handlesLock.withLock {
      defer { handles = Handles() }
      return handles
    }
    // Dropped without the lock: what ends with them may come back here.
    withExtendedLifetime(dropped) {}
  }

  /// The script's text has the word, so that its handlers may ask how long calls take. Reading the clock costs what a tenth of an
  /// `after` handler does.
  private(set) var namesDuration = false

  /// Runs a text under the load budget.
  /// - Throws: `.failed` with the position; what the text installed until then stays, for the caller to remove.
  /// - Parameter name: the chunk's, where it is another file of the patch.
  package func run(_ source: [UInt8], name: String? = nil) throws(PatchError) {
    let fileName = name ?? fileName
    if String(decoding: source, as: UTF8.self).holds("duration") { namesDuration = true }
    try makeConfig(for: source)
    let outcome: Result<Void, LuaFailure> = source.withUnsafeBytes { bytes in
      do throws(LuaFailure) { return .success(try lua.load(bytes, name: fileName)) } catch { return .failure(error) }
    }
    if case .failure(let failure) = outcome {
      throw .failed(failure.message.hasPrefix("\(fileName):") ? failure.message : "\(fileName): \(failure.message)")
    }
    loaded.store(true, ordering: .relaxed)
    let halves = halfStatements.withLock { found in
      defer { found = [] }
      return found
    }
    for title in halves { log.say("\(fileName): '\(title)' does nothing; what belongs to it follows the name: \(title) …") }
  }

  /// Makes the global `config` where a text names it, once. Not with the state's lock held.
  func makeConfig(for text: [UInt8]) throws(PatchError) {
    if String(decoding: text, as: UTF8.self).holds("config") { try makeConfig() }
  }
  func makeConfig() throws(PatchError) {
    guard !hasConfig.exchange(true, ordering: .relaxed) else { return }
    do throws(LuaFailure) {
      let made = try ConfigAPI.make(settings, lua)
      configTable.withLock { $0 = made }
    } catch { throw .failed("\(fileName): \(error.message)") }
  }

  /// What a table stands for that has no content of its own: `config`; nil for all others. With the state's lock held.
  func standsFor(_ table: SHLValue, _ scope: UnsafeMutablePointer<SHLScope>) -> JSONValue? {
    guard let config = configTable.withLock({ $0?.raw }), shl_is_kept(scope, table, config) else { return nil }
    return .object(settings.members)
  }

  /// Looking through the program's names and reading its code is the host's work, not the script's time, while the script is loaded; one that
  /// never ends asking for it is stopped all the same, and so is a handler, which holds up a call. With the state's lock held.
  func asHost<R>(_ work: () -> R) -> R {
    guard !didLoad, freeWorks > 0 else { return work() }
    freeWorks -= 1
    shl_exempt_begin()
    defer { shl_exempt_end() }
    return work()
  }

  /// An object that is the context of a function of the state, kept as long as the state.
  func kept(_ object: AnyObject) -> UnsafeMutableRawPointer {
    keptAlive.append(object)
    return Unmanaged.passUnretained(object).toOpaque()
  }

  /// Closures made of its functions call them, and its handlers that wait go on.
  var isLive: Bool { installation.isLive }

  /// The entry of a selector; a new one where what its text means has changed.
  func number(of selector: ResolvedSelector) -> Int {
    if let known = selectorNumbers[selector.text], selectors[known].isLike(selector) { return known }
    selectors.append(selector)
    shl_outside(state, HeldMemory.ofSelector + Int64(selector.text.utf8.count))
    selectorNumbers[selector.text] = selectors.count - 1
    return selectors.count - 1
  }

  /// Whether that of the image is to be reported: the first time. Any thread.
  func tellsDoubt(of image: String) -> Bool { doubtfulImages.withLock { $0.insert(image).inserted } }

  func number(ofClass name: String) -> Int {
    if let known = classNumbers[name] { return known }
    classNames.append(name)
    classNumbers[name] = classNames.count - 1
    return classNames.count - 1
  }

  /// Notes what was installed; any thread.
  /// - Parameter areExact: their selectors were spelled out, and somebody waits for their calls.
  func add(_ tokens: [HookToken], areExact: Bool) { installation.add(tokens, areExact: areExact) }

  // MARK: Telling

  func failed(_ selector: String, _ position: String, _ message: String, instead: String? = nil) {
    heardFailures.withLock { if $0 != nil { $0!.append("\(message) (in \(position) '\(selector)')") } }
    log.failure(patch: id, selector: selector, position: position, message: message, instead: instead)
  }
  func disabled(_ selector: String, _ position: String, failures: Int, seconds: UInt64, instead: String? = nil) {
    handlersOff.add(1, ordering: .relaxed)
    log.say(
      "\(fileName): \(position) '\(selector)' failed \(failures) times in \(seconds) s and is switched off; "
        + "\(instead ?? "the program runs on with the original")"
    )
    log.append(.failure, "handler switched off") { fields in
      fields.add("patch", id)
      fields.add("selector", selector)
      fields.add("position", position)
      fields.add("failures", Int64(failures))
      fields.add("seconds", seconds)
    }
  }
  /// A handler of several functions failed too often on all of them together.
  func disabled(handler line: Int32, failures: Int, seconds: UInt64) {
    handlersOff.add(1, ordering: .relaxed)
    log.say(
      "\(fileName):\(line): this handler failed \(failures) times in \(seconds) s, on several functions, and is switched off on all; "
        + "they run on as without it")
    log.append(.failure, "handler switched off") { fields in
      fields.add("patch", id)
      fields.add("source", "\(fileName):\(line)")
      fields.add("failures", Int64(failures))
      fields.add("seconds", seconds)
    }
  }
  func skipped(_ selector: String, _ reason: String) { log.skipped(patch: id, selector: selector, reason: reason) }
}

/// How a module stands in one load of a patch.
enum ModuleState {
  case loading
  case loaded(SHLRef)
}

/// Why a statement of a script is not carried out: one sentence.
struct StatementProblem: Error { var text: String }

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

  /// The text means what it meant before.
  func isLike(_ other: ResolvedSelector) -> Bool {
    waits == other.waits && families.count == other.families.count && zip(images, other.images).allSatisfy { $0 === $1 }
      && zip(families, other.families).allSatisfy { $0.key == $1.key }
  }
}
