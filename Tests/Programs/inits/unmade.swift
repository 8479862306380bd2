// Initialisers of classes, which subclasses call, and which fail or throw: what they are called on holds whatever was in the memory before.
struct Failed: Error {}
nonisolated(unsafe) var ended = 0
class Shape {
  var corners: Int
  var name: String
  @inline(never) init?(some: Int) {
    name = "a name that lies on the heap \(some)"
    if some < 0 { return nil }
    corners = some
  }
  @inline(never) init(checked: Int) throws {
    if checked < 0 { throw Failed() }
    corners = checked
    name = "a name that lies on the heap \(checked)"
  }
  deinit { ended += 1 }
}
class Square: Shape {
  var marks = [1, 2, 3]
  @inline(never) override init?(some: Int) {
    if some == -7 { return nil }
    super.init(some: some)
  }
  @inline(never) override init(checked: Int) throws { try super.init(checked: checked) }
}
actor Counter {
  let name: String
  let start: Int
  @inline(never) init(_ start: Int) {
    self.start = start
    name = "an actor's name that lies on the heap \(start)"
  }
  func first() -> Int { start }
}
/// Leaves words that are no references in the memory that objects are made in next.
@inline(never) func churn(_ number: Int) -> Int {
  var lists: [[Int]] = []
  for size in 1...8 { lists.append(Array(repeating: 0x41_4141_4141 &+ number, count: size)) }
  return lists.count
}
@main struct Main {
  static func main() async {
    var sum = 0
    for number in 0..<300 {
      let key = number % 3 == 0 ? -number : number
      sum += churn(number)
      sum += Shape(some: key)?.corners ?? -1
      sum += Square(some: key)?.corners ?? -1
      sum += (try? Shape(checked: key).corners) ?? -1
      sum += (try? Square(checked: key).corners) ?? -1
      sum += await Counter(number).first()
    }
    print("sum", sum, "ended", ended)
  }
}
