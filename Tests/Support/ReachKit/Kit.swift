// Kit — one function of each kind, for the matrix in docs/hooks.md. Every body counts that it ran.

/// Bodies that ran, copies the compiler made of them included.
public struct Counts: Sendable {
  public var opened = 0, inner = 0, fixed = 0, changed = 0, method = 0, made = 0, classed = 0, started = 0, got = 0, set = 0, modified = 0
  public var act = 0, takes = 0, free = 0, swapped = 0, swappedMethod = 0, later = 0
}
public nonisolated(unsafe) var ran = Counts()

/// Hides from the optimiser where a value comes from.
@_optimize(none) @inline(never) public func hide<T>(_ value: T) -> T { value }

public protocol Opens: AnyObject { func opened(_ n: Int) -> Int }
public protocol Changes: AnyObject { func changed(_ n: Int) -> Int }
public protocol Fixes: AnyObject { func fixed(_ n: Int) -> Int }
public protocol Levels: AnyObject { var level: Int { get set } }
public protocol Takes: AnyObject { func takes<T>(_ value: T) -> Int }
public protocol Waits: AnyObject { func later(_ n: Int) async -> Int }
public protocol Swaps: AnyObject { func swappedMethod(_ n: Int) -> Int }
public protocol Classes: AnyObject { static func classed(_ n: Int) -> Int }
public protocol Methods { func method(_ n: Int) -> Int }
public protocol Makes { static func made(_ n: Int) -> Int }
public protocol Starts: AnyObject { init(number: Int) }
/// The one that is hooked by its own name: a class, its subclass and a struct conform.
public protocol Acts { func act(_ n: Int) -> Int }

open class Base: Opens, Fixes, Changes, Levels, Takes, Waits, Swaps, Classes, Acts, Starts, @unchecked Sendable {
  public var number: Int
  private var stored = 1
  public required init(number: Int) {
    ran.started += 1
    self.number = number
  }
  open func opened(_ n: Int) -> Int {
    ran.opened += 1
    return n + number
  }
  func inner(_ n: Int) -> Int {
    ran.inner += 1
    return n + number
  }
  public final func fixed(_ n: Int) -> Int {
    ran.fixed += 1
    return n + number
  }
  open func changed(_ n: Int) -> Int { n }
  open class func classed(_ n: Int) -> Int {
    ran.classed += 1
    return n
  }
  open var level: Int {
    get {
      ran.got += 1
      return stored
    }
    set {
      ran.set += 1
      stored = newValue
    }
  }
  /// With an accessor for changes in place, which `level` leaves to its getter and setter.
  open var place: Int {
    get { stored }
    _modify {
      ran.modified += 1
      yield &stored
    }
  }
  open func takes<T>(_ value: T) -> Int {
    ran.takes += 1
    return number + MemoryLayout<T>.size
  }
  public dynamic func swappedMethod(_ n: Int) -> Int {
    ran.swappedMethod += 1
    return n + number
  }
  open func later(_ n: Int) async -> Int {
    ran.later += 1
    return n + number
  }
  open func act(_ n: Int) -> Int {
    ran.act += 1
    return n + number
  }
}

open class Heir: Base, @unchecked Sendable {
  open override func changed(_ n: Int) -> Int {
    ran.changed += 1
    return n + number
  }
  open func more() -> Int { number }
}

public struct Value: Methods, Makes, Acts {
  public var number: Int
  public init(number: Int) { self.number = number }
  public func method(_ n: Int) -> Int {
    ran.method += 1
    return n + number
  }
  public static func made(_ n: Int) -> Int {
    ran.made += 1
    return n
  }
  public func act(_ n: Int) -> Int {
    ran.act += 1
    return n * number
  }
}

public func free(_ n: Int) -> Int {
  ran.free += 1
  return n + 1
}
public dynamic func swapped(_ n: Int) -> Int {
  ran.swapped += 1
  return n + 1
}
