// Opened while the program runs.
import Kit

final class LateBase: Base {}
final class LateCrate: Crate<Int> {}
final class LateOverride: Base {
  override func walk(_ n: Int) -> Int { n + 100 }
  override func greet(_ n: Int) -> Int { n + 1000 }
}
final class LateGreeter: Greets { func greet(_ n: Int) -> Int { n + 2000 } }

@_dynamicReplacement(for: swapped(_:)) func replacement(_ n: Int) -> Int { swapped(n) + 5 }
@_dynamicReplacement(for: dropped(_:)) func otherDropped(_ n: Int) -> Int { n * 7 }

@_cdecl("bring") public func bring() {
  late = ([LateBase(), LateCrate(1), LateOverride()], [LateBase(), LateOverride(), LateGreeter()])
}
