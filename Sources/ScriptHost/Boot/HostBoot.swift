// HostBoot — what happens inside a program between the preload stub and its `main`.
//
// Runs on the main thread, before `main`; all constructors have run and the
// program's types are registered. Nothing here may stop the program: what cannot
// be done is one sentence on stderr.
private import CCrash
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
private import SwiftMangling
private import Synchronization

/// The start of the host inside a program.
package enum HostBoot {
  /// What has to be finished when the program ends.
  private static let running = Mutex<Running?>(nil)
  private struct Running {
    var log: HostLog
    var patches: [Patch]
    var tracer: Tracer?
  }

  /// Starts what the settings ask for. Called once per process, before `main`.
  package static func start(_ settings: BootSettings) { withoutWriteSignals { begin(settings) } }

  private static func begin(_ settings: BootSettings) {
    // Everything below may call functions that scripts hook: they pass through unseen.
    guard let thread = hkt_thread() else { return }
    hkt_host_begin(thread)
    defer { hkt_host_end(thread) }
    if let shortage = AddressSpace.shortage() {
      let isTrace = settings.has(.trace)
      StandardError().write("scripthost: \(shortage)\(isTrace ? "" : "; the program runs without patches")\n")
      // A trace is all the user asked for.
      if isTrace { _exit(126) }
      return
    }
    ccrash_install()
    CallContext.installReleaseHandler()
    TypeResolver.shared.findDescriptor = { TypeCatalog.shared.descriptor($0.description) }
    pthread_atfork(nil, nil) { hkt_set_passive(true) }
    if settings.has(.coverage) {
      useIndex(in: StateDirectory.resolve(chosen: settings.bytes(.state).map { RawPath($0) }))
      Survey(settings).run()
    }

    var problems: [String] = []
    let program = programPath()
    let identity = JournalIdentity(
      program: program, pid: getpid(), bootID: bootID(), buildID: settings.text(.buildID) ?? "")
    let state = StateDirectory.resolve(chosen: settings.bytes(.state).map { RawPath($0) })
    let wantsRecords = settings.has(.patches) || settings.has(.events)
    let recorder =
      wantsRecords
      ? Recorder(state: state, events: settings.bytes(.events).map { RawPath($0) }, identity: identity, problems: &problems) : nil
    let log = HostLog(recorder: recorder, isVerbose: settings.has(.verbose))
    for problem in problems { log.say(problem) }
    ImageTrouble.listen { log.say($0) }
    useIndex(in: state)

    var loader = PatchLoader(log: log, program: String(decoding: program.lastComponent, as: UTF8.self))
    loader.load(settings.allBytes(.patches).map { RawPath($0) })
    let tracer = startTrace(settings, log)
    running.withLock { $0 = Running(log: log, patches: loader.loaded, tracer: tracer) }
    atexit { HostBoot.finish() }
    // Symbol tables are large, and most hooks need them no more.
    ELFFile.releasePages()
  }

  private static func useIndex(in state: RawPath?) {
    guard let state else { return }
    let directory = state.appending("index")
    if directory.makeDirectories() { ProcessCatalog.shared.options.indexDirectory = directory.description }
  }

  private static func startTrace(_ settings: BootSettings, _ log: HostLog) -> Tracer? {
    guard settings.has(.trace) else { return nil }
    let tracer = Tracer(settings: TraceSettings(settings), isSecret: { Masking.isSecret($0) })
    do throws(TraceError) {
      try tracer.start()
      return tracer
    } catch {
      log.say(error.description)
      // Nothing to trace: the user asked for a trace, so this is our failure, before the program did anything.
      _exit(126)
    }
  }

  private static func finish() {
    guard let thread = hkt_thread() else { return }
    hkt_host_begin(thread)
    defer { hkt_host_end(thread) }
    let ended = running.withLock { running in
      defer { running = nil }
      return running
    }
    ended?.tracer?.finish()
    for (selector, calls) in ended == nil ? [] : HookEngine.shared.receiverMismatches() {
      ended?.log.note("foreign calls", "\(calls) calls that share the code of '\(selector)' were of other types and passed through")
    }
    for patch in ended?.patches ?? [] { patch.tellUncalled() }
    ended?.log.finish()
  }

  private static func programPath() -> RawPath {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      let count = readlink("/proc/self/exe", buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
      return RawPath(UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)]))
    }
  }

  private static func bootID() -> String {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      let count = read(descriptor, buffer.baseAddress!, buffer.count)
      let text = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
      return String(text.prefix { $0 != "\n" })
    }
  }
}
