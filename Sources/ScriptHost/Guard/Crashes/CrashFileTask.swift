// CrashFileTask — makes the crash file of this process, before anything that could crash it.
private import CCrash
private import CHookTrampoline
private import Glibc
package import Journal

extension BootTask {
  /// In the state directory's folder "crashes". Where it cannot be made the program goes on without reports; the journal, which lies beside
  /// it, tells why.
  static let crashFile = BootTask("crash file", .records, priority: 95) { context in
    // A process that runs tests and ends is no start of the program.
    guard !context.settings.has(.test), !context.settings.has(.canaryChild) else { return .goOn }
    guard [BootSettings.Key.patches, .events, .hold, .watch].contains(where: { context.settings.has($0) }), let state = context.state else {
      return .goOn
    }
    let directory = CrashDirectory.path(in: state)
    let name = "\(getpid())-\(clockNanoseconds(CLOCK_REALTIME)).crash"
    var code = directory.makeDirectories() ? 0 : errno
    if code == 0 {
      code = directory.appending(name).withCString { path in
        withoutWriteSignals {
          ccrash_open(path, context.program.description, context.settings.text(.buildID) ?? "", currentBootID(), CommandLine.argc)
        }
      }
    }
    guard code == 0 else {
      context.log.note("crash file", "no crash report can be written in '\(directory)': \(systemMessage(code)); the program runs without one")
      return .goOn
    }
    // One that is cut short is no reason for a crash: the program goes on without reports.
    var size = 0
    if let memory = ccrash_memory(&size) { hkt_note_mapping(memory, size, true) }
    ccrash_set_calls_of(hkt_calls_of_thread)
    context.atEnd { ccrash_end() }
    return .goOn
  }
}

/// Where crash files are.
package enum CrashDirectory {
  package static func path(in state: RawPath) -> RawPath { state.appending("crashes") }
}
