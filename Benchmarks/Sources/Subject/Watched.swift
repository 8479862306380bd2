// Watched — what rules of every kind are on, each function of the same small size.

open class Watched {
  public var total = 0

  public init() {}

  /// No rule is on it.
  @inline(never) public final func plain(_ a: Int, _ b: Double) -> Int { count(a, b) }
  /// A rule whose `where` leaves every call out.
  @inline(never) public final func leftOut(_ a: Int, _ b: Double) -> Int { count(a, b) }
  /// A rule whose `where` lets every call in, and which leaves all but the first out as repeats.
  @inline(never) public final func repeated(_ a: Int, _ b: Double) -> Int { count(a, b) }
  /// Such a rule, where each call differs from the last and is recorded.
  @inline(never) public final func distinct(_ a: Int, _ b: Double) -> Int { count(a, b) }
  @inline(never) public final func spanned(_ a: Int, _ b: Double) -> Int { count(a, b) }
  @inline(never) public final func counted(_ a: Int, _ b: Double) -> Int { count(a, b) }
  @inline(never) public final func budgeted(_ a: Int, _ b: Double) -> Int { count(a, b) }

  /// A handler of requests: each run is a screen.
  @inline(never) open func handle(_ a: Int) -> Int { count(a, 1) }

  @inline(__always) final func count(_ a: Int, _ b: Double) -> Int {
    total &+= a &- Int(truncatingIfNeeded: b.bitPattern)
    return total
  }
}

/// Three calls of one chain: one screen.
open class Middle: Watched {
  @inline(never) open override func handle(_ a: Int) -> Int { super.handle(a) &+ 1 }
}
public final class Leaf: Middle {
  @inline(never) public override func handle(_ a: Int) -> Int { super.handle(a) &+ 1 }
}

/// An owner and its delegate.
public protocol WatchedDelegate: AnyObject { func changed(_ owner: Owner, to value: Int) }
open class Owner {
  // Open: it is set by its setter, which other modules write in line otherwise.
  open weak var delegate: (any WatchedDelegate)?
  public init() {}
  @inline(never) public final func change(_ value: Int) { delegate?.changed(self, to: value) }
}
public final class Listener: WatchedDelegate {
  var total = 0
  public init() {}
  @inline(never) public func changed(_ owner: Owner, to value: Int) { total &+= value }
}

public struct Place {
  public var x, y, width, height: Double
}

/// A control, and what is around it.
open class Button {
  public var frame = Place(x: 0, y: 0, width: 10, height: 10)
  public var around: Place { Place(x: 0, y: 0, width: 100, height: 100) }
  public var total = 0
  public init() {}
  @inline(never) open func send(_ action: Int, to target: AnyObject?) { total &+= action }
  @inline(never) open func layout() { total &+= 1 }
}
/// A control whose taps are counted, too.
open class Knob {
  public var total = 0
  public init() {}
  @inline(never) open func send(_ action: Int, to target: AnyObject?) { total &+= action &+ 1 }
}
