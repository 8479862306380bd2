// StandardTasks — the tasks of every start: room, signals, the engine, records, patches, traces.
private import CCrash
private import CHookTrampoline
private import CLuaShim
private import Glibc
private import HookRuntime
private import Journal
private import SwiftMangling

extension BootTask {
  /// An allocation that fails ends a Swift program: the room is measured before it is needed.
  static let room = BootTask("room", .guards, priority: 100) { context in
    guard let shortage = AddressSpace.shortage() else { return .goOn }
    let isTrace = context.settings.has(.trace)
    context.log.say("\(shortage)\(isTrace ? "" : "; the program runs without patches")")
    // A trace is all the user asked for.
    if isTrace { _exit(126) }
    return .stop
  }

  static let crashSignals = BootTask("crash signals", .guards, priority: 90) { _ in
    ProgramSignals.watch()
    ccrash_set_mender(hkt_mend_mapping)
    JournalMapping.watch(JournalMapping.Watcher(note: { hkt_note_mapping($0, $1, true) }, forget: { hkt_forget_mapping($0) }))
    ccrash_install()
    ProgramSignals.watchFaults()
    ProgramSignals.armThreads()
    hkt_contain_prepare(shl_calls_under_way)
    ccrash_set_recovery(hkt_recover)
    ccrash_set_refusal(hkt_recover_refusal)
    return .goOn
  }

  static let engine = BootTask("engine", .guards, priority: 80) { _ in
    CallContext.installReleaseHandler()
    shl_set_stack_around(hkt_stack_around)
    TypeResolver.shared.findDescriptor = { TypeCatalog.shared.descriptor($0.description) }
    pthread_atfork(nil, nil) { hkt_set_passive(true) }
    return .goOn
  }

  /// `scripthost coverage`: judges the program and ends it.
  static let survey = BootTask("survey", .records, priority: 100) { context in
    context.state = StateDirectory.resolve(chosen: context.settings.bytes(.state).map { RawPath($0) })
    guard context.settings.has(.coverage) else { return .goOn }
    useIndex(in: context.state, context.settings)
    Survey(context.settings).run()
  }

  static let journal = BootTask("journal", .records, priority: 90) { context in
    let settings = context.settings
    let isAsked = settings.has(.patches) || settings.has(.events) || settings.has(.stalls) || settings.has(.profile) || settings.has(.network)
      || settings.has(.policy) || settings.has(.hold) || settings.has(.watch)
    let wantsRecords = isAsked && !settings.has(.canaryChild)
    let (state, program, buildID) = (context.state, context.program, settings.text(.buildID) ?? "")
    let events = settings.bytes(.events).map { RawPath($0) }
    var limits = JournalWriter.Limits()
    limits.disk = settings.text(.journalSize).flatMap { Int($0) } ?? limits.disk
    limits.age = settings.text(.journalAge).flatMap { UInt64($0) }
    let open = { @Sendable [limits] (problems: inout [String]) in
      Recorder(
        state: state, events: events, identity: JournalIdentity(program: program, pid: getpid(), bootID: bootID(), buildID: buildID), limits: limits,
        problems: &problems)
    }
    var problems: [String] = []
    if wantsRecords { context.recorder = open(&problems) }
    // What is loaded into the process later has records, too.
    let isReachable = !settings.has(.canaryChild) && !settings.has(.trace) && settings.text(.control) != "off"
    let teller = HostLog(recorder: nil, isVerbose: false)
    let late = LateRecorder {
      var problems: [String] = []
      let recorder = open(&problems)
      for problem in problems { teller.say(problem) }
      return recorder
    }
    context.log = HostLog(recorder: context.recorder, late: wantsRecords || !isReachable ? nil : late, isVerbose: settings.has(.verbose))
    for problem in problems { context.log.say(problem) }
    return .goOn
  }

  static let index = BootTask("index", .records) { context in
    let log = context.log
    ImageTrouble.listen { log.say($0) }
    useIndex(in: context.state, context.settings)
    return .goOn
  }

  static let patches = BootTask("patches", .scripts) { context in
    let log = context.log
    let policy: Policy?
    do throws(PatchError) {
      policy = try context.settings.bytes(.policy).map { path throws(PatchError) in try Policy(reading: RawPath(path)) }
    } catch {
      log.say("\(error.description); no patch is loaded")
      return .goOn
    }
    let patches = PatchRegistry(
      log: log, program: context.programName, buildID: context.settings.text(.buildID) ?? "",
      config: context.settings.bytes(.config).map { RawPath($0) },
      canary: Canary(context), policy: policy,
      share: context.settings.text(.maxShare).flatMap(ShareRule.share))
    // Of a process that only tries patches nothing is counted or left out.
    PresetFile.look(beside: context.settings.bytes(.boot).map { RawPath($0) })
    PresetShelf.shared.ask { [weak patches] in patches?.isLoaded($0) ?? false }
    let isTrial = context.settings.has(.test) || context.settings.has(.canaryChild)
    if isTrial { BootGuard.beginTrial() } else { ProgramSteps.begin(log) }
    let (state, program) = (isTrial ? nil : context.state, context.program)
    patches.start(context.settings.allBytes(.patches).map { RawPath($0) }) { files in
      guard let state else { return [] }
      return BootGuard.begin(state: state, program: program, patches: files, log: log)
    }
    if !isTrial { patches.tellUnusedSettings() }
    context.atEnd { BootGuard.up() }
    context.patches = patches
    context.atEnd {
      for (selector, calls) in HookEngine.shared.receiverMismatches() {
        log.note("foreign calls", "\(calls) calls that share the code of '\(selector)' were of other types and passed through")
      }
      for patch in patches.patches { patch.tellUncalled() }
      ProgramSignals.tellPassed(log)
      if hkt_mended_mappings() > 0 {
        log.say("a file of the state directory or an image was cut short while it was in use: what it held is lost, records among them")
      }
      log.finish()
    }
    return .goOn
  }

  static let trace = BootTask("trace", .services, priority: 100) { context in
    guard context.settings.has(.trace) else { return .goOn }
    let tracer = Tracer(settings: TraceSettings(context.settings), isSecret: { Masking.isSecret($0) })
    do throws(TraceError) {
      try tracer.start()
      context.atEnd { tracer.finish() }
      let status = tracer.awaitEnd()
      if status != 0 { context.log.say("trace: no thread can be made, \(systemMessage(status)); signals and '--for' do not end the trace") }
    } catch {
      context.log.say(error.description)
      // Nothing to trace: the user asked for a trace, so this is our failure, before the program did anything.
      _exit(126)
    }
    return .goOn
  }

  /// Where names are looked up, and what was read of them is kept.
  private static func useIndex(in state: RawPath?, _ settings: BootSettings) {
    ProcessCatalog.shared.options.debugDirectories = settings.allBytes(.debugDirectory).map { RawPath($0).description }
    guard let state else { return }
    let directory = state.appending("index")
    if directory.makeDirectories() { ProcessCatalog.shared.options.indexDirectory = directory.description }
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
