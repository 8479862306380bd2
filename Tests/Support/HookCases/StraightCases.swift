// Values that handlers get and replace without a look at the plan: that they are the same as those that go by it.
import Checks
import HookRuntime
import HookSubjects

@Sendable private func say(_ text: String) { Trace.text += text + " " }

private func noted(_ body: () throws -> Void) rethrows -> String {
  _ = Trace.take()
  try body()
  return Trace.take()
}

private struct Refused: Error {}

@MainActor let straightCases: [(String, () throws -> Void)] = [
  (
    "straight: scalars are read and replaced, in registers and on the stack",
    {
      let read = try Hooks.before("\(module).scalars(_:_:_:_:_:)") { (_, a: Int, b: Double, c: Bool, d: Int8, e: Float) in
        say("\(a) \(b) \(c) \(d) \(e)")
      }
      check(noted { check(scalars(-1, 2.5, true, -128, 0.5), -26, "original") }, "-1 2.5 true -128 0.5 ", "scalars")
      check(
        noted { check(scalars(1 << 40, -0.0, false, 127, -1), (1 << 40) + 126, "original") }, "1099511627776 -0.0 false 127 -1.0 ", "ends")
      read.remove()
      let change = try Hooks.before("\(module).scalars(_:_:_:_:_:)") { call in
        try call.set(0, to: 1)
        try call.set(1, to: 0.5)
        try call.set(2, to: false)
        try call.set(3, to: Int8(-3))
        try call.set(4, to: Float(2.5))
        say("\(try call.argument(0, as: Int.self)) \(try call.argument(2, as: Bool.self)) \(try call.argument(3, as: Any.self))")
      }
      check(noted { check(scalars(7, 7, true, 7, 7), 1, "replaced") }, "1 false -3 ", "what was set is read, exactly and as Any")
      change.remove()
      let stack = try Hooks.around("\(module).many(_:_:_:_:_:_:_:_:)") { call -> Int in
        let (a, h) = (try call.argument(0, as: Int.self), try call.argument(7, as: Int.self))
        for index in 0..<8 { try call.set(ArgumentKey(index), to: 8 - index) }
        return try call.original() + (a * 10 + h) * 100_000_000
      }
      check(many(1, 2, 3, 4, 5, 6, 7, 8), 18_8765_4321, "eight")
      stack.remove()
    }
  ),
  (
    "straight: structs, by value, by address and in parts",
    {
      let hook = try Hooks.before("\(module).shapes(_:_:_:_:_:)") {
        (_, point: Point, small: Small, large: Large, mixed: Mixed, maybe: Int?) in
        say("\(point.x),\(point.y) \(small.a),\(small.b),\(small.c)")
        say("\(large.a),\(large.text) \(mixed.x),\(mixed.n) \(maybe ?? -99)")
      }
      let after = try Hooks.after("\(module).shapes(_:_:_:_:_:)") { (_, result: Mixed, point: Point) in
        say("\(result.x),\(result.n) \(point.y)")
      }
      let large = Large(10, "a text that lives on the heap")
      check(
        noted { check(shapes(Point(1, 2), Small(3, 4, true), large, Mixed(0.5, 6), nil), Mixed(3.5, 20), "original") },
        "1,2 3,4,true 10,a text that lives on the heap 0.5,6 -99 3.5,20 2 ", "nil")
      check(
        noted {
          check(shapes(Point(-1, 5), Small(.min, -4, false), large, Mixed(-0.5, 6), 7), Mixed(3.5, Int(Int32.min) + 17), "original")
        },
        "-1,5 \(Int32.min),-4,false 10,a text that lives on the heap -0.5,6 7 3.5,\(Int(Int32.min) + 17) 5 ", "some")
      hook.remove()
      after.remove()
    }
  ),
  (
    "straight: a handler that fails has replaced nothing",
    {
      nonisolated(unsafe) var told = 0
      Hooks.onFailure { _ in told += 1 }
      defer { Hooks.onFailure(nil) }
      let before = try Hooks.before("\(module).scalars(_:_:_:_:_:)") { call in
        try call.set(0, to: 1000)
        try call.set(9, to: 1)
      }
      check(scalars(1, 1, false, 1, 1), 4, "before")
      before.remove()
      let around = try Hooks.around("\(module).isEven(_:)") { (call, n: Int) -> Bool in
        _ = try call.original(n + 1)
        try call.setResult(to: true)
        throw Refused()
      }
      check(isEven(2), false, "the original ran with what it was given, and its result stands")
      around.remove()
      check(told, 2, "told")
    }
  ),
  (
    "straight: results are read, replaced and replaced again",
    {
      let after = try Hooks.after("\(module).isEven(_:)") { (call, result: Bool) in
        try call.setResult(to: !result)
        say("\(try call.result(as: Bool.self)) \(try call.result(as: Any.self))")
      }
      check(noted { check(isEven(2), false, "changed") }, "false false ", "read back")
      check(noted { check(isEven(3), true, "changed") }, "true true ", "read back")
      after.remove()
      let twice = try Hooks.around("\(module).half(_:)") { (call, n: Int) -> Int in
        try call.setResult(to: -1)
        let first = try call.original(8)
        let second = try call.original(n)
        return first * 100 + second
      }
      check(try half(6), 403, "what was set before the original ran is gone")
      do {
        check(try half(7), 0, "no result")
      } catch { check("\(error)", "odd", "what the second run threw") }
      twice.remove()
      let swallowed = try Hooks.after("\(module).half(_:)") { (call, result: Result<Int, any Error>) in
        if case .failure = result { try call.setResult(to: 99) } else { say("\(try result.get())") }
      }
      check(noted { check(try? half(5), 99, "swallowed") }, "", "thrown")
      check(noted { check(try? half(4), 2, "returned") }, "2 ", "returned")
      swallowed.remove()
      let instead = try Hooks.around("\(module).half(_:)") { (_, n: Int) -> Int in n * 2 }
      check(try half(7), 14, "without the original")
      instead.remove()
    }
  ),
  (
    "straight: variables of the caller are read where they are",
    {
      let after = try Hooks.after("\(module).doubled(_:by:)") { (call, result: Double, n: Int) in
        say("\(result) \(n)")
        try call.set(0, to: n + 1)
      }
      let before = try Hooks.before("\(module).doubled(_:by:)") { (call, n: Int, by: Int) in
        say("\(n) \(by)")
        try call.set("by", to: by + 1)
      }
      var n = 5
      check(noted { check(doubled(&n, by: 2), 15, "original") }, "5 2 15.0 15 ", "in place")
      check(n, 16, "the caller's variable")
      after.remove()
      before.remove()
    }
  ),
]
