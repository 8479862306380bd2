// bench-kinds — values of every kind, with handlers that read or replace them; calls from scripts, closures, async hooks.
// Prints samples, one per line: `S`, name, value, by tabs.
import Glibc
import Kinds
import Sampling

let arguments = CommandLine.arguments
let mode = arguments.count > 1 ? arguments[1] : "values"
let repetitions = arguments.count > 2 ? Int(arguments[2]) ?? 5 : 5

switch mode {
case "values": measureValues(repetitions)
case "only":
  // For what counts instructions: NAME ROUNDS.
  let name = arguments.count > 3 ? arguments[2] : ""
  if !valueBench().run(only: name, rounds: arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1) { fatalError("there is no '\(name)'") }
case "calls": measureCalls(repetitions)
case "async": await measureAsync(repetitions)
default: break
}

struct Values {
  let text = "a text of 24 characters."
  let item = Item()
  let point = Point(x: 1, y: 2)
  let shape = Shape.circle(5)
  let array = [1, 2, 3]
  let dictionary = ["one": 1, "two": 2]
  let tuple = (1, 2)
  let closure: (Int) -> Int = { $0 &+ 1 }
}

/// Which handlers run, the patches decide: none, some that read, some that replace.
func measureValues(_ repetitions: Int) {
  var bench = valueBench()
  if arguments.count > 3 { bench.keep(only: arguments[3]) }
  bench.run(repetitions)
}

func valueBench() -> Bench {
  let kinds = Kinds()
  let values = Values()
  var bench = Bench()
  bench.add("int", 5, kinds.int1, kinds.int3, kinds.int8)
  bench.add("double", 2.5, kinds.double1, kinds.double3, kinds.double8)
  bench.add("bool", true, kinds.bool1, kinds.bool3, kinds.bool8)
  bench.add("text", values.text, kinds.text1, kinds.text3, kinds.text8)
  bench.add("optional", 5, kinds.optional1, kinds.optional3, kinds.optional8)
  bench.add("object", values.item, kinds.object1, kinds.object3, kinds.object8)
  bench.add("structure", values.point, kinds.structure1, kinds.structure3, kinds.structure8)
  bench.add("enumeration", values.shape, kinds.enumeration1, kinds.enumeration3, kinds.enumeration8)
  bench.add("array", values.array, kinds.array1, kinds.array3, kinds.array8)
  bench.add("dictionary", values.dictionary, kinds.dictionary1, kinds.dictionary3, kinds.dictionary8)
  bench.add("tuple", values.tuple, kinds.tuple1, kinds.tuple3, kinds.tuple8)
  bench.add("existential", values.item, kinds.existential1, kinds.existential3, kinds.existential8)
  bench.add("closure", values.closure, kinds.closure1, kinds.closure3, kinds.closure8)
  bench.add("generic") { for i in 0..<$0 { keep(kinds.generic(i)) } }
  return bench
}

extension Bench {
  /// One value, passed once, three times, eight times. Inlined, so that the calls are direct.
  @inline(__always)
  mutating func add<T>(
    _ kind: String, _ value: T, _ one: @escaping (T) -> Int, _ three: @escaping (T, T, T) -> Int,
    _ eight: @escaping (T, T, T, T, T, T, T, T) -> Int
  ) {
    add(kind + " 1") { for _ in 0..<$0 { Sampling.keep(one(value)) } }
    add(kind + " 3") { for _ in 0..<$0 { Sampling.keep(three(value, value, value)) } }
    add(kind + " 8") { for _ in 0..<$0 { Sampling.keep(eight(value, value, value, value, value, value, value, value)) } }
  }
}

func measureCalls(_ repetitions: Int) {
  let called = Called()
  let closures = Closures()
  var bench = Bench()
  for kind in [
    "nothing in a loop", "scalar", "nothing", "text", "optional", "object", "structure", "enumeration", "array", "closure", "getter",
    "setter",
    "field", "static", "send",
  ] {
    bench.add("call " + kind) { keep(called.run(kind, $0)) }
  }
  closures.keep { $0 &+ 1 }
  bench.add("closure into Lua") { for i in 0..<$0 { keep(closures.callKept(i)) } }
  bench.add("closure into Swift") { closures.lend($0) { $0 &+ 1 } }
  if arguments.count > 3 { bench.keep(only: arguments[3]) }
  bench.run(repetitions)
}

/// Tasks move from thread to thread: the time is the process's.
nonisolated func measureAsync(_ repetitions: Int) async {
  let later = Later()
  let rounds = 20_000
  for repetition in 0...repetitions {
    for (name, call) in [
      ("bare", { @Sendable in await later.bare($0) }), ("before", { @Sendable in await later.before($0) }),
      ("around", { @Sendable in await later.around($0) }), ("after", { @Sendable in await later.after($0) }),
      ("spanned", { @Sendable in await later.spanned($0) }),
    ] as [(String, @Sendable (Int) async -> Int)] {
      let start = processTime()
      for i in 0..<rounds { keep(await call(i)) }
      if repetition > 0 { sample("async " + name, (processTime() - start) / Double(rounds)) }
    }
  }
}
