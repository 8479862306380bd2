// BootTask — one thing that is done inside a program between the preload stub and its `main`.
//
// What a part of the host has to do at the start is a task in a file of that part; `BootTasks.all` lists them. They run on the main
// thread, after the program's constructors. Nothing may stop the program: what cannot be done is one sentence on stderr.
package import Journal

/// When a task runs. Phases follow one another in this order.
package enum BootPhase: Int, Comparable, CaseIterable, Sendable {
  /// What keeps the process safe, before anything else: signals, forks, room to work in.
  case guards
  /// Where records go: state directory, journal, log.
  case records
  /// Patches and rules.
  case scripts
  /// What works beside the program from now on: traces, control, watches.
  case services

  package static func < (a: BootPhase, b: BootPhase) -> Bool { a.rawValue < b.rawValue }
}

/// What a task says of the rest of the start.
package enum BootStep: Sendable {
  case goOn
  /// No later task runs: the program goes on without the host.
  case stop
}

/// A task of the start.
package struct BootTask: Sendable {
  /// Messages and tests call it so.
  let name: String
  let phase: BootPhase
  /// Within a phase higher ones run first; those alike in the order of the list.
  var priority = 0
  /// Runs on the main thread, as the host: hooked functions that it calls pass through unseen.
  let run: @Sendable (inout BootContext) -> BootStep

  init(_ name: String, _ phase: BootPhase, priority: Int = 0, _ run: @escaping @Sendable (inout BootContext) -> BootStep) {
    self.name = name
    self.phase = phase
    self.priority = priority
    self.run = run
  }
}

/// What the tasks of one start share.
package struct BootContext {
  /// What the command asks for.
  package let settings: BootSettings
  /// The program's path, and who it is in records.
  package let program: RawPath
  /// The state directory; nil where there is none. Set in `records`.
  package var state: RawPath?
  /// Nil where nothing is recorded. Set in `records`.
  package var recorder: Recorder?
  /// What tasks leave for later ones, by its type.
  private var parts: [ObjectIdentifier: any Sendable] = [:]
  /// Any task may write to it; before the end of `records` it has no journal.
  package var log: HostLog
  /// What is done when the program ends, in the order in which it was added; on the thread that ends it.
  var endings: [@Sendable () -> Void] = []

  package init(settings: BootSettings, program: RawPath) {
    self.settings = settings
    self.program = program
    log = HostLog(recorder: nil, isVerbose: settings.has(.verbose))
  }

  /// What an earlier task left; nil where it did not run.
  func part<Part: Sendable>(_ type: Part.Type = Part.self) -> Part? { parts[ObjectIdentifier(type)] as? Part }
  mutating func leave<Part: Sendable>(_ part: Part?) { parts[ObjectIdentifier(Part.self)] = part }

  /// The program's file name.
  package var programName: String { String(decoding: program.lastComponent, as: UTF8.self) }

  /// Has `body` run when the program ends by `exit` or by returning from `main`; not when a signal ends it.
  package mutating func atEnd(_ body: @escaping @Sendable () -> Void) { endings.append(body) }
}
