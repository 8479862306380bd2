// bench-subject — the measured program. Prints samples, one per line: `S`, name, value, by tabs.
import Glibc
import Sampling
import Subject

let arguments = CommandLine.arguments
let mode = arguments.count > 1 ? arguments[1] : "exit"
let repetitions = arguments.count > 2 ? Int(arguments[2]) ?? 5 : 5

switch mode {
case "calls":
  var bench = callBench()
  bench.run(repetitions)
case "traps":
  var bench = Bench()
  let counter = Counter()
  bench.add("trapped") { for i in 0..<$0 { keep(counter.trapped(i, 2.5, true)) } }
  bench.run(repetitions)
case "watched": measureWatched(repetitions)
case "rules":
  var bench = ruleBench()
  bench.run(repetitions)
case "only":
  // For what counts instructions: NAME ROUNDS.
  let name = arguments.count > 3 ? arguments[2] : ""
  let rounds = arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1
  if !callBench().run(only: name, rounds: rounds), !ruleBench().run(only: name, rounds: rounds) { fatalError("there is no '\(name)'") }
case "threads": measureThreads(repetitions)
case "loop": measureLoop(repetitions)
case "memory":
  sample("rss", memoryKiB("Rss"))
  sample("pss", memoryKiB("Pss"))
  sample("private", memoryKiB("Private_Dirty"))
case "states": loadPlainly(arguments[2])
default: break
}

/// Every kind of hook, and the same Lua functions called from native code in the same process.
func callBench() -> Bench {
  let counter = Counter()
  let text = "a text of 24 characters."
  var bench = Bench()
  bench.add("bare") { for i in 0..<$0 { keep(counter.bare(i, 2.5, true)) } }
  bench.add("contained") { for i in 0..<$0 { keep(counter.contained(i, 2.5, true)) } }
  bench.add("before") { for i in 0..<$0 { keep(counter.before(i, 2.5, true)) } }
  bench.add("around") { for i in 0..<$0 { keep(counter.around(i, 2.5, true)) } }
  bench.add("after") { for i in 0..<$0 { keep(counter.after(i, 2.5, true)) } }
  bench.add("tracked") { for i in 0..<$0 { keep(counter.tracked(i, 2.5, true)) } }
  bench.add("tracked text") { for i in 0..<$0 { keep(counter.trackedText(text, i)) } }
  bench.add("bare text") { for _ in 0..<$0 { keep(counter.bareText(text).utf8.count) } }
  bench.add("around text") { for _ in 0..<$0 { keep(counter.aroundText(text).utf8.count) } }
  bench.add("replaced text") { for _ in 0..<$0 { keep(counter.replacedText(text).utf8.count) } }
  if let lua = PlainLua() {
    bench.add("lua pcall, 3 scalars") { lua.callWithScalars($0) }
    bench.add("lua pcall, callback") { lua.callWithCallback($0) }
    bench.add("lua pcall, text and callback") { lua.callWithText($0, text) }
  }
  return bench
}

/// Rules of every kind; `handle unwatched` and the like are the same calls in a run without them.
func ruleBench() -> Bench {
  let watched = Watched(), leaf: Watched = Leaf(), owner = Owner(), listener = Listener()
  owner.delegate = listener
  let button = Button(), knob = Knob()
  var bench = Bench()
  bench.add("rule none") { for i in 0..<$0 { keep(watched.plain(i, 2.5)) } }
  bench.add("rule left out") { for i in 0..<$0 { keep(watched.leftOut(i, 2.5)) } }
  bench.add("rule repeat") { for i in 0..<$0 { keep(watched.repeated(i, 2.5)) } }
  bench.add("rule recorded") { for i in 0..<$0 { keep(watched.distinct(i, 2.5)) } }
  bench.add("rule span") { for i in 0..<$0 { keep(watched.spanned(i, 2.5)) } }
  bench.add("rule metric") { for i in 0..<$0 { keep(watched.counted(i, 2.5)) } }
  bench.add("rule budget") { for i in 0..<$0 { keep(watched.budgeted(i, 2.5)) } }
  bench.add("rule screen") { for i in 0..<$0 { keep(leaf.handle(i)) } }
  bench.add("rule screen of one") { for i in 0..<$0 { keep(watched.handle(i)) } }
  bench.add("rule delegate") { for i in 0..<$0 { owner.change(i) } }
  bench.add("rule control") { for i in 0..<$0 { button.send(i, to: nil) } }
  bench.add("rule control again") { for _ in 0..<$0 { button.send(7, to: nil) } }
  bench.add("rule rage") { for i in 0..<$0 { knob.send(i & 15, to: nil) } }
  bench.add("rule exposure") { for _ in 0..<$0 { button.layout() } }
  return bench
}

/// How much more two threads get done than one, by the processor time they take: it grows when they share what they write.
func measureThreads(_ repetitions: Int) {
  let rounds = 200_000
  _ = processorTime(ofThreads: 1, rounds)
  for _ in 0..<repetitions {
    let one = processorTime(ofThreads: 1, rounds)
    let two = processorTime(ofThreads: 2, rounds)
    sample("tracked, two threads", 4 * one / two)
  }
}

/// The sum of all threads.
func processorTime(ofThreads count: Int, _ rounds: Int) -> Double {
  // The threads take the number of rounds as their argument and answer their time, both as a pointer's bits.
  let argument = UnsafeMutableRawPointer(bitPattern: rounds)
  var threads: [pthread_t] = []
  for _ in 0..<count {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        let counter = Counter()
        let start = processorTime()
        for i in 0..<Int(bitPattern: argument) { keep(counter.tracked(i, 2.5, true)) }
        return UnsafeMutableRawPointer(bitPattern: Int(processorTime() - start))
      }, argument)
    threads.append(thread)
  }
  return threads.reduce(0) { sum, thread in
    var time: UnsafeMutableRawPointer?
    pthread_join(thread, &time)
    return sum + Double(Int(bitPattern: time))
  }
}

/// Work without hooks: calls, allocation, strings and sorting.
func measureLoop(_ repetitions: Int) {
  var bench = Bench()
  let counter = Counter()
  bench.add("unhooked calls") { for i in 0..<$0 { keep(counter.bare(i, 2.5, true)) } }
  bench.add("unhooked work") { mixedWork(counter, $0) }
  bench.run(repetitions)
}

func mixedWork(_ counter: Counter, _ rounds: Int) {
  for i in 0..<rounds {
    var words = ["delta", "alpha", "charlie", "bravo \(i) and a little more text"]
    words.sort()
    keep(counter.bareText(words.joined(separator: " ")).utf8.count)
  }
}

// The C library's, which Glibc's module leaves out: words alone, in the registers that C uses.
@_silgen_name("epoll_create1") func epollCreate(_ flags: Int32) -> Int32
@_silgen_name("epoll_wait") func epollWait(_ poll: Int32, _ events: UnsafeMutableRawPointer, _ most: Int32, _ time: Int32) -> Int32

/// A main thread that waits for events, as the watchdog sees it: turns of its loop, and half a second of work after one of them, for which all
/// threads count.
func measureWatched(_ repetitions: Int) {
  let poll = epollCreate(0), events = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 8), counter = Counter()
  var bench = Bench()
  bench.add("turn") { for _ in 0..<$0 { keep(Int(epollWait(poll, events, 1, 0))) } }
  bench.run(repetitions)
  let rounds = 2_000_000
  for _ in 0..<repetitions {
    keep(Int(epollWait(poll, events, 1, 0)))
    let start = processTime()
    mixedWork(counter, rounds)
    sample("busy", (processTime() - start) / Double(rounds))
  }
}
