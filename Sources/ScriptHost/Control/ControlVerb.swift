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
  /// Answers by `call.answer` or `call.fail`, now or later, once.
  package let run: @Sendable (ControlCall) -> Void

  package init(_ name: String, _ summary: String, on runner: Runner = .control, _ run: @escaping @Sendable (ControlCall) -> Void) {
    self.name = name
    self.summary = summary
    self.runner = runner
    self.run = run
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
/// `{"id":…,"more":true,…}`: a request that streams ends only when its client does, or asks for `stop`.
package final class ControlCall: Sendable {
  package let request: JSONValue
  package let host: ControlHost
  let id: JSONValue
  let client: ControlClient
  private let isAnswered = Atomic<Bool>(false)

  init(_ request: JSONValue, id: JSONValue, _ client: ControlClient, _ host: ControlHost) {
    self.request = request
    self.id = id
    self.client = client
    self.host = host
  }

  /// Nobody waits for an answer any more: the client is gone or slow, or asked to stop.
  package var isOver: Bool { client.isClosed || isAnswered.load(ordering: .relaxed) }

  /// A text among the request's members.
  package func text(_ name: String) -> String? { request[name]?.text }

  /// The last line, with the members of `value`.
  package func answer(_ members: [JSONValue.Member] = []) { end([.init("id", id), .init("ok", true)] + members) }
  /// The last line, which says why it was not done.
  package func fail(_ sentence: String) { end([.init("id", id), .init("ok", false), .init("error", .string(sentence))]) }
  /// A line before the last one. False when nobody reads any more.
  @discardableResult
  package func send(_ members: [JSONValue.Member]) -> Bool {
    if isOver { return false }
    return client.send(.object([.init("id", id), .init("more", true)] + members))
  }

  private func end(_ members: [JSONValue.Member]) {
    if isAnswered.exchange(true, ordering: .relaxed) { return }
    _ = client.send(.object(members))
    client.finished(self)
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
