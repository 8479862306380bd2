// trip MODE [COUNT]: nested calls, synchronous and in tasks. Names tell who belongs to whom.
import Dispatch
import Glibc

struct Lost: Error {}

@inline(never) func plan(_ name: String) -> Int { stop(name, 1) + stop(name, 2) }
@inline(never) func stop(_ name: String, _ number: Int) -> Int { rest(name) + number }
@inline(never) func rest(_ name: String) -> Int { name.utf8.count }
@inline(never) func fail(_ name: String) throws -> Int { if rest(name) > 0 { throw Lost() }; return 0 }
/// Work that a message of another trace asked for.
@inline(never) func take(_ sender: String) -> Int { rest(sender) }
@inline(never) func linger(_ name: String) -> Int {
  usleep(name == "slow" ? 60_000 : 10)
  return rest(name)
}

/// As `linger`, in a task.
@inline(never) func crawl(_ name: String) async -> Int {
  try? await Task.sleep(nanoseconds: name == "slow" ? 60_000_000 : 10_000)
  return rest(name)
}

let queue = DispatchQueue(label: "trip")
/// Work that goes to a queue: waited for there, handed over, and awaited.
@inline(never) func errand(_ name: String) -> Int {
  let inside = queue.sync { rest(name + " sync") }
  let done = DispatchSemaphore(value: 0)
  queue.async {
    _ = rest(name + " async")
    done.signal()
  }
  done.wait()
  return inside
}
@inline(never) func fetch(_ name: String) async -> Int {
  let found = await withCheckedContinuation { continuation in
    queue.async { continuation.resume(returning: rest(name + " callback")) }
  }
  return found + rest(name + " after")
}

/// A class and its subclass, which goes on to it.
class Walk {
  @inline(never) func go(_ name: String) -> Int { rest(name) &* 3 }
}
final class Hike: Walk {
  @inline(never) override func go(_ name: String) -> Int { super.go(name) + 1 }
}

/// One of many tasks: everything below it has its number.
@inline(never) func journey(_ id: Int) async -> Int {
  let first = await leg(id, 1)
  async let second = leg(id, 2)
  let both = await first + second
  let more = await withTaskGroup(of: Int.self) { group in
    group.addTask { await leg(id, 3) }
    group.addTask { await leg(id, 4) }
    return await group.reduce(0, +)
  }
  let loose = await Task { await leg(id, 5) }.value
  return both + more + loose
}
@inline(never) func leg(_ id: Int, _ number: Int) async -> Int {
  await Task.yield()
  let a = await step(id, number)
  return a + note(id)
}
@inline(never) func step(_ id: Int, _ number: Int) async -> Int {
  await Task.yield()
  return id &+ number
}
@inline(never) func note(_ id: Int) -> Int { id & 1 }

func journeys(_ count: Int) async -> Int {
  await withTaskGroup(of: Int.self) { group in
    for id in 0..<count { group.addTask { await journey(id) } }
    return await group.reduce(0, +)
  }
}

@main struct Program {
  static func main() async {
    let count = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2])! : 10
    switch CommandLine.arguments[1] {
    case "calls":
      print(plan("a"), plan("bc"))
      do { _ = try fail("d") } catch { print("lost") }
      for sender in ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "nobody"] { print(take(sender)) }
    case "slow":
      print(linger("fast"), linger("slow"), linger("fast"))
      print(await crawl("fast"), await crawl("slow"))
      do { _ = try fail("d") } catch { print("lost") }
    case "queues":
      print(errand("errand"), await fetch("fetch"))
      for walk in [Walk(), Hike()] { print(walk.go("walk")) }
    case "many":
      var sum = 0
      for _ in 0..<count { sum &+= plan("m") }
      print(sum)
    default:
      print(await journeys(count))
    }
  }
}
