// Works on two threads, for processor time that is stated: three parts of four in one function, one in another.
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
  roast(900)
  grind(300)
}
let done = DispatchSemaphore(value: 0)
DispatchQueue.global().async {
  breakfast()
  done.signal()
}
breakfast()
done.wait()
print("done")
