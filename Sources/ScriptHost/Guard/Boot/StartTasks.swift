// StartTasks — `boot.task`: what patches have done at the program's start, and again after starts that failed.
//
// Tasks are done once, when their phase is reached, higher priorities first and otherwise in the order in which they were made. One that
// fails is reported, and the others are done. What one crashes counts for the boot guard, which finds the patch by its last crumb.
private import CCrash
internal import CLuaShim
private import Glibc
internal import Journal
internal import LuaBridge
private import Synchronization

/// One step of the start.
struct StartTask: Sendable {
  /// What names it in crash files.
  static let position = "boot.task"

  let name: String
  let phase: PatchPhase
  let priority: Int
  /// It is done only when so many starts failed one after another.
  let failures: Int
  let patch: Environment
  let function: LuaReference
  /// Names it in the crash file; 0 where there is none.
  let crashOwner: UInt32
}

/// The tasks of this process. Any thread.
enum StartTasks {
  private struct Book {
    var waiting: [StartTask] = []
    var reached: Set<String> = []
  }
  private static let book = Mutex(Book())

  /// False when its phase is over: it will not be done.
  static func add(_ task: StartTask) -> Bool {
    book.withLock { book in
      if book.reached.contains(task.phase.rawValue) { return false }
      book.waiting.append(task)
      return true
    }
  }

  static func waits(for phase: PatchPhase) -> Bool { book.withLock { $0.waiting.contains { $0.phase == phase } } }

  /// The program is as far as that: does what waited for it.
  static func reached(_ phase: PatchPhase) {
    let due = book.withLock { book in
      book.reached.insert(phase.rawValue)
      defer { book.waiting.removeAll { $0.phase == phase } }
      return book.waiting.filter { $0.phase == phase }
    }
    for task in due.enumerated().sorted(by: { ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset) }).map(\.element) {
      if task.patch.isLive, !BootGuard.isTrial, BootGuard.failedStarts >= task.failures { run(task) }
    }
  }

  private static func run(_ task: StartTask) {
    ccrash_begin_step(task.crashOwner)
    defer { ccrash_end_step(task.crashOwner) }
    let begin = clockNanoseconds(CLOCK_MONOTONIC)
    do throws(LuaFailure) {
      _ = try task.patch.lua.call(task.function)
      task.patch.log.append(.note, "start task") { fields in
        fields.add("task", task.name)
        fields.add("patch", task.patch.id)
        fields.add("duration_ns", clockNanoseconds(CLOCK_MONOTONIC) &- begin)
      }
    } catch {
      task.patch.failed(task.name, "boot.task", error.message, instead: "the start goes on without it")
    }
  }
}

/// `boot.task { name = "…", phase = "boot", priority = 0, failures = 0, run = function() … end }`.
enum StartTaskAPI {
  static let task: SHLFunction = { context, callback in withPatch(context, callback) { task($0, $1) } }

  private static func task(_ patch: Environment, _ callback: LuaCallback) -> Int32 {
    if let refusal = patch.refusal("a start task", callback[0].tag == SHL_TABLE ? "boot.task" : "") { return callback.fail(refusal) }
    guard callback[0].tag == SHL_TABLE else { return callback.fail("'boot.task' takes a table, found \(ValueBridge.spelled(callback[0]))") }
    var name = "", phase = PatchPhase.boot, priority = 0, failures = 0
    var function: SHLRef = 0
    var problem: String?
    callback.forEach(in: callback[0]) { key, value in
      switch (key.text, value.tag) {
      case ("name"?, SHL_STRING): name = value.text ?? ""
      case ("phase"?, SHL_STRING): problem = read(value.text, &phase)
      case ("priority"?, SHL_INT): priority = Int(value.i)
      case ("failures"?, SHL_INT) where value.i >= 0: failures = Int(clamping: value.i)
      case ("run"?, SHL_FUNCTION):
        function = shl_keep(callback.scope, value)
        if function == 0 { problem = "out of memory" }
      case (let key?, _): problem = "'boot.task': '\(key)' cannot be \(ValueBridge.spelled(value)); it has name, phase, priority, failures and run"
      case (nil, _): problem = "'boot.task' takes named fields"
      }
      return problem == nil
    }
    if problem == nil, name.isEmpty || function == 0 { problem = "'boot.task' needs a name, and a function to run" }
    if let problem {
      if function != 0 { shl_forget(patch.state, function) }
      return callback.fail(problem)
    }
    let owner = ccrash_add_owner(patch.id, name, StartTask.position, patch.fileName, Int32(clamping: callback.caller.line))
    let task = StartTask(
      name: name, phase: phase, priority: priority, failures: failures, patch: patch, function: LuaReference(function, in: patch.lua),
      crashOwner: owner)
    return callback.done(shl_bool(StartTasks.add(task)))
  }

  private static func read(_ text: String?, _ phase: inout PatchPhase) -> String? {
    switch text {
    case "boot": phase = .boot
    case "up", "launched": phase = .up
    case "idle": phase = .idle
    default: return "'boot.task': phase is \"boot\" (before main), \"launched\" or \"idle\", got '\(text ?? "")'"
    }
    return nil
  }
}
