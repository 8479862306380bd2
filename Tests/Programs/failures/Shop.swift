// Functions whose handlers fail.
public enum Desk {
  @inline(never) public static func price(_ n: Int) -> Int { n &* 3 &+ base }
  @inline(never) public static func label(_ n: Int) -> String { "item \(n &+ base) of the long list" }
  @inline(never) public static func load(_ n: Int) throws -> Int { n &* 5 &+ base }
  @inline(never) public static func note(_ n: Int) { base &+= 0 &* n }
  @inline(never) public static func later(_ n: Int) async -> Int { n &+ base }
}
nonisolated(unsafe) public var base = 0  // written by the main task alone

public enum SoldOut: Error { case item(String) }
public struct Login {
  public var name = "ann"
  public var password = "sesame"
}
public final class Cart {
  public var login = Login()
  public var items = 0
  @inline(never) public init() {}
  @inline(never) public func checkout() throws -> Int {
    if items == 0 { throw SoldOut.item("pears") }
    return items
  }
}
