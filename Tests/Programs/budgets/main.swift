import Glibc

public final class Box {
  public var text: String
  @inline(never) public init(text: String) { self.text = text }
}

open class Service {
  public var texts: [String] = []
  @inline(never) open func keep(_ text: String) { texts.append(text) }
  @inline(never) open func look(_ text: String) -> Int { text.utf8.count }
  @inline(never) open func list(_ n: Int) -> [Int] { Array(repeating: n, count: n) }
  public var name = "service"
  public var me: Service?
  public init() {}
  @inline(never) open func work(_ n: Int) -> Int { n + name.utf8.count }
  @inline(never) open func slow(_ ms: Int) -> Int { usleep(UInt32(ms * 1000)); return ms }
  @inline(never) open func later(_ n: Int) async -> Int { await Task.yield(); return n + name.utf8.count }
  @inline(never) open func deep(_ n: Int) -> Int { n == 0 ? 0 : deep(n - 1) + 1 }
  @inline(never) open func long() -> Int { usleep(300_000); return work(1) }
}

open class Many {
  public var base = 0
  public init() {}
  @inline(never) open func m0() -> Int { base + 0 }
  @inline(never) open func m1() -> Int { base + 1 }
  @inline(never) open func m2() -> Int { base + 2 }
  @inline(never) open func m3() -> Int { base + 3 }
  @inline(never) open func m4() -> Int { base + 4 }
  @inline(never) open func m5() -> Int { base + 5 }
  @inline(never) open func m6() -> Int { base + 6 }
  @inline(never) open func m7() -> Int { base + 7 }
  @inline(never) open func m8() -> Int { base + 8 }
  @inline(never) open func m9() -> Int { base + 9 }
  @inline(never) open func m10() -> Int { base + 10 }
  @inline(never) open func m11() -> Int { base + 11 }
}

let service = Service()
switch CommandLine.arguments.dropFirst().first {
case "async": print("later", await service.later(4))
case "many": print("many", Many().m0())
case "deep": print("deep", service.deep(42))
case "long": print("long", service.long())
case "many_times":
  for n in 0..<200 { _ = service.work(n) }
  print("many_times 200")
case "each":
  let many = Many()
  print("each", (0..<40).reduce(0) { $0 &+ [many.m0, many.m1, many.m2, many.m3, many.m4, many.m5, many.m6, many.m7][$1 % 8]() })
case "asks": print("work", service.work(1), readLine() ?? "nothing", readLine() ?? "nothing")
case "often": print("often", (0..<5_000).reduce(0) { $0 &+ service.work($1) })
default: print("work", service.work(1))
}
