// The words of import tables: written, given back, left alone when they are someone else's.
import Checks
import CHookTrampoline
import ClosureHooks
import Glibc
import HookRuntime

let slotCases: [(name: String, body: @Sendable () throws -> Void)] = [
  ("a word is ours while it is hooked, and is given back", words),
  ("a call that was never made is bound without the loader writing over the hook", lazyBinding),
  ("what someone else puts in a word stays there", changedElsewhere),
  ("hooks for one image see that image's calls alone", oneImage),
  ("hooks nest by priority, whatever images they are for", order),
  ("ten thousand hooks come and go, and leave nothing", cycles),
  ("errno is the original's, and a result and errno of the handler's own", errors),
  ("closures of Swift take C's arguments", closures),
  ("functions that look at their caller, or do not come back as others, are hooked before they run", leftByJump),
]

private func words() throws {
  let library = CLibrary("libcases1.so", RTLD_NOW)
  let before = words("C.getenv", in: library)
  let (token, reason) = hook("C.getenv")
  check(reason, "", "it is hooked")
  check(before.isEmpty, false, "the library imports it")
  check(zip(before, words("C.getenv", in: library)).allSatisfy { $0 != $1 }, true, "the words lead to us")
  check(library.call("cases_home"), 1, "the call comes back")
  check(calls(token), 1, "and was seen")
  check(HookEngine.shared.remove(token!), true, "it is removed")
  check(words("C.getenv", in: library), before, "the words are as they were")
  check(library.call("cases_home"), 1, "calls go on")
  check(HookEngine.shared.remove(token!), false, "removed twice is removed once")
}

private func lazyBinding() throws {
  let library = CLibrary("libcases2.so", RTLD_LAZY)
  let first = words("C.getppid", in: library)
  let (token, _) = hook("C.getppid in libcases2.so")
  let ours = words("C.getppid", in: library)
  check(first == ours, false, "the word leads to us")
  for _ in 0..<3 { check(library.call("cases_parent"), getppid(), "the call") }
  check(words("C.getppid", in: library), ours, "the loader did not write over it")
  check(calls(token), 3, "calls that were seen")
  _ = HookEngine.shared.remove(token!)
  check(words("C.getppid", in: library) == first, false, "the word names the function now, as the loader would have written")
  check(library.call("cases_parent"), getppid(), "a call")
  let (again, _) = hook("C.getppid in libcases2.so")
  check(library.call("cases_parent"), getppid(), "a call")
  check(calls(again), 1, "of the second hook")
}

private func changedElsewhere() throws {
  let library = CLibrary("libcases3.so", RTLD_NOW)
  let place = UnsafeMutablePointer<UInt64>(bitPattern: UInt(places("C.getuid", in: library)[0]))!
  let (token, _) = hook("C.getuid")
  let ours = place.pointee
  // Another engine of the process: takes our stub for the function.
  let theirs = UInt64(UInt(bitPattern: dlsym(library.handle, "cases_seven")!))
  mprotect(UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: place) & ~4095), 4096, PROT_READ | PROT_WRITE)
  place.pointee = theirs
  check(library.call("cases_user"), 7, "the call goes to them")
  check(HookEngine.shared.info(token!)?.isChangedElsewhere, true, "it is told")
  check(HookEngine.shared.remove(token!), true, "ours goes")
  check(place.pointee, theirs, "theirs stays")
  // They leave, and put back what they found: our stub, which forwards.
  place.pointee = ours
  check(library.call("cases_user"), Int32(getuid()), "a stub without a hook forwards")
}

private func oneImage() throws {
  let (first, second) = (CLibrary("libcases1.so"), CLibrary("libcases2.so"))
  let (one, _) = hook("C.getenv in libcases1.so")
  let (all, _) = hook("C.getenv")
  let (glob, _) = hook("C.getenv in libcases*")
  _ = first.call("cases_home")
  _ = second.call("cases_home")
  _ = second.call("cases_home")
  check([calls(one), calls(all), calls(glob)], [1, 3, 3], "calls that each saw")
  _ = HookEngine.shared.remove(all!)
  _ = first.call("cases_home")
  check([calls(one), calls(glob)], [2, 4], "calls when one hook is gone")
  let refused = hook("C.getenv in libnowhere*")
  check(refused.token == nil, true, "no such image")
}

