// Values that cannot be copied, through generic functions, in types that are copied only where what they hold is, and beside cells.
import Synchronization

final class Token { let n: Int; init(_ n: Int) { self.n = n }; deinit { print("token", n) } }
/// Ends something: a specialised generic function returns it as the generic one does.
struct Owner: ~Copyable { var id: Int; deinit { print("owner", id) } }
/// Holds something to end, too: its layout does not tell that it has a deinit.
struct Keeper: ~Copyable { var id: Int; var token: Token; init(_ id: Int) { self.id = id; token = Token(id) }; deinit { print("keeper", id) } }
/// Only bits, and yet to be had once.
struct Ticket: ~Copyable {
  let number: Int
  @inline(never) consuming func spend() -> Int { print("spent", number); return number }
}
struct Job: ~Copyable { let number: Int }
struct Holder<T: ~Copyable>: ~Copyable {
  var value: T
  var count = 3
  @inline(never) consuming func unwrap() -> T { value }
  @inline(never) borrowing func counted() -> Int { count }
}
extension Holder: Copyable where T: Copyable {}
struct Cells: ~Copyable {
  let mutex = Mutex<Int>(3)
  let atomic = Atomic<Int>(1)
  let plain = 7
  @inline(never) borrowing func next() -> Int { mutex.withLock { $0 += 1; return $0 } }
}
struct Failure: Error {}

@inline(never) func pass<T: ~Copyable>(_ value: consuming T) -> T { value }
@inline(never) func exchange<T: ~Copyable>(_ place: inout T, _ value: consuming T) -> T { let old = consume place; place = value; return old }
@inline(never) func later<T: ~Copyable>(_ value: consuming T) async -> T { await Task.yield(); return value }
@inline(never) func punch(_ ticket: consuming Ticket) -> Int { print("punched", ticket.number); return ticket.number }
@inline(never) func run(_ job: consuming Job) { print("ran", job.number) }
@inline(never) func open(_ result: consuming Result<Owner, Failure>) -> Int { switch consume result { case .success(let owner): owner.id; case .failure: -1 } }
@inline(never) func make(_ n: Int) -> Result<Owner, Failure> { n > 0 ? .success(Owner(id: n)) : .failure(Failure()) }
@inline(never) func count(_ holder: consuming Holder<Owner>) -> Int { holder.count + holder.value.id }
@inline(never) func raise(_ holder: inout Holder<Owner>) -> Int { holder.count += 1; return holder.count }
@inline(never) func hold(_ n: Int) -> Holder<Owner> { Holder(value: Owner(id: n)) }
@inline(never) func point(_ place: UnsafeMutablePointer<Owner>) -> Int { print("pointed"); return place.pointee.id }

@main struct Main {
  static func main() async {
    for n in 1...3 {
      let owner = pass(Owner(id: n))
      print(owner.id)
      var place = Keeper(10 + n)
      let old = exchange(&place, Keeper(20 + n))
      print(place.id, old.id)
      let held = Holder(value: Keeper(30 + n)).unwrap()
      print(held.id)
      let waited = await later(Owner(id: 40 + n))
      print(waited.id)
      print(punch(Ticket(number: n)))
      run(Job(number: n))
      print(Ticket(number: n).spend())
      print(open(make(n)), open(make(0)))
      var holder = hold(50 + n)
      print(raise(&holder), holder.counted(), count(holder))
      let cells = Cells()
      print(cells.next())
      var pointed = Owner(id: 60 + n)
      print(withUnsafeMutablePointer(to: &pointed) { point($0) })
    }
    print("the end")
  }
}
