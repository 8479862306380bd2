// What threads note of calls for themselves: how many they were, and which set is in use.
import Checks
import CHookTrampoline
import EngineSubjects
import Glibc
import HookRuntime

/// Called by a signal handler, which can capture nothing.
nonisolated(unsafe) private var interrupting: (() -> Void)?  // the main thread's, set while it raises no signal

@MainActor let countCases: [Case] = [
  (
    "A10 calls of more hooks than a thread has places for are counted, each hook's for itself",
    {
      let selector = "\(shape).halve(_:)"
      let circles = (0..<200).map { Circle(tag: $0) }
      func times(_ i: Int) -> Int { i % 7 + 1 }
      func callAll() {
        for (i, circle) in circles.enumerated() { for _ in 0..<times(i) { _ = circle.halve(i) } }
      }
      var tokens = try circles.map { try hook(selector, on($0)) { _ in } }
      let threads = (0..<3).map { _ in Thread(callAll) }
      callAll()
      for thread in threads { thread.join() }
      check(tokens.map { engine.deliveredCalls($0) }, circles.indices.map { UInt64(4 * times($0)) }, "calls on four threads")
      // The states of those that are taken out end, and others come to lie where they were.
      for i in stride(from: 0, to: circles.count, by: 2) {
        check(engine.remove(tokens[i]), true, "removed")
        tokens[i] = try hook(selector, on(circles[i])) { _ in }
      }
      let left = circles.indices.map { $0 % 2 == 0 ? 0 : UInt64(4 * times($0)) }
      check(tokens.map { engine.deliveredCalls($0) }, left, "new ones begin at 0")
      callAll()
      check(
        tokens.map { engine.deliveredCalls($0) }, circles.indices.map { UInt64(($0 % 2 == 0 ? 1 : 5) * times($0)) }, "calls on this thread")
      check(engine.remove(tokens), tokens.count, "removed")
      // Hooks end with their objects.
      withExtendedLifetime(circles) {}
    }
  ),
  (
    "A10 a signal comes while a handler is at work, and calls what is hooked",
    {
      let circle = Circle(tag: 4)
      var (outer, inner, wrong) = (0, 0, 0)
      let halved = try hook("\(shape).halve(_:)", Wish()) { _ in inner += 1 }
      let freed = try hook("EngineSubjects.free(_:)", Wish()) { call in
        outer += 1
        if outer % 2 == 0 { raise(SIGUSR1) }
        // The set of this call is still there, whatever the signal's calls used.
        if hkt_layers_context(call.raw.pointee.layers, 0, Body.layer) == nil { wrong += 1 }
      }
      interrupting = {
        if circle.halve(2) != 5 || free(1) != 1 { wrong += 1 }
        // Retires the set that the signal's calls ran through, and frees what no call uses.
        if let token = try? hook("\(shape).halve(_:)", Wish(), { _ in }) { engine.remove(token) } else { wrong += 1 }
      }
      let former = signal(SIGUSR1) { _ in interrupting?() }
      for _ in 0..<100 { _ = free(1) }
      signal(SIGUSR1, former)
      interrupting = nil
      check([outer, inner, wrong], [100, 50, 0], "handlers that ran, and what went wrong")
      check(engine.deliveredCalls(freed), 150, "calls, the signal's among them")
      check(engine.remove([halved, freed]), 2, "removed")
      hkt_reclaim()
      check(hkt_retired_waiting(), 0, "no set is held")
    }
  ),
]
