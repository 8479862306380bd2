// Classes with subclasses in another module: what their initialisers and methods of Self return is of the subclass there.
open class Animal {
  public var id: Int
  public init(_ id: Int) { self.id = id }
  public init?(checked id: Int) {
    if id < 0 { return nil }
    self.id = id
  }
  open func maybe(_ n: Int) -> Self? { n > 0 ? self : nil }
}
extension Animal {
  @inline(never) public func same() -> Self { self }
}
public struct Grown: Sendable {
  public var text: String, small: Int8, more: [Int]
  public init(_ text: String) { (self.text, small, more) = (text, 1, [1, 2]) }
}
@inline(never) public func sized(_ grown: Grown, _ n: Int) async throws -> Int { grown.text.utf8.count + n }
@inline(never) public func made(_ n: Int) async throws -> Grown? { n > 100 ? nil : Grown("made") }
/// Nobody but this library knows how such values are passed; where they lie, their own types tell.
public struct Label: Hashable, Sendable {
  public var name: String
  public init(_ name: String) { self.name = name }
}
public final class Shelf {
  public var list = [Grown("first"), Grown("second")], table = [Label("a"): Grown("tabled")], labels: Set<Label> = [Label("b")]
  public var single = Grown("single"), perhaps: Grown? = Grown("perhaps"), anything: Any = Grown("anything")
  public init() {}
  @inline(never) public func look(_ n: Int) -> Int { n + list.count }
}
