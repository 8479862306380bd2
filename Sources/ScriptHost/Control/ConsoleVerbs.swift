// ConsoleVerbs — the console over the control socket: open, eval, page, complete, command, interrupt, close.
internal import Journal
private import Synchronization

/// The sessions there are. A session ends when it is closed, or when the client that opened it is gone.
private enum ConsoleSessions {
  private static let open = Mutex<[Int: (session: ConsoleSession, call: ControlCall)]>([:])

  static func add(_ session: ConsoleSession, _ call: ControlCall) { open.withLock { $0[session.number] = (session, call) } }

  static func find(_ number: Int) -> ConsoleSession? {
    sweep()
    return open.withLock { $0[number]?.session }
  }

  static func close(_ number: Int) -> Bool {
    guard let (session, call) = open.withLock({ $0.removeValue(forKey: number) }) else { return false }
    session.end()
    call.answer()
    return true
  }

  /// Ends those whose clients are gone.
  static func sweep() {
    let over = open.withLock { open in
      let over = open.filter { $0.value.call.isOver }
      for number in over.keys { open[number] = nil }
      return over
    }
    for (session, _) in over.values { session.end() }
  }
}

extension ControlVerbs {
  static let console = [
    ControlVerb("console.open", "begin a session of the console; with 'write' it may change the program, with 'completes' names are read for 'console.complete' at once; lasts as long as the request is open", on: .observer) { call in
      ConsoleSessions.sweep()
      do throws(PatchError) {
        let session = try ConsoleSession(mayWrite: call.request["write"]?.bool ?? false, log: call.host.log, policy: call.host.patches.policy) { text in
          call.send([.init("print", .string(text))])
        }
        ConsoleSessions.add(session, call)
        if call.request["completes"]?.bool ?? false { session.prepareCompletion() }
        call.send([.init("session", JSONValue(session.number))])
      } catch { call.fail(error.description) }
    },
    ControlVerb("console.eval", "run 'text' in 'session'; prints come as lines before the answer") { call in
      withSession(call) { session in
        guard let text = call.text("text") else { return call.fail("'console.eval' needs 'text'") }
        session.evaluate(text) { call.send([.init("print", .string($0))]) } then: { answer(call, $0) }
      }
    },
    ControlVerb("console.page", "show the last value of 'session' from element 'from' on") { call in
      withSession(call) { session in session.page(from: call.request["from"]?.int ?? 1) { answer(call, $0) } }
    },
    ControlVerb("console.complete", "names that may stand at the end of 'text'; runs no code of the program") { call in
      withSession(call) { session in
        session.complete(call.text("text") ?? "") { words, start in
          call.answer([.init("words", .array(words.map { .string($0) })), .init("start", JSONValue(start))])
        }
      }
    },
    ControlVerb("console.command", "types, methods, hooks or heap, with 'argument'") { call in
      withSession(call) { session in
        session.command(call.text("command") ?? "", call.text("argument") ?? "") { lines in
          guard let lines else { return call.fail("no such command of the console; there are types, methods, hooks and heap") }
          call.answer([.init("lines", .array(lines.map { .string($0) }))])
        }
      }
    },
    ControlVerb("console.interrupt", "stop the snippet that runs in 'session'") { call in
      withSession(call) { session in
        session.interrupt()
        call.answer()
      }
    },
    ControlVerb("console.close", "end 'session' and take out what it installed") { call in
      guard ConsoleSessions.close(Int(clamping: call.request["session"]?.int ?? 0)) else { return call.fail("no such session of the console") }
      call.answer()
    },
  ]

  private static func withSession(_ call: ControlCall, _ body: (ConsoleSession) -> Void) {
    guard let session = ConsoleSessions.find(Int(clamping: call.request["session"]?.int ?? 0)) else {
      return call.fail("no such session of the console; open one with 'console.open'")
    }
    body(session)
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
