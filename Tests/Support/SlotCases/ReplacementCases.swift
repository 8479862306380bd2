// Functions compiled `dynamic`.
import Checks
import HookRuntime
import SlotSubjects

@MainActor let replacementCases: [(String, () throws -> Void)] = [
  (
    "dynamic: every call is seen, the function's own body runs",
    {
      let hooks =
        installed("swappedFree(_:)", Note("a", adds: 1), by: .dynamic) + installed("swappedFree(_:)", Note("b"), .around, by: .dynamic)
      check(trace { check(swappedFree(1), 14, "changed argument") }, "b( a> swappedFree 2 )b", "left by a call")
      remove([hooks[1]])
      check(trace { check(swappedFree(1), 14, "changed argument") }, "a> swappedFree 2", "left by a jump")
      remove(hooks)
      check(trace { check(swappedFree(1), 7, "result") }, "swappedFree 1", "removed")
    }
  ),
  (
    "dynamic: methods, objects, async",
    {
      let (animal, other) = (hidden(Animal(name: "a")), hidden(Dog(name: "d") as Animal))
      var hooks = installed("Animal.swapped(_:)", Note("m"), by: .dynamic)
      hooks += installed("Animal.swapped(_:)", Note("o"), .both, by: .dynamic, scope: .object(other))
      check(trace { _ = animal.callSwapped(1) }, "m> Animal.swapped 1", "the type's")
      check(trace { _ = other.callSwapped(1) }, "o> m> Animal.swapped 1 <o", "the object's outside")
      hooks += installed("swappedLater(_:)", Note("l"), .both, by: .dynamic)
      check(trace { check(wait { await swappedLater(2) }, 18, "result") }, "l> swappedLater 2 <l", "async")
      remove(hooks)
      check(trace { _ = animal.callSwapped(1) }, "Animal.swapped 1", "removed")
    }
  ),
  (
    "dynamic: with entry and virtual hooks, in any order, each call once and in order",
    {
      let animal = hidden(Animal(name: "a"))
      let low = installed("Animal.swapped(_:)", Note("d"), .both, by: .dynamic, priority: 5)
      let high = installed("Animal.swapped(_:)", Note("e"), .both, by: .entry, priority: 9)
      check(trace { _ = animal.callSwapped(1) }, "e> d> Animal.swapped 1 <d <e", "entry outside")
      remove(high)
      check(trace { _ = animal.callSwapped(1) }, "d> Animal.swapped 1 <d", "the variable again")
      let table = installed("Animal.swapped(_:)", Note("t"), .both, by: .vtable, priority: 1)
      check(trace { _ = animal.callSwapped(1) }, "d> t> Animal.swapped 1 <t <d", "by priority, not by the way")
      remove(low)
      check(trace { _ = animal.callSwapped(1) }, "t> Animal.swapped 1 <t", "the table alone")
      let again = installed("Animal.swapped(_:)", Note("e"), .before, by: .entry)
      check(trace { _ = animal.callSwapped(1) }, "t> e> Animal.swapped 1 <t", "the table and the entry")
      remove(table + again)
      check(trace { _ = animal.callSwapped(1) }, "Animal.swapped 1", "removed")
    }
  ),
]
