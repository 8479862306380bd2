// What the pages about tracking name: a shop.
public final class User { public let email: String; public init(_ email: String) { self.email = email } }
public struct Line { public let name: String; public let price: Double }
public final class Cart {
  public var title: String
  public var lines: [Line] = []
  public var buyer: User?
  public init(_ title: String) { self.title = title }
  @inline(never) public func add(_ name: String, _ price: Double) { lines.append(Line(name: name, price: price)) }
  @inline(never) public func total() -> Double { lines.reduce(0) { $0 + $1.price } }
  @inline(never) public func checkout(_ code: String) -> Int { lines.count + code.utf8.count }
}
public final class Store {
  public private(set) var kept: [String: Int] = [:]
  public init() {}
  @inline(never) public func load(_ key: String) -> Int { kept[key] ?? 0 }
  @inline(never) public func save(_ key: String, _ value: Int) { kept[key] = value }
}
public final class Router {
  public init() {}
  @inline(never) public func handle(_ path: String) -> Int { path.utf8.count }
}
