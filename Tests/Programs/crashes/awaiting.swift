// Traps in an async function that others wait for, in a task of its own.
import Glibc

let none: [Int] = CommandLine.arguments.isEmpty ? [1] : []
@inline(never) func pause(_ n: Int) async -> Int { await Task.yield(); return n }
@inline(never) public func work(_ n: Int) -> Int { n &* 3 }
@inline(never) func innermost(_ n: Int) async -> Int { none[await pause(work(n))] }
@inline(never) func middle(_ n: Int) async -> Int { await innermost(n + 1) + work(n) }
@inline(never) func outermost(_ n: Int) async -> Int { await middle(n + 1) + work(n) }

@main enum Awaiting {
  static func main() async { print(await Task { await outermost(1) }.value) }
}
