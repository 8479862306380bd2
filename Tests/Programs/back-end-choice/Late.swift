// A library that is opened while the program runs. Its methods are too short for a jump; one of its classes is made at run time.
open class Thing {
  public init() {}
  open func hush() {}
  public final func stuck() {}
}
/// Its metadata is made when it is used first, of an image that was there when the hook landed.
class Boxed<T>: Thing {
  var value: T?
}
final class Concrete: Boxed<Int> {}

@_optimize(none) @inline(never) private func hidden<T>(_ value: T) -> T { value }

@_cdecl("late_run") public func run() {
  for (name, make) in [("thing", { Thing() }), ("concrete", { Concrete() })] as [(String, () -> Thing)] {
    let each = hidden(make())
    print("hush", name)
    each.hush()
    each.stuck()
  }
}
