// PatchWatch — loads patches again as their files change (`run --watch`).
//
// Editors save by writing, or by putting a new file in the old one's place: directories are watched, not files. When nothing more has
// happened for a moment, the worker compares all texts with what was loaded.
private import Glibc
internal import Journal

/// Belongs to the control thread, whose descriptor it has.
final class PatchWatch: @unchecked Sendable {
  // Everything that changes belongs to the control thread.
  private let patches: PatchRegistry
  private let worker: HostWorker
  private(set) var descriptor: Int32 = -1
  private var watched: Set<RawPath> = []
  /// When something happened last that was not looked at.
  private var changed: UInt64?

  /// So long nothing more must happen, in nanoseconds: a save is several events.
  private static let quiet: UInt64 = 15_000_000

  init(_ patches: PatchRegistry, _ worker: HostWorker) {
    self.patches = patches
    self.worker = worker
  }

  func start() {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else {
      let log = patches.log, why = systemMessage(errno)
      return worker.add { log.say("patches are not watched: \(why)") }
    }
    watchAll()
  }

  /// Watches the directories of all patches, and those the command line named; each once.
  private func watchAll() {
    for directory in patches.watchedDirectories where watched.insert(directory).inserted {
      let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE)
      if directory.withCString({ inotify_add_watch(descriptor, $0, events) }) < 0 {
        let log = patches.log, why = systemMessage(errno)
        worker.add { log.say("patches of '\(directory)' are not watched: \(why)") }
      }
    }
  }

  /// How long the control thread may sleep, in milliseconds; nil when it is all the same.
  var wait: Int32? { changed == nil ? nil : Int32(Self.quiet / 1_000_000) }

  /// Takes in what happened. Has the patches compared when that is a moment ago.
  func look(_ now: UInt64) {
    guard descriptor >= 0 else { return }
    let count = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { read(descriptor, $0.baseAddress!, $0.count) }
    if count > 0 {
      changed = now
      return
    }
    guard let changed, now >= changed + Self.quiet else { return }
    self.changed = nil
    worker.add { [patches] in patches.refresh() }
    watchAll()
  }
}
