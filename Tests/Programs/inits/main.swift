// Initialisers of a superclass that fail, which end the object they were given; a deinit's object is gone as well.
final class Count: @unchecked Sendable { var alive = 0 }
let count = Count()
nonisolated(unsafe) var others: [Other] = []
struct Refused: Error {}

class Base {
  let n: Int
  @inline(never) init?(some n: Int) {
    count.alive += 1
    if n < 0 {
      count.alive -= 1
      return nil
    }
    self.n = n
  }
  @inline(never) init(checked n: Int) throws {
    self.n = n
    count.alive += 1
    if n < 0 { throw Refused() }
  }
  @inline(never) deinit { count.alive -= 1 }
}

// Its deinit is the same code as the one of Base.
class Other {
  let n: Int
  init(_ n: Int) {
    self.n = n
    count.alive += 1
  }
  @inline(never) deinit { count.alive -= 1 }
}

// Of another size, so that its memory is no other subclass's.
final class Heir: Base {
  let more: (Int, Int, Int, Int)
  override init?(some n: Int) {
    more = (n, n, n, n)
    super.init(some: n)
  }
  override init(checked n: Int) throws {
    more = (n, n, n, n)
    try super.init(checked: n)
  }
}

@inline(never) func make(_ n: Int) -> String {
  let some = Heir(some: n).map { "\($0.n)" } ?? "nil"
  do { return "\(some) \(try Heir(checked: n).more.3)" } catch { return "\(some) \(error)" }
}

@inline(never) func end(_ alive: Int) { print("alive", alive) }

@main struct Main {
  static func main() {
    for n in -3..<4 { print(make(n)) }
    for n in 0..<5 { others.append(Other(n)) }
    others = []
    end(count.alive)
  }
}
