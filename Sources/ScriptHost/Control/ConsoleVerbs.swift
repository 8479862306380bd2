// ConsoleVerbs — the console over the control socket: open, eval, page, complete, command, interrupt, close.
internal import Journal
private import Synchronization

/// The sessions there are. One ends when it is closed, or when the request that opened it is over: stopped, or its client gone.
private enum ConsoleSessions {
  private static let open = Mutex<[Int: (session: ConsoleSession, call: ControlCall)]>([:])

  /// - Parameter holds: with it ends the wait of a held program.
  static func add(_ session: ConsoleSession, _ call: ControlCall, holds: Bool) {
    open.withLock { $0[session.number] = (session, call) }
    call.whenOver {
      remove(session.number)?.session.end()
      if holds { _ = StartHold.go() }
    }
  }

  static func find(_ number: Int) -> ConsoleSession? { open.withLock { $0[number]?.session } }

  /// Nobody finds it from now on.
  static func remove(_ number: Int) -> (session: ConsoleSession, call: ControlCall)? { open.withLock { $0.removeValue(forKey: number) } }
}

extension ControlVerbs {
  static let console = [
    ControlVerb(
      "console.open",
      "begin a session of the console; with 'write' it may change the program, with 'completes' names are read for 'console.complete' "
        + "at once, with 'holds' a held program is let go when it ends; lasts as long as the request is open", on: .observer
    ) { call throws(ControlProblem) in
      let mayWrite = try call.flag("write") ?? false, completes = try call.flag("completes") ?? false, holds = try call.flag("holds") ?? false
      do throws(PatchError) {
        let session = try ConsoleSession(mayWrite: mayWrite, log: call.host.log, policy: call.host.patches.policy, client: call.client.peer) { text in
          call.offer([.init("print", .string(text))])
        }
        if completes { session.prepareCompletion() }
        call.send([.init("session", JSONValue(session.number))])
        ConsoleSessions.add(session, call, holds: holds)
      } catch { throw ControlProblem(error.description) }
    },
    ControlVerb("console.eval", "run 'text' in 'session'; prints come as lines before the answer") { call throws(ControlProblem) in
      let text = try call.text("text", "a snippet of Lua")
      try session(of: call).evaluate(text) { call.offer([.init("print", .string($0))]) } then: { answer(call, $0) }
    },
    ControlVerb("console.page", "show the last value of 'session' from element 'from' on") { call throws(ControlProblem) in
      let from = try call.number("from", from: 1) ?? 1
      try session(of: call).page(from: from) { answer(call, $0) }
    },
    ControlVerb(
      "console.complete", "names that may stand at the end of 'text', of types or selectors alone with 'of'; runs no code of the program"
    ) { call throws(ControlProblem) in
      let text = try call.text("text") ?? "", word = try call.text("of")
      let kind = word.flatMap { ConsoleCompletion.Kind(rawValue: $0) }
      if word != nil, kind == nil {
        throw ControlProblem("'of' of 'console.complete' is \"types\" or \"selectors\"; found \(call.request["of"]?.line ?? "")")
      }
      try session(of: call).complete(text, of: kind) { words, start in
        call.answer([.init("words", .array(words.map { .string($0) })), .init("start", JSONValue(start))])
      }
    },
    ControlVerb("console.command", "types, methods, hooks or heap, with 'argument'") { call throws(ControlProblem) in
      let command = try call.text("command") ?? "", argument = try call.text("argument") ?? ""
      try session(of: call).command(command, argument) { found in
        switch found {
        case .lines(let lines): call.answer([.init("lines", .array(lines.map { .string($0) }))])
        case .failed(let sentence): call.answer([.init("failed", .string(sentence))])
        case .unknown: call.fail("no such command of the console; there are types, methods, hooks and heap")
        }
      }
    },
    ControlVerb("console.interrupt", "stop the snippet that runs in 'session'") { call throws(ControlProblem) in
      try session(of: call).interrupt()
      call.answer()
    },
    ControlVerb("console.close", "end 'session' and take out what it installed") { call throws(ControlProblem) in
      let number = try call.number("session", from: 0) ?? 0
      guard let (session, opened) = ConsoleSessions.remove(Int(clamping: number)) else { throw ControlProblem("no such session of the console") }
      session.end {
        opened.answer()
        call.answer()
      }
    },
  ]

  private static func session(of call: ControlCall) throws(ControlProblem) -> ConsoleSession {
    let number = try call.number("session", from: 0) ?? 0
    guard let session = ConsoleSessions.find(Int(clamping: number)) else {
      throw ControlProblem("no such session of the console; open one with 'console.open'")
    }
    return session
  }

  private static func answer(_ call: ControlCall, _ answer: ConsoleSession.Answer) {
    switch answer {
    case .values(let text, let changes): call.answer([.init("text", JSONValue(text)), .init("changes", .bool(changes))])
    case .failed(let message, let traceback):
      call.answer([.init("failed", .string(message)), .init("traceback", .array(traceback.map { .string($0) }))])
    case .incomplete(let message): call.answer([.init("failed", .string(message)), .init("incomplete", true)])
    case .stopped: call.answer([.init("failed", "stopped"), .init("stopped", true)])
    }
  }
}
