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
  let kinds = Kinds()
  let values = Values()
  var bench = Bench()
  bench.add("int 1") { for i in 0..<$0 { keep(kinds.int1(i)) } }
  bench.add("int 3") { for i in 0..<$0 { keep(kinds.int3(i, i, i)) } }
  bench.add("int 8") { for i in 0..<$0 { keep(kinds.int8(i, i, i, i, i, i, i, i)) } }
  bench.add("double 1") { for _ in 0..<$0 { keep(kinds.double1(2.5)) } }
  bench.add("double 3") { for _ in 0..<$0 { keep(kinds.double3(2.5, 2.5, 2.5)) } }
  bench.add("double 8") { for _ in 0..<$0 { keep(kinds.double8(2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5)) } }
  bench.add("bool 1") { for _ in 0..<$0 { keep(kinds.bool1(true)) } }
  bench.add("bool 3") { for _ in 0..<$0 { keep(kinds.bool3(true, true, true)) } }
  bench.add("bool 8") { for _ in 0..<$0 { keep(kinds.bool8(true, true, true, true, true, true, true, true)) } }
  bench.add("text 1") { for _ in 0..<$0 { keep(kinds.text1(values.text)) } }
  bench.add("text 3") { for _ in 0..<$0 { keep(kinds.text3(values.text, values.text, values.text)) } }
  bench.add("text 8") {
    for _ in 0..<$0 {
      keep(kinds.text8(values.text, values.text, values.text, values.text, values.text, values.text, values.text, values.text))
    }
  }
  bench.add("optional 1") { for i in 0..<$0 { keep(kinds.optional1(i)) } }
  bench.add("optional 3") { for i in 0..<$0 { keep(kinds.optional3(i, i, i)) } }
  bench.add("optional 8") { for i in 0..<$0 { keep(kinds.optional8(i, i, i, i, i, i, i, i)) } }
  bench.add("object 1") { for _ in 0..<$0 { keep(kinds.object1(values.item)) } }
  bench.add("object 3") { for _ in 0..<$0 { keep(kinds.object3(values.item, values.item, values.item)) } }
  bench.add("object 8") {
    for _ in 0..<$0 {
      keep(kinds.object8(values.item, values.item, values.item, values.item, values.item, values.item, values.item, values.item))
    }
  }
  bench.add("structure 1") { for _ in 0..<$0 { keep(kinds.structure1(values.point)) } }
  bench.add("structure 3") { for _ in 0..<$0 { keep(kinds.structure3(values.point, values.point, values.point)) } }
  bench.add("structure 8") {
    for _ in 0..<$0 {
      keep(kinds.structure8(values.point, values.point, values.point, values.point, values.point, values.point, values.point, values.point))
    }
  }
  bench.add("enumeration 1") { for _ in 0..<$0 { keep(kinds.enumeration1(values.shape)) } }
  bench.add("enumeration 3") { for _ in 0..<$0 { keep(kinds.enumeration3(values.shape, values.shape, values.shape)) } }
  bench.add("enumeration 8") {
    for _ in 0..<$0 {
      keep(
        kinds.enumeration8(values.shape, values.shape, values.shape, values.shape, values.shape, values.shape, values.shape, values.shape))
    }
  }
  bench.add("array 1") { for _ in 0..<$0 { keep(kinds.array1(values.array)) } }
  bench.add("array 3") { for _ in 0..<$0 { keep(kinds.array3(values.array, values.array, values.array)) } }
  bench.add("array 8") {
    for _ in 0..<$0 {
      keep(kinds.array8(values.array, values.array, values.array, values.array, values.array, values.array, values.array, values.array))
    }
  }
  bench.add("dictionary 1") { for _ in 0..<$0 { keep(kinds.dictionary1(values.dictionary)) } }
  bench.add("dictionary 3") { for _ in 0..<$0 { keep(kinds.dictionary3(values.dictionary, values.dictionary, values.dictionary)) } }
  bench.add("dictionary 8") {
    for _ in 0..<$0 {
      keep(
        kinds.dictionary8(
          values.dictionary, values.dictionary, values.dictionary, values.dictionary, values.dictionary, values.dictionary,
          values.dictionary, values.dictionary))
    }
  }
  bench.add("tuple 1") { for _ in 0..<$0 { keep(kinds.tuple1(values.tuple)) } }
  bench.add("tuple 3") { for _ in 0..<$0 { keep(kinds.tuple3(values.tuple, values.tuple, values.tuple)) } }
  bench.add("tuple 8") {
    for _ in 0..<$0 {
      keep(kinds.tuple8(values.tuple, values.tuple, values.tuple, values.tuple, values.tuple, values.tuple, values.tuple, values.tuple))
    }
  }
  bench.add("existential 1") { for _ in 0..<$0 { keep(kinds.existential1(values.item)) } }
  bench.add("existential 3") { for _ in 0..<$0 { keep(kinds.existential3(values.item, values.item, values.item)) } }
  bench.add("existential 8") {
    for _ in 0..<$0 {
      keep(kinds.existential8(values.item, values.item, values.item, values.item, values.item, values.item, values.item, values.item))
    }
  }
  bench.add("closure 1") { for _ in 0..<$0 { keep(kinds.closure1(values.closure)) } }
  bench.add("closure 3") { for _ in 0..<$0 { keep(kinds.closure3(values.closure, values.closure, values.closure)) } }
  bench.add("closure 8") {
    for _ in 0..<$0 {
      keep(
        kinds.closure8(
          values.closure, values.closure, values.closure, values.closure, values.closure, values.closure, values.closure, values.closure))
    }
  }
  bench.add("generic") { for i in 0..<$0 { keep(kinds.generic(i)) } }
  if arguments.count > 3 { bench.keep(only: arguments[3]) }
  bench.run(repetitions)
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
    ] as [(String, @Sendable (Int) async -> Int)] {
      let start = processTime()
      for i in 0..<rounds { keep(await call(i)) }
      if repetition > 0 { sample("async " + name, (processTime() - start) / Double(rounds)) }
    }
  }
}
