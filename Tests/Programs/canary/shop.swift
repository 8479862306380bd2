import Glibc

/// Notes in a file that it ran, and lives until its input ends where it is told to.
open class Till {
  public init() {}
  @inline(never) open func price(_ n: Int) -> Int { n * 2 }
}
public struct Coupon: Sendable { public var code: String, rate: Double }
/// With properties of every plain kind: its calls can be made again.
public final class Desk {
  public var name: String, open: Bool, limits: [Int], note: String?
  public init(_ name: String) { (self.name, open, limits, note) = (name, true, [1, 2, 3], nil) }
  @inline(never) public func total(_ prices: [Double], coupon: Coupon?, tax: Int8) -> Double {
    (prices.reduce(0, +) + Double(limits.count)) * (1 - (coupon?.rate ?? 0)) + Double(tax) + Double(coupon?.code.utf8.count ?? 0)
  }
  @inline(never) public func ticket() -> Int { tickets += limits.count; return tickets }
  @inline(never) public static func greet(_ name: String) throws -> String { if name.isEmpty { throw Closed() }; return "dear " + name }
}
public struct Closed: Error {}
nonisolated(unsafe) var tickets = 0, desks: [Desk] = []
@inline(never) public func half(_ n: Int) -> Int { precondition(n >= 0); return n / 2 }
@inline(never) public func pass(_ till: Till) -> Int { till.price(1) }

@inline(never) public func giveUp() { abort() }
@inline(never) public func sleepForEver() { while true { sleep(1) } }
@inline(never) public func leave() { exit(3) }

let journal = fopen(CommandLine.arguments[1], "a")!
fputs("main\n", journal)
fclose(journal)
// The program's own self-test.
if CommandLine.arguments.contains("--check") { exit(half(10) == 5 ? 0 : 3) }
let till = Till()
if CommandLine.arguments.contains("calls") {
  let desk = Desk("first")
  desks = [desk]
  print(desks[0].name, desk.open, desk.note ?? "no note")
  print("total", desk.total([1.5, 2.5], coupon: Coupon(code: "x", rate: 0.5), tax: 1), desk.total([], coupon: nil, tax: -1))
  print("ticket", desk.ticket(), desk.ticket(), (try? Desk.greet("you")) ?? "", (try? Desk.greet("")) ?? "closed", half(9), half(4), pass(till))
  exit(0)
}
print("price", till.price(21))
if CommandLine.arguments.count > 2 {
  fflush(stdout)
  while let line = readLine() {
    print("price", till.price(Int(line) ?? 0))
    fflush(stdout)
  }
}
