// Closures on C functions, and on what appears later.
import Checks
import Glibc
import HookRuntime
import Synchronization

let laterCases: [(name: String, body: @Sendable () throws -> Void)] = [
  ("closures take what C functions are given", closures),
  ("closures wait for Swift functions of a library that is opened later", later),
  ("hooks of a group wait together", waitingGroup),
]

private func closures() throws {
  let library = CLibrary("libcases1.so")
  let opened = try Hooks.around("C.open in libcases1.so") { (call, path: UnsafePointer<CChar>?, flags: Int32) -> Int32 in
    check(path.map { String(cString: $0) }, "/no/such/file", "the path")
    check(flags, O_RDONLY, "the flags")
    return try call.original()
  }
  check(library.call("cases_open"), ENOENT, "errno is kept")
  check(opened.calls, 1, "the call")
  opened.remove()
  let spelled = try Hooks.around("C.getegid() -> uint32 in libcases1.so") { (call) -> UInt32 in try call.original() + 1 }
  check(library.call("cases_group"), Int32(getegid()) + 1, "another result")
  spelled.remove()
  check(library.call("cases_group"), Int32(getegid()), "and none")
  begins(
    error { try Hooks.before("C.getegid() -> uint33") { _ in } }, "'C.getegid() -> uint33', character 16: 'uint33' is no C type here",
    "a mistake")
  begins(error { try Hooks.before("C.open") { (_, path: Int) in } }, "argument 1 'path' of 'C.open': expected", "a wrong type")
}

private func later() throws {
  let seen = Atomic<Int>(0)
  let doubled = try Hooks.around("Plugin.Settings.louder(by:)", wait: true) { (call, step: Int) in try call.original(step * 2) }
  let unfit = try Hooks.before("Plugin.Settings.louder(by:)", wait: true) { (_, step: String) in check(step, "", "never") }
  let off = try Hooks.before("Plugin.Settings.louder(by:)", wait: true) { _ in seen.wrappingAdd(100, ordering: .relaxed) }
  let gone = try Hooks.before("Plugin.Settings.louder(by:)", wait: true) { _ in seen.wrappingAdd(1000, ordering: .relaxed) }
  let pattern = try Hooks.before("Plugin.Form*.greet*", wait: true) { _ in seen.wrappingAdd(1, ordering: .relaxed) }
  check(doubled.isWaiting && doubled.info.isEmpty, true, "it waits")
  check(doubled.describe(), "around, waiting for it to appear", "and says so")
  check(Hooks.waiting.contains { $0.hasPrefix("'Plugin.Settings.louder(by:)' by import_cases, waiting") }, true, "as the list does")
  check(off.disable(), true, "what waits can be switched off")
  check(gone.remove(), true, "or taken back")
  check(gone.remove(), false, "once")

  let library = CLibrary("libPlugin.so")
  check(library.call("plugin_run"), 11, "the handler's step")
  check(doubled.calls, 1, "its call")
  check(doubled.selectors, ["Plugin.Settings.louder(by:)"], "what it is on")
  check(seen.load(ordering: .relaxed), 1, "the pattern's, and no others'")
  check(unfit.refused.count, 1, "a handler that does not fit")
  check(unfit.refused.first?.contains("expected Swift.Int, found Swift.String in the handler"), true, "says why")
  check(off.isEnabled, false, "still off")
  check(off.enable(), true, "until it is switched on")
  check(library.call("plugin_run"), 11, "again")
  check(seen.load(ordering: .relaxed), 102, "all that are left")
  for hook in [doubled, off, pattern, unfit] { check(hook.remove(), true, "removed") }
  check(Hooks.waiting.isEmpty, true, "nothing waits")
  check(library.call("plugin_run"), 7, "nobody's step")
}

private func waitingGroup() throws {
  let library = CLibrary("libcases2.so")
  let group = try HookGroup("together") {
    try Hooks.before("C.getppid in libcases2.so") { _ in }
    try Hooks.before("C.getppid in liblater.so", wait: true) { _ in }
  }
  check(group.hooks.map(\.isWaiting), [false, true], "one waits")
  let other = CLibrary("liblater.so")
  library.call("cases_parent")
  other.call("cases_parent")
  check(group.hooks.map(\.calls), [1, 1], "each has its call")
  check(group.hooks[1].info.first?.group, "together", "as part of the group")
  check(group.remove(), 2, "they go together")
}

/// What it throws.
private func error(_ body: () throws -> Void) -> String {
  do { try body() } catch { return "\(error)" }
  return "nothing"
}
private func begins(_ found: String, _ begin: String, _ what: String) { check(String(found.prefix(begin.utf8.count)), begin, what) }
