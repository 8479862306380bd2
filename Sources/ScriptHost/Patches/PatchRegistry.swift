// PatchRegistry — the patches of this process: which there are, how each stands, and the only way to load, replace and remove them.
//
// One change at a time: `changing` is held while a script's main chunk runs, never while a call of the program waits for it. What is
// told of patches needs `entries` only, which is held for moments.
internal import HookRuntime
private import Glibc
package import Journal
private import Synchronization

/// How a patch stands.
package enum PatchState: Sendable, Equatable {
  case loaded
  /// It was loaded, and is switched off.
  case disabled(String)
  /// It was not loaded: why.
  case refused(String)
  case expired(String)
  /// To be loaded when the program is as far as its header says.
  case waiting(String)
  /// Not loaded: it failed in a child of the program.
  case quarantined(String)

  /// One word.
  package var word: String {
    switch self {
    case .loaded: "loaded"
    case .disabled: "disabled"
    case .refused: "refused"
    case .expired: "expired"
    case .waiting: "waiting"
    case .quarantined: "quarantined"
    }
  }
  /// Why it is not loaded, or not on.
  package var why: String? {
    switch self {
    case .loaded: nil
    case .disabled(let why), .refused(let why), .expired(let why), .waiting(let why), .quarantined(let why): why
    }
  }
}

/// A patch, as lists show it.
package struct PatchInfo: Sendable {
  package let id: String
  package let path: String
  package let version: String?
  package let priority: Int
  package let state: PatchState
  /// Why the newest text of it is not the one that runs; nil when it is.
  package let problem: String?
  /// How often it was loaded: 1 after the first time.
  package let generation: Int
  /// Hooks that are installed.
  package let hooks: Int
  /// Handlers that were switched off because they failed too often.
  package let switchedOff: Int
  /// Selectors that are waited for.
  package let waits: Int
  /// Of its Lua state; 0 when it has none.
  package let memory: Int
  /// How long the last load took, from reading the file to the first call that can reach it, in nanoseconds.
  package let loadTime: UInt64
}

