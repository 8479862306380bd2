// BootAPI — what scripts say of the program's start: boot.task (StartTasks), boot.cache, boot.data and scripthost.up.
internal import CLuaShim
internal import Journal
internal import LuaBridge

enum BootAPI {
  static let functions: [(String, SHLFunction)] = [
    ("boot.task", StartTaskAPI.task),
    ("boot.cache", { registerPath($0, $1, isData: false) }), ("boot.data", { registerPath($0, $1, isData: true) }),
    ("scripthost.up", up),
  ]

  /// `scripthost.up()`: the program says that its start is over.
  private static let up: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("the word that the program is up") { return callback.fail(refusal) }
      BootGuard.up()
      StartupStages.reachStable()
      return callback.done()
    }
  }

  /// `boot.cache(path)`, `boot.data(path)`: what safe mode may clear.
  private static func registerPath(_ context: UnsafeMutableRawPointer?, _ callback: UnsafeMutablePointer<SHLCallback>?, isData: Bool) -> Int32 {
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a path for safe mode") { return callback.fail(refusal) }
      let name = isData ? "boot.data" : "boot.cache"
      guard let path = callback.text(0) else {
        return callback.fail("'\(name)' takes the path of a file or directory, got \(ValueBridge.describe(callback[0]))")
      }
      if let refusal = BootGuard.refusal(of: path) { return callback.fail("'\(name)' cannot take '\(path)': \(refusal)") }
      guard BootGuard.register(path, isData: isData) else {
        // No reason for the patch to fail: without the registration safe mode leaves the path alone.
        let text = "\(patch.fileName):\(callback.caller.line): '\(path)' was not registered: the state directory cannot be written; "
          + "safe mode will not clear it"
        patch.log.say(text)
        patch.log.append(.failure, "path not registered") { fields in
          fields.add("patch", patch.id)
          fields.add("path", path)
        }
        return callback.done(shl_bool(false))
      }
      return callback.done(shl_bool(true))
    }
  }
}
