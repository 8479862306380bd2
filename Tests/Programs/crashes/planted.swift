// Ends as its first argument says; `work(_:)` is what patches hook.
import Glibc

public final class Shop {
  public init() {}
  @inline(never) public func work(_ number: Int) -> Int { number &* 3 &+ Int(getppid()) }
  @inline(never) public func end(_ how: String) throws -> Int {
    let none: [Int] = CommandLine.arguments.isEmpty ? [1] : []
    switch how {
    case "trap": return none[work(1) & 1]
    case "fatal": fatalError("the till is empty")
    case "null":
      return UnsafePointer<Int>(bitPattern: 8 &+ (work(0) & 0))!.pointee
    case "abort": abort()
    case "deep": return deep(work(1))
    case "bus":
      // A page of a file that has none.
      var name = Array("/tmp/empty-XXXXXX".utf8CString)
      let file = mkstemp(&name)
      unlink(name)
      return Int(mmap(nil, 4096, PROT_READ, MAP_SHARED, file, 0)!.load(fromByteOffset: work(1) & 8, as: UInt8.self))
    case "divide": return Int(div(Int32(work(1) & 7), Int32(getppid() & 0)).quot)
    case "breakpoint":
      let code = mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
      code.storeBytes(of: 0xc3cc, as: UInt16.self)
      unsafeBitCast(code, to: (@convention(c) () -> Void).self)()
      return work(3)
    case "error": throw Trouble.closed
    case "wait":
      print("ready")
      fflush(nil)
      while true { pause() }
    default: return work(2)
    }
  }
  @inline(never) public func deep(_ n: Int) -> Int { n == 42 ? n : deep(n &+ 2 | 1) &+ work(n) }
}

enum Trouble: Error { case closed }

let how = CommandLine.arguments.dropFirst().first ?? "good"
let isTask = CommandLine.arguments.contains("task")
let isOther = CommandLine.arguments.contains("other")
let shop = Shop()
for _ in 0..<3 { _ = shop.work(7) }

/// On a thread that never comes to a hooked function.
@inline(never) func foreign(_ n: Int) -> Int { n == 42 ? n : foreign(n &+ 2 | 1) &+ Int(getppid()) }

nonisolated(unsafe) var thread = pthread_t()
if how == "foreign" {
  _ = try? shop.end("good")
  pthread_create(&thread, nil, { _ in print(foreign(1)); return nil }, nil)
  pthread_join(thread, nil)
} else if isTask {
  Task.detached { print((try? Shop().end(how)) ?? 0) }
  while true { pause() }
} else if isOther {
  pthread_create(&thread, nil, { _ in print((try? Shop().end(CommandLine.arguments[1])) ?? 0); return nil }, nil)
  pthread_join(thread, nil)
} else {
  print(try shop.end(how))
}
