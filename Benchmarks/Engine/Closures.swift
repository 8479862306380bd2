// Closures — what a hook costs whose handler is a Swift closure that names the types it takes.
import HookRuntime

public final class ClosureSubject {
  var total = 0
  @inline(never) public func bare(_ a: Int, _ b: Int) -> Int { total &+= a; return total &+ b }
  @inline(never) public func silent(_ a: Int, _ b: Int) -> Int { total &+= a; return total &- b }
  @inline(never) public func before(_ a: Int, _ b: Int) -> Int { total &+= a; return total &- b &- 1 }
  @inline(never) public func around(_ a: Int, _ b: Int) -> Int { total &+= a; return total ^ b }
  @inline(never) public func replacing(_ a: Int, _ b: Int) -> Int { total &+= a; return total ^ b &+ 1 }
  @inline(never) public func after(_ a: Int, _ b: Int) -> Int { total &+= a; return total | b }
}

enum Closures {
  static func measure(repetitions: Int) {
    do { try install() } catch { fatalError("internal error: \(error)") }
    let subject = ClosureSubject()
    let rounds = 300_000
    for repetition in 0...repetitions {
      let times = [
        ("closures bare", time(rounds) { subject.bare($0, 1) }), ("closure before, nothing", time(rounds) { subject.silent($0, 1) }),
        ("closure before, 2 Int", time(rounds) { subject.before($0, 1) }), ("closure around", time(rounds) { subject.around($0, 1) }),
        ("closure around, 2 Int replaced", time(rounds) { subject.replacing($0, 1) }),
        ("closure after, result", time(rounds) { subject.after($0, 1) }),
      ]
      guard repetition > 0 else { continue }  // the warm-up
      for (name, value) in times { sample(name, value) }
    }
  }

  private static func install() throws {
    let subject = Hooks(ClosureSubject.self)
    try subject.before("silent(_:_:)") { _ in }
    try subject.before("before(_:_:)") { (_, a: Int, b: Int) in keep(a &+ b) }
    try subject.around("around(_:_:)") { call in try call.original() }
    try subject.around("replacing(_:_:)") { (call, a: Int, b: Int) -> Int in try call.original(b, a) &+ 1 }
    try subject.after("after(_:_:)") { (_, result: Int) in keep(result) }
  }

  @inline(__always)
  private static func time(_ rounds: Int, _ body: (Int) -> Int) -> Double {
    let start = processorTime()
    var sum = 0
    for i in 0..<rounds { sum &+= body(i) }
    let spent = processorTime() - start
    keep(sum)
    return spent / Double(rounds)
  }

  @inline(never) private static func keep(_ value: Int) {}
}
