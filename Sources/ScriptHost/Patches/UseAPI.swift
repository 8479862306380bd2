// UseAPI — `use "nio.http"`: a preset, put into the program for the script that says so.
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge

enum UseAPI {
  static let functions: [(String, SHLFunction)] = [("use", use)]

  private static let use: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let name = callback.text(0) else { return callback.fail("'use' takes the name of a preset, such as \"nio.http\"") }
      if let refusal = patch.refusal("a preset", name) { return callback.fail(refusal) }
      var problem: PatchError?
      let isBack = patch.asHost {
        // The preset has a Lua state of its own: this one is left meanwhile.
        let unlocked = shl_unlock_all(callback.scope)
        do throws(PatchError) {
          try PresetShelf.shared.use(try PatchSource(reading: try PresetFile.find(name, beside: patch.folder)), for: patch)
        } catch { problem = error }
        return shl_relock(callback.scope, unlocked) == SHL_OK
      }
      guard isBack else { return -1 }
      return problem.map { callback.fail("use '\(EventText.printable(name))': \($0)") } ?? callback.done()
    }
  }
}
