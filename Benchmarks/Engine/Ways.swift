// Ways — every back end and scope: what it costs to install a hook, to take it out, and to come by it. Handlers are closures.
import BenchSubjects
import Glibc
import HookRuntime
import Sampling

enum Ways {
  private struct Way {
    let name: String
    let install: () throws -> Hook
    /// Runs a call that comes this way so often.
    let loop: (Int) -> Void
  }

  static func measure(repetitions: Int) {
    do { try measureAll(repetitions) } catch { fatalError("internal error: \(error)") }
  }

  /// The calls that come by one of the ways, with its hook.
  static func run(only name: String, rounds: Int) -> Bool {
    guard let way = all().first(where: { $0.name == name }) else { return false }
    guard let hook = try? way.install() else { fatalError("internal error: '\(name)' is not installed") }
    way.loop(rounds)
    hook.remove()
    return true
  }

  private static func all() -> [Way] {
    let machine = hidden(Machine()), turbine: Machine = hidden(Turbine()), other = hidden(Machine())
    let worker: any Worker = hidden(machine)
    return [
      Way(name: "entry, type", install: { try Hooks(Machine.self).before("byEntry(_:_:)") { _ in } }) {
        for i in 0..<$0 { keep(machine.byEntry(i, 1)) }
      },
      Way(name: "entry, subclass", install: { try Hooks(Turbine.self).before("forHeirs(_:_:)") { _ in } }) {
        for i in 0..<$0 { keep(turbine.forHeirs(i, 1)) }
      },
      Way(name: "entry, object", install: { try Hooks(machine).before("forObject(_:_:)") { _ in } }) {
        for i in 0..<$0 { keep(machine.forObject(i, 1)) }
      },
      Way(name: "vtable, type", install: { try Hooks(Machine.self).before("byTable(_:_:)", backEnd: .vtable) { _ in } }) {
        for i in 0..<$0 { keep(machine.byTable(i, 1)) }
      },
      Way(name: "class switch, object", install: { try Hooks(other).before("bySwitch(_:_:)", backEnd: .classSwitch) { _ in } }) {
        for i in 0..<$0 { keep(other.bySwitch(i, 1)) }
      },
      Way(name: "dynamic replacement, type", install: { try Hooks(Machine.self).before("byVariable(_:_:)", backEnd: .dynamic) { _ in } }) {
        for i in 0..<$0 { keep(machine.byVariable(i, 1)) }
      },
      Way(name: "witness, type", install: { try Hooks.before("BenchSubjects.Worker.byWitness(_:_:)", backEnd: .witness) { _ in } }) {
        for i in 0..<$0 { keep(worker.byWitness(i, 1)) }
      },
      Way(name: "import slot", install: { try Hooks.before("C.tolower(int32) -> int32") { _ in } }) {
        for i in 0..<$0 { keep(Int(tolower(Int32(truncatingIfNeeded: i & 127)))) }
      },
    ]
  }

  private static func measureAll(_ repetitions: Int) throws {
    let ways = all()
    let bystander = hidden(Machine())
    func calls(_ state: String) -> Bench {
      var bench = Bench()
      for way in ways { bench.add("\(state) \(way.name)", way.loop) }
      bench.add("\(state) bystander") { for i in 0..<$0 { keep(bystander.forObject(i, 1)) } }
      return bench
    }

    var bare = calls("bare")
    bare.run(repetitions)
    for way in ways { try measureChanges(way, repetitions) }
    let hooks = try ways.map { try $0.install() }
    var hooked = calls("hooked")
    hooked.run(repetitions)
    // A figure of a hook that is not called is none.
    for (way, hook) in zip(ways, hooks) where hook.calls < 64 { fatalError("internal error: calls do not come by '\(way.name)'") }
  }

  private static func measureChanges(_ way: Way, _ repetitions: Int) throws {
    // Finds the function, writes its code.
    try way.install().remove()
    let rounds = 50
    for _ in 0..<repetitions {
      let start = processorTime()
      let hooks = try (0..<rounds).map { _ in try way.install() }
      let between = processorTime()
      for hook in hooks.reversed() { hook.remove() }
      sample("install \(way.name)", (between - start) / Double(rounds) / 1e3)
      sample("remove \(way.name)", (processorTime() - between) / Double(rounds) / 1e3)
    }
  }
}
