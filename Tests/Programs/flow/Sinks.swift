// Sinks — values from nowhere and uses nobody can see through.
public final class Node {
  public var value: Int
  public var weight: Double
  public var next: Node?
  public init(_ value: Int) {
    self.value = value
    weight = Double(value)
  }
}
public struct Big {
  public var a = 0, b = 0, c = 0, d = 0, e = 0, f = 0
  public init(_ a: Int) {
    self.a = a
    c = a
  }
}
public struct Pair {
  public var count: Int
  public var ratio: Double
  public init(_ count: Int) {
    self.count = count
    ratio = Double(count)
  }
}
public struct Oops: Error { public init() {} }

@_optimize(none) public func someInt() -> Int { CommandLine.argc > 99 ? 3 : 7 }
@_optimize(none) public func someBool() -> Bool { CommandLine.argc > 99 }
@_optimize(none) public func someNode() -> Node { Node(someInt()) }
@_optimize(none) public func takeInt(_ x: Int) {}
@_optimize(none) public func takeInt32(_ x: Int32) {}
@_optimize(none) public func takeByte(_ x: UInt8) {}
@_optimize(none) public func takeBool(_ x: Bool) {}
@_optimize(none) public func takeDouble(_ x: Double) {}
@_optimize(none) public func takeFloat(_ x: Float) {}
@_optimize(none) public func takeString(_ x: String) {}
@_optimize(none) public func takeNode(_ x: Node) {}
@_optimize(none) public func takeNodeOrNil(_ x: Node?) {}
@_optimize(none) public func takeInts(_ x: [Int]) {}
@_optimize(none) public func takeIntOrNil(_ x: Int?) {}
@_optimize(none) public func takeBig(_ x: Big) {}
@_optimize(none) public func takePair(_ x: Pair) {}
@_optimize(none) public func takeAny(_ x: Any) {}
