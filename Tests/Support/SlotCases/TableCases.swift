// Virtual tables and witness tables.
import Checks
import HookRuntime
import SlotSubjects

@MainActor let tableCases: [(String, () throws -> Void)] = [
  (
    "vtable: a hook on a class sees its subclasses that inherit, and no override",
    {
      let (animal, dog, cat) = (hidden(Animal(name: "a")), hidden(Dog(name: "d") as Animal), hidden(Cat(name: "c") as Animal))
      let hooks = installed("Animal.walk(_:)", Note("h"), .both, by: .vtable)
      check(trace { check(animal.callWalk(1), 3, "result") }, "h> Animal.walk 1 <h", "the class")
      check(trace { check(dog.callWalk(2), 4, "result") }, "h> Animal.walk 2 <h", "a subclass that inherits")
      check(trace { check(cat.callWalk(3), 300, "result") }, "Cat.walk 3", "an override")
      remove(hooks)
      check(trace { _ = dog.callWalk(2) }, "Animal.walk 2", "removed")
    }
  ),
  (
    "vtable: super calls and direct calls are missed, entry sees them",
    {
      let dog = hidden(Dog(name: "d") as Animal)
      let table = installed("Animal.speak(_:)", Note("t"), by: .vtable)
      check(trace { _ = dog.callSpeak(1) }, "Dog.speak 1 Animal.speak 1", "super is direct")
      let entry = installed("Animal.speak(_:)", Note("e"), by: .entry)
      check(trace { _ = dog.callSpeak(1) }, "Dog.speak 1 e> Animal.speak 1", "by entry")
      remove(table + entry)
    }
  ),
  (
    "vtable: a hook for a subclass leaves its parent and siblings alone",
    {
      let (animal, dog, puppy) = (hidden(Animal(name: "a")), hidden(Dog(name: "d") as Animal), hidden(Puppy(name: "p") as Animal))
      let hooks = installed("Animal.walk(_:)", Note("s"), by: .vtable, scope: .subclass(Dog.self))
      check(trace { _ = animal.callWalk(1) }, "Animal.walk 1", "the parent")
      check(trace { _ = dog.callWalk(1) }, "s> Animal.walk 1", "the class")
      check(trace { _ = puppy.callWalk(1) }, "s> Animal.walk 1", "its subclass")
      let type = installed("Animal.walk(_:)", Note("t"), by: .vtable)
      check(trace { _ = animal.callWalk(1) }, "t> Animal.walk 1", "the parent has the type's")
      check(trace { _ = dog.callWalk(1) }, "t> s> Animal.walk 1", "the newer outside")
      remove(type)
      check(trace { _ = dog.callWalk(1) + animal.callWalk(2) }, "s> Animal.walk 1 Animal.walk 2", "the words of the subclass stay")
      remove(hooks)
      check(trace { _ = dog.callWalk(1) }, "Animal.walk 1", "removed")
    }
  ),
  (
    "vtable: an override with another result is reached through both its slots, once each",
    {
      let puppy = hidden(Puppy(name: "p"))
      let hooks = installed("Puppy.twice(_:)", Note("h"), .around, by: .vtable)
      check(trace { check((puppy as Animal).callTwice(2), 6, "through the parent's") }, "h( Puppy.twice 2 )h", "thunk")
      check(trace { check(puppy.callOwnTwice(2), 6, "through its own") }, "h( Puppy.twice 2 )h", "own slot")
      let entry = installed("Puppy.twice(_:)", Note("e"), .before, by: .entry)
      check(trace { _ = (puppy as Animal).callTwice(2) }, "e> h( Puppy.twice 2 )h", "with an entry hook, one call")
      remove(hooks)
      check(trace { _ = (puppy as Animal).callTwice(2) }, "e> Puppy.twice 2", "by entry alone")
      remove(entry)
    }
  ),
  (
    "vtable: errors, accessors, recursion, async",
    {
      let animal = hidden(Animal(name: "a"))
      var hooks = installed("Animal.fails(_:)", Note("f"), .both, by: .vtable)
      check(
        trace {
          do { check(try animal.callFails(-1), 0, "throws") } catch { ran.append("\(type(of: error))") }
        }, "f> Animal.fails -1 <f Refused", "an error passes")
      hooks += installed("Animal.mood.get", Note("g"), by: .vtable) + installed("Animal.mood.set", Note("s", adds: 1), by: .vtable)
      check(trace { animal.writeMood(animal.readMood) }, "g> Animal.mood s> Animal.mood = 4", "accessors, argument changed")
      hooks += installed("Animal.count(_:)", Note("c"), by: .vtable)
      check(trace { _ = animal.callCount(1) }, "c> Animal.count 1 c> Animal.count 0", "each call once")
      hooks += installed("Animal.count(_:)", Note("e"), .around, by: .entry)
      check(trace { _ = animal.callCount(1) }, "e( c> Animal.count 1 e( c> Animal.count 0 )e )e", "each call once, with entry")
      hooks += installed("Animal.later(_:)", Note("l"), .both, by: .vtable)
      check(trace { check(wait { await animal.callLater(1) }, 6, "async") }, "l> Animal.later 1 <l", "async")
      hooks += installed("Animal.later(_:)", Note("m"), .both, by: .entry)
      check(trace { check(wait { await animal.callLater(1) }, 6, "async") }, "m> l> Animal.later 1 <l <m", "async, with entry: one call")
      remove(hooks)
      check(trace { check(wait { await animal.callLater(1) }, 6, "async") }, "Animal.later 1", "removed")
    }
  ),
  (
    "vtable: what no table has is refused",
    {
      check(refusal("swappedFree(_:)", by: .vtable), "not-virtual", "a free function")
      check(refusal("Crate.open(_:)", by: .vtable), "generic-class", "a generic class")
      check(refusal("Animal.walk(_:)", by: .vtable, scope: .subclass(Cat.self)), "overridden", "a subclass with its own")
      check(refusal("Dog.fetch()", by: .vtable, scope: .subclass(Cat.self)), "not-a-subclass", "no subclass")
      check(refusal("Animal.walk(_:)", by: .vtable, scope: .object(Animal(name: "x"))), "scope", "an object")
      check(refusal("Animal.walk(_:)", by: .dynamic), "not-dynamic", "not dynamic")
    }
  ),
  (
    "witness: calls through the protocol, on all conforming classes",
    {
      let (animal, dog) = (hidden(Animal(name: "a")), hidden(Dog(name: "d")))
      let hooks = installed("Speaker.speak(_:)", Note("w"), .both, by: .witness)
      check(trace { check(speakThrough(animal, 1), 2, "result") }, "w> Animal.speak 1 <w", "the class")
      check(trace { check(speakThrough(dog, 1), 20, "result") }, "w> Dog.speak 1 Animal.speak 1 <w", "a subclass")
      check(trace { _ = animal.callSpeak(1) }, "Animal.speak 1", "a call of the method is none of the protocol's")
      remove(hooks)
      check(trace { _ = speakThrough(animal, 1) }, "Animal.speak 1", "removed")
    }
  ),
  (
    "requirement: by entry, each method that carries it out, one call once",
    {
      let (animal, dog) = (hidden(Animal(name: "a")), hidden(Dog(name: "d")))
      let hooks = installed("Speaker.speak(_:)", Note("r"), by: .entry)
      check(trace { _ = speakThrough(animal, 1) }, "r> Animal.speak 1", "through the protocol")
      check(trace { _ = animal.callSpeak(1) }, "r> Animal.speak 1", "virtual")
      check(trace { _ = speakThrough(dog, 1) }, "r> Dog.speak 1 r> Animal.speak 1", "an override, and super")
      check(hooks.count, 2, "two methods")
      remove(hooks)
    }
  ),
]