/// Any thread.
package final class PatchRegistry: Sendable {
  private struct Entry {
    var id: String
    var place: PatchFiles.Place
    var header = PatchHeader()
    var state: PatchState
    var problem: String?
    var patch: Patch?
    /// Tells the text that was tried last from others.
    var text = 0
    var generation = 0
    var loadTime: UInt64 = 0

    var isWaiting: Bool { if case .waiting = state { true } else { false } }
  }

  package let log: HostLog
  private let program: String
  private let buildID: String
  private let canary: (any PatchTrial)?
  /// Settings of patches by their ids.
  private let config: RawPath?
  /// What patches may do: nil where nobody limits them.
  package let policy: Policy?
  /// The share of patches whose headers name none.
  private let share: Double?
  private let entries = Mutex<[Entry]>([])
  /// What the start was given.
  private let roots = Mutex<[RawPath]>([])
  private let changing = Mutex<Void>(())

  /// - Parameters:
  ///   - program: the file name of this process's program, for headers' targets.
  ///   - buildID: of the program, in lower-case hexadecimal; empty when it is not known.
  ///   - config: a file with settings of patches by their ids; read at each load.
  ///   - canary: tries patches before they go live; nil: nobody does.
  ///   - policy: what patches may do; nil: everything.
  ///   - share: of the process's time, for each hook of patches whose headers name none.
  package init(
    log: HostLog, program: String, buildID: String = "", config: RawPath? = nil, canary: (any PatchTrial)? = nil, policy: Policy? = nil,
    share: Double? = nil
  ) {
    self.policy = policy
    self.share = share
    self.log = log
    self.program = program
    self.buildID = buildID
    self.canary = canary
    self.config = config
  }

  // MARK: The start

  /// Loads what the paths name, by declared priority (higher first), then by position, then by name. What cannot be loaded never
  /// stops the others, and leaves no claim to its id.
  /// - Parameter leaveOut: is given all files there are, and answers those that stay out of this start.
  package func start(_ paths: [RawPath], leaveOut: ([RawPath]) -> Set<RawPath> = { _ in [] }) {
    roots.withLock { $0 = paths }
    changing.withLock { _ in
      var found: [(PatchSource, UInt64)] = []
      let all = paths.flatMap { places($0) }
      let out = leaveOut(all.map(\.path))
      for place in all where !out.contains(place.path) {
        let begin = now()
        do throws(PatchError) { found.append((try read(place), begin)) } catch { refuse(place, error) }
      }
      let ordered = found.enumerated().sorted {
        ($1.element.0.header.priority, $0.offset) < ($0.element.0.header.priority, $1.offset)
      }
      for (_, (source, begin)) in ordered {
        if source.header.id != nil, let other = entries.withLock({ $0.first { $0.id == source.id && $0.patch != nil } }) {
          refuse(source.place, taken(source, by: other.place))
          continue
        }
        // Tests are run before main.
        guard source.header.phase == .boot || ScriptTests.areWanted else {
          wait(source)
          continue
        }
        let text = PatchFiles.text(of: source.place)
        do throws(PatchError) { try start(source, text, begin) } catch { refuse(source.place, error, text) }
      }
    }
  }

  private func taken(_ source: PatchSource, by other: PatchFiles.Place) -> PatchError {
    .header("\(source.path): id '\(source.id)' is taken by '\(other.path)'; give each patch its own")
  }

  /// Keeps in the list what is loaded later.
  private func wait(_ source: PatchSource) {
    let why = "its phase is \"\(source.header.phase.rawValue)\""
    let entry = Entry(id: source.id, place: source.place, header: source.header, state: .waiting(why), text: PatchFiles.text(of: source.place))
    entries.withLock { $0.append(entry) }
  }

  /// Those that wait for the program to be as far as that.
  package func waiting(for phase: PatchPhase) -> Bool {
    StartTasks.waits(for: phase) || entries.withLock { $0.contains { $0.isWaiting && $0.header.phase == phase } }
  }

  /// The program is as far as that: loads what waited for it, higher priorities first.
  package func reached(_ phase: PatchPhase) {
    changing.withLock { _ in
      let due = entries.withLock { entries in
        let due = entries.filter { $0.isWaiting && $0.header.phase == phase }
        entries.removeAll { $0.isWaiting && $0.header.phase == phase }
        return due
      }
      for entry in due.enumerated().sorted(by: { ($1.element.header.priority, $0.offset) < ($0.element.header.priority, $1.offset) }) {
        _ = replace(entry.element.place, nil) { _ in false }
      }
    }
    StartTasks.reached(phase)
  }

  /// When the next patch expires, in seconds since 1970; nil where none does.
  package var nextExpiry: Int64? { entries.withLock { $0.compactMap { $0.patch == nil ? nil : $0.header.expires }.min() } }

  /// Takes out the patches whose time is over.
  package func expire() {
    changing.withLock { _ in
      let now = Int64(clamping: clockNanoseconds(CLOCK_REALTIME) / 1_000_000_000)
      let over = entries.withLock { $0.filter { $0.patch != nil && ($0.header.expires ?? .max) <= now } }
      for entry in over {
        let why = "it expired on \(entry.header.expiresText)"
        update(entry.id) { each in
          each.state = .expired(why)
          each.patch = nil
        }
        entry.patch?.unload()
        log.note("patch expired", "\(entry.id): \(why); unloaded")
      }
    }
  }

  private func places(_ path: RawPath) -> [PatchFiles.Place] {
    do throws(PatchError) {
      let places = try PatchFiles.places(path)
      if places.isEmpty { log.note("no patches", "'\(path)' has no patches; a patch is a file that ends in .lua") }
      return places
    } catch {
      refuse(PatchFiles.Place(path: path, directory: nil), error)
      return []
    }
  }

  private func rights(_ source: PatchSource) -> PatchRights? { policy.map { PatchRights($0, id: source.id, asked: source.header.permissions) } }

  /// How much of the process's time hooks of patches may take, by the patches' ids; those that may take any are not there.
  var shares: [String: ShareRule] {
    var found: [String: ShareRule] = [:]
    for entry in entries.withLock({ $0 }) where entry.patch != nil {
      let bound = entry.patch?.environment.rights?.budgets.share
      guard let own = [entry.header.maxShare ?? share, bound].compactMap({ $0 }).min() else { continue }
      found[entry.id] = ShareRule(share: own, consequence: entry.header.overShare)
    }
    return found
  }
  /// Some patch has a share.
  var hasShares: Bool {
    entries.withLock { $0.contains { $0.patch != nil && ($0.header.maxShare ?? share ?? $0.patch?.environment.rights?.budgets.share) != nil } }
  }

  private func start(_ source: PatchSource, _ text: Int, _ begin: UInt64) throws(PatchError) {
    try canary?.check(source)
    // A patch that came first may use it as a preset.
    let used = PresetShelf.shared.patch(source.id)
    HookEngine.shared.unsettle(source.id)
    defer { HookEngine.shared.settle(source.id) }
    let patch = try Patch(source, log: log, staged: used != nil, config: config, rights: rights(source), globals: PatchAPI.register)
    try run(patch, source)
    if let used { take(patch, from: used) }
    enter(patch, source, text, begin)
  }

  /// Runs a patch's text and, for `scripthost test`, the files of its tests. One that fails leaves neither hooks nor tests behind.
  private func run(_ patch: Patch, _ source: PatchSource) throws(PatchError) {
    guard ScriptTests.areWanted else { return try patch.run(source.source) }
    do throws(PatchError) {
      try patch.run(source.source)
      try patch.environment.runTests()
    } catch {
      ScriptTests.drop(of: patch.environment)
      patch.unload()
      throw error
    }
  }

  /// The patch takes the place of the preset of its id, in one step.
  private func take(_ patch: Patch, from used: Patch) {
    patch.installation.goLive(replacing: used.installation)()
    PresetShelf.shared.forget(patch.id)
  }

  // MARK: One at a time

  /// Says which ids in the file of settings are no patch's, once those of the start are there.
  func tellUnusedSettings() {
    guard let config, let ids = try? PatchConfig.ids(in: config) else { return }
    let known = entries.withLock { $0.map(\.id) }
    for id in ids where !known.contains(id) {
      let near = RuleNames.nearest(to: id, known).map { "; did you mean '\($0)'?" } ?? ""
      log.say("--config '\(config)': no patch of this start has the id '\(EventText.printable(String(id.prefix(64))))'\(near)")
    }
  }

  /// Loads what a path names. A patch whose id is loaded already takes that one's place, unless both are what the path names.
  package func load(_ path: RawPath) -> [Result<PatchInfo, PatchError>] {
    changing.withLock { _ in
      let places: [PatchFiles.Place]
      do throws(PatchError) { places = try PatchFiles.places(path) } catch { return [.failure(error)] }
      if places.isEmpty {
        return [.failure(.unreadable(path: path.description, why: "no patches here; a patch is a file that ends in .lua"))]
      }
      return places.map { place in
        let known = entries.withLock { $0.first { $0.place == place && $0.patch != nil } }
        return replace(place, known?.id) { !places.contains($0) }
      }
    }
  }

  /// Reads a patch's file again and puts what it says in the place of what runs. A file that cannot be read or fails changes nothing.
  package func reload(_ name: String) -> Result<PatchInfo, PatchError> {
    changing.withLock { _ in
      guard let entry = find(name) else { return .failure(unknown(name)) }
      return replace(entry.place, entry.patch == nil ? nil : entry.id) { _ in false }
    }
  }

  /// Removes a patch: calls that start later do not see it.
  package func unload(_ name: String) -> Result<Void, PatchError> {
    changing.withLock { _ in
      guard let entry = find(name) else { return .failure(unknown(name)) }
      entries.withLock { $0.removeAll { $0.id == entry.id && $0.place == entry.place } }
      entry.patch?.unload()
      log.note("patch unloaded", "\(entry.id): unloaded")
      return .success(())
    }
  }

  /// Switches all that a patch installed on or off; it stays loaded.
  package func setEnabled(_ isEnabled: Bool, _ name: String, why: String) -> Result<PatchInfo, PatchError> {
    changing.withLock { _ in
      guard let entry = find(name) else { return .failure(unknown(name)) }
      guard let patch = entry.patch, patch.installation.setEnabled(isEnabled) else {
        return .failure(.failed("patch '\(entry.id)' is \(entry.state.word), not loaded: \(entry.state.why ?? "it was removed")"))
      }
      let changed = update(entry.id) { $0.state = isEnabled ? .loaded : .disabled(why) }
      log.note(isEnabled ? "patch enabled" : "patch disabled", "\(entry.id): \(isEnabled ? "enabled" : "disabled, \(why)")")
      return changed.map { .success(info($0)) } ?? .failure(unknown(name))
    }
  }

  /// Compares the files with what was loaded: loads what changed or is new, removes what is gone. A file that was tried and failed is
  /// tried again when it changes.
  package func refresh() {
    changing.withLock { _ in
      var there: Set<PatchFiles.Place> = []
      for root in roots.withLock({ $0 }) {
        // A directory that cannot be read now keeps its patches.
        guard let places = try? PatchFiles.places(root) else { continue }
        there.formUnion(places)
      }
      let known = entries.withLock { $0 }
      for entry in known where !there.contains(entry.place) && entry.place.path.status() == nil && errno == ENOENT {
        entries.withLock { $0.removeAll { $0.id == entry.id && $0.place == entry.place } }
        guard let patch = entry.patch else { continue }
        patch.unload()
        log.note("patch unloaded", "\(entry.id): its file is gone; unloaded")
      }
      let ordered = known.map(\.place).filter(there.contains) + there.subtracting(known.map(\.place)).sorted {
        $0.path.bytes.lexicographicallyPrecedes($1.path.bytes)
      }
      for place in ordered {
        let entry = known.first { $0.place == place }
        if let entry, entry.text == PatchFiles.text(of: place) { continue }
        _ = replace(place, entry?.patch == nil ? nil : entry?.id) { !there.contains($0) }
      }
    }
  }

  /// Where files of patches are.
  var watchedDirectories: [RawPath] {
    var found: [RawPath] = []
    for root in roots.withLock({ $0 }) {
      guard let status = root.status() else { continue }
      found.append(status.st_mode & S_IFMT == S_IFDIR ? root : root.parent)
    }
    for place in places {
      found.append(place.path.parent)
      if let directory = place.directory { found += PatchFiles.folders(in: directory) }
    }
    return found
  }

  /// Puts the text at a place where the patch of that id is, or beside the others when there is none. Under `changing`.
  /// - Parameters:
  ///   - known: the id under which the patch of the place is loaded.
  ///   - yields: whether the patch at another place makes room for one of its id.
  private func replace(_ place: PatchFiles.Place, _ known: String?, yields: (PatchFiles.Place) -> Bool) -> Result<PatchInfo, PatchError> {
    let begin = now()
    // Before it is read: what is saved while it loads is another text, which the next comparison finds.
    let text = PatchFiles.text(of: place)
    do throws(PatchError) {
      let source = try read(place)
      if source.header.id != nil, let other = entries.withLock({ $0.first { $0.id == source.id && $0.patch != nil && $0.place != place } }),
        known != nil && known != source.id || !yields(other.place)
      {
        throw taken(source, by: other.place)
      }
      try canary?.check(source)
      let former = find(known ?? source.id)
      let used = former?.patch == nil ? PresetShelf.shared.patch(source.id) : nil
      HookEngine.shared.unsettle(source.id)
      defer { HookEngine.shared.settle(source.id) }
      // The program's threads call meanwhile: none sees a part of it, or of a text that is refused.
      let patch = try Patch(source, log: log, staged: true, config: config, rights: rights(source), globals: PatchAPI.register)
      try run(patch, source)
      if let used { take(patch, from: used) }
      // What is switched off stays so.
      let isEnabled = if case .disabled? = former?.state { false } else { true }
      return .success(enter(patch, source, text, begin, replacing: former, isEnabled: isEnabled))
    } catch {
      let isThere =
        known.flatMap {
          update($0) { entry in
            entry.problem = error.description
            entry.text = text
          }
        }?.patch != nil
      tell(error, isThere ? "; the one before stays" : "")
      if !isThere { note(place, error, text) }
      return .failure(error)
    }
  }

  // MARK: The list

  /// All patches, in the order in which they were loaded, what was refused, and presets that patches use.
  package var list: [PatchInfo] { entries.withLock { $0.map(info) } + PresetShelf.shared.all.map { info($0.patch, $0.source) } }
  /// A patch of the id is loaded.
  func isLoaded(_ id: String) -> Bool { entries.withLock { $0.contains { $0.id == id && $0.patch != nil } } }
  /// How each stands, in one word.
  var states: [String] { entries.withLock { $0.map(\.state.word) } }
  /// Those that are loaded.
  var patches: [Patch] { entries.withLock { $0.compactMap(\.patch) } }
  /// The places of all, for those who watch them.
  package var places: [PatchFiles.Place] { entries.withLock { $0.map(\.place) } }

  /// By id, else by path or file name.
  private func find(_ name: String) -> Entry? {
    entries.withLock { entries in
      entries.first { $0.id == name && $0.patch != nil } ?? entries.first { $0.id == name }
        ?? entries.first { $0.place.path.description == name || $0.place.directory?.description == name || $0.place.name == name }
    }
  }

  /// Why no patch is meant by a name; nil where one is.
  func problem(of name: String) -> PatchError? { find(name) == nil ? unknown(name) : nil }

  private func unknown(_ name: String) -> PatchError {
    let ids = entries.withLock { $0.map(\.id) }
    return .failed("no patch '\(EventText.printable(name))' here; " + (ids.isEmpty ? "none is loaded" : "there are \(ids.joined(separator: ", "))"))
  }

  @discardableResult
  private func update(_ id: String, _ change: (inout Entry) -> Void) -> Entry? {
    entries.withLock { entries in
      // What is loaded comes before what was refused, which may have its id.
      guard let index = entries.firstIndex(where: { $0.id == id && $0.patch != nil }) ?? entries.firstIndex(where: { $0.id == id }) else {
        return nil
      }
      change(&entries[index])
      return entries[index]
    }
  }

  @discardableResult
  private func enter(
    _ patch: Patch, _ source: PatchSource, _ text: Int, _ begin: UInt64, replacing former: Entry? = nil, isEnabled: Bool = true
  ) -> PatchInfo {
    var entry = Entry(id: patch.id, place: source.place, header: source.header, state: former?.state ?? .loaded, patch: patch)
    if case .disabled = entry.state {} else { entry.state = .loaded }
    entry.generation = (former?.generation ?? 0) + 1
    entry.text = text
    // With the list's lock: who asks sees the list and the hooks as they were, or as they are.
    let end = entries.withLock { entries in
      let end = patch.installation.goLive(replacing: former?.patch?.installation, isEnabled: isEnabled, settled: patch.id)
      entry.loadTime = now() &- begin
      // What was refused of this place is over, and of its id, where none was loaded.
      entries.removeAll { $0.patch == nil && ($0.place == source.place || former?.patch == nil && $0.id == patch.id) }
      if let former, let index = entries.firstIndex(where: { $0.id == former.id && $0.patch != nil }) {
        entries[index] = entry
      } else {
        entries.append(entry)
      }
      return end
    }
    former?.patch?.noteLive(false)
    patch.noteLive(isOfStart(source.place))
    end()
    let verb = former?.patch == nil ? "loaded" : "reloaded"
    log.note(
      verb == "loaded" ? "patch loaded" : "patch reloaded",
      "\(patch.fileName): \(verb), \(patch.liveHookCount) hook\(patch.liveHookCount == 1 ? "" : "s")\(patch.waitingText)")
    return info(entry)
  }

  /// The start was given it, by itself or in a directory: the next start will load it, too.
  private func isOfStart(_ place: PatchFiles.Place) -> Bool {
    let own = place.directory ?? place.path
    return roots.withLock { $0.contains { $0 == own || $0 == own.parent || $0 == place.path } }
  }

  /// - Parameter text: what the place had before it was read; nil: what it has now.
  private func refuse(_ place: PatchFiles.Place, _ error: PatchError, _ text: Int? = nil) {
    tell(error, "")
    note(place, error, text ?? PatchFiles.text(of: place))
  }

  /// Keeps in the list what was not loaded, and why: by the id in its header, where that can be read.
  private func note(_ place: PatchFiles.Place, _ error: PatchError, _ text: Int) {
    let source = try? PatchFiles.source(at: place)
    entries.withLock { entries in
      entries.removeAll { $0.patch == nil && $0.place == place }
      let state: PatchState =
        switch error {
        case .expired(let why): .expired(why)
        case .quarantined(let why): .quarantined(why)
        default: .refused(error.description)
        }
      entries.append(
        Entry(id: source?.id ?? place.name, place: place, header: source?.header ?? PatchHeader(), state: state, text: text))
    }
  }

  private func tell(_ error: PatchError, _ consequence: String) {
    log.say(error.description + consequence)
    log.append(.failure, "patch refused") { $0.add("message", error.description) }
  }

  private func info(_ entry: Entry) -> PatchInfo {
    var state = entry.state
    if state == .loaded, let patch = entry.patch, patch.installation.phase == .disabled, let why = patch.environment.trapText.withLock({ $0 }) {
      state = .disabled(why)
    }
    return PatchInfo(
      id: entry.id, path: (entry.place.directory ?? entry.place.path).description, version: entry.header.version,
      priority: entry.header.priority, state: state, problem: entry.problem, generation: entry.generation,
      hooks: entry.patch?.liveHookCount ?? 0, switchedOff: entry.patch?.environment.switchedOff ?? 0,
      waits: entry.patch?.installation.waits.count { !$0.hasLanded } ?? 0,
      memory: entry.patch?.memory ?? 0, loadTime: entry.loadTime)
  }

  /// Of a preset that patches use.
  private func info(_ preset: Patch, _ source: PatchSource) -> PatchInfo {
    info(Entry(id: preset.id, place: source.place, header: source.header, state: .loaded, patch: preset, generation: 1))
  }

  private func read(_ place: PatchFiles.Place) throws(PatchError) -> PatchSource {
    let source = try PatchFiles.source(at: place)
    let header = source.header
    if let time = header.expires, time <= Int64(clamping: clockNanoseconds(CLOCK_REALTIME) / 1_000_000_000) {
      throw .expired("\(source.fileName): it expired on \(header.expiresText); not loaded")
    }
    if let policy, let why = PatchRights(policy, id: source.id, asked: header.permissions).refusalToLoad {
      throw .denied("\(source.fileName): \(why); not loaded")
    }
    let target = PatchTarget(program: program, buildID: buildID) { selector in
      if case .failure(let problem) = SelectorLookup.resolve(selector) { problem.description } else { nil }
    }
    if let misfit = header.misfits(in: target, onlyFirst: true).first { throw .otherTarget("\(source.fileName): \(misfit); not loaded") }
    if !header.isMade(forBuild: buildID), let why = PinnedBodies.firstChange(header.bodies, find: PinnedBodies.inProcess) {
      throw .otherTarget("\(source.fileName): \(why); not loaded")
    }
    return source
  }

  private func now() -> UInt64 { clockNanoseconds(CLOCK_MONOTONIC) }
}

extension PatchSource {
  var place: PatchFiles.Place { PatchFiles.Place(path: path, directory: directory) }
}

/// Tries a patch before it goes live: see Canary.
package protocol PatchTrial: Sendable {
  /// - Throws: why it is kept away.
  func check(_ source: PatchSource) throws(PatchError)
}

extension BootContext {
  /// The patches of this process. Set in `scripts`.
  package var patches: PatchRegistry? {
    get { part() }
    set { leave(newValue) }
  }
}
