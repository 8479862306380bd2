// Traps in every way. `Till.trap(_:)` is called by scripts or by the program; the program's own work is checked at the end.
import Glibc
import Synchronization

protocol Coin {}
open class Base { public init() {} }
public final class Other: Base { let number = 1 }
@inline(never) func box(_ n: Int) -> Any { n == 0 ? Base() : Other() }
enum Trouble: Error { case closed }
final class Clerk { let number: Int; init(_ number: Int) { self.number = number } }
final class Shift { unowned let clerk: Clerk; init(_ clerk: Clerk) { self.clerk = clerk } }

public final class Till {
  var lines = [1, 2, 3]
  var sums = ["a": 1]
  public var count = 0
  public init() {}

  /// A value that the optimiser does not know.
  @inline(never) func hidden(_ n: Int) -> Int { n &+ Int(getppid() & 0) }

  @inline(never) public func trap(_ how: String) -> Int {
    count += 1
    switch how {
    case "range": return lines[hidden(7)]
    case "nil":
      let none: Int? = sums["b"]
      return none!
    case "overflow": return Int.max + hidden(1)
    case "cast":
      return (box(hidden(0)) as! Other).number
    case "fatal": fatalError("the till is empty")
    case "null": return UnsafePointer<Int>(bitPattern: 8 &+ hidden(0))!.pointee
    case "inside":
      change(&lines)  // the property is being changed when it traps
      return lines.count
    case "divide": return 7 / hidden(0)
    case "lowest": lowest[hidden(9)] = 1; return 1
    case "overlap": return both(&lines) { self.lines.append($0) }
    case "try": return try! sell("none")
    case "precondition":
      precondition(hidden(1) == 0, "the till is open")
      return 1
    case "unowned": return shift().clerk.number
    case "wild": return UnsafePointer<Int>(bitPattern: 0x1234_5678_0000 &+ hidden(0))!.pointee
    case "moved": table["a"]![hidden(9)] = 1; return 1  // optimised code holds the dictionary in its frame meanwhile
    case "moved field": shelf.table["a"]![hidden(9)] = 1; return 1
    case "moved element": shelves[hidden(1)].table["a"]![hidden(9)] = 1; return 1
    default: return hidden(42)
    }
  }
  @inline(never) func change(_ all: inout [Int]) { all[hidden(9)] = 1 }
  /// While the caller changes `all`, the body changes what it likes.
  @inline(never) func both(_ all: inout [Int], _ body: (Int) -> Void) -> Int {
    body(hidden(4))
    return all.count
  }
  /// Nobody keeps the clerk.
  @inline(never) func shift() -> Shift { Shift(Clerk(hidden(7))) }
  struct Shelf {
    var number = 1
    var table = ["a": [1, 2, 3]]
  }
  var table = ["a": [1, 2, 3], "b": [4]]
  var shelf = Shelf()
  var shelves = [Shelf(), Shelf()]
  // Not what is looked for, though the words are the same.
  var lowest = [Int.min, Int.min]

  // What must not be contained.
  let mutex: UnsafeMutablePointer<pthread_mutex_t> = {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    return mutex
  }()
  @inline(never) public func guarded() -> Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return trap("range")
  }
  /// A word with the main thread's id, which is no lock.
  public let owner = getpid()
  let lock = Mutex([1, 2, 3])
  @inline(never) public func locked() -> Int { lock.withLock { $0[hidden(7)] } }
  @inline(never) public func lockedBelow() -> Int { lock.withLock { _ in trap("range") } }
  @inline(never) public func lockedGlobal() -> Int { Lazy.lock.withLock { _ in trap("range") } }
  let readers: UnsafeMutablePointer<pthread_rwlock_t> = {
    let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    pthread_rwlock_init(lock, nil)
    return lock
  }()
  @inline(never) public func writing() -> Int {
    pthread_rwlock_wrlock(readers)
    defer { pthread_rwlock_unlock(readers) }
    return trap("range")
  }
  @inline(never) public func once() -> Int { Lazy.value }
  @inline(never) public func sorted() -> Int {
    var numbers = (0..<20).map { Int32($0) }
    qsort(&numbers, numbers.count, 4) { _, _ in fatalError("compared") }
    return Int(numbers[0])
  }

  @inline(never) public func sell(_ how: String) throws -> Int { if how == "none" { throw Trouble.closed }; return trap(how) }
  @inline(never) public func names(_ how: String) -> [String] { ["\(trap(how))"] }
  @inline(never) public func note(_ how: String) { count += trap(how) }
  @inline(never) public func later(_ how: String) async -> Int { trap(how) }
  @inline(never) public func put(_ n: inout Int) { n = trap("none") }
  /// Its handler calls the original of what traps further in.
  @inline(never) public func outer(_ how: String) -> Int { inner(how) &+ 1 }
  @inline(never) public func inner(_ how: String) -> Int { trap(how) ^ hidden(0) }

  @inline(never) public func enter(pin: Int, _ note: String) -> Int { lines[hidden(pin)] &+ note.utf8.count }

  /// A closure that scripts call.
  @inline(never) public func opener() -> (Int) -> Int { { [lines] n in lines[n] } }

  /// The program's own calls. All are different: of those that only jump on, calls may go to what they jump to.
  @inline(never) public func price(_ how: String) -> Int { trap(how) &+ hidden(0) }
  @inline(never) public func deep(_ how: String, _ n: Int) -> Int { down(how, n) ^ hidden(0) }
  @inline(never) public func dive(_ how: String, _ n: Int) -> Int { down(how, n) &+ hidden(0) &* 2 }
  /// A frame for each: what it does behind the call keeps the optimiser from making a loop of it.
  @inline(never) func down(_ how: String, _ n: Int) -> Int { (n == 0 ? trap(how) : down(how, n - 1)) ^ hidden(0) }
  /// It has ended its argument when it traps.
  @inline(never) public func keep(_ text: __owned String) -> Int {
    label = text
    label = ""
    return trap("range")
  }
  var label = ""
  /// No patch contains it.
  @inline(never) public func plain(_ how: String) -> Int { trap(how) ^ hidden(0) ^ hidden(0) }
}

