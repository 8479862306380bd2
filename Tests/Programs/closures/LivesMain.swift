import Dispatch
import Foundation
import Lives

func residentKilobytes() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  return Int(text.split(separator: " ")[1])! * 4
}

@main struct Main {
  static func main() {
    let rounds = Int(CommandLine.arguments[1])!
    print("sorted", sorted(["pear", "apple", "fig"], by: <))

    // Called on other threads than the one that made it, one at a time and four at once.
    let handler = shared { _ in }
    let queue = DispatchQueue(label: "other")
    let done = DispatchSemaphore(value: 0)
    queue.async { handler(1); done.signal() }
    done.wait()
    DispatchQueue.concurrentPerform(iterations: 4) { _ in for _ in 0..<(rounds / 4) { handler(1) } }
    print("shared", repeated(0) { $0 })

    var grown: [Int] = []
    for part in 0..<4 {
      var sum = repeated(rounds) { $0 }
      for n in 0..<(rounds / 100) {
        sum &+= called { n, text in text + "\(n)" }.count
        let token = Token(n)
        sum &+= wrapped { $0.n + token.n }()
        sum &+= failing { _ in Token(n) }
      }
      grown.append(residentKilobytes())
      if part == 0 { print("sum", sum) }
    }
    // The collector of the script runs when it wants to; what it has not seen yet is bounded.
    print("alive", Token.alive < 20000, "grown", grown[3] - grown[0] < 8192)
    FileHandle.standardError.write("alive \(Token.alive), kilobytes \(grown)\n".data(using: .utf8)!)
  }
}
