// ImageTrouble — what later images bring and hooks miss: told, as nothing else shows it.
private import Synchronization

package enum ImageTrouble {
  package typealias Listener = @Sendable (String) -> Void
  private static let listener = Mutex<Listener?>(nil)

  /// Gives whole sentences to `new`, on any thread; without a listener they go to the error output.
  package static func listen(_ new: Listener?) { listener.withLock { $0 = new } }

  static func tell(_ text: String) {
    if let listener = listener.withLock({ $0 }) { listener(text) } else { ErrorOutput.write(text) }
  }
}
