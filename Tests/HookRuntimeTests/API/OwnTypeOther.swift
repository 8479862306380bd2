// A class that has the name of another file's, for OwnTypeTests.
import HookRuntime

private class Same {
  @inline(never) @_optimize(none) func who() -> String { "second" }
  @inline(never) @_optimize(none) func second() -> String { "second" }
}

func hookOtherSame(_ calls: SeenCalls) throws -> Hook { try Hooks(Same.self).before("who()") { _ in calls.note() } }
func callOtherSame() -> String { Same().who() }
