import Glibc
import Helper

nonisolated(unsafe) var sink: Int64 = 0
@inline(never) public func tiny(_ n: Int64) -> Int64 { sink &+= n; return n &+ 1 }
@inline(never) public func named(_ n: Int64) -> String { "number \(n)" }
@inline(never) public func first0(_ n: Int64) -> Int64 { n &* 2 &+ sink }
@inline(never) public func first1(_ n: Int64) -> Int64 { n &* 3 &+ sink }
@inline(never) public func first2(_ n: Int64) -> Int64 { n &* 4 &+ sink }
@inline(never) public func first3(_ n: Int64) -> Int64 { n &* 5 &+ sink }
open class Ladder {
  public init() {}
  @inline(never) open func down(_ n: Int) -> Int {
    sink &+= 1
    if n == 0 { return 0 }
    let below = self.down(n - 1)
    return below &+ 1
  }
  @inline(never) open func after() -> Int { 5 }
}

let arguments = CommandLine.arguments
switch arguments[1] {
case "threads": print(on_threads({ tiny($0) &+ Int64(named($0).utf8.count) }, 8, Int(arguments[2])!))
case "signal": print(in_signal({ tiny($0) }, Int(arguments[2])!, 50), tiny(3))
case "alarm":
  // What is interrupted takes memory all the time.
  let bodies: [Counted?] = [{ first0($0) }, { first1($0) }, { first2($0) }, { first3($0) }]
  bodies.withUnsafeBufferPointer { bodies in
    on_alarm(bodies.baseAddress, 4, 200)
    var all: [[Int]] = []
    while alarms() < 3000 {
      all.append(Array(repeating: all.count, count: all.count % 97))
      if all.count > 500 { all.removeAll() }
    }
    on_alarm(bodies.baseAddress, 4, 0)
  }
  print("done")
case "jump":
  out_of_signal({ tiny($0) }, 100)
  // Not in a handler any more, on whatever stack.
  print(Ladder().after(), tiny(1))
case "cancel":
  // First calls, which are looked into, and later ones.
  print(cancelled { first0($0) }, cancelled { first0($0) }, cancelled { Int64(named($0).utf8.count) }, cancelled { first1($0) })
  print(first2(1), first3(2), tiny(3), named(4))
case "deep": print(Ladder().down(Int(arguments[2])!), Ladder().after())
default: break
}
