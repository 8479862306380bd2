// One object's own class.
import Checks
import HookRuntime
import SlotSubjects

@MainActor let switchCases: [(String, () throws -> Void)] = [
  (
    "class switch: one object, two objects differently, a third untouched",
    {
      let (a, b, c) = (hidden(Dog(name: "a")), hidden(Dog(name: "b")), hidden(Dog(name: "c")))
      let one = installed("Animal.walk(_:)", Note("1"), .both, by: .classSwitch, scope: .object(a))
      let two = installed("Animal.walk(_:)", Note("2"), .around, by: .classSwitch, scope: .object(b))
      check(trace { check(a.callWalk(1), 3, "result") }, "1> Animal.walk 1 <1", "the first")
      check(trace { check(b.callWalk(1), 3, "result") }, "2( Animal.walk 1 )2", "the second")
      check(trace { check(c.callWalk(1), 3, "result") }, "Animal.walk 1", "the third")
      remove(one + two)
      check(trace { _ = a.callWalk(1) + b.callWalk(2) }, "Animal.walk 1 Animal.walk 2", "removed")
    }
  ),
  (
    "class switch: casts, name, mirror, fields and the one deinit are as they were",
    {
      let alive = Animal.alive
      do {
        let dog = hidden(Puppy(name: "p"))
        let name = "\(type(of: dog)) \(dog) \(String(reflecting: type(of: dog)))"
        let children = Mirror(reflecting: dog).children.map { $0.label ?? "" }
        let hooks = installed("Dog.speak(_:)", Note("h"), by: .classSwitch, scope: .object(dog))
        check(trace { _ = (dog as Animal).callSpeak(1) }, "h> Dog.speak 1 Animal.speak 1", "hooked")
        check("\(type(of: dog)) \(dog) \(String(reflecting: type(of: dog)))", name, "printed name")
        check(Mirror(reflecting: dog).children.map { $0.label ?? "" }, children, "mirror")
        let any = hidden(dog as AnyObject)
        check(any is Puppy && any is Dog && any is Animal && !(any is Cat), true, "is")
        check((any as? Dog)?.tricks, ["sit"], "as? and a field")
        check((any as? any Speaker) != nil, true, "conformance")
        dog.tricks.append("roll")
        check(dog.tricks, ["sit", "roll"], "a field written")
        check(classWord(dog) == classWord(hidden(Puppy(name: "plain"))), false, "type(of:) is another: documented")
        remove(hooks)
        check(classWord(dog) == classWord(hidden(Puppy(name: "plain"))), true, "the class it was made with")
        check(dog.tricks, ["sit", "roll"], "fields stay")
      }
      check(Animal.alive, alive, "one deinit")
      var dog: Puppy? = hidden(Puppy(name: "q"))
      let hooks = installed("Dog.speak(_:)", Note("h"), by: .classSwitch, scope: .object(dog!))
      dog = nil
      check(Animal.alive, alive, "one deinit, hooked")
      check(HookEngine.shared.remove(hooks[0]), false, "the hook has ended with its object")
    }
  ),
  (
    "class switch: several hooks of several methods, removed in any order",
    {
      let dog = hidden(Puppy(name: "p"))
      let walk = installed("Animal.walk(_:)", Note("w"), by: .classSwitch, scope: .object(dog))
      let speak = installed("Dog.speak(_:)", Note("s"), by: .classSwitch, scope: .object(dog))
      let more = installed("Animal.walk(_:)", Note("x"), by: .classSwitch, scope: .object(dog))
      check(trace { _ = dog.callWalk(1) + dog.callSpeak(1) }, "x> w> Animal.walk 1 s> Dog.speak 1 Animal.speak 1", "all")
      remove(walk)
      check(trace { _ = dog.callWalk(1) + dog.callSpeak(1) }, "x> Animal.walk 1 s> Dog.speak 1 Animal.speak 1", "one less")
      remove(more)
      check(trace { _ = dog.callWalk(1) + dog.callSpeak(1) }, "Animal.walk 1 s> Dog.speak 1 Animal.speak 1", "two less")
      check(classWord(dog) == classWord(hidden(Puppy(name: "plain"))), false, "it wears its class until the last hook goes")
      remove(speak)
      check(classWord(dog) == classWord(hidden(Puppy(name: "plain"))), true, "and not longer")
    }
  ),
  (
    "class switch: with hooks of its class, by table and by entry",
    {
      let (dog, other) = (hidden(Dog(name: "d")), hidden(Dog(name: "o")))
      let own = installed("Animal.walk(_:)", Note("o"), by: .classSwitch, scope: .object(dog))
      let type = installed("Animal.walk(_:)", Note("t"), by: .vtable, priority: 100)
      let speak = installed("Dog.speak(_:)", Note("s"), by: .vtable)
      check(trace { _ = dog.callWalk(1) }, "o> t> Animal.walk 1", "the object's outside")
      check(trace { _ = other.callWalk(1) }, "t> Animal.walk 1", "another object")
      check(trace { _ = dog.callSpeak(1) }, "s> Dog.speak 1 Animal.speak 1", "another slot of the copy")
      let entry = installed("Animal.walk(_:)", Note("e"), .around, by: .entry, priority: 50)
      check(trace { _ = dog.callWalk(1) }, "o> t> e( Animal.walk 1 )e", "one call")
      remove(own)
      check(trace { _ = dog.callWalk(1) }, "t> e( Animal.walk 1 )e", "as the others")
      remove(type + entry + speak)
      check(trace { _ = dog.callWalk(1) + dog.callSpeak(1) }, "Animal.walk 1 Dog.speak 1 Animal.speak 1", "removed")
    }
  ),
  (
    "class switch: what cannot be switched is refused",
    {
      check(refusal("Fish.walk(_:)", by: .classSwitch, scope: .object(Fish(name: "f"))), "final-class", "a final class")
      check(refusal("Clerk.file(_:)", by: .classSwitch, scope: .object(Clerk())), "actor", "an actor")
      check(refusal("Animal.walk(_:)", by: .classSwitch), "scope", "no object")
      check(refusal("Animal.walk(_:)", by: .classSwitch, scope: .object(Cat(name: "c"))), "overridden", "it has its own")
      let crate = Crate(3)
      let hooks = installed("Crate.open(_:)", Note("g"), by: .classSwitch, scope: .object(crate))
      check(trace { _ = crate.callOpen(1) }, "g>", "an object of a generic class")
      remove(hooks)
    }
  ),
]
