// shop MODE [COUNT]: a program that rules look into. Its functions are called in a fixed order; what they are given is in `expected`.
import Glibc

enum Payment { case cash, card(number: String, months: Int), voucher }
protocol Item { var label: String { get } }
struct Apple: Item { var label: String; var grams: Int }
struct Line { var name: String; var price: Double }

class User {
  var email: String
  var age: Int32
  init(email: String, age: Int32) { (self.email, self.age) = (email, age) }
}

final class Cart {
  var title: String
  var lines: [Line] = []
  var payment = Payment.cash
  var buyer: User?
  var present: any Item = Apple(label: "an apple in a present", grams: 150)
  var tags: Set<String> = ["a", "b"]
  var prices: [String: Int] = ["x": 1]
  init(_ title: String) { self.title = title }

  var total: Double {
    var sum = 0.0
    for line in lines { sum += line.price }
    return sum
  }
  @inline(never) func describe() -> String { "\(title): \(lines.count)" }

  @inline(never) func add(_ name: String, price: Double) { lines.append(Line(name: name, price: price)) }
  @inline(never) func checkout(_ note: String) -> Int {
    print("checkout \(title) \(lines.count) \(note)")
    return lines.count
  }
  @inline(never) func pay(_ payment: Payment) throws -> String {
    self.payment = payment
    if case .voucher = payment { throw Refused.voucher(number: 7, why: "spent") }
    return "paid"
  }
}
enum Refused: Error { case voucher(number: Int, why: String), closed }

/// How often a shelf was looked at.
nonisolated(unsafe) var looks = 0
final class Shelf {
  private var count = 0
  @inline(never) func look() -> Int {
    looks += 1
    return count
  }
  @inline(never) func put() { count += 1 }
  @inline(never) func take() { count -= 1 }
}

struct Meter {
  var count: Int
  var name: String
  @inline(never) func read(_ factor: Int) -> Int { count * factor + name.utf8.count }
  @inline(never) mutating func step(by: Int) { count += by }
}
enum Signal {
  case go, stop(after: Int)
  @inline(never) func show() -> Int { if case .stop(let n) = self { n } else { 0 } }
}

/// What stands before and behind the first `at`.
@inline(never) func cut(_ text: String, at: Character) -> (head: Substring, tail: String, key: AnyHashable) {
  let place = text.firstIndex(of: at)!
  return (text[..<place], String(text[text.index(after: place)...]), 7)
}
@inline(never) func tap(_ name: String, at x: Int) -> Int { x &+ name.utf8.count }
@inline(never) func weigh(_ grams: Int) throws(Refused) -> Int {
  if grams > 2 { throw .voucher(number: grams, why: "heavy") }
  if grams > 1 { throw .closed }
  return grams
}
@inline(never) func press(_ name: String) -> Int { name.utf8.count }
@inline(never) func tick(_ thread: Int, _ number: Int) -> Int { thread &* 7 &+ number }

func visits() throws {
  let cart = Cart("box")
  cart.buyer = User(email: "ada@example.org", age: 36)
  cart.add("tea", price: 2.5)
  cart.add("milk", price: 1)
  _ = cart.checkout("first")
  for payment in [Payment.cash, .card(number: "4111", months: 12), .voucher] {
    do { print(try cart.pay(payment)) } catch { print("refused \(error)") }
  }
  for grams in 1...3 { do throws(Refused) { print(try weigh(grams)) } catch { print("refused \(error)") } }
  let empty = Cart("empty")
  _ = empty.checkout("second")
  var meter = Meter(count: 3, name: "gas")
  print(meter.read(2))
  meter.step(by: 4)
  print(meter.count, Signal.go.show(), Signal.stop(after: 9).show())
  print(cut("café ole", at: "é").tail)
}

func taps(_ count: Int) {
  var sum = 0
  for round in 0..<count { sum &+= tap("button \(round % 3)", at: round % 3) }
  sum &+= press("button 0")
  print(sum)
}

/// Taps and presses, some milliseconds after each other; when each was goes to the file `times`.
func edges() {
  var times: [Int] = []
  for (number, pause) in [0, 20, 50, 60, 20, 70, 60, 300, 10, 10, 400].enumerated() {
    usleep(UInt32(pause) * 1000)
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    times.append(now.tv_sec * 1_000_000_000 + now.tv_nsec)
    _ = number % 2 == 0 ? tap("edge", at: 1) : press("edge")
  }
  guard let file = fopen("times", "w") else { return }
  for time in times { fputs("\(time)\n", file) }
  fclose(file)
}

func shelf() {
  let shelf = Shelf()
  for _ in 0..<3 {
    shelf.put()
    shelf.take()
  }
  print(shelf.look(), "looked at", looks)
}

/// - Parameter pause: microseconds between two of a thread.
func ticks(_ count: Int, pause: UInt32 = 0) {
  let threads = 8
  var handles = [pthread_t](repeating: 0, count: threads)
  struct Work { let thread: Int, count: Int, pause: UInt32 }
  for thread in 0..<threads {
    let work = UnsafeMutablePointer<Work>.allocate(capacity: 1)
    work.initialize(to: Work(thread: thread, count: count / threads, pause: pause))
    pthread_create(&handles[thread], nil, { given in
      let work = given!.assumingMemoryBound(to: Work.self).pointee
      var sum = 0
      for number in 0..<work.count {
        sum &+= tick(work.thread, number)
        if work.pause > 0 { usleep(work.pause) }
      }
      return UnsafeMutableRawPointer(bitPattern: sum | 1)
    }, work)
  }
  for handle in handles { pthread_join(handle, nil) }
  print("ticked \(count)")
}

let count = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2])! : 0
switch CommandLine.arguments[1] {
case "visits": try visits()
case "taps": taps(count)
case "edges": edges()
case "shelf": shelf()
case "paced": ticks(count, pause: 200)
case "killed":
  ticks(count)
  kill(getpid(), SIGKILL)
default: ticks(count)
}
