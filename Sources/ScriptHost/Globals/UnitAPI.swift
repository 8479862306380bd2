// UnitAPI — what a patch as a unit has beside its hooks: `require "name"` of its own directory, and `on_unload(function() … end)`.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum UnitAPI {
  static let functions: [(String, SHLFunction)] = [("require", require), ("on_unload", onUnload)]

  // MARK: require

  /// `require "lib.money"`: what the file lib/money.lua of the patch's directory returns, run once for each load of the patch.
  private static let require: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let name = callback.text(0) else { return callback.fail("'require' takes the name of a module, such as \"lib.money\"") }
      switch patch.modules[name] {
      case .loaded(let ref)?: return callback.done(shl_ref_value(ref))
      case .loading?: return callback.fail("module '\(name)' requires itself, by way of others")
      case nil: break
      }
      guard let directory = patch.directory else {
        return callback.fail("'require' finds modules in the directory of a patch that has one: a directory with patch.lua")
      }
      // Run again, it would make each of its hooks twice.
      if name == "patch" { return callback.fail("module 'patch' is the patch itself; a module is another file of its directory") }
      let source: [UInt8]
      do throws(PatchError) {
        source = try PatchSource.bytes(of: try PatchModules.path(of: name, in: directory))
      } catch {
        return callback.fail("module '\(name)': \(error)")
      }
      patch.modules[name] = .loading
      defer { if case .loading? = patch.modules[name] { patch.modules[name] = nil } }
      return run(source, name, patch, callback)
    }
  }

  /// Compiles and runs a module in the state that requires it.
  private static func run(_ source: [UInt8], _ name: String, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    var chunk: SHLRef = 0
    var error: UnsafeMutablePointer<SHLError>?
    defer { if let error { shl_error_free(patch.state, error) } }
    // Compiling enters the state anew.
    let unlocked = shl_unlock_all(callback.scope)
    // A module may be the first text that names it.
    try? patch.makeConfig(for: source)
    // As the patch's own file is named: `shop/lib/money.lua` beside `shop/patch.lua`.
    let file = String(patch.fileName.prefix(upTo: patch.fileName.lastIndex(of: "/").map { patch.fileName.index(after: $0) } ?? patch.fileName.startIndex))
      + PatchModules.fileName(name)
    let compiled = source.withUnsafeBytes { bytes in
      shl_compile(
        patch.state, file, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, nil, &chunk, &error)
    }
    guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
    func message(_ status: SHLStatus) -> String {
      error.map { withUnsafePointer(to: &$0.pointee.message) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) } }
        ?? String(cString: shl_status_text(status))
    }
    guard compiled == SHL_OK else { return callback.fail(message(compiled)) }
    defer { shl_forget(patch.state, chunk) }
    var result = SHLValue()
    var count: Int32 = 0
    let status = shl_call(callback.scope, shl_ref_value(chunk), nil, 0, &result, 1, &count, &error)
    guard status == SHL_OK else { return callback.fail(message(status)) }
    guard count > 0, result.tag == SHL_TABLE || result.tag == SHL_FUNCTION else {
      return callback.fail(
        "module '\(name)' returns \(count == 0 ? "nothing" : ValueBridge.describe(result)); a module returns a table or a function")
    }
    let ref = shl_keep(callback.scope, result)
    guard ref != 0 else { return callback.fail("out of memory") }
    patch.modules[name] = .loaded(ref)
    return callback.done(shl_ref_value(ref))
  }

  // MARK: on_unload

  /// `on_unload(function() … end)`: called once, when the patch is unloaded or has been replaced; the newest first.
  private static let onUnload: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback[0].tag == SHL_FUNCTION else {
        return callback.fail("'on_unload' takes a function, got \(ValueBridge.describe(callback[0]))")
      }
      var info = SHLFunctionInfo()
      let function = shl_arg_function_ref(callback.raw, 0, &info)
      guard function != 0 else { return callback.fail("out of memory") }
      patch.installation.add { [weak patch] in
        guard let patch else { return }
        // A text that failed half-way was never there.
        if patch.didLoad { end(function, patch) }
        shl_forget(patch.state, function)
      }
      return callback.done()
    }
  }

  private static func end(_ function: SHLRef, _ patch: Environment) {
    do throws(LuaFailure) { _ = try patch.lua.call(LuaReference(function, in: patch.lua)) } catch {
      patch.failed("on_unload", "on_unload", error.message, instead: "the patch is unloaded")
    }
  }
}
