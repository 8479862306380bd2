import Foundation
import Synchronization
import Testing

@testable import ScriptHost

/// Waits for answers of a session; no sleeping, the session's thread calls back.
private final class Answers: Sendable {
  private let stream: AsyncStream<ConsoleSession.Answer>
  private let continuation: AsyncStream<ConsoleSession.Answer>.Continuation
  let printed = Mutex<[String]>([])
  init() { (stream, continuation) = AsyncStream.makeStream() }
  func give(_ answer: ConsoleSession.Answer) { continuation.yield(answer) }
  func next() async -> ConsoleSession.Answer? {
    for await answer in stream { return answer }
    return nil
  }
}

private final class OverFlag: Sendable {
  private let flag = Mutex(false)
  var isSet: Bool { flag.withLock { $0 } }
  func set() { flag.withLock { $0 = true } }
}

@Suite("console sessions")
struct ConsoleTests {
  private let log = HostLog(recorder: nil, isVerbose: false)
  private let answers = Answers()

  private func session(write: Bool = false) throws -> ConsoleSession {
    try ConsoleSession(mayWrite: write, log: log) { [answers] text in answers.printed.withLock { $0.append(text) } }
  }

  private func ask(_ session: ConsoleSession, _ text: String) async -> String {
    session.evaluate(text) { [answers] text in answers.printed.withLock { $0.append(text) } } then: { [answers] in answers.give($0) }
    switch await answers.next() {
    case .values(let text, _)?: return text ?? ""
    case .failed(let message, _)?: return "failed: \(message)"
    case .incomplete?: return "incomplete"
    case .stopped?: return "stopped"
    case nil: return "nothing"
    }
  }

  static let shown: [(String, String)] = [
    ("1 + 1", "2"), ("'a\\nb'", "\"a\\nb\""), ("nil", "nil"), ("1, 2.5, true", "1\t2.5\ttrue"), ("local x = 1", ""), ("x = 3", ""),
    ("{}", "{}"), ("{ 1, 2, a = 'b' }", "{ 1, 2, a = \"b\" }"), ("{ { { { { 1 } } } } }", "{ { { { {…} } } } }"),
    ("(function() local t = {} t.t = t return t end)()", "{ t = <cycle> }"), ("{ ['end'] = 1, ['a b'] = 2 }", "{ [\"a b\"] = 2, [\"end\"] = 1 }"),
    ("{ password = 'x', pass = 1 }", "{ pass = 1, password = <masked> }"), ("function() end", "function"), ("if true then", "incomplete"), ("f(", "incomplete"),
    ("x = = 1", "failed: console:1: unexpected symbol near '='"), ("error 'boom'", "failed: console:1: boom"), ("return 7", "7"),
    ("method 'Nowhere.at()'", "failed: console:1: no selector 'Nowhere.at()' in this program"),
  ]

  @Test("values are shown", arguments: shown)
  func values(_ text: String, _ expected: String) async throws {
    let session = try session()
    #expect(await ask(session, text) == expected)
    session.end()
  }

  @Test("long lists and texts are cut, and paged")
  func paging() async throws {
    let session = try session()
    let list = await ask(session, "(function() local t = {} for i = 1, 1000 do t[i] = i end return t end)()")
    #expect(list.contains("40") && !list.contains("41,") && list.contains("… 960 more"))
    session.page(from: 41) { [answers] in answers.give($0) }
    guard case .values(let page?, _)? = await answers.next() else { Issue.record("no page"); return }
    #expect(page.hasPrefix("{\n  41,") && page.contains("… 920 more"))
    let text = await ask(session, "('x'):rep(1000)")
    #expect(text.hasSuffix("(1000 bytes)") && text.utf8.count < 300)
    session.end()
  }

  @Test("the last values have names, and globals stay")
  func last() async throws {
    let session = try session()
    _ = await ask(session, "x = 40")
    #expect(await ask(session, "x + 2") == "42")
    #expect(await ask(session, "'second'") == "\"second\"")
    #expect(await ask(session, "_") == "\"second\"")
    #expect(await ask(session, "_3") == "42")
    session.end()
  }

  @Test("an endless snippet is stopped, and the session goes on")
  func interrupt() async throws {
    let session = try session()
    session.evaluate("while true do end") { _ in } then: { [answers] in answers.give($0) }
    // It may not run yet: asked again until it ends. A thread of its own: the other tests may have all that tasks run on.
    let over = OverFlag()
    Thread.detachNewThread { while !over.isSet { session.interrupt(); sched_yield() } }
    let answer = await answers.next()
    over.set()
    guard case .stopped? = answer else { Issue.record("not stopped: \(String(describing: answer))"); return }
    #expect(await ask(session, "1") == "1")
    session.end()
  }

  @Test("prints come with the snippet")
  func prints() async throws {
    let session = try session()
    _ = await ask(session, "print('a', 1)")
    #expect(answers.printed.withLock { $0 } == ["a\t1"])
    session.end()
  }

  @Test(
    "completion knows Lua's names, the host's and live values",
    arguments: [
      ("met", "method", 0), ("string.fo", "format", 7), ("x = swift.wi", "with", 10), ("data.na", "name", 5), ("data.inner.d", "deep", 11), ("wh", "while", 0),
      ("method 'x':ar", "around", 11),
    ])
  func completion(_ text: String, _ expected: String, _ start: Int) async throws {
    let session = try session()
    _ = await ask(session, "data = { name = 1, inner = { deep = 2 } }")
    let found: ([String], Int) = await withCheckedContinuation { continuation in
      session.complete(text) { names, start in continuation.resume(returning: (names, start)) }
    }
    #expect(found.0.contains(expected))
    #expect(found.1 == start)
    session.end()
  }

  static let receivers: [(String, CompletionReceiver?)] = [
    ("met", nil), ("cart.", .path("cart")), ("x = cart.user.na", .path("cart.user")), ("method \"A.b()\":", .call("method", argument: "A.b()")),
    ("method('A.b()'):be", .call("method", argument: "A.b()")), ("swift.new(\"A\", \"init()\").", .call("swift.new", argument: "A")),
    ("track \"x\" { on = \")\" }:", .call("track", argument: "x")), ("f():", .call("f", argument: nil)), ("m:before(function() end):", .call(":before", argument: nil)),
    ("hooks()[1].sel", .element(of: "hooks")), ("t[1].x", .other), ("(1 + 2).x", .other), ("hooks()[1].owner.x", .other), ("(\"x\"):re", .text), ("'a' .. b:", .path("b")),
    ("..", .other), ("f(\"open", nil), ("}):", .other),
  ]

  @Test("what stands before a name that is typed", arguments: receivers)
  func receiver(_ text: String, _ expected: CompletionReceiver?) {
    #expect(ConsoleCompletion.Wish(text).receiver == expected)
  }

  @Test("what changes the program is refused without --write")
  func reading() async throws {
    let session = try session()
    for text in ["class.define('X', { super = 'Y' })", "implement 'P' {}", "swift.forward(1, 2)", "track 'x' { on = 'a' }"] {
      #expect(await ask(session, text).contains("this session only reads"))
    }
    session.end()
  }
}
