// Patch — one loaded script: its header, its environment, and all it installed.
private import CCrash
private import CLuaShim
internal import HookRuntime
internal import Journal
private import LuaBridge
private import Synchronization

/// Loading is all or nothing: a patch that fails half-way leaves nothing behind. Any thread.
package final class Patch: Sendable {
  package let path: String
  package let header: PatchHeader
  package let environment: Environment
  /// When its files were last changed, ns since 1970.
  private let changed: UInt64
  /// Its number in the crash file, once its text runs; 0: none.
  private let crashNumber = Atomic<UInt32>(0)
  /// Names the main chunk among the owners of a crash file.
  static let loadPosition = "load"

  /// - Parameters:
  ///   - staged: its hooks, too, take effect with `goLive`.
  ///   - rights: under a policy.
  ///   - config: the file of settings that the start was given.
  ///   - globals: what its script may name.
  init(
    _ source: PatchSource, log: HostLog, staged: Bool = false, config: RawPath? = nil, rights: PatchRights? = nil, globals: Environment.Globals
  ) throws(PatchError) {
    path = source.path.description
    header = source.header
    changed = source.changed
    environment = try Environment(
      id: source.id, fileName: source.chunkName, priority: header.priority, hasHeader: header.isWritten,
      directory: source.directory, folder: source.path.parent,
      settings: PatchSettings(members: try PatchConfig.settings(of: source, chosen: config), isDeclared: source.header.config != nil), log: log,
      staged: staged, rights: rights, globals: globals)
  }

  package var id: String { environment.id }
  package var fileName: String { environment.fileName }
  package var installation: Installation { environment.installation }
  private var log: HostLog { environment.log }

  /// Runs the main chunk. When it fails, everything that it installed is taken out again; when it does not, it takes effect with `goLive`.
  func run(_ source: [UInt8]) throws(PatchError) {
    crashNumber.store(ccrash_add_patch(path, changed), ordering: .relaxed)
    // What crashes while the text runs is the text's.
    ccrash_note_call(ccrash_add_owner(id, id, Self.loadPosition, fileName, 0))
    installation.beginLoading()
    do throws(PatchError) { try environment.run(source) } catch {
      installation.remove()
      throw error
    }
  }

  /// Ends the patch for the program: its hooks are removed, its closures do what was agreed on. The Lua state ends when
  /// the last call in flight has left it.
  package func unload() {
    noteLive(false)
    installation.remove()
  }

  /// Notes in the crash file whether the patch is one of those that a crash from now on may be laid to.
  package func noteLive(_ isLive: Bool) { ccrash_set_live(crashNumber.load(ordering: .relaxed), isLive) }

  /// Those that have not ended by themselves.
  var liveHookCount: Int { installation.hooks.count { HookEngine.shared.isEnabled($0) != nil } }
  /// Bytes in use by its Lua state.
  var memory: Int { Int(environment.lua.statistics.memory) }
  /// `, 2 waiting`; empty when nothing waits.
  var waitingText: String {
    let count = installation.waits.count { !$0.hasLanded }
    return count == 0 ? "" : ", \(count) waiting"
  }

  /// Says which spelled-out selectors were hooked and never called.
  func tellUncalled() {
    // A selector may be hooked in several images, one of which delivers its calls.
    var calls: [String: UInt64] = [:]
    for token in installation.exactHooks { calls[token.selector, default: 0] += HookEngine.shared.deliveredCalls(token) ?? 1 }
    for (selector, _) in calls.filter({ $0.value == 0 }).sorted(by: { $0.key < $1.key }) {
      log.note("never called", "\(fileName): '\(selector)' was hooked and never called; see explain for copies a hook misses")
    }
    let waits = installation.missed
    for wait in waits {
      guard let refusal = wait.refused.first else { continue }
      log.note("never appeared", "\(fileName): '\(wait.selector)' appeared and could not be hooked: \(refusal.reason)")
    }
    // A library that was never opened is reported once, with all that was waited for.
    let absent = waits.filter(\.refused.isEmpty).map { "'\($0.selector)'" }
    if !absent.isEmpty {
      log.note("never appeared", "\(fileName): \(absent.joined(separator: ", ")) \(absent.count == 1 ? "was" : "were") waited for and never appeared")
    }
  }
}
