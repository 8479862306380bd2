// UseAPI — `use "nio.http"`: a preset, put into the program for the script that says so, and what the answer does.
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge

enum UseAPI {
  static let handles = HandleClass("preset", tostring: toString)

  static let functions: [(String, SHLFunction)] = [("use", use)]

  static let members = NamedFunctions([("remove", remove)])

  private static let use: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let name = callback.text(0) else { return callback.fail("'use' takes the name of a preset, such as \"nio.http\"") }
      if let refusal = patch.refusal("a preset", name) { return callback.fail(refusal) }
      var outcome: Result<PresetUse, PatchError>?
      let isBack = patch.asHost {
        // The preset has a Lua state of its own: this one is left meanwhile.
        let unlocked = shl_unlock_all(callback.scope)
        do throws(PatchError) {
          let file = PatchFiles.Place(path: try PresetFile.find(name, beside: patch.folder), directory: nil)
          outcome = .success(try PresetShelf.shared.use(try PatchFiles.source(at: file), for: patch))
        } catch { outcome = .failure(error) }
        return shl_relock(callback.scope, unlocked) == SHL_OK
      }
      guard isBack else { return -1 }
      switch outcome! {  // set on both ways
      case .failure(let problem): return callback.fail("use '\(EventText.printable(name))': \(problem)")
      case .success(let use): return callback.done(shl_handle(patch.classes.preset, patch.number(use), 0, 0))
      }
    }
  }

  /// `p:remove()`: true when the script used it.
  private static let remove: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let use = patch.handle(callback[0].h.a, PresetUse.self) else { return callback.done(shl_bool(false)) }
      // What the preset had kept may end now, by code of the program.
      let unlocked = shl_unlock_all(callback.scope)
      let wasUsed = use.end()
      guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
      return callback.done(shl_bool(wasUsed))
    }
  }

  static let toString: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      callback.done(patch.handle(callback[0].h.a, PresetUse.self).map { "preset '\($0.id)'" } ?? "preset that is over")
    }
  }
}
