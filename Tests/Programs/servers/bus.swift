// Requests that begin in one call and are answered in another, on several connections at once, some before the last is answered.
import Foundation

struct Ask {
  var path: String
  var headers: [(String, String)]
}
struct Answer { var status: Int }
enum Part {
  case request(Ask)
  case body([UInt8])
  case answer(Answer)
  case end
}

final class Line: @unchecked Sendable {
  private(set) var taken = 0
  private(set) var given = 0
  private(set) var isOpen = true

  private(set) var kept: [Part] = []

  // Both look at the whole part, so that it is passed as it is declared.
  @inline(never) func take(_ part: Part) {
    kept = [part]
    taken += 1
    work()
  }
  @inline(never) func give(_ part: Part) {
    kept = [part]
    given += 1
  }
  @inline(never) func close() { isOpen = false }
  @inline(never) func work() { taken &+= 0 }
}

// Each line: pairs of requests, the second taken before the first is answered; the last request is never answered.
func drive(_ number: Int, _ rounds: Int) -> Int {
  let line = Line()
  for round in 0..<rounds {
    for half in 0..<2 {
      let trace = half == 0 ? [("Host", "bus"), ("TraceParent", String(format: "00-%016x%016x-%016x-01", number + 1, round + 1, 7))] : [("Host", "bus")]
      line.take(.request(Ask(path: "/\(number)/\(round)/\(half)", headers: trace)))
      line.take(.body([1, 2, 3]))
      line.take(.end)
    }
    for half in 0..<2 {
      line.give(.answer(Answer(status: half == 0 ? 200 : 503)))
      line.give(.body([4]))
      line.give(.end)
    }
  }
  line.take(.request(Ask(path: "/\(number)/left", headers: [])))
  line.close()
  return line.taken + line.given
}

let rounds = 200
let done = (0..<4).map { _ in DispatchSemaphore(value: 0) }
nonisolated(unsafe) var sums = [0, 0, 0, 0]
let lock = NSLock()
for number in 0..<4 {
  Thread {
    let sum = drive(number, rounds)
    lock.withLock { sums[number] = sum }
    done[number].signal()
  }.start()
}
for each in done { each.wait() }
print(sums)
