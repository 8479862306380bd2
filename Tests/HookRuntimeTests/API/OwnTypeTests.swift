// Hooks on types whose names do not tell them apart: private ones of two files, local ones; and on what a class inherits.
import HookRuntime
import Synchronization
import Testing

/// Calls that handlers saw; a reference, so that handlers can share it.
final class SeenCalls: Sendable {
  let count = Atomic<Int>(0)
  var seen: Int { count.load(ordering: .relaxed) }
  func note() { count.wrappingAdd(1, ordering: .relaxed) }
}

private class Same {
  @inline(never) @_optimize(none) func who() -> String { "first" }
  @inline(never) @_optimize(none) func first() -> String { "first" }
}

class OwnParent {
  @inline(never) @_optimize(none) class func price(_ n: Int) -> Int { n }
}
class OwnChild: OwnParent {}
class OwnSibling: OwnParent {}
@inline(never) @_optimize(none) private func price(_ type: OwnParent.Type) -> Int { type.price(1) }

@Suite("hooks on a type of one's own", .serialized)
struct OwnTypeTests {
  @Test("private classes of two files have one name and two hooks")
  func privateTypes() throws {
    let here = SeenCalls(), there = SeenCalls()
    let hook = try Hooks(Same.self).before("who()") { _ in here.note() }
    let other = try hookOtherSame(there)
    defer { hook.remove() }
    defer { other.remove() }
    #expect(Same().who() == "first")
    #expect((here.seen, there.seen) == (1, 0))
    #expect(callOtherSame() == "second")
    #expect((here.seen, there.seen) == (1, 1))
  }

  @Test("what only the other class of that name has is not found")
  func absentMember() throws {
    #expect(throws: HookError.self) { _ = try Hooks(Same.self).before("second()") { _ in } }
  }

  @Test("a class of a function is meant by its type")
  func localType() throws {
    class Local {
      @inline(never) @_optimize(none) func who() -> String { "local" }
    }
    let calls = SeenCalls()
    let hook = try Hooks(Local.self).before("who()") { _ in calls.note() }
    defer { hook.remove() }
    #expect(Local().who() == "local")
    #expect(calls.seen == 1)
  }

  @Test("an inherited static method is hooked for calls on that class alone")
  func inheritedStatic() throws {
    let hook = try Hooks(OwnChild.self).around("static price(_:)") { (call, n: Int) -> Int in try call.original(n) * 100 }
    defer { hook.remove() }
    #expect([price(OwnParent.self), price(OwnChild.self), price(OwnSibling.self)] == [1, 100, 1])
  }
}
