// A library of its own, linked to the program and to the plugin.
@inlinable @inline(never) public func pick<T>(_ value: T, _ other: T, first: Bool) -> T { first ? value : other }

open class Greeter {
  public init() {}
  open func greet(_ name: String) -> String { "hello \(name)" }
}
