// Calling functions of the program by selector, from Swift.
import Checks
import ClosureHooks
import HookRuntime
import HookSubjects

/// The text of the error that `body` throws.
private func refusal(_ body: () throws -> Void) -> String {
  do { try body() } catch { return "\(error)" }
  return "no error"
}

@MainActor let callCases: [(String, () throws -> Void)] = [
  (
    "functions are called by selector",
    {
      check(try SwiftFunction("\(module).add(_:_:)").call(20, 22) as Int, 42, "free function")
      _ = Trace.take()
      check(
        try SwiftFunction("\(module).shout(_:times:)").call("a text that lives on the heap", 2) as String,
        "a text that lives on the heap!a text that lives on the heap!", "strings")
      check(try SwiftFunction("\(module).half(_:of:)").call(3.0, true) as Double, 1.5, "floats and a Bool")
      let first = try SwiftFunction("\(module).first(_:or:)")
      check(try first.call(String?.none, Int32?.some(4)) as String?, "4", "Optionals")
      check(try first.call("text", Int32?.none) as String?, "text", "a value for an Optional")
      check(try SwiftFunction("\(module).big(_:_:)").call(1, "abc") as Big, Big(4), "an indirect result")
      let many = try SwiftFunction("\(module).many(_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:)")
      check(
        try many.call(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0) as String,
        HookSubjects.many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), "registers and stack")
    }
  ),
  (
    "methods run the object's own implementation",
    {
      let speak = try SwiftFunction("\(module).Animal.speak(_:)")
      check(try speak.call(on: Animal(name: "a", legs: 2), 1) as String, "a 1", "the base class's")
      check(try speak.call(on: Dog(name: "d", legs: 4), 1) as String, "dog d 2", "an override")
      check(try speak.call(on: Cat(name: "c", legs: 4), 1) as String, "c 1", "inherited")
      let greet = try SwiftFunction("\(module).Animal.greet(_:)")
      check(try greet.call(on: Dog(name: "d", legs: 4), Cat(name: "c", legs: 4)) as String, "d meets c", "an instance of a subclass")
      check(try SwiftFunction("static \(module).Animal.census(_:)").call(4) as Int, 40, "a static method")
    }
  ),
  (
    "objects are made, read and written",
    {
      let alive = Animal.alive
      do {
        let made: Animal = try SwiftFunction("\(module).Animal.init(name:legs:)").call("made", 3)
        check(made.name, "made", "an initialiser owns its arguments")
        let name = try SwiftProperty("\(module).Animal.name")
        check(try name.get(on: made) as String, "made", "a getter")
        try name.set("a name that lives on the heap", on: made)
        check(made.name, "a name that lives on the heap", "a setter")
      }
      check(Animal.alive, alive, "nothing is left")
    }
  ),
  (
    "methods of structs are called on copies",
    {
      var counter = Counter()
      _ = counter.bump(by: 4)
      // Without evidence of the body's code it is not known whether a method is mutating: called right, or refused.
      let text = refusal {
        let scaled: String = try SwiftFunction("\(module).Counter.scaled(_:label:)").call(onValue: counter, 2.5, "x")
        check(scaled, "x 10.0", "a method")
      }
      check(text == "no error" || text.contains("mutating"), true, text)
    }
  ),
  (
    "methods that may leave the copy behind are refused, unless the caller accepts that",
    {
      let animal = Animal(name: "rex", legs: 4)
      let selector = "\(module).Collar.text()"
      let sentence =
        "cannot call '\(selector)': its code does not tell whether it consumes its self, so that each call may leave a copy of the value "
        + "behind; to accept that, say swift.allow_leak(\"\(selector)\"), in Swift SwiftFunction(\"\(selector)\", allowingLeak: true)"
      check(refusal { _ = try SwiftFunction(selector) }, sentence, "a function")
      check(refusal { _ = try Message.send("text()", to: Collar(of: animal)) }, sentence, "a message")
      check(refusal { _ = try Dynamic(Collar(of: animal)).text() as String }, sentence, "a member")
      check(try SwiftFunction(selector, allowingLeak: true).call(onValue: Collar(of: animal)) as String, "rex", "accepted")
      withExtendedLifetime(animal) {}
    }
  ),
  (
    "errors are thrown on, and belong to the caller",
    {
      let half = try SwiftFunction("\(module).evenHalf(_:)")
      check(try half.call(8) as Int, 4, "no error")
      for _ in 0..<3 {
        do {
          _ = try half.call(7) as Int
          check(true, false, "it threw")
        } catch { check(error as? Problem, .odd(7), "the error") }
      }
    }
  ),
  (
    "what does not fit is told before anything runs",
    {
      let add = try SwiftFunction("\(module).add(_:_:)")
      check(refusal { _ = try add.call(1) as Int }, "'\(module).add(_:_:)' takes 2 arguments, got 1", "too few")
      check(
        refusal { _ = try add.call(1, "2") as Int }, "argument 2 of '\(module).add(_:_:)': expected Swift.Int, got Swift.String",
        "another type")
      check(Trace.take(), "", "nothing ran")
      check(
        refusal { _ = try add.call(1, 2) as String }, "'\(module).add(_:_:)' returns Swift.Int, asked for Swift.String", "another result")
      let speak = try SwiftFunction("\(module).Animal.speak(_:)")
      check(
        refusal { _ = try speak.call(1) as String },
        "self of '\(module).Animal.speak(_:)': expected \(module).Animal, got none; use call(on:)",
        "no object")
      check(
        refusal { _ = try SwiftFunction("\(module).later(_:)") },
        "'\(module).later(_:)' is async: only an 'around' handler of an async function can wait for it, in the handler itself", "async")
      check(refusal { _ = try SwiftFunction("\(module).ad(_:_:)") }.contains("did you mean '\(module).add(_:_:)'"), true, "a near miss")
      check(refusal { _ = try SwiftFunction("\(module).*") }.contains("is a pattern"), true, "a glob")
    }
  ),
  (
    "hooks see calls by selector; a handler's own goes to the next layer",
    {
      let outer = try engine.around("\(module).add(_:_:)", priority: 2) { call in
        Trace.text += "outer "
        let sum = try? SwiftFunction("\(module).add(_:_:)").call(10, 20) as Int
        call.setResult(to: sum ?? -1)
      }
      let inner = try engine.before("\(module).add(_:_:)", note("inner"))
      check(try SwiftFunction("\(module).add(_:_:)").call(1, 2) as Int, 30, "the handler's call")
      check(Trace.take(), "outer inner add ", "order")
      outer.remove()
      inner.remove()
    }
  ),
]
