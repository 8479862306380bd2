// HandlerFailure — a handler that failed, or whose outcome may be lost on the caller: the program went on, and somebody should know.
private import Synchronization

/// A handler failed. The original ran with the arguments it was called with, or its result stands.
public struct HandlerFailure: Sendable {
  public let selector: String
  public let position: HookPosition
  /// The file and line where the hook was made: `Shop/Checkout.swift:12`.
  public let site: String
  public let error: HandlerError
  /// How often this handler has failed, from 1.
  public let number: Int
}

extension HandlerFailure: CustomStringConvertible {
  public var description: String { "\(site): the '\(position.rawValue)' handler of '\(selector)' failed: \(error)" }
}

/// A handler's result took effect, and the caller does not look at it, or nothing tells whether it does: it was compiled together with the
/// function, with what that returns before its eyes.
public struct HandlerNote: Sendable {
  public let selector: String
  public let position: HookPosition
  /// The file and line where the hook was made: `Shop/Checkout.swift:12`.
  public let site: String
  public let reason: String
}

extension HandlerNote: CustomStringConvertible {
  public var description: String { "\(site): \(reason)" }
}

enum HandlerFailures {
  typealias Listener = @Sendable (HandlerFailure) -> Void
  typealias NoteListener = @Sendable (HandlerNote) -> Void
  private static let listener = Mutex<Listener?>(nil)
  private static let noteListener = Mutex<NoteListener?>(nil)

  static func listen(_ new: Listener?) { listener.withLock { $0 = new } }
  static func listenToNotes(_ new: NoteListener?) { noteListener.withLock { $0 = new } }

  static func tell(_ failure: HandlerFailure) {
    if let listener = listener.withLock({ $0 }) { return listener(failure) }
    // Nobody listens: the first failure of each handler is reported where people look.
    if failure.number == 1 { ErrorOutput.write("\(failure)") }
  }

  static func tell(_ note: HandlerNote) {
    if let listener = noteListener.withLock({ $0 }) { listener(note) } else { ErrorOutput.write("\(note)") }
  }
}