/// No word of it has the thread's id when it traps.
public final class Vault {
  let lock = Mutex(3)
  var lines = [1, 2, 3]
  public init() {}
  /// The lock was taken and given back before.
  @inline(never) public func unlocked() -> Int {
    let index = lock.withLock { $0 &+ Int(getppid() & 0) }
    return lines[index]
  }
}

enum Lazy {
  static let lock = Mutex(0)
  static let value: Int = Till().trap("range")
}

public enum Desk {
  nonisolated(unsafe) static var till = Till()
  @inline(never) public static func tick(_ n: Int) -> Int { n &+ 1 }
}

/// On another thread.
func onThread(_ body: @escaping @Sendable () -> Void) {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  pthread_create(&thread, nil, { Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body(); return nil }, Unmanaged.passRetained(Box(body)).toOpaque())
  pthread_join(thread, nil)
}

/// So that they are there.
func useOthers() async {
  guard CommandLine.arguments.contains("never") else { return }
  var n = 1
  Desk.till.put(&n)
  print(await Desk.till.later("none"), n)
}

func memory() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var size = 0, resident = 0
  withUnsafeMutablePointer(to: &size) { a in withUnsafeMutablePointer(to: &resident) { b in _ = withVaList([a, b]) { vfscanf(file, "%ld %ld", $0) } } }
  return resident * 4
}

let arguments = CommandLine.arguments
let kind = arguments.count > 1 ? arguments[1] : "none"
let how = arguments.count > 2 ? arguments[2] : "range"

func work() {
  switch kind {
  case "script": print(Desk.tick(1))  // a hook's handler calls the till
  case "price": for _ in 0..<3 { print(Desk.till.price(how)) }
  case "kinds":
    for kind in ["range", "nil", "overflow", "cast", "fatal", "null", "inside", "divide", "overlap", "try", "precondition", "unowned", "wild", "none"] { print(kind, Desk.till.price(kind)) }
    do { print(try Desk.till.sell("range")) } catch { print("thrown:", error) }
    do { print(try Desk.till.sell("none")) } catch { print("thrown:", error) }
    print(Desk.till.names("nil"))
    Desk.till.note("null")
    print("outer", Desk.till.outer("range"), Desk.till.outer("none"))
    print("count", Desk.till.count)
  case "moved":
    for _ in 0..<(Int(how) ?? 400) { _ = Desk.till.price(kind) &+ Desk.till.price("moved field") &+ Desk.till.price("moved element") }
    print("tables", [Desk.till.table, Desk.till.shelf.table, Desk.till.shelves[0].table, Desk.till.shelves[1].table].map { $0["a"] ?? [] })
  case "deep": print(Desk.till.deep(how, 5000))
  case "keep": print(Desk.till.keep(String(repeating: how, count: 9)))
  case "plain": print(Desk.till.plain(how))
  case "once": print(Desk.till.once())
  case "sorted": print(Desk.till.sorted())
  case "guarded": print(Desk.till.guarded())
  case "writing": print(Desk.till.writing())
  case "locked": print(Desk.till.locked())
  case "lockedBelow": print(Desk.till.lockedBelow())
  case "lockedGlobal": print(Desk.till.lockedGlobal())
  default: print(Desk.tick(0))
  }
}

/// Traps by the thousand: a third of them inside an access, some below deep recursion, some in tasks.
let ways = arguments.count > 3 ? arguments[3].split(separator: ",").map(String.init) : ["range", "nil", "inside"]
@Sendable func trapOnce(_ i: Int) -> Int {
  return i % 20 == 7 ? Desk.till.dive(ways[i % ways.count], 300) : Desk.till.price(ways[i % ways.count])
}
func many(_ times: Int) async {
  var sum = 0
  for i in 0..<100 { sum &+= trapOnce(i) }
  let before = memory()
  for i in 0..<times {
    if i % 10 == 3 { sum &+= await Task.detached { trapOnce(i) }.value } else { sum &+= trapOnce(i) }
  }
  print("sum \(sum)")
  fputs("grew by \((memory() - before)) KiB in \(times) traps\n", stderr)
}

if kind == "many" {
  await many(Int(how) ?? 10000)
} else if arguments.contains("task") {
  await Task.detached { work() }.value
} else if arguments.contains("other") {
  onThread { work() }
} else {
  work()
}
// The program's own work, with what the trapped calls have touched.
await useOthers()
let fresh = Till()
fresh.lines.append(4)
Desk.till.sums["c"] = 3
var total = fresh.lines.reduce(0, +)
for i in 0..<1000 { total &+= Desk.tick(i) }
print("done \(total) \(Desk.till.sums["c"] ?? 0)")
