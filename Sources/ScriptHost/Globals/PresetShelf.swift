// PresetShelf — the presets that scripts of this process use: each is in the program once, however many use it.
//
// A preset is a patch with an id of its own. It comes with the first script that says `use`, and goes with the last; one that was loaded as a
// patch (`--preset`, a file among the patches) is there already. So an action that two scripts want recorded is one record.
internal import HookRuntime
internal import Journal
private import Synchronization

/// Any thread.
final class PresetShelf: Sendable {
  static let shared = PresetShelf()

  private struct Held {
    var patch: Patch
    var source: PatchSource
    /// The uses that have not ended.
    var users: Set<ObjectIdentifier>
  }
  private let held = Mutex<[String: Held]>([:])
  /// Held while a preset is loaded: one may use another.
  private let changing = RecursiveLock()
  private let elsewhere = Mutex<(@Sendable (String) -> Bool)?>(nil)

  /// - Parameter isLoaded: whether a patch of the id is loaded already.
  func ask(_ isLoaded: @escaping @Sendable (String) -> Bool) { elsewhere.withLock { $0 = isLoaded } }

  /// Puts the preset into the program for the script, unless it is there. It goes with the script's installation, or before.
  func use(_ source: PatchSource, for environment: Environment) throws(PatchError) -> PresetUse {
    let id = source.id
    let use = PresetUse(of: id)
    let user = ObjectIdentifier(use)
    let problem: PatchError? = changing.withLock {
      if elsewhere.withLock({ $0 })?(id) == true {
        environment.log.note("preset", "\(environment.fileName): '\(id)' is loaded as a patch already")
        return nil
      }
      do throws(PatchError) { try load(source, for: user, policy: environment.policy, log: environment.log) } catch { return error }
      return nil
    }
    if let problem { throw problem }
    environment.installation.add { use.end() }
    return use
  }

  private func load(_ source: PatchSource, for user: ObjectIdentifier, policy: Policy?, log: HostLog) throws(PatchError) {
    let known = held.withLock { $0[source.id] }
    if let known, known.source.source == source.source {
      held.withLock { _ = $0[source.id]?.users.insert(user) }
      return
    }
    // Another text of it takes the place of the one before, in one step.
    let rights = policy.map { PatchRights($0, id: source.id, asked: source.header.permissions) }
    if let why = rights?.refusalToLoad { throw .denied("\(source.fileName): \(why); not loaded") }
    let patch = try Patch(source, log: log, staged: true, rights: rights, globals: PatchAPI.register)
    try patch.run(source.source)
    patch.installation.goLive(replacing: known?.patch.installation)()
    held.withLock { $0[source.id] = Held(patch: patch, source: source, users: (known?.users ?? []).union([user])) }
    log.note("preset", "\(source.path): in use as '\(source.id)', \(patch.liveHookCount) hooks\(patch.waitingText)")
  }

  /// A use of it ended. False when there was none.
  fileprivate func release(_ id: String, _ user: ObjectIdentifier) -> Bool {
    let (wasUsed, unused) = held.withLock { held -> (Bool, Patch?) in
      guard var entry = held[id], entry.users.remove(user) != nil else { return (false, nil) }
      held[id] = entry.users.isEmpty ? nil : entry
      return (true, entry.users.isEmpty ? entry.patch : nil)
    }
    unused?.unload()
    return wasUsed
  }

  /// The preset of the id, which a patch of that id is about to replace.
  func patch(_ id: String) -> Patch? { held.withLock { $0[id]?.patch } }
  /// A patch has taken its place.
  func forget(_ id: String) { held.withLock { $0[id] = nil } }

  /// Those that are in use.
  var all: [(patch: Patch, source: PatchSource)] { held.withLock { $0.values.map { ($0.patch, $0.source) } }.sorted { $0.patch.id < $1.patch.id } }
}

/// One script's use of a preset: a preset is in the program while there is one. Any thread.
final class PresetUse: Sendable {
  /// The preset's.
  let id: String

  fileprivate init(of id: String) { self.id = id }

  /// False when it had ended, or the preset is in the program as a patch.
  @discardableResult
  func end() -> Bool { PresetShelf.shared.release(id, ObjectIdentifier(self)) }
}
