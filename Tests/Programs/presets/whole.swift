// whole URL: a request, a stall of the main run loop, and a crash at the end.
import Foundation
import FoundationNetworking

nonisolated(unsafe) var sum = 0

@inline(never) public func countReceipts() {
  let end = Date().addingTimeInterval(1)
  while Date() < end {
    var index = 0
    while index < 1_000_000 {
      sum &+= index ^ sum
      index &+= 1
    }
  }
}
@inline(never) public func closeTheTill(_ coins: Int) {
  if coins < 1 { fatalError("the till is empty") }
  sum &+= coins
}

let done = DispatchSemaphore(value: 0)
URLSession.shared.dataTask(with: URL(string: CommandLine.arguments[1])!) { data, _, _ in
  print(data?.count ?? -1)
  done.signal()
}.resume()
done.wait()
// Until the watch has seen the loop go on, before and behind the stall.
_ = Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in
  countReceipts()
  _ = Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in closeTheTill(sum &* 0) }
}
RunLoop.main.run()
