// What the engine's cases and its model test hook. A module of its own, so that the optimiser cannot see through it.

/// Something to write down in order, on one thread.
public final class Log {
  public nonisolated(unsafe) static var text = ""
  public nonisolated(unsafe) static var isOn = true
  public static func note(_ mark: String) { if isOn { text += mark + " " } }
  public static func take() -> String {
    defer { text = "" }
    return text
  }
}

open class Shape {
  public nonisolated(unsafe) static var ended = 0  // counted on one thread
  public var tag: Int
  /// Read and written through accessors.
  open var side: Int {
    get { stored &+ tag &- tag }
    set { stored = newValue }
  }
  private var stored = 0
  @inline(never) public init(tag: Int) {
    self.tag = tag
    Log.note("init")
  }
  @inline(never) public convenience init(twice tag: Int) { self.init(tag: 2 * tag) }
  deinit {
    Shape.ended += 1
    Log.note("end\(tag)")
  }
  @inline(never) open func area(_ n: Int) -> Int {
    Log.note("Shape.area")
    return tag &* 10 &+ n
  }
  @inline(never) open func scale(_ n: Int) -> Int {
    Log.note("Shape.scale")
    return tag &+ n
  }
  @inline(never) public final func fixed(_ n: Int) -> Int {
    Log.note("Shape.fixed")
    return tag &* n
  }
  @inline(never) open func fail(_ n: Int) throws -> Int {
    if n < 0 { throw Broken(n: n &+ tag &- tag) }
    return n
  }
  /// Calls itself on the same object.
  @inline(never) open func down(_ n: Int) -> Int {
    Log.note("down\(n)")
    return n <= 0 ? tag : down(n &- 1) &+ 1
  }
  /// Leaves no note.
  @inline(never) open func halve(_ n: Int) -> Int { n / 2 &+ tag }
  /// Uses nothing of self.
  @inline(never) open func selfless(_ n: Int) -> Int { n &+ 1 }
  @inline(never) open class func kind(_ n: Int) -> Int {
    Log.note("\(self).kind")
    return n
  }
  @inline(never) public static func count(_ n: Int) -> Int {
    Log.note("count")
    return n
  }
  @inline(never) open func later(_ n: Int) async -> Int {
    await Task.yield()
    return tag &+ n
  }
}

public struct Broken: Error, Equatable {
  public var n: Int
  public init(n: Int) { self.n = n }
}

/// Overrides, and calls super.
open class Square: Shape {
  @inline(never) open override func area(_ n: Int) -> Int {
    Log.note("Square.area")
    return super.area(n &+ tag &- tag) &+ 1
  }
}

/// Inherits from Square.
open class SmallSquare: Square {}
/// A sibling that inherits everything.
open class Circle: Shape {}
/// Nothing can inherit from it.
public final class Dot: Circle {
  @inline(never) public override func scale(_ n: Int) -> Int {
    Log.note("Dot.scale")
    return super.scale(n) &+ tag &- tag
  }
}

public class Pair<Element> {
  public var first: Element
  public var count: Int
  public init(_ first: Element, _ count: Int) {
    self.first = first
    self.count = count
  }
  @inline(never) public func size(_ n: Int) -> Int { count &+ n }
}
public final class Twins: Pair<Int> {}

public struct Size {
  public var width: Int
  public init(width: Int) { self.width = width }
  @inline(never) public func grown(_ n: Int) -> Int {
    Log.note("grown")
    return width &+ n
  }
}

@inline(never) public func free(_ n: Int) -> Int {
  Log.note("free")
  return n
}

/// Calls through the virtual table, where the caller knows nothing of the class.
@inline(never) public func area(_ shape: Shape, _ n: Int) -> Int { shape.area(n) }
@inline(never) public func scale(_ shape: Shape, _ n: Int) -> Int { shape.scale(n) }
@inline(never) public func fixed(_ shape: Shape, _ n: Int) -> Int { shape.fixed(n) }