/// The order in which layers ran, as digits.
nonisolated(unsafe) private var trace = 0

private func order() throws {
  let library = CLibrary("libcases1.so")
  func note(_ digit: Int) -> HKTLayerFunction {
    switch digit {
    case 1:
      { _, _, _ in
        trace = trace * 10 + 1; return HKT_HANDLED
      }
    case 2:
      { _, _, _ in
        trace = trace * 10 + 2; return HKT_HANDLED
      }
    case 3:
      { _, _, _ in
        trace = trace * 10 + 3; return HKT_HANDLED
      }
    default:
      { _, _, _ in
        trace = trace * 10 + 9; return HKT_HANDLED
      }
    }
  }
  _ = hook("C.getenv", note(2))
  _ = hook("C.getenv in libcases1.so", priority: 5, note(1))
  _ = hook("C.getenv in libcases2.so", note(9))
  _ = hook("C.getenv", priority: -1, note(3))
  trace = 0
  _ = library.call("cases_home")
  check(trace, 123, "outermost first")
}

private func cycles() throws {
  let library = CLibrary("libcases1.so")
  func cycle(_ count: Int) -> Bool {
    for _ in 0..<count {
      guard let token = hook("C.getenv in libcases1.so").token, HookEngine.shared.remove(token) else { return false }
    }
    return true
  }
  check(cycle(10), true, "the first few")
  let sites = CodePatcher.totals()
  var before = HKTSlotTotals()
  hkt_slot_totals(&before)
  let memory = residentKilobytes()
  check(cycle(10_000), true, "each is installed and removed")
  var after = HKTSlotTotals()
  hkt_slot_totals(&after)
  check([after.sites, after.written], [before.sites, before.written], "sites and written words")
  check(CodePatcher.totals().stubBytes, sites.stubBytes, "bytes of stubs")
  check(residentKilobytes() - memory < 1024, true, "memory stays (\(residentKilobytes() - memory) KiB more)")
  check(library.call("cases_home"), 1, "calls go on")
}

private func residentKilobytes() -> Int {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return usage.ru_maxrss
}

private func errors() throws {
  let library = CLibrary("libcases1.so")
  let hook = try HookEngine.shared.around("C.open") { call in
    errno = 99
    call.proceed()
    errno = 98
  }
  check(library.call("cases_open"), 2, "errno of the original, through a handler that spoils it")
  hook.remove()
  let replaced = try HookEngine.shared.around("C.open") { call in call.setResult(to: Int32(-1)) }
  errno = 0
  check(library.call("cases_open"), 77, "errno stays the caller's where nothing runs")
  replaced.remove()
}

private func closures() throws {
  let library = CLibrary("libcases1.so")
  let seen = Seen()
  let hook = try Hooks.around("C.getenv") {
    (call: Hooks<Any>.AroundCall<UnsafePointer<CChar>?, UnsafePointer<CChar>?>, name: UnsafePointer<CChar>?) in
    seen.names.append(name.map { String(cString: $0) } ?? "nil")
    return try call.original()
  }
  check(library.call("cases_home"), 1, "the call")
  check(seen.names, ["HOME"], "the closure's argument")
  hook.remove()
}
private final class Seen: @unchecked Sendable {
  // One thread.
  var names: [String] = []
}

private func leftByJump() throws {
  let library = CLibrary("libcases1.so")
  check(hook("C.dlopen", phases: UInt32(HKT_ON_AROUND)).reason.contains("only 'before'"), true, "dlopen: no around")
  check(hook("C._setjmp", phases: UInt32(HKT_ON_EXIT)).reason.contains("only 'before'"), true, "setjmp: no after")
  let tokens = ["C.dlopen", "C._setjmp", "C.longjmp", "C.vfork"].map { hook($0).token }
  check(tokens.allSatisfy { $0 != nil }, true, "all can be hooked before they run")
  check(library.call("cases_sub"), 5, "dlopen finds what only its caller's path leads to")
  check(library.call("cases_jump"), 3, "setjmp comes back again and again")
  check(library.call("cases_vfork"), 4, "vfork lends its stack")
  check(tokens.map { calls($0) > 0 }, [true, true, true, true], "and was seen")
}
