// Functions that allocate memory: only layers that neither allocate nor wait may stand before them, in every image.
import Checks
import CHookTrampoline
import Glibc
import HookRuntime

let allocationCases: [(name: String, body: @Sendable () throws -> Void)] = [
  ("malloc takes layers that say they are safe, and no others", safety),
  ("malloc is seen in C libraries and in the Swift runtime", everywhere),
  ("a layer that allocates by itself is not asked again", reentrance),
]

private func safety() throws {
  for selector in ["C.malloc", "C.free", "C.calloc", "C.realloc"] {
    check(hook(selector).reason.hasPrefix("it allocates memory"), true, "\(selector) with any layer")
    check(hook(selector, safe: true).reason, "", "\(selector) with a safe layer")
  }
}

private final class Small {
  var value = 0
}

private func everywhere() throws {
  let library = CLibrary("libcases1.so")
  let (token, reason) = hook("C.malloc", safe: true)
  check(reason, "", "hooked")
  let (own, _) = hook("C.malloc in libcases1.so", safe: true)
  check(library.call("cases_allocate"), 10, "ten blocks")
  check(calls(own), 10, "of a C library")
  let before = calls(token)
  var kept: [Small] = []
  kept.reserveCapacity(100)
  for _ in 0..<100 { kept.append(Small()) }
  check(calls(token) - before >= 100, true, "objects of Swift (\(calls(token) - before) calls)")
  check(kept.count, 100, "which are there")
}

nonisolated(unsafe) private var allocate: (@convention(c) () -> Int32)?
nonisolated(unsafe) private var depth = 0
nonisolated(unsafe) private var deepest = 0

private func reentrance() throws {
  let library = CLibrary("libcases1.so")
  allocate = unsafeBitCast(dlsym(library.handle, "cases_allocate")!, to: (@convention(c) () -> Int32).self)
  (depth, deepest) = (0, 0)
  let (token, _) = hook("C.malloc in libcases1.so", safe: true) { _, _, _ in
    depth += 1
    deepest = max(deepest, depth)
    _ = allocate?()
    depth -= 1
    return HKT_HANDLED
  }
  check(library.call("cases_allocate"), 10, "ten blocks")
  check(deepest, 1, "layers within layers")
  _ = HookEngine.shared.remove(token!)
}
