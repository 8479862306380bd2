// A layer for which there is no memory: refused, and never run, also by calls on an object whose set had it already.
import Checks
import CHookTrampoline
import EngineSubjects
import Glibc
import HookRuntime

/// Runs in a process of its own, whose allocator Tests/Programs/scopes/calloc.c is.
func withoutMemory() -> Int32 {
  guard let symbol = dlsym(nil, "cases_without") else {
    print("engine-cases: '--no-memory' needs the allocator of Tests/Programs/scopes in LD_PRELOAD")
    return 2
  }
  // That function, by its declaration in calloc.c.
  let without = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Void).self)
  do { try leftOut(without) } catch { check("\(error)", "none", "no error") }
  print("\(failures) failures")
  return failures == 0 ? 0 : 1
}

private func leftOut(_ without: (Int) -> Void) throws {
  let dot = Dot(tag: 1), other = Dot(tag: 2)
  var released = 0
  let selector = "\(shape).area(_:)"
  let all = try requests(selector, on(dot)) + requests(selector, Wish())
  // The object's set, of both layers, is made; then there is none for the type's own.
  without(MemoryLayout<HKTLayers>.stride + MemoryLayout<HKTLayer>.stride)
  var next = ["object", "type"][...]
  let report = engine.install(all) { _ in
    let name = next.removeFirst()
    return spec(Wish(onRelease: { released += 1 })) { _ in Log.note(name) }
  }
  without(0)
  check(report.tokens.count, 1, "the object's is installed")
  check(report.refused.map(\.reason.code), [HookRefusal.noMemory.code], "the type's is refused")
  _ = Log.take()
  _ = (dot.area(1), other.area(1))
  check(Log.take(), "object Shape.area Shape.area ", "calls run through what is installed, and nothing else")
  try note("later", selector)
  _ = (dot.area(1), other.area(1))
  check(Log.take(), "object later Shape.area later Shape.area ", "hooks that come when there is memory")
  engine.remove(engine.list().map(\.token))
  check(released, 2, "all handlers are freed")
}
