// Layers — what a hook costs whose handler is a Swift function that does nothing.
import CHookTrampoline
import HookRuntime
import Sampling

public final class LayerSubject {
  var total = 0
  @inline(never) public func bare(_ a: Int, _ b: Int) -> Int { total &+= a; return total &+ b }
  @inline(never) public func before(_ a: Int, _ b: Int) -> Int { total &+= a; return total &- b }
  @inline(never) public func around(_ a: Int, _ b: Int) -> Int { total &+= a; return total ^ b }
  @inline(never) public func after(_ a: Int, _ b: Int) -> Int { total &+= a; return total | b }
}

enum Layers {
  static func bench() -> Bench {
    let none: HKTLayerFunction = { _, _, _ in HKT_HANDLED }
    let proceed: HKTLayerFunction = { call, _, _ in
      hkt_call_proceed(call)
      return HKT_HANDLED
    }
    install("before", none, HKT_ON_ENTER)
    install("around", proceed, HKT_ON_AROUND)
    install("after", none, HKT_ON_EXIT)

    let subject = LayerSubject()
    var bench = Bench()
    bench.add("bare") { for i in 0..<$0 { keep(subject.bare(i, 1)) } }
    bench.add("layer before") { for i in 0..<$0 { keep(subject.before(i, 1)) } }
    bench.add("layer around") { for i in 0..<$0 { keep(subject.around(i, 1)) } }
    bench.add("layer after") { for i in 0..<$0 { keep(subject.after(i, 1)) } }
    return bench
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
}
