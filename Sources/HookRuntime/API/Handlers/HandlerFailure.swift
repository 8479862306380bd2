// HandlerFailure — a handler that failed: the program went on without it, and somebody should know.
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

enum HandlerFailures {
  typealias Listener = @Sendable (HandlerFailure) -> Void
  private static let listener = Mutex<Listener?>(nil)

  static func listen(_ new: Listener?) { listener.withLock { $0 = new } }

  static func tell(_ failure: HandlerFailure) {
    if let listener = listener.withLock({ $0 }) { return listener(failure) }
    // Nobody listens: the first failure of each handler is reported where people look.
    if failure.number == 1 { ErrorOutput.write("\(failure)") }
  }
}
