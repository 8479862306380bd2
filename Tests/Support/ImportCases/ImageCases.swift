// Images that come later, and go.
import Checks
import CHookTrampoline
import Glibc
import HookRuntime
import Synchronization

let imageCases: [(name: String, body: @Sendable () throws -> Void)] = [
  ("the watch tells of each image before dlopen returns", watch),
  ("a library that is opened after the hook is hooked", later),
  ("a library that was hooked stays when it is closed", pinned),
  ("a wish lands when its image comes, and ends with its owner", wishes),
  ("a library that constructors open is hooked, too", nested),
]

private func watch() throws {
  let told = Told()
  check(ImageWatch.observe { told.count.wrappingAdd(1, ordering: .relaxed) }, .watching, "the loader is known")
  let before = told.count.load(ordering: .relaxed)
  let library = CLibrary("libwatch1.so")
  check(told.count.load(ordering: .relaxed), before + 1, "when one comes")
  _ = dlopen(library.path, RTLD_LAZY)
  check(told.count.load(ordering: .relaxed), before + 1, "not when it is there")
  dlclose(library.handle)
  dlclose(library.handle)
  check(told.count.load(ordering: .relaxed), before + 2, "when it goes")
  check(dlopen("\(folder)/libnowhere.so", RTLD_LAZY) == nil, true, "what is not there")
  check(String(cString: dlerror()).contains("libnowhere.so"), true, "its error")
}
private final class Told: Sendable { let count = Atomic<Int>(0) }

private func later() throws {
  let (token, _) = hook("C.getenv")
  let before = calls(token)
  for name in ["liblate1.so", "liblate2.so"] {
    for flags in [RTLD_LAZY, RTLD_NOW] {
      let library = CLibrary(name, flags)
      check(library.call("cases_home"), 1, "the call")
    }
  }
  check(calls(token) - before, 4, "calls that were seen")
}

private func pinned() throws {
  let library = CLibrary("libpin.so")
  let (token, _) = hook("C.getenv in libpin.so")
  let home = unsafeBitCast(dlsym(library.handle, "cases_home")!, to: (@convention(c) () -> Int32).self)
  dlclose(library.handle)
  check(home(), 1, "its code is there")
  check(calls(token), 1, "and is hooked")
}

private func wishes() throws {
  let landed = Told()
  func wish(_ selector: String) -> WaitToken {
    HookEngine.shared.wait(
      WaitRequest(selector: selector, owner: "cases") { _ in
        LayerSpec(function: { _, _, _ in HKT_HANDLED }, context: nil, phases: UInt32(HKT_ON_ENTER), owner: "cases")
      } landed: { report in
        landed.count.wrappingAdd(report.tokens.count, ordering: .relaxed)
      })
  }
  let token = wish("C.getegid in libwish1.so")
  let other = wish("C.getegid in libwish2.so")
  check(HookEngine.shared.info(token)?.hasLanded, false, "nothing is there")
  check(HookEngine.shared.waits(owner: "cases").map(\.selector), ["C.getegid in libwish1.so", "C.getegid in libwish2.so"], "what waits")
  let library = CLibrary("libwish1.so")
  check(landed.count.load(ordering: .relaxed), 1, "one landed")
  check(HookEngine.shared.info(token)?.hasLanded, true, "which is known")
  check(library.call("cases_group"), Int32(getegid()), "a call")
  check(calls(HookEngine.shared.info(token)?.hooks.first), 1, "that was seen")
  HookEngine.shared.removeAll(owner: "cases")
  check(HookEngine.shared.info(other) == nil, true, "the wish is gone with its owner")
  _ = CLibrary("libwish2.so")
  check(landed.count.load(ordering: .relaxed), 1, "and does not land")
  check(HookEngine.shared.stopWaiting(other), false, "nor can it be taken back")
}

private func nested() throws {
  let (token, _) = hook("C.getenv")
  let library = CLibrary("libouter.so")
  let before = calls(token)
  check(library.call("outer_home"), 1, "a call of the library that the constructor opened")
  check(calls(token) - before, 1, "was seen")
}
