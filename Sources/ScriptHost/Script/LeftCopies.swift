// LeftCopies — the calls of which a script accepts that they may leave a copy behind: swift.allow_leak("Shop.Cart.Line.total()").
//
// A method of a struct or enum runs on a copy, which whoever calls ends unless the method consumes its self. Where nothing tells
// whether it does, such a call is refused, because a copy ended twice crashes the program and one that is never ended is memory lost.
// The script that says `swift.allow_leak` has the loss, once for each call; the log counts them.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

struct LeftCopies {
  /// Where the functions begin.
  private var accepted: Set<UInt64> = []

  func accept(_ callable: Callable) -> Bool { accepted.contains(UInt64(callable.entry)) }

  static let functions: [(String, SHLFunction)] = [("swift.allow_leak", allowLeak)]

  /// `swift.allow_leak("Shop.Cart.Line.total()")`, once per patch; a pattern means all that the program has now.
  private static let allowLeak: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let text = callback.text(0) else {
        return callback.fail(
          "'swift.allow_leak' takes a selector, such as \"Shop.Cart.Line.total()\", got \(ValueBridge.describe(callback[0]))")
      }
      switch SelectorLookup.resolve(text) {
      case .failure(let problem): return callback.fail(problem.description)
      case .success(let found):
        for (_, family) in found { patch.leftCopies.accepted.formUnion(family.bodies.map(\.address)) }
        return callback.done()
      }
    }
  }
}
