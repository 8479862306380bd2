// TwoPartStatement — `verb "name" { … }`: the first call answers a function that takes the rest.
internal import CLuaShim
internal import LuaBridge
private import Synchronization

/// What the first part said, until the second one arrives. Kept for the life of the patch: a script may complete it twice.
final class TwoPartStatement {
  /// As it is written: `track "added"`.
  private let title: String
  private unowned let patch: Environment
  private let complete: (Environment, LuaCallback) -> Int32

  private init(_ title: String, _ patch: Environment, _ complete: @escaping (Environment, LuaCallback) -> Int32) {
    self.title = title
    self.patch = patch
    self.complete = complete
  }

  /// Answers the first part.
  /// - Parameters:
  ///   - title: for messages.
  ///   - complete: what the function does that takes the second one.
  static func answer(
    _ title: String, _ patch: Environment, _ callback: LuaCallback, _ complete: @escaping (Environment, LuaCallback) -> Int32
  ) -> Int32 {
    if !patch.didLoad { patch.halfStatements.withLock { $0.append(title) } }
    return callback.done(shl_function(callback.scope, take, patch.kept(TwoPartStatement(title, patch, complete))))
  }

  private static let take: SHLFunction = { context, callback in
    // The context is the statement that `answer` kept.
    Unmanaged<TwoPartStatement>.fromOpaque(context!)._withUnsafeGuaranteedRef {
      let title = $0.title
      $0.patch.halfStatements.withLock { halves in if let place = halves.firstIndex(of: title) { halves.remove(at: place) } }
      return $0.complete($0.patch, LuaCallback(callback!))
    }
  }
}
