import Lib
import Synchronization

final class Dog: Animal {
  var extra: String
  override init(_ id: Int) {
    extra = "a text for dog \(id) that is in the heap"
    super.init(id)
  }
  override init?(checked id: Int) {
    extra = "checked \(id), in the heap as well"
    super.init(checked: id)
  }
}
final class Cell { let mutex = Mutex(5) }
struct Guarded<T: Sendable>: ~Copyable { let inner: Mutex<T>; init(_ value: consuming sending T) { inner = Mutex(value) } }
indirect enum List { case end, node(Int, List) }
struct Odd: Error { var text: String, number: Int, half: Int16, flag: Bool }

@inline(never) @_optimize(none) func locked(_ mutex: borrowing Mutex<Int>) -> Int { mutex.withLock { $0 } }
@inline(never) @_optimize(none) func guarded(_ value: borrowing Guarded<Int>) -> Int { value.inner.withLock { $0 } }
@inline(never) func length(_ list: List) -> Int {
  var (each, count) = (list, 0)
  while case .node(_, let next) = each { (each, count) = (next, count + 1) }
  return count
}
@inline(never) func odd(_ n: Int) throws(Odd) -> Int {
  if n > 100 { throw Odd(text: "own", number: 1, half: 2, flag: true) }
  return n
}

public enum Payment: Equatable { case cash, card(number: String, Int) }
/// Casts what it is given to the type that its callers give.
@inline(never) @_optimize(none) func pay(_ given: Any) -> String { "\(given as! Payment)" }
@inline(never) @_optimize(none) func show(_ given: Any) -> String { "\(given)" }
public struct Order {
  public var id = 1, title = "order", lines = ["tea"], extra: Any = Payment.cash
  @inline(never) public func total(_ n: Int) -> Int { n + id + lines.count }
}
print(Shelf().look(1), Order().total(2))
for given in [Payment.cash, .card(number: "1", 2), .cash] { print(pay(given)) }
print(show(5), show("text"))

for n in 1...3 {
  print(Animal(n).id > 0, Dog(n).extra, Dog(checked: n)?.extra ?? "nil", Dog(checked: -n) == nil)
  let dog = Dog(n)
  let same: Dog = dog.same(), maybe: Dog? = dog.maybe(n)
  print(same.extra, maybe?.extra ?? "nil")
  print((try? await sized(Grown("text"), n)) ?? -1, (try? await made(n))??.text ?? "none")
}
print(locked(Cell().mutex), guarded(Guarded(6)))
var list = List.end
for n in 0..<20_000 { list = .node(n, list) }
print(length(list))
do { print(try odd(1)) } catch { print("caught", error.text, error.number, error.half, error.flag) }
// The end of so deep a value is the program's own affair.
withExtendedLifetime(list) { print("end") }
