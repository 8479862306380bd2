// One function of each kind that must not be contained, or that is not contained in part; `explain` says so of each.
import Dispatch
import Glibc
import Synchronization

@_silgen_name("_ZN5below7runThisEPFvvE") func cxx(_ body: @convention(c) () -> Void)

nonisolated(unsafe) var numbers: [Int] = (0..<(getpid() > 0 ? 3 : 2)).map { $0 * 2 }
let lock: UnsafeMutablePointer<pthread_mutex_t> = {
  let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  pthread_mutex_init(lock, nil)
  return lock
}()
let word = Mutex(0)
func nothing() {}

public struct Token: ~Copyable { var id = 1 }

public class Thing {
  var items = [1, 2, 3]
  @inline(never) public init(_ count: Int) { items = Array(0..<count) }
  @inline(never) public func plain(_ at: Int) -> Int { items[at] }
  @inline(never) public func waits(_ at: Int) async -> Int { await Task.yield(); return items[at] }
  @inline(never) public func never() -> Never { fatalError("never") }
  @inline(never) public func stub() -> Int { fatalError("stub") }
  @inline(never) public func grow(_ list: inout [Int]) { list.append(items[0]) }
  @inline(never) public func take(_ token: borrowing Token) -> Int { items[token.id] }
  @inline(never) public func locks(_ at: Int) -> Int {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return items[at]
  }
  @inline(never) public func mutex(_ at: Int) -> Int { word.withLock { $0 += items[at]; return $0 } }
  @inline(never) public func sorts(_ at: Int) -> Int {
    var all = items
    qsort(&all, all.count, 8) { a, b in a!.load(as: Int.self) < b!.load(as: Int.self) ? -1 : 1 }
    return all[at]
  }
  @inline(never) public func orders(_ at: Int) -> Int { items.sort { nothing(); return $0 > $1 }; return items[at] }
  @inline(never) public func foreign(_ at: Int) -> Int { cxx { nothing() }; return items[at] }
  @inline(never) public func queued(_ at: Int) -> Int { DispatchQueue.global().sync { items[at] } }
  @inline(never) public func global(_ at: Int) -> Int { numbers[at] }
  public var held: Int {
    _read { yield items[0] }
    _modify { yield &items[0] }
  }
  @inline(never) public consuming func end() -> Int { items[0] }
  deinit { nothing() }
}
public struct Box {
  var items = [1]
  @inline(never) public mutating func push(_ one: Int) { items.append(one) }
  @inline(never) public consuming func end() -> Int { items[0] }
  @inline(never) public func keep() -> Int { items[0] }
}
/// The handler of SIGUSR1.
@inline(never) public func caught(_ signal: Int32) { nothing() }

@inline(never) public func ready() { print("ready") }

@main enum Kinds {
  static func main() async {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { caught($0) }
    sigaction(SIGUSR1, &action, nil)
    let thing = Thing(3)
    var list = [1], box = Box()
    thing.grow(&list)
    box.push(1)
    thing.held += 1
    let sum = await thing.plain(0) + thing.waits(0) + thing.take(Token()) + thing.locks(0) + thing.mutex(0) + thing.sorts(0) + thing.orders(0) + thing.foreign(0)
      + thing.queued(0) + thing.global(0) + thing.held + box.keep() + box.end() + Thing(2).end()
    // Once for each name that is asked for: a handler has 100 ms.
    for _ in 0..<29 { ready() }
    print(sum > 0)
  }
}
