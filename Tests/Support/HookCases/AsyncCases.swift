// Async functions hooked by closures, and hooks that come and go while tasks run.
import Checks
import ClosureHooks
import Glibc
import HookRuntime
import HookSubjects
import Synchronization

/// Runs a task to its end on this thread's behalf.
func wait<T: Sendable>(_ body: @escaping @Sendable () async -> T) -> T {
  let done = Atomic<Bool>(false)
  nonisolated(unsafe) var result: T?  // written before `done`, read after it
  return withUnsafePointer(to: done) { done in
    nonisolated(unsafe) let done = done
    Task.detached {
      result = await body()
      done.pointee.store(true, ordering: .releasing)
    }
    while !done.pointee.load(ordering: .acquiring) { usleep(200) }
    return result!
  }
}

private func outcome(_ n: Int, _ s: String) async -> String {
  do { return try await later(n, s) } catch { return "\(type(of: error))" }
}

private final class Count: Sendable {
  let value = Atomic<Int>(0)
}

@MainActor let asyncCases: [(String, () throws -> Void)] = [
  (
    "async: before and after see and change values",
    {
      let before = try HookEngine.shared.before("HookSubjects.later(_:_:)") { call in
        if call.argument(0) == 7 { call.setArgument(1, to: "another string that is allocated ") }
      }
      let after = try HookEngine.shared.after("HookSubjects.later(_:_:)") { call in
        if call.error != nil { call.setResult(to: "swallowed") } else if let text: String = call.result() { call.setResult(to: text + "!") }
      }
      check(wait { await outcome(2, "two ") }, "two 2!", "result changed")
      check(wait { await outcome(7, "x") }, "another string that is allocated 7!", "argument changed")
      check(wait { await outcome(-1, "x") }, "swallowed", "error swallowed")
      before.remove()
      after.remove()
      check(wait { await outcome(-1, "x") }, "Refused", "removed")
    }
  ),
  (
    "async: an around closure is refused, with the reason",
    {
      do {
        let hook = try HookEngine.shared.around("HookSubjects.later(_:_:)") { $0.proceed() }
        hook.remove()
        check(true, false, "was installed")
      } catch { check("\(error)".contains("cannot wait"), true, "\(error)") }
    }
  ),
  (
    "async: hooks come and go while tasks run",
    {
      let entered = Count()
      let left = Count()
      let stop = Count()
      let wrong = Count()
      let calls = Count()
      let tasks = (0..<64).map { task in
        Task.detached {
          var n = task
          while stop.value.load(ordering: .relaxed) == 0 {
            if await outcome(n % 100, "a string that is allocated ") != "a string that is allocated \(n % 100)" {
              wrong.value.wrappingAdd(1, ordering: .relaxed)
            }
            calls.value.wrappingAdd(1, ordering: .relaxed)
            n += 1
          }
        }
      }
      for _ in 0..<300 {
        let hook = try HookEngine.shared.before("HookSubjects.later(_:_:)") { _ in entered.value.wrappingAdd(1, ordering: .relaxed) }
        let other = try HookEngine.shared.after("HookSubjects.later(_:_:)") { _ in left.value.wrappingAdd(1, ordering: .relaxed) }
        usleep(1000)
        hook.remove()
        other.remove()
      }
      stop.value.store(1, ordering: .relaxed)
      wait { for task in tasks { await task.value } }
      check(wrong.value.load(ordering: .relaxed), 0, "wrong results")
      check(entered.value.load(ordering: .relaxed) > 0 && left.value.load(ordering: .relaxed) > 0, true, "handlers ran")
      check(calls.value.load(ordering: .relaxed) > 1000, true, "tasks ran")
    }
  ),
]
