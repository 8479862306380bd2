import Glibc
public final class Counter { public var n = 0; public init() {}
  @inline(never) public func count(_ text: String) -> Int { n += 1; return n &+ text.utf8.count } }
// Counts for as many milliseconds as it is told.
let counter = Counter()
var now = timespec(), sum = 0
clock_gettime(CLOCK_MONOTONIC, &now)
let end = now.tv_sec * 1000 + now.tv_nsec / 1_000_000 + Int(CommandLine.arguments[1])!
repeat {
  for _ in 0..<100 { sum &+= counter.count("some text to record") }
  usleep(2000)
  clock_gettime(CLOCK_MONOTONIC, &now)
} while now.tv_sec * 1000 + now.tv_nsec / 1_000_000 < end
print("done", sum != 0)
