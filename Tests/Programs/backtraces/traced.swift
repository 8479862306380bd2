// A program whose stack is looked at while hooks stand on it.
import Glibc
import Marks

open class Walker {
  public init() {}
  @inline(never) open func walk(_ steps: Int) -> Int { steps == 0 ? inner(0) : walk(steps - 1) + 1 }
}

@inline(never) public func inner(_ n: Int) -> Int { crashes && n == 3 ? Int(crash(Int64(n))) : Int(mark(Int64(n))) + 1 }
@inline(never) public func middle(_ n: Int, _ text: String) throws -> Int {
  if n < 0 { throw Failure() }
  return inner(n) + text.utf8.count
}
@inline(never) public func outer(_ n: Int) -> Int { ((try? middle(n, "text")) ?? -1) + 1 }
public struct Failure: Error {}
nonisolated(unsafe) var crashes = false

@inline(never) public func later(_ n: Int) async -> Int {
  let first = inner(n)
  await Task.yield()
  return first + inner(n + 1)
}

@inline(never) public func spin(_ n: Int) -> Int {
  var sum = 0
  for i in 0..<200 { sum = sum &* 31 &+ i &* n }
  return sum
}
@inline(never) public func turn(_ n: Int) -> Int { spin(n) &+ 1 }
@inline(never) public func wheel(_ count: Int) -> Int {
  var sum = 0
  for i in 0..<count { sum = sum &+ turn(i) &+ Int(abs(Int32(truncatingIfNeeded: i))) }
  return sum
}

switch CommandLine.arguments.last {
case "crash":
  crashes = true
  print(outer(3))
case "profile":
  profile_begin()
  let samples = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 1000
  // For as long as it takes: hooks became faster before, and will again.
  var sum = 0
  while profile_count() < samples { sum = sum &+ wheel(1000) }
  print(sum == 1 ? "one" : "wheel")
  profile_end("wheel")
default:
  print(outer(1))
  print(Walker().walk(2))
  print(outer(-1))
  print(await later(5))
}
