// Foundation's locks, and such as programs make for themselves, held while the program traps.
import Foundation

nonisolated(unsafe) var mutex = pthread_mutex_t()
let global = NSLock()

/// A lock in the tail of an object, behind functions of its own.
final class Storage: ManagedBuffer<Int, pthread_mutex_t> {
  static func make() -> Storage {
    let made = unsafeDowncast(create(minimumCapacity: 1) { _ in 0 }, to: Storage.self)
    made.withUnsafeMutablePointerToElements { _ = pthread_mutex_init($0, nil) }
    return made
  }
  func lock() { withUnsafeMutablePointerToElements { _ = pthread_mutex_lock($0) } }
  func unlock() { withUnsafeMutablePointerToElements { _ = pthread_mutex_unlock($0) } }
}

public final class Book {
  let lock = NSLock(), again = NSRecursiveLock()
  var lines = [1, 2, 3]
  let storage = Storage.make()
  public init() { pthread_mutex_init(&mutex, nil) }
  @inline(never) func line(_ n: Int) -> Int { lines[n &+ Int(getppid() & 0)] }
  @inline(never) public func locked() -> Int { lock.withLock { line(7) } }
  @inline(never) public func recursive() -> Int { again.withLock { line(8) } }
  // Functions that have returned took them.
  @inline(never) func enter() { storage.lock() }
  @inline(never) func leave() { storage.unlock() }
  @inline(never) public func helped() -> Int { enter(); defer { leave() }; return line(9) }
  @inline(never) func enterNSLock() { lock.lock() }
  @inline(never) func leaveNSLock() { lock.unlock() }
  @inline(never) public func helpedNSLock() -> Int { enterNSLock(); defer { leaveNSLock() }; return line(9) }
  @inline(never) public func helpedMutex() -> Int { takeMutex(); defer { giveMutex() }; return line(10) }
  @inline(never) public func helpedGlobal() -> Int { takeGlobal(); defer { giveGlobal() }; return line(11) }
  @inline(never) public func given() -> Int { enter(); leave(); takeMutex(); giveMutex(); takeGlobal(); giveGlobal(); return line(12) }
  @inline(never) public func free() -> Int {
    let n = lock.withLock { line(2) }
    return line(n &+ 6)
  }
}

@inline(never) func takeMutex() { pthread_mutex_lock(&mutex) }
@inline(never) func giveMutex() { pthread_mutex_unlock(&mutex) }
@inline(never) func takeGlobal() { global.lock() }
@inline(never) func giveGlobal() { global.unlock() }

let book = Book()
switch CommandLine.arguments[1] {
case "locked": print(book.locked())
case "recursive": print(book.recursive())
case "helped": print(book.helped())
case "helpedNSLock": print(book.helpedNSLock())
case "helpedMutex": print(book.helpedMutex())
case "helpedGlobal": print(book.helpedGlobal())
case "given": print(book.given())
default: print(book.free())
}
