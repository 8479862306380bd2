// Many requests at once, owners, groups, lists, hooks that go while they are in use.
import Checks
import CHookTrampoline
import EngineSubjects
import Glibc
import HookRuntime
import Synchronization

/// Seven selectors, one request each.
private func many() throws -> [HookRequest] {
  try ["area(_:)", "scale(_:)", "fixed(_:)", "fail(_:)", "down(_:)", "side.get", "side.set"].flatMap {
    try requests("\(shape).\($0)", Wish())
  }
}

@MainActor let transactionCases: [Case] = [
  (
    "A4 many hooks land together or not at all",
    {
      let dot = Dot(tag: 1)
      var released = 0
      let wish = Wish(position: .around, onRelease: { released += 1 })
      // One in the middle cannot be: the class overrides it, a deinit takes no around, a static side has no object.
      for bad in [
        try requests("\(shape).scale(_:)", Wish(scope: .object(dot))), try requests("\(shape).deinit", Wish()),
        try requests("static \(shape).kind(_:)", Wish(scope: .object(dot))),
      ] {
        released = 0
        var made = 0
        let all = try Array(many().prefix(3)) + bad + many().suffix(4)
        let report = engine.install(all, atomically: true) { _ in
          made += 1
          return spec(wish) { $0.proceed() }
        }
        check(report.tokens.count, 0, "nothing installed")
        check(report.refused.count, 1, "refused")
        check(released, made, "handlers freed")
        check(engine.list().count, 0, "nothing listed")
      }
      let report = engine.install(try many(), atomically: true) { _ in spec(wish) { $0.proceed() } }
      check(report.tokens.count, 7, "installed")
      check(engine.remove(report.tokens.map(\.token)), 7, "removed")
      check(released >= 7, true, "freed")
    }
  ),
  (
    "A4 without that, what can be hooked is, and the rest is refused one by one",
    {
      let dot = Dot(tag: 1)
      let all = try many() + requests("\(shape).scale(_:)", Wish(scope: .object(dot)))
      let report = engine.install(all) { _ in spec(Wish()) { _ in } }
      check(report.tokens.count, 7, "installed")
      check(report.refused.map(\.reason.code), ["overridden"], "refused")
      engine.remove(report.tokens.map(\.token))
    }
  ),
  (
    "A4 unknown names are told with the nearest; the runtime's own machinery and async arounds are refused",
    {
      check(
        sentence { try note("x", "\(shape).scales(_:)") },
        "no selector 'scales(_:)' in EngineSubjects.Shape; did you mean 'scale(_:)'?", "a near miss")
      check(refusal { try note("x", "\(shape).deinit", Wish(position: .around)) }, "around-deinit", "deinit")
      check(refusal { try note("x", "\(shape).later(_:)", Wish(position: .around)) }, "cannot-wait", "async")
      check(refusal { try note("x", "Swift.Hasher.finalize()") }, "runtime", "the standard library's")
      check(engine.list().count, 0, "nothing listed")
    }
  ),
  (
    "owners and groups are listed, switched and removed as one",
    {
      let circle = Circle(tag: 1)
      try note("a1", "\(shape).scale(_:)", Wish(owner: "a", group: "one"))
      try note("a2", "\(shape).scale(_:)", Wish(scope: .object(circle), priority: 4, owner: "a", group: "two"))
      try note("a3", "\(shape).fixed(_:)", Wish(position: .after, scope: .subclass(Circle.self), owner: "a", group: "two"))
      try note("b", "\(shape).fixed(_:)", Wish(isOnce: true, owner: "b"))
      _ = scale(circle, 1)
      check(engine.list(owner: "a").map(\.owner), ["a", "a", "a"], "owner")
      let descriptions = engine.list().map(\.description)
      let address = String(UInt(bitPattern: Unmanaged.passUnretained(circle).toOpaque()), radix: 16)
      check(
        descriptions,
        [
          "before '\(shape).scale(_:)' by a, group one, scope type, back end entry, priority 0, 1 call",
          "before '\(shape).scale(_:)' by a, group two, scope object Circle at 0x\(address), back end entry, priority 4, 1 call",
          "after '\(shape).fixed(_:)' by a, group two, scope subclass EngineSubjects.Circle, back end entry, priority 0, 0 calls",
          "before '\(shape).fixed(_:)' by b, scope type, back end entry, priority 0, once, 0 calls",
        ], "list")
      _ = Log.take()
      check(engine.setEnabled(false, owner: "a", group: "two"), 2, "a group")
      _ = scale(circle, 1)
      _ = fixed(circle, 1)
      check(Log.take(), "a1 Shape.scale b Shape.fixed ", "the group is off")
      engine.setEnabled(true, owner: "a", group: "two")
      check(engine.removeAll(owner: "a", group: "one"), 1, "a group")
      _ = scale(circle, 1)
      check(Log.take(), "a2 Shape.scale ", "the other group")
      check(engine.removeAll(owner: "a"), 2, "an owner")
      check(engine.removeAll(owner: "a"), 0, "twice")
      check(engine.list().count, 0, "the one that ran once is gone")
    }
  ),
  (
    "A10 removing answers at once while a thread is blocked inside the original",
    {
      let circle = Circle(tag: 5)
      let entered = Atomic<Bool>(false)
      let release = Atomic<Bool>(false)
      try withUnsafePointer(to: entered) { entered in
        try withUnsafePointer(to: release) { release in
          var isFreed = false
          // A hook inside stands for an original that blocks.
          let blocker = try hook("\(shape).scale(_:)", Wish(position: .around, priority: -1)) { call in
            entered.pointee.store(true, ordering: .releasing)
            while !release.pointee.load(ordering: .acquiring) { sched_yield() }
            call.proceed()
          }
          let token = try hook("\(shape).scale(_:)", Wish(position: .around, onRelease: { isFreed = true })) { call in
            call.proceed()
            call.result += 100
          }
          nonisolated(unsafe) var found = 0
          nonisolated(unsafe) let object = circle
          let thread = Thread { found = object.scale(1) }
          while !entered.pointee.load(ordering: .acquiring) { sched_yield() }
          let start = hkt_now_ns()
          check(engine.remove(token), true, "remove")
          check(hkt_now_ns() - start < 100_000_000, true, "at once")
          check(hkt_retired_waiting() > 0, true, "the call in flight has it still")
          check(isFreed, false, "not freed yet")
          release.pointee.store(true, ordering: .releasing)
          thread.join()
          check(found, 106, "the call in flight finished with its hook")
          engine.remove(blocker)
          check(isFreed, true, "freed")
          check(hkt_retired_waiting(), 0, "nothing is kept")
        }
      }
    }
  ),
  (
    "A10 hooks come and go on one thread while others call: every call sees old or new",
    {
      Log.isOn = false
      defer { Log.isOn = true }
      let stop = Atomic<Bool>(false)
      let wrong = Atomic<Int>(0)
      let calls = Atomic<Int>(0)
      let circle = Circle(tag: 0)
      try withUnsafePointer(to: stop) { stop in
        try withUnsafePointer(to: wrong) { wrong in
          try withUnsafePointer(to: calls) { calls in
            nonisolated(unsafe) let object = circle
            let threads = (0..<4).map { _ in
              Thread {
                while !stop.pointee.load(ordering: .relaxed) {
                  // Each hook adds ten to the argument and a thousand to the result, or neither.
                  let found = object.scale(1)
                  let (added, passed) = (found / 1000, found % 1000 / 10)
                  if added != passed || found % 10 != 1 { wrong.pointee.wrappingAdd(1, ordering: .relaxed) }
                  calls.pointee.wrappingAdd(1, ordering: .relaxed)
                }
              }
            }
            // A run of everything does a part of it (scripts/test).
            for round in 0..<(getenv("SCOPES_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 3000) {
              var tokens: [HookToken] = []
              for number in 0...round % 3 {
                let wish = number == 1 ? on(circle, .around) : Wish(position: .around)
                tokens.append(
                  try hook("\(shape).scale(_:)", wish) { call in
                    call.argument += 10
                    call.proceed()
                    call.argument -= 10
                    call.result += 1000
                  })
              }
              if round % 5 == 0 { engine.setEnabled(false, tokens[0]) }
              engine.remove(tokens)
            }
            stop.pointee.store(true, ordering: .relaxed)
            threads.forEach { $0.join() }
            check(wrong.pointee.load(ordering: .relaxed), 0, "wrong calls")
            check(calls.pointee.load(ordering: .relaxed) > 1000, true, "calls")
          }
        }
      }
    }
  ),
  (
    "A13 removing all and installing again: each call passes each layer once",
    {
      let circle = Circle(tag: 1)
      for _ in 0..<50 {
        try note("t", "\(shape).scale(_:)", Wish(position: .around))
        try note("o", "\(shape).scale(_:)", on(circle, .around))
        try note("s", "\(shape).area(_:)", Wish(position: .around))
        _ = Log.take()
        check(scale(circle, 1), 2, "result")
        check(area(Square(tag: 1), 1), 12, "result")
        check(Log.take(), "(o (t Shape.scale t) o) init Square.area (s Shape.area s) end1 ", "layers")
        check(engine.removeAll(owner: "cases"), 3, "removed")
        _ = scale(circle, 1)
        check(Log.take(), "Shape.scale ", "none")
      }
    }
  ),
]
