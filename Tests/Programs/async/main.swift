// async MODE [COUNT]: calls everything, compares with what MODE's patch makes of it, and prints what is wrong.
import Subject

let mode = CommandLine.arguments[1]
let crowd = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2])! : 1000
nonisolated(unsafe) var checks = 0  // the main task alone counts

func check<T: Equatable>(_ name: String, _ found: T, _ plain: T, args: T? = nil, result: T? = nil, instead: T? = nil) {
  checks += 1
  let expected =
    switch mode {
    case "args": args ?? plain
    case "result": result ?? plain
    case "instead": instead ?? plain
    default: plain
    }
  if found != expected { print("WRONG \(mode) \(name): \(found), expected \(expected)") }
}

nonisolated(nonsending) func attempt<T>(_ body: nonisolated(nonsending) () async throws -> T) async -> (T?, Int?) {
  do { return (try await body(), nil) } catch let sad as Sad { return (nil, sad.code) } catch { return (nil, 0) }
}

@MainActor func kinds() async {
  check("ints", await ints(1, 2), 12, args: 73, result: -12, instead: 99)
  check("quick", await quick(1), 2, args: 51, result: -2, instead: 99)
  let t = await attempt { try await text("ab", times: 2) }
  check("text", t.0, "abab", args: "xyxyxy", result: "ABAB", instead: "none of it, and a little longer")
  let bad = await attempt { try await text("ab", times: -3) }
  check("text throws", bad.1, -3, args: .some(nil), result: .some(nil), instead: .some(nil))
  check("text threw", bad.0, nil, args: "xyxyxy", result: "swallowed", instead: "none of it, and a little longer")
  let m = await mixed(1.5, 2.5, 3, true)
  check("mixed.0", m.0, 3, args: 20.5)
  check("mixed.1", m.1, 4, args: 7)
  check("mixed.2", m.2, "2.5", args: "0.25")
  check("big", await big(1, "name"), Big(1, 2, 3, 4, "name"), args: Big(5, 6, 7, 8, "a name that is long enough"))
  let thrown = await attempt { try await bigThrowing(-7) }
  check("bigThrowing", thrown.1, -7, args: -8)
  check("bigThrowing", await attempt { try await bigThrowing(7) }.0?.a, 7, args: 8)
  check("many", await many(1, 2, 3, 4, 5, 6, 7, 8, 9), 285, args: 1098, result: -285, instead: 99)
  let s = "a string that does not fit into sixteen bytes"
  let wide = await attempt { try await manyBig(s, "b", "c", s, 5) }.0
  check("manyBig", wide, Big(5, s.utf8.count, 1, 1, s), args: Big(6, s.utf8.count, 1, 1, "another string of the heap"))
  await nothing(1)
  check("object", await object(Box(3), plus: 4).n, 7, args: 13, result: 3, instead: 3)
  check("maybe", await maybe(4), "number 4 in a string of some length", args: .some(nil), result: .some(nil), instead: "a stand-in")
  check("maybe nil", await maybe(nil), nil, args: nil, result: "something", instead: "a stand-in")
  check("eaten", await eaten("eaten string, long enough to count", Box(1)), 36, args: 7, result: -36, instead: 99)
  var n = 5
  check("changed", await changed(&n, by: 3), 16, args: 30, result: -16)
  check("changed in place", n, 8, args: 15)
  do { check("typed", try await typed(3), 3) } catch { check("typed", error.code, 0) }
  do { check("typed", try await typed(-3), 0) } catch { check("typed throws", error.code, -3) }
  check("generic", await generic("generic string, long enough to count", 1), "generic string, long enough to count")
  check("generic", await generic(Big(1, 2, 3, 4, "5"), 1), Big(1, 2, 3, 4, "5"))
  check("closure", await calls { n in await ints(n, 1) }, 202, args: 74, result: -200, instead: 100)
  check("closure throws", await attempt { try await calls { throw Sad($0) } }.1, 20)
  check("fib", await fib(10), 55)
  check("main actor", await onMain(1), 101, args: 150, result: -101, instead: 99)
  check("caller's actor", await whereverCalled(4), Big(4, 4, 4, 4, "here"), args: Big(50, 50, 50, 50, "here"))
  let shape = Shape(4)
  check("method", await shape.area(3), 12, args: 200, result: -12, instead: 99)
  check("static", await Shape.most(3, 4), 4, args: 50, result: -4, instead: 99)
  check("getter", await shape.corners, 4)
  check("init", await attempt { try await Shape(slowly: 5).area(1) }.0, 5, args: 300, result: -5, instead: 99)
  check("init throws", await attempt { try await Shape(slowly: -5).area(1) }.1, -5, args: .some(nil))
  let worker: any Worker = shape
  check("witness", await attempt { try await worker.work(1) }.0, "worked 1", args: "worked 50", result: "WORKED 1", instead: "refused")
  check("witness throws", await attempt { try await worker.work(-1) }.1, -1, args: .some(nil), result: .some(nil), instead: .some(nil))
  check("struct", await Point(3, 4).far(2), 10, result: -10)
  var point = Point(1, 1)
  check("mutating", await point.move(2), 3, result: -3)
  check("mutated", point.x, 3)
  let account = Account()
  check("actor", await account.add(5), 5, args: 50, result: -5, instead: 99)
  check("actor, not async", await account.calm(1), 6, args: 51, result: 6, instead: 1)
  var left: [Int] = []
  do { for try await i in Countdown(3) { left.append(i) } } catch { left = [-1] }
  check("sequence", left, [2, 1, 0])
  async let one = ints(1, 1)
  async let two = ints(2, 2)
  check("async let", await one + two, 33, args: 146, result: -33, instead: 198)
}

/// Many at once: every call's own values come back, errors and cancellation too.
func many(_ count: Int) async {
  let before = runs.now
  let sum = await withTaskGroup(of: Int.self) { group in
    for i in 0..<count {
      group.addTask {
        let (text, code) = await attempt { try await work(i, "a string that is allocated, number \(i)", Box(i)) }
        if i % 10 == 9 { return code == i ? 1 : 0 }
        return text == "a string that is allocated, number \(i)/\(i)/\(i)" ? 1 : 0
      }
    }
    return await group.reduce(0, +)
  }
  check("crowd", sum, count)
  let slept = await withTaskGroup(of: Bool.self) { group in
    for i in 0..<count { group.addTask { await attempt { try await sleep(i) }.0 == i } }
    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
  }
  check("asleep together", slept, count)
  if mode == "watch" || mode == "alone" { check("runs", runs.now - before, 2 * count) }
  let cancelled = await withTaskGroup(of: Bool.self) { group in
    for i in 0..<count {
      group.addTask {
        do {
          _ = try await waitForCancellation(i)
          return false
        } catch { return error is CancellationError }
      }
    }
    group.cancelAll()
    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
  }
  check("cancelled", cancelled, count)
  let account = Account()
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<count { group.addTask { _ = await account.calm(1) } }
  }
  if mode != "args" && mode != "instead" { check("actor's turn by turn", await account.balance, count) }
}

/// A trap on a thread of the pool: what a death leaves for who reads the log.
@inline(never) func dieOnPurpose() { fatalError("on purpose") }
if mode == "crash" { await Task.detached { dieOnPurpose() }.value }

await kinds()
await many(crowd)
check("objects left", living.now, 0)
finished(mode)
print("\(checks) checks")
