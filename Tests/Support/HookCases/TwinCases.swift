// Groups over functions that have one body, in a library whose linker made them so (Tests/Programs/back-end-choice/twins).
import Glibc
import HookRuntime
import HookSubjects

/// Tells what is wrong.
func twinsLand(library: String) -> Bool {
  guard dlopen(library, RTLD_NOW | RTLD_LOCAL) != nil else {
    print("'\(library)' cannot be opened")
    return false
  }
  do {
    let both = try HookGroup("a pattern") {
      try Hooks.before("Twins.*.spin(_:)") { _ in }
      try Hooks.before(cartAdd) { _ in }
    }
    try expect(both.hooks[0], on: 1, refused: "its code is shared with")
    guard both.hooks[1].selectors.count == 1, both.remove() == 2 else { throw Wrong(text: "the group is not whole") }
    // The one that is spelled out is the one that is hooked, whoever comes first.
    for name in ["Twins.Up.spin(_:)", "Twins.Down.spin(_:)"] {
      let spelled = try HookGroup("a name and a pattern") {
        try Hooks.before("Twins.*.spin(_:)") { _ in }
        try Hooks.before(name) { _ in }
      }
      guard spelled.hooks[1].selectors == [name] else { throw Wrong(text: "'\(name)' is not hooked: \(spelled.describe())") }
      try expect(spelled.hooks[0], on: 1, refused: "its code is shared with '\(name)'")
      spelled.remove()
    }
    do {
      _ = try HookGroup("two names") {
        try Hooks.before("Twins.Up.spin(_:)") { _ in }
        try Hooks.before("Twins.Down.spin(_:)") { _ in }
      }
      throw Wrong(text: "two names of one body were both hooked")
    } catch is HookError {}
    print("each landed, or said why not")
    return Hooks.live.isEmpty
  } catch {
    print("\(error)")
    return false
  }
}

private struct Wrong: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}

private func expect(_ hook: Hook, on count: Int, refused reason: String) throws {
  guard hook.selectors.count == count, hook.refused.count == 1, hook.refused[0].contains(reason) else {
    throw Wrong(text: "on \(hook.selectors), refused \(hook.refused)")
  }
}
