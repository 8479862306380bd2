// hook-cases — the dispatch rules, checked on real calls of this process. `hook-cases [NAME…]`; exit status 0 when all hold.
//
// One program for both optimisation levels: Tests/Programs/dispatch runs the debug and the release build.
import Checks
import CHookTrampoline
import ClosureHooks
import Glibc
import HookRuntime
import HookSubjects
import Synchronization

let engine = HookEngine.shared
let module = "HookSubjects"

func note(_ mark: String) -> @Sendable (borrowing HookedCall) -> Void { { _ in Trace.text += mark + " " } }

let cases: [(String, () throws -> Void)] = [
  (
    "before, around and after run in order",
    {
      let before = try engine.before("\(module).add(_:_:)", note("before"))
      let after = try engine.after("\(module).add(_:_:)", note("after"))
      let around = try engine.around("\(module).add(_:_:)") { call in
        Trace.text += "( "
        call.proceed()
        Trace.text += ") "
      }
      check(add(1, 2), 3, "result")
      // The newer is outside: around encloses after, which encloses before.
      check(Trace.take(), "( before add after ) ", "order")
      check(before.remove(), true, "remove")
      check(before.remove(), false, "removing twice")
      check(add(1, 2), 3, "result")
      check(Trace.take(), "( add after ) ", "order without before")
      around.remove()
      after.remove()
      check(add(1, 2), 3, "result")
      check(Trace.take(), "add ", "nothing left")
    }
  ),
  (
    "each call of one instruction counts once",
    {
      // By a jump (before) and with the original inside (after): an initialiser has two forms, one call is one event.
      let made = try engine.before("\(module).Animal.init(name:legs:)", note("made"))
      let gone = try engine.before("\(module).Animal.deinit", note("gone"))
      for number in 0..<4 { _ = Animal(name: "n", legs: number) }
      check(Trace.take(), "made gone made gone made gone made gone ", "before")
      made.remove()
      gone.remove()
      let after = try engine.after("\(module).Animal.init(name:legs:)", note("made"))
      for number in 0..<4 { _ = Animal(name: "n", legs: number) }
      check(Trace.take(), "made made made made ", "after")
      after.remove()
    }
  ),
  (
    "priority is outside, then the newer",
    {
      let low = try engine.before("\(module).add(_:_:)", priority: 1, note("low"))
      let high = try engine.before("\(module).add(_:_:)", priority: 9, note("high"))
      let newer = try engine.before("\(module).add(_:_:)", priority: 1, note("newer"))
      _ = add(1, 1)
      check(Trace.take(), "high newer low add ", "order")
      for hook in [low, high, newer] { hook.remove() }
    }
  ),
  (
    "arguments and results are seen and changed",
    {
      let before = try engine.before("\(module).shout(_:times:)") { call in
        check(call.argument(0, as: String.self), "hey", "text")
        check(call.argument(1, as: Int.self), 2, "times")
        check(call.argument(1, as: String.self), nil, "another type")
        check(call.setArgument(0, to: "a long text that lives on the heap"), true, "set text")
        check(call.setArgument(1, to: 3), true, "set times")
        check(call.setArgument(1, to: "three"), false, "set another type")
      }
      check(shout("hey", times: 2), String(repeating: "a long text that lives on the heap!", count: 3), "changed arguments")
      before.remove()
      let after = try engine.after("\(module).shout(_:times:)") { call in
        check(call.result(as: String.self), "hey!hey!", "result seen")
        call.setResult(to: "quiet, please: this is not a small string")
      }
      check(shout("hey", times: 2), "quiet, please: this is not a small string", "changed result")
      after.remove()
      check(shout("hey", times: 2), "hey!hey!", "as before")
    }
  ),
  (
    "closures are called and replaced",
    {
      typealias Text = (Int, String) -> String
      let hook = try engine.around("\(module).composed(_:twice:)") { call in
        let f = call.argument(0, as: Text.self)
        check(f?(1, "seen"), "seen 1", "argument called")
        call.setArgument(0, to: { "<" + f!($0, $1) + ">" } as Text)
        call.proceed()
        let result = call.result(as: ((Int) -> String).self)
        check(result?(2), "<<composed 2> 2>", "result called")
        call.setResult(to: { result!($0 + 1) + "!" } as (Int) -> String)
      }
      check(composed({ "\($1) \($0)" }, twice: true)(4), "<<composed 5> 5>!", "result replaced")
      hook.remove()
    }
  ),
  (
    "floats, bools and optionals",
    {
      let hook = try engine.before("\(module).half(_:of:)") { call in
        check(call.argument(0, as: Double.self), 5.0, "value")
        check(call.argument(1, as: Bool.self), true, "flag")
        call.setArgument(0, to: 9.0)
      }
      check(half(5, of: true), 4.5, "half")
      hook.remove()
      let optional = try engine.around("\(module).first(_:or:)") { call in
        let text = call.argument(0, as: String?.self)
        let other = call.argument(1, as: Int32?.self)
        check(text, .some(nil), "nil text")
        check(other, .some(7), "other")
        call.setArgument(1, to: Int32?.none)
        call.proceed()
        check(call.result(as: String?.self), .some(nil), "nil result")
        call.setResult(to: String?.some("made up"))
      }
      check(first(nil, or: 7), "made up", "optional result")
      optional.remove()
    }
  ),
  (
    "every argument on the stack survives",
    {
      let expected = many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5)
      let name = "\(module).many(_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:)"
      for install in [engine.before, engine.after] {
        let hook = try install(name, 0) { call in
          check(call.argument(10, as: Int.self), 11, "eleventh integer")
          check(call.argument(21, as: Double.self), 10.5, "eleventh double")
        }
        check(many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5), expected, "all")
        hook.remove()
      }
      let change = try engine.around(name) { call in
        call.setArgument(10, to: 99)
        call.setArgument(21, to: -1.0)
        call.proceed()
      }
      check(
        many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5),
        "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99] [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, -1.0]", "changed on the stack")
      change.remove()
    }
  ),
  (
    "indirect results pass through and are replaced",
    {
      let hook = try engine.after("\(module).big(_:_:)") { call in
        check(call.result(as: Big.self), Big(5), "indirect result seen")
        call.setResult(to: Big(100))
      }
      check(big(2, "abc"), Big(100), "indirect result replaced")
      hook.remove()
      let instead = try engine.around("\(module).big(_:_:)") { call in call.setResult(to: Big(7)) }
      check(big(2, "abc"), Big(7), "indirect result without the original")
      instead.remove()
    }
  ),
  (
    "errors pass through, are replaced and swallowed",
    {
      let hook = try engine.after("\(module).evenHalf(_:)") { call in
        if let problem = call.error as? Problem { Trace.text += "\(problem) " } else { Trace.text += "\(call.result(as: Int.self)!) " }
      }
      check(try? evenHalf(8), 4, "no error")
      do { _ = try evenHalf(7); check(true, false, "threw") } catch { check(error as? Problem, .odd(7), "same error") }
      check(Trace.take(), "4 odd(7) ", "seen")
      hook.remove()
      let swallow = try engine.around("\(module).evenHalf(_:)") { call in
        call.proceed()
        if call.error != nil { call.setResult(to: -1) }
      }
      check(try evenHalf(7), -1, "swallowed")
      check(try evenHalf(6), 3, "untouched")
      swallow.remove()
    }
  ),
  (
    "recursion passes all layers, innermost ends first",
    {
      nonisolated(unsafe) var log: [String] = []
      let hook = try engine.around("\(module).factorial(_:)") { call in
        let n = call.argument(0, as: Int.self)!
        log.append("+\(n)")
        call.proceed()
        log.append("-\(n)=\(call.result(as: Int.self)!)")
      }
      check(factorial(3), 6, "factorial")
      check(log.last, "-3=6", "the outermost ends last")
      check(log.count % 2, 0, "entries and exits pair")
      hook.remove()
    }
  ),
  (
    "a handler that calls its own method reaches the next layer",
    {
      let inner = try engine.before("\(module).add(_:_:)", note("inner"))
      let outer = try engine.before("\(module).add(_:_:)") { _ in
        Trace.text += "[ "
        _ = add(10, 10)
        Trace.text += "] "
      }
      check(add(1, 2), 3, "result")
      check(Trace.take(), "[ inner add ] inner add ", "no endless recursion")
      outer.remove()
      inner.remove()
    }
  ),
  (
    "the original can run never, once or twice",
    {
      for runs in 0...2 {
        let hook = try engine.around("\(module).add(_:_:)") { call in
          for _ in 0..<runs { call.proceed() }
          if runs == 0 { call.setResult(to: 77) }
        }
        check(add(1, 2), runs == 0 ? 77 : 3, "\(runs) runs")
        check(Trace.take(), String(repeating: "add ", count: runs), "\(runs) runs")
        hook.remove()
      }
    }
  ),
  (
    "methods: parent, child, super, static, self",
    {
      let parent = try engine.before("\(module).Animal.speak(_:)") { call in Trace.text += "Animal:\((call.object as! Animal).name) " }
      let child = try engine.before("\(module).Dog.speak(_:)") { call in Trace.text += "Dog:\(call.argument(0, as: Int.self)!) " }
      let dog = Dog(name: "Rex", legs: 4)
      let cat = Cat(name: "Tom", legs: 4)
      check(dog.speak(1), "dog Rex 2", "dog")
      check(Trace.take(), "Dog:1 Animal:Rex ", "each layer once")
      check(cat.speak(5), "Tom 5", "cat")
      check(Trace.take(), "Animal:Tom ", "inherited")
      parent.remove()
      child.remove()
      let census = try engine.after("static \(module).Animal.census(_:)") { call in call.setResult(to: call.result(as: Int.self)! + 1) }
      check(Animal.census(4), 41, "static")
      census.remove()
    }
  ),
  (
    "objects as arguments; owned arguments of initialisers",
    {
      nonisolated(unsafe) let dog = Dog(name: "Rex", legs: 4)
      nonisolated(unsafe) let cat = Cat(name: "Tom", legs: 4)
      let hook = try engine.before("\(module).Animal.greet(_:)") { call in
        check(call.argument(0, as: Animal.self) === dog, true, "the very object")
        check(call.setArgument(0, to: cat as Animal), true, "replaced")
      }
      check(cat.greet(dog), "Tom meets Tom", "object argument replaced")
      hook.remove()
      let alive = Animal.alive
      let named = try engine.before("\(module).Animal.init(name:legs:)") { call in
        check(call.argument(0, as: String.self), "a name too long to be small", "owned argument")
        call.setArgument(0, to: "another name, on the heap as well")
      }
      for _ in 0..<1000 {
        check(Cat(name: "a name too long to be small", legs: 3).name, "another name, on the heap as well", "initialised")
      }
      named.remove()
      check(Animal.alive, alive, "no object leaked")
    }
  ),
  (
    "struct methods keep their value",
    {
      var counter = Counter()
      let bump = try engine.around("\(module).Counter.bump(by:)") { call in
        call.setArgument(0, to: call.argument(0, as: Int.self)! * 10)
        call.proceed()
      }
      check(counter.bump(by: 2), 20, "mutating")
      check(counter.value, 20, "mutated")
      bump.remove()
      let scaled = try engine.after("\(module).Counter.scaled(_:label:)") { call in
        call.setResult(to: "[" + call.result(as: String.self)! + "]")
      }
      check(counter.scaled(0.5, label: "x"), "[x 10.0]", "self behind the arguments")
      scaled.remove()
    }
  ),
  (
    "refusals say why",
    {
      func sentence(_ selector: String) -> String {
        do { try engine.around(selector) { $0.proceed() }.remove(); return "" } catch { return "\(error)" }
      }
      check(
        sentence("\(module).ad(_:_:)"), "no selector '\(module).ad(_:_:)' in this program; did you mean '\(module).add(_:_:)'?", "near miss"
      )
      check(sentence("Nowhere.nothing()"), "no selector 'Nowhere.nothing()' in this program", "far miss")
      check(sentence("\(module).Animal.speek(_:)"), "no selector 'speek(_:)' in \(module).Animal; did you mean 'speak(_:)'?", "member")
      check(sentence("\(module).later(_:)").contains("an 'around' closure cannot wait"), true, "async: \(sentence("\(module).later(_:)"))")
    }
  ),
  (
    "threads call while others install and remove",
    {
      let stop = Atomic<Bool>(false)
      let wrong = Atomic<Int>(0)
      let calls = Atomic<Int>(0)
      withUnsafePointer(to: stop) { stop in
        withUnsafePointer(to: wrong) { wrong in
          withUnsafePointer(to: calls) { calls in
            let threads = (0..<3).map { _ in
              Thread {
                while !stop.pointee.load(ordering: .relaxed) {
                  let found = half(8, of: true)
                  if found != 4 && found != 400 { wrong.pointee.wrappingAdd(1, ordering: .relaxed) }
                  calls.pointee.wrappingAdd(1, ordering: .relaxed)
                }
              }
            }
            for _ in 0..<2000 {
              let hook = try! engine.after("\(module).half(_:of:)") { call in call.setResult(to: 400.0) }
              sched_yield()
              hook.remove()
            }
            stop.pointee.store(true, ordering: .relaxed)
            for thread in threads { thread.join() }
          }
        }
      }
      check(wrong.load(ordering: .relaxed), 0, "every call sees old or new")
      check(calls.load(ordering: .relaxed) > 1000, true, "calls went on")
      check(hkt_retired_waiting() <= 4, true, "removed layers are freed")
    }
  ),
  (
    "removing does not wait for a call in flight",
    {
      let entered = Atomic<Bool>(false)
      let release = Atomic<Bool>(false)
      withUnsafePointer(to: entered) { entered in
        withUnsafePointer(to: release) { release in
          nonisolated(unsafe) let entered = entered
          nonisolated(unsafe) let release = release
          let hook = try! engine.around("\(module).half(_:of:)") { call in
            entered.pointee.store(true, ordering: .releasing)
            while !release.pointee.load(ordering: .acquiring) { sched_yield() }
            call.proceed()
            call.setResult(to: 1.0)
          }
          nonisolated(unsafe) var found = 0.0
          let thread = Thread { found = half(8, of: true) }
          while !entered.pointee.load(ordering: .acquiring) { sched_yield() }
          check(hook.remove(), true, "removed while in use")
          check(half(8, of: true), 4, "later calls do not see it")
          release.pointee.store(true, ordering: .releasing)
          thread.join()
          check(found, 1, "the call in flight finished with its hook")
        }
      }
    }
  ),
]

/// A thread that is joined.
final class Thread {
  private var handle = pthread_t()
  init(_ body: @escaping () -> Void) {
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    pthread_create(
      &handle, nil,
      {
        Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body(); return nil
      }, box)
  }
  func join() { pthread_join(handle, nil) }
  private final class Box {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
}

let wanted = Array(CommandLine.arguments.dropFirst())
if wanted.first == "--twins" { exit(twinsLand(library: wanted.last!) ? 0 : 1) }
runCases(cases + callCases + asyncCases + observeCases + apiCases + ruleCases + straightCases + messageCases, named: wanted) {
  _ = Trace.take()
}
