// Layers — what a hook costs whose handler is a Swift function that does nothing.
import CHookTrampoline
import HookRuntime

public final class LayerSubject {
  var total = 0
  @inline(never) public func bare(_ a: Int, _ b: Int) -> Int { total &+= a; return total &+ b }
  @inline(never) public func before(_ a: Int, _ b: Int) -> Int { total &+= a; return total &- b }
  @inline(never) public func around(_ a: Int, _ b: Int) -> Int { total &+= a; return total ^ b }
  @inline(never) public func after(_ a: Int, _ b: Int) -> Int { total &+= a; return total | b }
}

enum Layers {
  static func measure(repetitions: Int) {
    let none: HKTLayerFunction = { _, _, _ in HKT_HANDLED }
    let proceed: HKTLayerFunction = { call, _, _ in
      hkt_call_proceed(call)
      return HKT_HANDLED
    }
    install("before", none, HKT_ON_ENTER)
    install("around", proceed, HKT_ON_AROUND)
    install("after", none, HKT_ON_EXIT)

    let subject = LayerSubject()
    let rounds = 1_000_000
    for repetition in 0...repetitions {
      let times = [
        ("bare", time(rounds) { subject.bare($0, 1) }), ("layer before", time(rounds) { subject.before($0, 1) }),
        ("layer around", time(rounds) { subject.around($0, 1) }), ("layer after", time(rounds) { subject.after($0, 1) }),
      ]
      guard repetition > 0 else { continue }  // the warm-up
      for (name, value) in times { sample(name, value) }
    }
  }

  private static func install(_ method: String, _ function: @escaping HKTLayerFunction, _ phase: Int) {
    guard case .success(let found) = SelectorLookup.resolve("engine_bench.LayerSubject.\(method)(_:_:)") else {
      fatalError("internal error: '\(method)' is not in the symbol table")
    }
    let report = HookEngine.shared.install(found.map { HookRequest(image: $0, family: $1) }) { _ in
      LayerSpec(function: function, context: nil, phases: UInt32(phase), owner: "bench")
    }
    if let refused = report.refused.first { fatalError("internal error: '\(refused.selector)': \(refused.reason)") }
  }

  @inline(__always)
  private static func time(_ rounds: Int, _ body: (Int) -> Int) -> Double {
    let start = processorTime()
    var sum = 0
    for i in 0..<rounds { sum &+= body(i) }
    let spent = processorTime() - start
    keep(sum)
    return spent / Double(rounds)
  }

  @inline(never) private static func keep(_ value: Int) {}
}
