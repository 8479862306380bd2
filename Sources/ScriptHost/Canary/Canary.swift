// Canary — a patch is tried in a child of the program before it goes live here, once for each text of it.
//
// The child is the same program with the patch alone. It ends before its `main`: there the patch is loaded, its hooks are installed, and
// where it is asked for its tests are run. A crash, an end nobody asked for, a hang or a failed test there quarantines the text: it is not
// loaded, and not tried again until it changes. docs/canary.md says what that proves.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
private import Synchronization

/// Tries the patches of this process. One at a time; any thread.
package final class Canary: PatchTrial, Sendable {
  private let settings: BootSettings
  private let program: RawPath
  private let log: HostLog
  /// Where outcomes are kept; nil: for this process alone.
  private let place: RawPath?
  private let state: RawPath?
  private let book: Mutex<CanaryBook>

  /// Nil in a process that itself only tries patches.
  init?(_ context: BootContext) {
    guard !context.settings.has(.canaryChild), !context.settings.has(.test) else { return nil }
    settings = context.settings
    program = context.program
    log = context.log
    state = context.state
    place = context.state.map { CanaryBook.place(state: $0, program: context.program) }
    book = Mutex(CanaryBook())
  }

  /// Comes back when the text may go live; waits for the child when it was not tried before.
  package func check(_ source: PatchSource) throws(PatchError) {
    guard let kind = kind(of: source) else { return }
    let digest = digest(of: source, kind)
    let known = place.map { CanaryBook(reading: $0) } ?? book.withLock { $0 }
    if known.passed.contains(digest) { return }
    if let failure = known.failed.first(where: { $0.digest == digest }) { throw quarantine(source, failure.why) }
    let trial = CanaryTrial(settings: settings, source: source, kind: kind).run()
    log.note("canary", "\(source.chunkName): \(trial)")
    switch trial {
    case .passed: note { $0.pass(digest, path: source.shownPath) }
    // Calls may be recorded from now on.
    case .untested where kind == .replay: break
    case .untested where source.header.canary == nil: note { $0.pass(digest, path: source.shownPath) }
    case .untested: throw .header("\(source.chunkName): its header says canary = \"test\", and it has no test; write one, or say canary = \"boot\"")
    case .refused(let why): throw .failed(why)
    case .notStarted(let why): throw .failed("\(source.chunkName): it cannot be tried before it goes live: \(why); not loaded")
    case .failed(let why):
      note { $0.fail(digest, path: source.shownPath, why: why) }
      throw quarantine(source, why)
    }
  }

  /// How it is tried: as its header says, else as the settings of the start say.
  private func kind(of source: PatchSource) -> CanaryKind? {
    guard let setting = settings.text(.canary) else { return source.header.canary }
    return setting == "off" ? nil : source.header.canary ?? CanaryKind(rawValue: setting)
  }

  private func quarantine(_ source: PatchSource, _ why: String) -> PatchError {
    .quarantined("\(source.chunkName): quarantined, \(why); change it, or run scripthost safe-mode reset")
  }

  private func note(_ change: (inout CanaryBook) -> Void) {
    guard let place else { return book.withLock { change(&$0) } }
    var known = CanaryBook(reading: place)
    change(&known)
    if !known.write(to: place) { log.note("canary", "'\(place)' cannot be written, \(systemMessage(errno)); patches are tried again next time") }
  }

  /// Tells a text, with its modules, for this build of the program and of the host, from all others.
  private func digest(of source: PatchSource, _ kind: CanaryKind) -> String {
    var bytes: [UInt8] = []
    func add(_ more: [UInt8]) { bytes += Array("\(more.count)\n".utf8) + more }
    add(Array(kind.rawValue.utf8))
    if kind == .replay, let state { add(SummedFile.bytes(of: RecordedCalls.place(state: state, program: program)) ?? []) }
    add(Array((settings.text(.buildID) ?? "").utf8))
    for file in [program, settings.bytes(.boot).map { RawPath($0) }] {
      guard let status = file?.status() else { continue }
      add(Array("\(status.st_size) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec)".utf8))
    }
    add(source.source)
    for folder in source.directory.map(PatchFiles.folders) ?? [] {
      for name in folder.directoryEntries().sorted(by: { $0.lexicographicallyPrecedes($1) }) where name.suffix(4) == Array(".lua".utf8)[...] {
        add(Array(folder.appending(name).description.utf8))
        add((try? PatchSource.bytes(of: folder.appending(name))) ?? [])
      }
    }
    return MD5.digest(bytes).map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
  }
}

extension PatchSource {
  /// The path users gave it by.
  var shownPath: String { (directory ?? path).description }
}
