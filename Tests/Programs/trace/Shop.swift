// A program to trace: errors, enums, collections, threads, tasks; and one that ends by a signal only.
import Glibc

public enum ShopError: Error { case outOfStock(String, left: Int), closed }
public enum Delivery { case pickup, post(street: String, number: Int), courier([String]) }
public struct Login { var user: String; var password: String }

public final class Shop {
  var stock: [String: Int] = ["tea": 1]
  @inline(never) func add(_ name: String, price: Double?, _ few: [Int], many: [Int]) -> Bool {
    sink(price as Any, many)
    stock[name, default: 0] += few.count
    return price == nil
  }
  @inline(never) func take(_ name: String, _ count: Int) throws -> Int {
    guard let left = stock[name], left >= count else { throw ShopError.outOfStock(name, left: stock[name] ?? 0) }
    return left - count
  }
  @inline(never) func send(_ how: Delivery) -> Delivery { sink(how); return how }
  @inline(never) func only(_ prices: [String: Double]) -> Set<Int> { sink(prices); return [Int(prices.values.first ?? 0)] }
  @inline(never) func sign(_ login: Login, _ ratio: Float, _ number: UInt8) -> Double { sink(login, ratio, number); return .infinity }
  @inline(never) func outer() -> Int { inner() + 1 }
  @inline(never) func inner() -> Int { sink(self); return stock.count }
  @inline(never) func wait() async -> Int { await Task.yield(); return stock.count }
}
@inline(never) public func sink(_ x: Any...) { if x.count == 99 { print(x) } }

@inline(never) public func tick(_ n: Int) -> Int { sink(n); return n }

/// Ticks until a signal comes; the child that it makes first shows that its own signals end it.
func serve() -> Never {
  let child = fork()
  if child == 0 { while true { pause() } }
  _ = tick(1)
  kill(child, SIGTERM)
  var status: Int32 = 0
  waitpid(child, &status, 0)
  print("child ended by \(status & 127)")
  print("ready")
  fflush(nil)
  while true { usleep(1000); _ = tick(2) }
}

@_silgen_name("fork") func fork() -> Int32

@main struct Main {
  static func main() async {
    if CommandLine.arguments.count > 1 { serve() }
    let shop = Shop()
    print(shop.add("milk", price: 2.5, [1, 2], many: Array(0..<1000)))
    do { print(try shop.take("tea", 5)) } catch { print(error) }
    print(shop.send(.post(street: "Elm", number: 7)), shop.send(.courier(["ann", "bob"])), shop.send(.pickup))
    print(shop.only(["tea": 2.0]), shop.sign(Login(user: "ann", password: "hunter2"), 0.5, 9), shop.outer())
    print(await shop.wait())
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in _ = tick(7); return nil }, nil)
    pthread_join(thread, nil)
  }
}
