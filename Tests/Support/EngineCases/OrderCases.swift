// The order of docs/hooks.md, calls that handlers make themselves, recursion, hooks that run once, hooks that are switched.
import Checks
import CHookTrampoline
import EngineSubjects
import Glibc
import HookRuntime
import Synchronization

@MainActor let orderCases: [Case] = [
  (
    "A3 objects outside types, then priority, then the newer, in any order of installation",
    {
      let circle = Circle(tag: 1)
      let hooks: [(String, Wish)] = [
        ("o5", on(circle, priority: 5)), ("o5'", on(circle, priority: 5)), ("o-9", on(circle, priority: -9)),
        ("t7", Wish(priority: 7)), ("s7", subclasses(Circle.self, priority: 7)), ("t0", Wish()), ("s9", subclasses(Circle.self, priority: 9)),
        ("far", Wish(priority: Int.max)), ("near", Wish(priority: Int.min)),
      ]
      var generator = Generator(seed: 3)
      for _ in 0..<30 {
        let order = hooks.shuffled(using: &generator)
        let tokens = try order.map { try note($0.0, "\(shape).scale(_:)", $0.1) }
        /// Whatever came later is further out among equals.
        func newer(_ a: String, _ b: String) -> String {
          order.firstIndex { $0.0 == a }! > order.firstIndex { $0.0 == b }! ? "\(a) \(b)" : "\(b) \(a)"
        }
        _ = Log.take()
        _ = scale(circle, 1)
        check(Log.take(), "\(newer("o5", "o5'")) o-9 far s9 \(newer("t7", "s7")) t0 near Shape.scale ", "order")
        check(engine.remove(tokens), hooks.count, "removed")
      }
    }
  ),
  (
    "A11 enter and leave pair innermost first in recursion, which passes all layers",
    {
      let circle = Circle(tag: 1)
      let outer = try note("o", "\(shape).down(_:)", on(circle, .around))
      let inner = try note("t", "\(shape).down(_:)", Wish(position: .around))
      _ = Log.take()
      check(circle.down(2), 3, "result")
      check(Log.take(), "(o (t down2 (o (t down1 (o (t down0 t) o) t) o) t) o) ", "order")
      engine.remove([outer, inner])
    }
  ),
  (
    "A11 the host's own calls are never reported",
    {
      let circle = Circle(tag: 1)
      let seen = try note("seen", "\(shape).fixed(_:)")
      var host = spec(Wish()) { _ in
        Log.note("host")
        _ = fixed(circle, 1)
      }
      host.isHostWork = true
      let report = engine.install(try requests("\(shape).scale(_:)", Wish())) { _ in host }
      _ = Log.take()
      _ = scale(circle, 1)
      check(Log.take(), "host Shape.fixed Shape.scale ", "the host's call")
      _ = fixed(circle, 1)
      check(Log.take(), "seen Shape.fixed ", "the program's call")
      engine.remove(report.tokens.map(\.token) + [seen])
    }
  ),
  (
    "A11 a handler's own call goes to the next layer down, across scopes",
    {
      let (a, b) = (Circle(tag: 1), Circle(tag: 2))
      var tokens = [try note("low", "\(shape).scale(_:)", Wish(priority: -5))]
      tokens.append(
        try hook("\(shape).scale(_:)", Wish(position: .around)) { call in
          Log.note("type")
          call.result = scale(a, 100)
        })
      tokens.append(try note("high", "\(shape).scale(_:)", Wish(priority: 5)))
      tokens.append(try note("inner", "\(shape).scale(_:)", on(a, priority: -5)))
      tokens.append(
        try hook("\(shape).scale(_:)", on(a, .around)) { call in
          Log.note("object")
          call.result = scale(a, call.argument) + 1000
        })
      tokens.append(try note("outer", "\(shape).scale(_:)", on(a, priority: 5)))
      tokens.append(try note("b", "\(shape).scale(_:)", on(b)))
      _ = Log.take()
      check(scale(a, 1), 1101, "result")
      // The object handler's call passes what is inside it; the type handler's call goes below that one.
      check(Log.take(), "outer object inner high type low Shape.scale ", "on itself")
      check(scale(b, 1), 1101, "result")
      // No handler is at work on `a`: its own layers see the call that the type handler of `b` makes, and those are outside
      // all of the type's.
      check(Log.take(), "b high type outer object inner high type low Shape.scale ", "on another")
      engine.remove(tokens)
    }
  ),
  (
    "A11 handlers of two objects that call each other come to an end",
    {
      let (a, b) = (Circle(tag: 1), Circle(tag: 2))
      let first = try hook("\(shape).scale(_:)", on(a)) { _ in
        Log.note("a")
        _ = scale(b, 1)
      }
      let second = try hook("\(shape).scale(_:)", on(b)) { _ in
        Log.note("b")
        _ = scale(a, 1)
      }
      _ = Log.take()
      _ = scale(a, 1)
      check(Log.take(), "a b Shape.scale Shape.scale Shape.scale ", "order")
      engine.remove([first, second])
    }
  ),
  (
    "A11 a hook that comes or goes while a handler runs does not move the handler's own call",
    {
      let circle = Circle(tag: 1)
      let low = try note("low", "\(shape).scale(_:)")
      var added: [HookToken] = []
      let top = try hook("\(shape).scale(_:)", Wish(position: .around, priority: 3)) { call in
        added.append(try! note("new", "\(shape).scale(_:)", Wish(priority: 9)))
        added.append(try! note("under", "\(shape).scale(_:)", Wish(priority: 1)))
        call.result = scale(circle, call.argument)
      }
      _ = Log.take()
      check(scale(circle, 1), 2, "result")
      check(Log.take(), "under low Shape.scale ", "order")
      engine.remove(added + [top, low])
    }
  ),
  (
    "A1 once: one call, whatever the scope; then it is gone",
    {
      let circle = Circle(tag: 1)
      for scope in [HookScope.type, .subclass(Circle.self), .object(circle)] {
        for position in [Position.before, .around, .after] {
          var isFreed = false
          try note("once", "\(shape).down(_:)", Wish(position: position, scope: scope, isOnce: true, onRelease: { isFreed = true }))
          _ = Log.take()
          check(circle.down(1), 2, "result")
          let expected =
            switch position {
            case .before: "once down1 down0 "
            case .around: "(once down1 down0 once) "
            case .after: "down1 down0 once "
            }
          check(Log.take(), expected, "the outer call alone")
          _ = circle.down(0)
          check(Log.take(), "down0 ", "not again")
          check(isFreed, true, "freed")
          check(engine.list().count, 0, "not listed")
        }
      }
    }
  ),
  (
    "A1 once: exactly once when many threads call at the same time",
    {
      for round in 0..<200 {
        let ran = Atomic<Int>(0)
        let go = Atomic<Bool>(false)
        try withUnsafePointer(to: ran) { ran in
          try withUnsafePointer(to: go) { go in
            let position = [Position.before, .around, .after][round % 3]
            try hook("EngineSubjects.Size.grown(_:)", Wish(position: position, isOnce: true)) { call in
              ran.pointee.wrappingAdd(1, ordering: .relaxed)
              if position == .around { call.proceed() }
            }
            let threads = (0..<4).map { _ in
              Thread {
                while !go.pointee.load(ordering: .acquiring) {}
                let size = Size(width: 1)
                for n in 0..<50 where size.grown(n) != n + 1 { ran.pointee.wrappingAdd(1000, ordering: .relaxed) }
              }
            }
            Log.isOn = false
            go.pointee.store(true, ordering: .releasing)
            threads.forEach { $0.join() }
            Log.isOn = true
            check(ran.pointee.load(ordering: .relaxed), 1, "calls that the hook saw in round \(round)")
          }
        }
      }
      check(engine.list().count, 0, "none left")
    }
  ),
  (
    "A1 hooks are disabled and enabled, and keep their place",
    {
      let circle = Circle(tag: 1)
      let low = try note("low", "\(shape).scale(_:)")
      let middle = try note("middle", "\(shape).scale(_:)")
      let object = try note("object", "\(shape).scale(_:)", on(circle))
      _ = Log.take()
      for (token, rest) in [(low, "object middle"), (middle, "object low"), (object, "middle low")] {
        check(engine.setEnabled(false, token), true, "disable")
        check(engine.isEnabled(token), false, "is disabled")
        _ = scale(circle, 1)
        check(Log.take(), "\(rest) Shape.scale ", "disabled")
        check(engine.setEnabled(true, token), true, "enable")
        _ = scale(circle, 1)
        check(Log.take(), "object middle low Shape.scale ", "enabled")
      }
      check(engine.setEnabled(false, owner: "cases"), 3, "all of an owner")
      _ = scale(circle, 1)
      check(Log.take(), "Shape.scale ", "all disabled")
      check(engine.remove([low, middle, object]), 3, "removed")
      check(engine.setEnabled(true, low), false, "a removed one")
    }
  ),
  (
    "layers of an async method: filters, once, order",
    {
      let (a, b) = (Circle(tag: 1), Circle(tag: 2))
      func run(_ shape: Shape) -> Int { wait { await shape.later(1) } }
      let object = try note("object", "\(shape).later(_:)", on(a))
      let after = try note("after", "\(shape).later(_:)", subclasses(Circle.self, .after))
      let type = try note("type", "\(shape).later(_:)")
      let once = try note("once", "\(shape).later(_:)", Wish(position: .after, isOnce: true))
      _ = Log.take()
      check([run(a), run(b), run(Shape(tag: 3))], [2, 3, 4], "results")
      check(Log.take(), "object type after once type after init type end3 ", "order")
      engine.remove([object, after, type, once])
    }
  ),
]

/// Runs a task to its end on this thread's behalf.
func wait<T>(_ body: @escaping () async -> T) -> T {
  let done = Atomic<Bool>(false)
  nonisolated(unsafe) var result: T?  // written before `done`, read after it
  nonisolated(unsafe) let body = body  // this thread waits for it
  return withUnsafePointer(to: done) { done in
    nonisolated(unsafe) let done = done
    Task.detached {
      result = await body()
      done.pointee.store(true, ordering: .releasing)
    }
    while !done.pointee.load(ordering: .acquiring) { usleep(100) }
    return result!
  }
}

/// Numbers that look random and are the same for a seed (splitmix64).
struct Generator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
