// BootGuard — counts starts that failed, and takes out what may be to blame before the next one (SafeMode says what).
//
// A start is persisted by its crash file, which is there before any patch runs. At the next start the files of ended processes are
// looked at once: a crash within `window` is a failed start, as is an end while patches were being loaded; a later crash is not.
// What ended without a word after `main` began says nothing: programs exec, and are killed on purpose.
private import CCrash
private import Glibc
package import Journal
private import Synchronization

/// The guard of this process's start.
package enum BootGuard {
  /// A program that lived so long behind the loading of its patches is up, in nanoseconds. How long loading takes is a matter of the machine.
  private static let window: UInt64 = 10_000_000_000
  /// Where the end of this start is noted, until it is.
  private static let current = Mutex<SafeModeFile?>(nil)
  /// This program's file.
  private static let place = Mutex<SafeModeFile?>(nil)

  private static let failures = Atomic<Int>(0)
  /// Whether patches are only tried: what they ask to be done at the start, or to be cleared after starts that failed, is not their business.
  private static let tries = Atomic<Bool>(false)
  static func beginTrial() { tries.store(true, ordering: .relaxed) }
  static var isTrial: Bool { tries.load(ordering: .relaxed) }

  /// Living through the window says something: starts failed before, or a patch is on trial.
  private static let isWatched = Atomic<Bool>(false)

  /// How many starts failed one after another before this one.
  static var failedStarts: Int { failures.load(ordering: .relaxed) }

  /// How the program stands with safe mode, in sentences; nothing where all is well.
  static func sentences() -> [String] {
    guard let file = place.withLock({ $0 }) else { return [] }
    let mode = file.read()
    return mode.isCalm ? [] : mode.sentences()
  }

  /// The patch files that stay out of this start.
  static func begin(state: RawPath, program: RawPath, patches: [RawPath], log: HostLog) -> Set<RawPath> {
    let file = SafeModeFile(state: state, program: program)
    place.withLock { $0 = file }
    guard !isOff(state) else { return [] }
    // Nobody failed here yet, and nobody has a crash to tell of: nothing is written.
    let ended = newEnds(state: state, program: program)
    let ends = ended.compactMap(end)
    let before = file.read()
    guard !before.isCalm || !ends.isEmpty else { return [] }
    var plan = BootPlan(), mode = before
    let isSaved = file.change { found in
      for end in ends { found.note(end) }
      plan = found.plan(patches.compactMap(stamp))
      mode = found
    }
    if !isSaved {
      log.say("safe mode cannot write '\(file.path)': \(systemMessage(errno)); what is taken out now may come back")
      // A later start counts what this one could not note.
      for file in ended { file.markAccounted(false) }
    }
    current.withLock { $0 = file }
    failures.store(mode.failures, ordering: .relaxed)
    ccrash_set_boot_level(plan.clearsData ? 3 : mode.failures >= SafeMode.emptiesAt ? 2 : plan.clearsCaches ? 1 : 0)
    tell(mode, plan, log)
    if plan.clearsCaches { clear(mode.caches, "cache", log) }
    if plan.clearsData { clear(mode.data, "data", log) }
    isWatched.store(mode.failures > 0 || mode.trial != nil, ordering: .relaxed)
    let out = Set(plan.out.map(\.path))
    return Set(patches.filter { out.contains($0.description) })
  }

  /// The program is up: this start was good. Any thread, any number of times.
  package static func up() {
    ccrash_settle()
    let file = current.withLock { file in
      defer { file = nil }
      return file
    }
    _ = file?.change { $0.note(.good) }
  }

  /// Why nothing of that path may be cleared; nil when it may.
  static func refusal(of path: String) -> String? { CarefulRemoval.refusal(of: path, state: stateDirectory) }
  private static var stateDirectory: RawPath? { place.withLock { $0?.path.parent.parent } }

  /// Notes what is to be cleared when starts fail; false with errno set, or without a state directory.
  static func register(_ path: String, isData: Bool) -> Bool {
    if isTrial { return true }
    guard let file = place.withLock({ $0 }) else { return false }
    let known = file.read()
    guard !(isData ? known.data : known.caches).contains(path) else { return true }
    return file.change { isData ? $0.data.append(path) : $0.caches.append(path) }
  }

  package static func offSwitch(_ state: RawPath) -> RawPath { state.appending("boot").appending("off") }
  private static func isOff(_ state: RawPath) -> Bool { offSwitch(state).status() != nil }

  /// How each program stands when its ended processes are noted, as its next start will; nothing is changed. By the name of its file.
  package static func standings(in state: RawPath) -> [(name: [UInt8], mode: SafeMode)] {
    let directory = offSwitch(state).parent
    var modes: [[UInt8]: SafeMode] = [:]
    for name in directory.directoryEntries() where name.suffix(5) == Array(".boot".utf8)[...] {
      modes[Array(name)] = SafeModeFile(directory.appending(name)).read()
    }
    for file in endedFiles(state) {
      guard let ended = end(of: file) else { continue }
      let name = Array(SafeModeFile(state: state, program: RawPath(file.program)).path.lastComponent)
      // A good end of a program that never failed is nothing to tell of.
      if modes[name] != nil || ended != .good { modes[name, default: SafeMode()].note(ended) }
    }
    return modes.map { name, mode -> (name: [UInt8], mode: SafeMode) in
      var mode = mode
      let isThere = { (patch: PatchStamp) in stamp(RawPath(patch.path)) == patch }
      mode.keep(isThere)
      mode.spareChanged(isThere)
      return (name, mode)
    }.sorted { $0.name.lexicographicallyPrecedes($1.name) }
  }

  /// What is known of a program.
  package struct Known {
    /// That of its file.
    package let name: [UInt8]
    /// Its newest crash or kill, with its number in the list of `scripthost crashes`.
    package var end: (number: Int, file: CrashFile)?
    package var mode: SafeMode?
    package init(name: [UInt8]) { self.name = name }
  }

  /// Programs of which is known how they ended or how they stand.
  package static func known(in state: RawPath) -> [Known] {
    var known: [[UInt8]: Known] = [:]
    for (index, file) in CrashFile.ended(in: state).enumerated() {
      let name = Array(SafeModeFile(state: state, program: RawPath(file.program)).path.lastComponent)
      known[name, default: Known(name: name)].end = (index + 1, file)
    }
    for (name, mode) in standings(in: state) { known[name, default: Known(name: name)].mode = mode }
    return known.values.sorted { $0.name.lexicographicallyPrecedes($1.name) }
  }

  /// Forgets how all programs stand, with the ends that no start has looked at yet.
  /// - Returns: a file that cannot be removed, with errno set.
  package static func forget(in state: RawPath) -> RawPath? {
    for file in endedFiles(state) { file.markAccounted() }
    let directory = offSwitch(state).parent
    let files = directory.directoryEntries().filter { $0.suffix(5) == Array(".boot".utf8)[...] }.map { directory.appending($0) }
    return files.first { !SafeModeFile($0).remove() }
  }

  /// Of processes that ended, and that no start has looked at yet; oldest first.
  private static func endedFiles(_ state: RawPath) -> [CrashFile] {
    CrashFile.ended(in: state).filter { !$0.isAccounted }
  }

  /// Of this program's processes that ended and were not looked at yet, oldest first; no other start gets them.
  private static func newEnds(state: RawPath, program: RawPath) -> [CrashFile] {
    let files = endedFiles(state).filter { $0.program == program.description }
    for file in files { file.markAccounted() }
    return files
  }

  /// What the end of a process says of its start; nil: nothing.
  private static func end(of file: CrashFile) -> BootEnd? {
    guard !file.isSettled else { return .good }
    guard file.ending == .crashed, let report = CrashReport(file.report) else {
      return file.isBeforeMain ? .failed(suspect: CrashText.loading(file)?.source, ran: ran(file)) : nil
    }
    if !file.isBeforeMain, report.monotonic > window, report.monotonic - window > file.mainMonotonic { return .good }
    let suspect = CrashText.suspects(file, report).first
    // The innermost hooked call of the crashed thread is a handler that runs, or the text or a step of a patch is at work.
    let isInHandler = report.threads.first?.calls.first?.inHandler ?? false
    let isInLoad = suspect?.source == CrashText.loading(file)?.source || CrashText.step(file, report) != nil
    guard suspect != nil else { return .failed(suspect: nil, ran: ran(file)) }
    // Without a handler at work the first suspect is the one that changed something last, where one did.
    let blame: BootEnd.Blame = isInHandler || isInLoad ? .atWork : CrashText.changed(file, report).isEmpty ? .unsure : .changed
    return .failed(suspect: suspect?.source, blame, ran: ran(file))
  }

  private static func ran(_ file: CrashFile) -> RanPatches? {
    file.patches.map { patches in
      var ran = RanPatches()
      for patch in patches {
        let stamp = PatchStamp(path: patch.path, changed: patch.changed)
        ran.all.insert(stamp)
        if patch.isLive { ran.live.insert(stamp) }
      }
      return ran
    }
  }

  private static func stamp(_ path: RawPath) -> PatchStamp? {
    PatchFiles.changed(path).map { PatchStamp(path: path.description, changed: $0) }
  }

  /// Patches are loaded: the start is good when the window has passed.
  fileprivate static func reachedMain() {
    guard isWatched.load(ordering: .relaxed) else { return }
    let end = clockNanoseconds(CLOCK_MONOTONIC) + window
    _ = HostThread.start("sh-safe-mode", stack: 128 << 10) {
      while clockNanoseconds(CLOCK_MONOTONIC) < end {
        var rest = timespec(tv_sec: 0, tv_nsec: 200_000_000)
        nanosleep(&rest, nil)
      }
      up()
    }
  }

  private static func tell(_ mode: SafeMode, _ plan: BootPlan, _ log: HostLog) {
    guard !plan.out.isEmpty else { return }
    let names = plan.out.map { String($0.path.split(separator: "/").last ?? "") }.sorted().joined(separator: "', '")
    let why =
      switch mode.failures {
      case 0: "it made starts fail"
      case 1: (plan.out.lazy.compactMap { mode.retired[$0] }.first ?? .suspect).words
      default: "\(mode.failures) starts failed one after another"
      }
    log.say("safe mode: '\(names)' is not loaded, \(why); change the file or run scripthost safe-mode reset")
    log.append(.note, "safe mode") { $0.add("out", names) }
  }

  private static func clear(_ paths: [String], _ kind: FieldName, _ log: HostLog) {
    for path in paths {
      let problem = CarefulRemoval.clear(path, state: stateDirectory)
      log.say("safe mode: " + (problem.map { "'\(path)' was not cleared: \($0)" } ?? "cleared '\(path)'"))
      log.append(.note, "safe mode cleared") { $0.add(kind, problem ?? path) }
    }
  }
}

extension BootTask {
  /// `main` is about to begin: what happens from now on may be the program's own.
  static let bootLoaded = BootTask("loaded", .services, priority: -100) { context in
    // Behind the boot guard, which has looked at them.
    if context.settings.has(.patches), let state = context.state {
      CrashPruning.prune(in: state, now: clockNanoseconds(CLOCK_REALTIME) / 1_000_000_000)
    }
    StartTasks.reached(.boot)
    ccrash_reach_main()
    BootGuard.reachedMain()
    return .goOn
  }
}
