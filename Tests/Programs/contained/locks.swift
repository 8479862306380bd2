// Foundation's locks, held while the program traps.
import Foundation

public final class Book {
  let lock = NSLock(), again = NSRecursiveLock()
  var lines = [1, 2, 3]
  public init() {}
  @inline(never) func line(_ n: Int) -> Int { lines[n &+ Int(getppid() & 0)] }
  @inline(never) public func locked() -> Int { lock.withLock { line(7) } }
  @inline(never) public func recursive() -> Int { again.withLock { line(8) } }
  @inline(never) public func free() -> Int {
    let n = lock.withLock { line(2) }
    return line(n &+ 6)
  }
}

let book = Book()
switch CommandLine.arguments[1] {
case "locked": print(book.locked())
case "recursive": print(book.recursive())
default: print(book.free())
}
