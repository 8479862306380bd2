// ErrorOutput — what nobody listens for is written where people look.
private import Glibc

enum ErrorOutput {
  /// One line, in one piece.
  static func write(_ text: String) {
    (text + "\n").withCString { _ = Glibc.write(2, $0, strlen($0)) }
  }
}
