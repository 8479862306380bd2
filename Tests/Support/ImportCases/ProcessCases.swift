// Threads and forks.
import Checks
import CHookTrampoline
import Glibc
import HookRuntime
import Synchronization

let processCases: [(name: String, body: @Sendable () throws -> Void)] = [
  ("four threads call while hooks come and go", threads),
  ("in a forked child hooks are off, in the parent they stay", fork),
]

private final class Shared: Sendable {
  let stop = Atomic<Bool>(false)
  let wrong = Atomic<Int>(0)
  let calls = Atomic<Int>(0)
}

private func threads() throws {
  let shared = Shared()
  let library = CLibrary("libcases1.so")
  let address = UInt(bitPattern: dlsym(library.handle, "cases_home")!)
  var all: [pthread_t] = []
  let box = Unmanaged.passRetained(Job(shared, address))
  for _ in 0..<4 {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { box in
        let job = Unmanaged<Job>.fromOpaque(box!).takeUnretainedValue()
        let home = unsafeBitCast(job.address, to: (@convention(c) () -> Int32).self)
        while !job.shared.stop.load(ordering: .relaxed) {
          if home() != 1 { job.shared.wrong.wrappingAdd(1, ordering: .relaxed) }
          job.shared.calls.wrappingAdd(1, ordering: .relaxed)
        }
        return nil
      }, box.toOpaque())
    all.append(thread)
  }
  for round in 0..<300 {
    let first = hook("C.getenv", phases: UInt32(round % 2 == 0 ? HKT_ON_ENTER : HKT_ON_AROUND)) { call, _, phase in
      if phase == HKT_AROUND { hkt_call_proceed(call) }
      return HKT_HANDLED
    }
    let second = hook("C.getenv in libcases1.so")
    _ = HookEngine.shared.remove(first.token!)
    _ = HookEngine.shared.remove(second.token!)
  }
  shared.stop.store(true, ordering: .relaxed)
  for thread in all { pthread_join(thread, nil) }
  box.release()
  check(shared.wrong.load(ordering: .relaxed), 0, "wrong answers among \(shared.calls.load(ordering: .relaxed)) calls")
}

private final class Job: Sendable {
  let shared: Shared
  let address: UInt
  init(_ shared: Shared, _ address: UInt) {
    self.shared = shared
    self.address = address
  }
}

private func fork() throws {
  let library = CLibrary("libcases1.so")
  let (token, _) = hook("C.getenv")
  _ = library.call("cases_home")
  let before = calls(token)
  // The C library forks: Swift does not let one call it.
  let status = library.call("cases_fork")
  check(status, 1, "the child's call")
  _ = library.call("cases_home")
  check(calls(token) - before, 1, "the parent's calls")
}
