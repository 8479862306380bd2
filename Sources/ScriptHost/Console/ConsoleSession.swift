// ConsoleSession — one person's place in a running program: a Lua environment without a patch, and a thread that runs its snippets.
//
// A snippet runs as the main chunk of a patch does, under a budget, on the session's thread; what it installs stays until the session ends.
// Nothing here waits for the program, and the program for nothing of it.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge
private import Glibc
private import Synchronization

package final class ConsoleSession: @unchecked Sendable {
  // What changes is behind `shared`, but for `functions`, which the session's thread alone uses.
  package let number: Int
  package let mayWrite: Bool
  private let environment: Environment
  private let gate: ChangeGate
  private let functions: (run: LuaReference, page: LuaReference, names: LuaReference)
  private let mutex = Pthread()

  private struct Shared {
    var work: [@Sendable () -> Void] = []
    var isEnded = false
    var isRunning = false
    /// Snippets that were handed over, and how many of these were stopped, before they ran or while they did.
    var snippets = 0
    var stopped = 0
    /// Where prints go: to the request that runs, or to whoever opened the session.
    var output: (@Sendable (String) -> Void)?
    var standing: (@Sendable (String) -> Void)?
    /// Who waits until what the session installed is out; nil when it is.
    var waiters: [@Sendable () -> Void]? = []
  }
  private let shared = Mutex(Shared())
  private static let count = Atomic<Int>(0)

  /// What became of a snippet.
  package enum Answer: Sendable {
    /// The values as text; nil when there are none. `changes`: it changed the program.
    case values(String?, changes: Bool)
    case failed(String, traceback: [String])
    /// The text only ends too early.
    case incomplete(String)
    case stopped
  }

  /// - Parameters:
  ///   - mayWrite: hooks, calls and writes are allowed, and recorded.
  ///   - output: gets what is printed while no snippet runs.
  ///   - policy: what it may touch and do; nil: everything.
  ///   - client: whose it is, for records; nil: this process.
  package init(
    mayWrite: Bool, log: HostLog, policy: Policy? = nil, client: ControlPeer? = nil, output: @escaping @Sendable (String) -> Void
  ) throws(PatchError) {
    number = Self.count.add(1, ordering: .relaxed).newValue
    self.mayWrite = mayWrite
    let id = "console-\(number)"
    environment = try Environment(
      id: id, fileName: "console", log: log, rights: policy.map { PatchRights($0, id: id, asked: nil) }, globals: PatchAPI.register)
    gate = ChangeGate(allows: mayWrite, session: id, client: client, log: log)
    environment.gate = gate
    try environment.makeConfig()
    do throws(LuaFailure) {
      let made = try environment.lua.call(try environment.lua.compile(ConsolePrelude.text, name: "console support"))
      guard made.count == 3, case .reference(let run) = made[0], case .reference(let page) = made[1], case .reference(let names) = made[2] else {
        throw LuaFailure(.badArgument, "the console's own script answers \(made.count) values")
      }
      functions = (run, page, names)
    } catch { throw .failed(error.message) }
    shared.withLock { $0.standing = output }
    environment.lua.setPrint { [weak self] text, _, _ in self?.print(text) }
    gate.record("console opened") { $0.add("write", mayWrite) }
    let code = HostThread.start("scripthost-con", stack: 8 << 20) { self.work() }
    if code != 0 { throw .failed("no thread for a session, \(systemMessage(code))") }
  }

  private func print(_ text: String) {
    let output = shared.withLock { $0.output ?? $0.standing }
    output?(text)
  }

  // MARK: The thread

  private func work() {
    while true {
      guard let next = next() else { break }
      next()
    }
    // Who still waits gets an answer: snippets that they are stopped.
    for rest in shared.withLock({ shared in
      defer { shared.work = [] }
      return shared.work
    }) { rest() }
    environment.installation.remove()
    gate.record("console closed")
    let waiters = shared.withLock { shared in
      defer { shared.waiters = nil }
      return shared.waiters ?? []
    }
    for waiter in waiters { waiter() }
  }

  private func next() -> (@Sendable () -> Void)? {
    mutex.lock()
    defer { mutex.unlock() }
    while true {
      let (body, isEnded) = shared.withLock { shared in (shared.isEnded || shared.work.isEmpty ? nil : shared.work.removeFirst(), shared.isEnded) }
      if isEnded { return nil }
      if let body { return body }
      mutex.wait()
    }
  }

  /// Has the session's thread run `body`, after what it was asked before.
  private func add(_ body: @escaping @Sendable () -> Void) {
    mutex.lock()
    shared.withLock { $0.work.append(body) }
    mutex.signal()
    mutex.unlock()
  }

  /// Ends the session: a snippet that runs is stopped, what it installed is taken out. Any thread; does not wait.
  /// - Parameter done: called when that is done.
  package func end(then done: @escaping @Sendable () -> Void = {}) {
    mutex.lock()
    let isOut = shared.withLock { shared in
      shared.isEnded = true
      stop(&shared)
      shared.standing = nil
      shared.waiters?.append(done)
      return shared.waiters == nil
    }
    mutex.signal()
    mutex.unlock()
    if isOut { done() }
  }

  /// Stops the snippet that runs, at its next instructions, and those that wait for it; code of the program that it called is not stopped. Any
  /// thread.
  package func interrupt() { shared.withLock { stop(&$0) } }

  private func stop(_ shared: inout Shared) {
    shared.stopped = shared.snippets
    if shared.isRunning { shl_interrupt(environment.state, true) }
  }

  // MARK: Snippets

  /// Budget of one snippet: a person waits for it, and can stop it.
  private static let budget = SHLBudget(instructions: 20_000_000_000, wall_ns: -1, lock_ns: 10_000_000_000)

  /// Runs a snippet; both closures are called on the session's thread.
  package func evaluate(_ text: String, output: @escaping @Sendable (String) -> Void, then answer: @escaping @Sendable (Answer) -> Void) {
    let number = shared.withLock { shared in
      shared.snippets += 1
      return shared.snippets
    }
    add { [self] in
      // Who stops it does so in a turn of the lock, too: before this one it does not run, behind it the state is told.
      let runs = shared.withLock { shared in
        guard shared.stopped < number, !shared.isEnded else { return false }
        shl_interrupt(environment.state, false)
        shared.output = output
        shared.isRunning = true
        return true
      }
      guard runs else { return answer(.stopped) }
      let result = asProgram { run(text) }
      let wasStopped = shared.withLock { shared in
        shared.output = nil
        shared.isRunning = false
        return shared.stopped >= number
      }
      if wasStopped, case .failed = result { answer(.stopped) } else { answer(result) }
    }
  }

  /// Calls of the program that a snippet makes are hooked, as those of any thread are.
  private func asProgram<R>(_ body: () -> R) -> R {
    guard let thread = hkt_thread() else { return body() }
    hkt_host_end(thread)
    defer { hkt_host_begin(thread) }
    return body()
  }

  private func run(_ text: String) -> Answer {
    let before = gate.changes
    let chunk: LuaReference
    do throws(LuaFailure) { chunk = try environment.lua.compile("return " + text, name: "console") } catch {
      do throws(LuaFailure) { chunk = try environment.lua.compile(text, name: "console") } catch {
        if case .syntax(moreInput: true) = error.reason { return .incomplete(error.message) }
        return .failed(error.message, traceback: [])
      }
    }
    let mark = environment.installation.mark
    do throws(LuaFailure) {
      let shown = try environment.lua.call(functions.run, [.reference(chunk)], budget: Self.budget)
      return .values(Self.shown(shown), changes: gate.changes != before)
    } catch {
      // As a patch that fails, a snippet leaves nothing installed.
      let undone = environment.installation.remove(since: mark) ? "; what the snippet installed is taken out" : ""
      // The console's own script is no news.
      return .failed(error.message + undone, traceback: error.traceback.filter { !$0.contains("console support") })
    }
  }

  /// What the console's own script made of values; bytes that are no text are replaced.
  private static func shown(_ values: [LuaValue]) -> String? {
    guard case .string(let bytes)? = values.first else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Answers a command beside snippets.
  func command(_ name: String, _ argument: String, then answer: @escaping @Sendable (ConsoleCommands.Answer) -> Void) {
    add { answer(ConsoleCommands.answer(name, argument)) }
  }

  /// Shows the last value from one of its elements on.
  package func page(from: Int64, then answer: @escaping @Sendable (Answer) -> Void) {
    add { [self] in
      do throws(LuaFailure) {
        answer(.values(Self.shown(try environment.lua.call(functions.page, [.int(from)], budget: Self.budget)), changes: false))
      } catch { answer(.failed(error.message, traceback: [])) }
    }
  }

  // MARK: Completion

  /// Reads what the first answer about the program's names needs, before it is asked for: a person who types is slower than that. On a thread
  /// of its own: snippets and other names do not wait for it.
  package func prepareCompletion() {
    if HostThread.start("scripthost-nam", { ConsoleCompletion.prepare() }) != 0 { add { ConsoleCompletion.prepare() } }
  }

  /// Names that may stand at the end of `text`: the words, and where in `text` the word begins (in bytes). Runs no code of the program.
  /// - Parameter kind: the text is the beginning of such a name; nil: of a snippet.
  package func complete(_ text: String, of kind: ConsoleCompletion.Kind? = nil, then answer: @escaping @Sendable ([String], Int) -> Void) {
    add { [self] in
      if let kind { return answer(ConsoleCompletion.names(of: kind, text), 0) }
      let wish = ConsoleCompletion.Wish(text)
      answer(ConsoleCompletion.names(for: wish) { path in members(of: path) }, wish.start)
    }
  }

  /// The names in a value that a path of names leads to, and its Swift type.
  private func members(of path: String) -> (names: [String], type: String?)? {
    guard let answer = try? environment.lua.call(functions.names, [LuaValue(path)]), let names = answer.first?.text else { return nil }
    return (names.split(separator: "\n").map(String.init), answer.dropFirst().first?.text)
  }
}

/// A lock with a condition, which lie still.
private final class Pthread: @unchecked Sendable {
  // Only the C library looks into them.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }
  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    condition.deallocate()
  }
  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }
  func wait() { pthread_cond_wait(condition, mutex) }
  func signal() { pthread_cond_signal(condition) }
}
