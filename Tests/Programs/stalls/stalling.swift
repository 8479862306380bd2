// Stalls, planted: where each is comes on the command line; `busy` and `sleepy` say whether the stalled thread works or sleeps.
//
//     stalling runloop busy|sleepy    the main run loop, Foundation's
//     stalling mainqueue busy         the main queue, served by dispatchMain
//     stalling firstwork busy         the same, and the stall is the first thing that the queue is given
//     stalling signal busy            a main thread that waits for signals, and no queue
//     stalling queue busy             the queue "shop.db"
//     stalling pool sleepy            all threads of the pool
//     stalling loop busy|sleepy       a thread that serves epoll_wait, as servers do
//     stalling none busy              a main thread that never waits for events
import Dispatch
import Foundation

// The C library's, which Glibc's module leaves out: words alone, in the registers that C uses.
@_silgen_name("epoll_create1") func epollCreate(_ flags: Int32) -> Int32
@_silgen_name("epoll_wait") func epollWait(_ poll: Int32, _ events: UnsafeMutableRawPointer, _ most: Int32, _ time: Int32) -> Int32

nonisolated(unsafe) var sum = 0
func milliseconds() -> Int { Int(DispatchTime.now().uptimeNanoseconds / 1_000_000) }

@inline(never) public func countReceipts(_ time: Int) {
  let end = milliseconds() + time
  while milliseconds() < end {
    // Without calls: a function that sets up no frame would hide this one.
    var index = 0
    while index < 1_000_000 {
      sum &+= index ^ sum
      index &+= 1
    }
  }
}
@inline(never) public func waitForPrinter(_ time: Int) {
  usleep(UInt32(time) * 1000)
  sum &+= 1
}
@_optimize(none) public func stall(_ how: String) {
  // Long beside what a busy machine adds; the pool's threads stall several times.
  let time = CommandLine.arguments[1] == "pool" ? 700 : 1500
  if how == "sleepy" { waitForPrinter(time) } else { countReceipts(time) }
  sum &+= 1
}

let (place, how) = (CommandLine.arguments[1], CommandLine.arguments[2])
// Until the watch has seen the place go on; and until it has seen that it goes on again.
let settled = 1.2, over = 1.2
switch place {
case "runloop":
  _ = Timer.scheduledTimer(withTimeInterval: settled, repeats: false) { _ in
    stall(how)
    _ = Timer.scheduledTimer(withTimeInterval: over, repeats: false) { _ in print("done"); exit(0) }
  }
  RunLoop.main.run()
case "mainqueue":
  DispatchQueue.main.asyncAfter(deadline: .now() + settled) {
    stall(how)
    DispatchQueue.main.asyncAfter(deadline: .now() + over) { print("done"); exit(0) }
  }
  dispatchMain()
case "firstwork":
  DispatchQueue.main.async {
    stall(how)
    DispatchQueue.main.asyncAfter(deadline: .now() + over) { print("done"); exit(0) }
  }
  dispatchMain()
case "signal":
  Thread {
    stall(how)
    print("done")
    exit(0)
  }.start()
  var none = sigset_t()
  while true { sigsuspend(&none) }
case "queue":
  let queue = DispatchQueue(label: "shop.db")
  Thread.sleep(forTimeInterval: settled)
  queue.sync { }
  queue.async { stall(how) }
  queue.sync { }
  Thread.sleep(forTimeInterval: over)
  print("done")
case "pool":
  Thread.sleep(forTimeInterval: settled)
  for _ in 0..<4 * ProcessInfo.processInfo.activeProcessorCount { Task.detached { stall(how) } }
  Thread.sleep(forTimeInterval: 2.8 + over)
  print("done")
case "loop":
  let poll = epollCreate(0)
  let served = DispatchSemaphore(value: 0)
  Thread {
    let event = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 8)
    let begin = milliseconds()
    var hasStalled = false
    while milliseconds() < begin + 1200 || !hasStalled {
      _ = epollWait(poll, event, 1, 20)
      if !hasStalled, milliseconds() > begin + 600 {
        stall(how)
        hasStalled = true
      }
    }
    for _ in 0..<30 { _ = epollWait(poll, event, 1, 20) }
    served.signal()
  }.start()
  served.wait()
  print("done")
default:
  stall(how)
  print("done")
}
