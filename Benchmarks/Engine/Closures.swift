// Closures — what a hook costs whose handler is a Swift closure that names the types it takes.
import HookRuntime
import Sampling

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
  static func bench() -> Bench {
    do { try install() } catch { fatalError("internal error: \(error)") }
    let subject = ClosureSubject()
    var bench = Bench()
    bench.add("closures bare") { for i in 0..<$0 { keep(subject.bare(i, 1)) } }
    bench.add("closure before, nothing") { for i in 0..<$0 { keep(subject.silent(i, 1)) } }
    bench.add("closure before, 2 Int") { for i in 0..<$0 { keep(subject.before(i, 1)) } }
    bench.add("closure around") { for i in 0..<$0 { keep(subject.around(i, 1)) } }
    bench.add("closure around, 2 Int replaced") { for i in 0..<$0 { keep(subject.replacing(i, 1)) } }
    bench.add("closure after, result") { for i in 0..<$0 { keep(subject.after(i, 1)) } }
    return bench
  }

  private static func install() throws {
    let subject = Hooks(ClosureSubject.self)
    try subject.before("silent(_:_:)") { _ in }
    try subject.before("before(_:_:)") { (_, a: Int, b: Int) in keep(a &+ b) }
    try subject.around("around(_:_:)") { call in try call.original() }
    try subject.around("replacing(_:_:)") { (call, a: Int, b: Int) -> Int in try call.original(b, a) &+ 1 }
    try subject.after("after(_:_:)") { (_, result: Int) in keep(result) }
  }
}
