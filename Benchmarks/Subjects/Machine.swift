// What engine-bench hooks, one method for each way to it. A module of its own, so that the optimiser cannot see through it.

public protocol Worker: AnyObject {
  func byWitness(_ a: Int, _ b: Int) -> Int
}

open class Machine: Worker {
  public final var total = 0
  public init() {}

  @inline(never) open func byEntry(_ a: Int, _ b: Int) -> Int { total &+= a; return total &+ b }
  @inline(never) open func forHeirs(_ a: Int, _ b: Int) -> Int { total &+= a; return total &- b }
  @inline(never) open func forObject(_ a: Int, _ b: Int) -> Int { total &+= a; return total ^ b }
  @inline(never) open func byTable(_ a: Int, _ b: Int) -> Int { total &+= a; return total | b }
  @inline(never) open func bySwitch(_ a: Int, _ b: Int) -> Int { total &+= a; return total & b }
  @inline(never) public dynamic func byVariable(_ a: Int, _ b: Int) -> Int { total &+= a; return b &- total }
  @inline(never) open func byWitness(_ a: Int, _ b: Int) -> Int { total &+= a; return ~total &+ b }
}

open class Turbine: Machine {}

/// Hides what class an object is of, and that there is only one.
@_optimize(none) public func hidden<T>(_ value: T) -> T { value }
