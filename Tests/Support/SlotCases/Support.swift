// Hooks that note what they see.
import Checks
import CHookTrampoline
import Glibc
import HookRuntime
import SlotSubjects
import Synchronization

/// One hook: appends `name>` before and `<name` after to `ran`; adds to the first argument and to the result.
final class Note {
  let name: String
  let adds: Int
  init(_ name: String, adds: Int = 0) {
    self.name = name
    self.adds = adds
  }
}

private let noteLayer: HKTLayerFunction = { call, context, phase in
  let note = Unmanaged<Note>.fromOpaque(context!).takeUnretainedValue()
  switch phase {
  case HKT_ENTER:
    ran.append(note.name + ">")
    call!.pointee.frame.pointee.integer.0 &+= UInt64(bitPattern: Int64(note.adds))
  case HKT_AROUND:
    ran.append(note.name + "(")
    hkt_call_proceed(call)
    ran.append(")" + note.name)
  case HKT_EXIT: ran.append("<" + note.name)
  default: break
  }
  return HKT_HANDLED
}

enum Position: CaseIterable { case before, around, after, both }

func spec(_ note: Note, _ position: Position, priority: Int = 0, canWait: Bool = false) -> LayerSpec {
  let phases: Int =
    switch position {
    case .before: HKT_ON_ENTER
    case .around: HKT_ON_AROUND
    case .after: HKT_ON_EXIT
    case .both: HKT_ON_ENTER | HKT_ON_EXIT
    }
  return LayerSpec(
    function: noteLayer, context: Unmanaged.passRetained(note).toOpaque(), phases: UInt32(phases), priority: priority, isHostWork: false,
    canWait: canWait, readsValues: false, owner: "slot-cases"
  ) { Unmanaged<Note>.fromOpaque($0!).release() }
}

func families(_ selector: String) -> [(ImageCatalog, Family)] {
  switch SelectorLookup.resolve("SlotSubjects.\(selector)") {
  case .success(let found): return found
  case .failure(let problem): fatalError("internal error: \(problem)")
  }
}

/// Installs a hook on one selector, or says why not.
func hook(
  _ selector: String, _ note: Note, _ position: Position = .before, by backEnd: BackEnd?, scope: HookScope = .type, priority: Int = 0
) -> Result<[HookToken], HookRefusal> {
  report(selector, note, position, by: backEnd, scope: scope, priority: priority).map { $0.tokens.map(\.token) }
}

/// Installs a hook on one selector, and says how far it reaches.
func report(
  _ selector: String, _ note: Note, _ position: Position = .before, by backEnd: BackEnd?, scope: HookScope = .type, priority: Int = 0
) -> Result<HookEngine.Report, HookRefusal> {
  let requests = families(selector).map { HookRequest(image: $0, family: $1, scope: scope, backEnd: backEnd) }
  let report = HookEngine.shared.install(requests, atomically: true) { _ in spec(note, position, priority: priority) }
  return report.refused.first.map { .failure($0.reason) } ?? .success(report)
}

func installed(
  _ selector: String, _ note: Note, _ position: Position = .before, by backEnd: BackEnd?, scope: HookScope = .type, priority: Int = 0,
  line: Int = #line
) -> [HookToken] {
  switch hook(selector, note, position, by: backEnd, scope: scope, priority: priority) {
  case .success(let tokens): return tokens
  case .failure(let reason):
    check("\(reason)", "installed", selector, line: line)
    return []
  }
}

/// Why a hook is refused.
func refusal(_ selector: String, by backEnd: BackEnd?, scope: HookScope = .type) -> String {
  switch hook(selector, Note("never"), by: backEnd, scope: scope) {
  case .success(let tokens):
    tokens.forEach { HookEngine.shared.remove($0) }
    return "installed"
  case .failure(let reason): return reason.code
  }
}

func remove(_ tokens: [HookToken]) { for token in tokens { HookEngine.shared.remove(token) } }

/// What runs meanwhile.
func trace(_ body: () throws -> Void) rethrows -> String {
  ran = []
  try body()
  defer { ran = [] }
  return ran.joined(separator: " ")
}

/// Runs a task to its end.
func wait<T: Sendable>(_ body: @escaping @Sendable () async -> T) -> T {
  let done = Atomic<Bool>(false)
  nonisolated(unsafe) var result: T?  // written before `done`, read after it
  return withUnsafePointer(to: done) { done in
    nonisolated(unsafe) let done = done
    Task.detached {
      result = await body()
      done.pointee.store(true, ordering: .releasing)
    }
    while !done.pointee.load(ordering: .acquiring) { usleep(200) }
    return result!
  }
}
