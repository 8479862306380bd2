// TwoPartStatement — `verb "name" { … }`: the first call answers a function that takes the rest.
internal import CLuaShim
internal import LuaBridge

/// What the first part said, until the second one arrives. Kept for the life of the patch: a script may complete it twice.
final class TwoPartStatement {
  private unowned let patch: Environment
  private let complete: (Environment, LuaCallback) -> Int32

  private init(_ patch: Environment, _ complete: @escaping (Environment, LuaCallback) -> Int32) {
    self.patch = patch
    self.complete = complete
  }

  /// Answers the first part.
  /// - Parameter complete: what the function does that takes the second one.
  static func answer(_ patch: Environment, _ callback: LuaCallback, _ complete: @escaping (Environment, LuaCallback) -> Int32) -> Int32 {
    callback.done(shl_function(callback.scope, take, patch.kept(TwoPartStatement(patch, complete))))
  }

  private static let take: SHLFunction = { context, callback in
    // The context is the statement that `answer` kept.
    Unmanaged<TwoPartStatement>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.complete($0.patch, LuaCallback(callback!)) }
  }
}
