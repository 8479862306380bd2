// working [N]: works on two threads, for processor time that is stated, or an Nth of it: three parts of four in one function, one in another.
import Dispatch
import Glibc

nonisolated(unsafe) var sums = (0, 0)
func used() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}
@inline(never) public func roast(_ time: Int) {
  let end = used() + time
  while used() < end { for index in 0..<20_000 { sums.0 &+= index ^ sums.0 } }
}
@inline(never) public func grind(_ time: Int) {
  let end = used() + time
  while used() < end { for index in 0..<20_000 { sums.1 = (sums.1 &* 31) &+ index } }
}
@_optimize(none) public func breakfast() {
  let part = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 1
  roast(900 / part)
  grind(300 / part)
}
let done = DispatchSemaphore(value: 0)
DispatchQueue.global().async {
  breakfast()
  done.signal()
}
breakfast()
done.wait()
print("done")
