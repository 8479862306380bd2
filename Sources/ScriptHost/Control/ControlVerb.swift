// ControlVerb — what can be asked of a hosted process by its control socket: one verb, and the families that add verbs.
package import Journal
private import Synchronization

/// One verb of the protocol.
package struct ControlVerb: Sendable {
  /// Who carries it out.
  package enum Runner: Sendable {
    /// The control thread, between two clients: must not run scripts, open files or wait.
    case control
    /// The worker, and the observer when a request before it goes on for long: only looks or begins a session, runs no script of a user,
    /// must not wait for the loader.
    case observer
    /// The worker, one request after the other: may run scripts and take its time.
    case worker
  }

  package let name: String
  /// One sentence, for `help`.
  package let summary: String
  package let runner: Runner
  private let run: @Sendable (ControlCall) throws(ControlProblem) -> Void

  /// - Parameter run: answers by `call.answer` or `call.fail`, now or later, once; or throws why the request is none.
  package init(
    _ name: String, _ summary: String, on runner: Runner = .control, _ run: @escaping @Sendable (ControlCall) throws(ControlProblem) -> Void
  ) {
    self.name = name
    self.summary = summary
    self.runner = runner
    self.run = run
  }

  /// Carries a request out, on the thread that `runner` names.
  func carryOut(_ call: ControlCall) {
    do throws(ControlProblem) { try run(call) } catch { call.fail(error.sentence) }
  }
}

/// All verbs there are. A family is a file of its own with a static list.
package enum ControlVerbs {
  static let all: [ControlVerb] = status + patches + hooks + top + costs + hold + guards + console

  static func find(_ name: String) -> ControlVerb? { byName[name] }
  private static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
}

/// One request while it is answered. Any thread.
///
/// An answer is one line `{"id":…,"ok":true,…}` or `{"id":…,"ok":false,"error":"…"}`. Before it there may be any number of lines
/// `{"id":…,"more":true,…}`: a request that streams ends only when its client does, or asks for `stop`. Lines that were offered to a client
/// who reads too slowly are left out, and counted in a line `{"id":…,"more":true,"lost":…}` in their place.
package final class ControlCall: Sendable {
  package let request: JSONValue
  package let host: ControlHost
  let id: JSONValue
  let client: ControlClient
  private let isAnswered = Atomic<Bool>(false)

  private enum Ending {
    case open, over
    case watched(@Sendable () -> Void)
  }
  private let ending = Mutex(Ending.open)

  init(_ request: JSONValue, id: JSONValue, _ client: ControlClient, _ host: ControlHost) {
    self.request = request
    self.id = id
    self.client = client
    self.host = host
  }

  /// Nobody waits for an answer any more: the client is gone or slow, or asked to stop.
  package var isOver: Bool { client.isClosed || isAnswered.load(ordering: .relaxed) }

  /// The last line, with the members of `value`.
  package func answer(_ members: [JSONValue.Member] = []) { end([.init("id", id), .init("ok", true)] + members) }
  /// The last line, which says why it was not done.
  package func fail(_ sentence: String) { end([.init("id", id), .init("ok", false), .init("error", .string(sentence))]) }
  /// A line before the last one.
  package func send(_ members: [JSONValue.Member]) { if !isOver { _ = client.send(more(members)) } }
  /// A line before the last one that may be left out where the client reads too slowly.
  package func offer(_ members: @autoclosure () -> [JSONValue.Member]) { if !isOver { client.offer(more(members()), of: self) } }

  /// The line that says how many were left out in its place.
  func loss(_ lines: Int) -> JSONValue { more([.init("lost", JSONValue(lines))]) }

  private func more(_ members: [JSONValue.Member]) -> JSONValue { .object([.init("id", id), .init("more", true)] + members) }

  private func end(_ members: [JSONValue.Member]) {
    if isAnswered.exchange(true, ordering: .relaxed) { return }
    _ = client.send(.object(members), endsIn: self)
    client.finished(self)
    becameOver()
  }

  /// Has `body` run once when nobody waits for an answer any more; at once when that is so already. It must not wait. Any thread.
  package func whenOver(_ body: @escaping @Sendable () -> Void) {
    let isOver = ending.withLock { ending in
      if case .over = ending { return true }
      ending = .watched(body)
      return false
    }
    if isOver { body() }
  }

  /// It was answered, or its client is gone.
  func becameOver() {
    let body: (@Sendable () -> Void)? = ending.withLock { ending in
      defer { ending = .over }
      if case .watched(let body) = ending { return body }
      return nil
    }
    body?()
  }

  /// Records what a client did to the program, and who it is.
  package func audit(_ act: FieldName, _ detail: String) {
    host.log.append(.audit, act) { fields in
      AuditRecord(act: "", user: client.peer.user, process: client.peer.process, isAllowed: true, detail: detail).write(into: &fields)
    }
  }
}

/// What verbs work on: the host of this process.
package struct ControlHost: Sendable {
  package let patches: PatchRegistry
  package let log: HostLog
  package let program: RawPath
  package let buildID: String
  /// When the host began, in nanoseconds of CLOCK_MONOTONIC.
  package let started: UInt64
}
