// LiveText — what comes while somebody types, and is shown above the line that is edited: what the program writes, what hooks of the session print.
internal import Glibc
internal import Journal

protocol LiveText: AnyObject {
  /// Readable when something is there; -1 when nothing will come any more.
  var wakes: Int32 { get }
  /// What came since it was asked last; does not wait.
  func take() -> String?
}

/// What hooks and traces of a session print while no snippet runs: the lines of the request that opened it.
final class SessionPrints: LiveText {
  private let connection: ControlConnection
  private let isJSON: Bool

  init(_ connection: ControlConnection, isJSON: Bool) {
    self.connection = connection
    self.isJSON = isJSON
  }

  var wakes: Int32 { isOver ? -1 : connection.descriptor }
  /// Nothing comes any more: the session or the process is over.
  private(set) var isOver = false

  func take() -> String? {
    if isOver { return nil }
    let lines = connection.takeLines()
    isOver = connection.hasEnded || lines.contains { $0["more"] == nil }
    let texts = lines.compactMap { Self.text($0, isJSON: isJSON) }
    return texts.isEmpty ? nil : texts.joined(separator: "\n") + "\n"
  }

  /// What is shown of a line before the last one; nil: nothing.
  static func text(_ line: JSONValue, isJSON: Bool) -> String? {
    if isJSON { return line["print"] != nil || line["lost"] != nil ? line.withoutEnvelope.line : nil }
    if let lost = line["lost"]?.int { return "… \(lost) line\(lost == 1 ? "" : "s") left out; they came faster than they were shown" }
    return line["print"]?.text.map { $0.split(separator: "\n", omittingEmptySubsequences: false).map(printable).joined(separator: "\n") }
  }

  /// Tabs stay between the values of a line.
  private static func printable(_ line: Substring) -> String {
    line.split(separator: "\t", omittingEmptySubsequences: false).map { EventText.printable(String($0)) }.joined(separator: "\t")
  }
}

extension [any LiveText] {
  /// Prints what came.
  func show() {
    for each in self { if let text = each.take() { Output.text(text) } }
    Output.flush()
  }

  /// Waits until something came, or until `descriptor` can be read, if that is one.
  func wait(orFor descriptor: Int32 = -1) {
    var polled = ([descriptor] + map(\.wakes)).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = poll(&polled, nfds_t(polled.count), -1)
  }
}

/// The lines of an input that is no terminal, one by one.
final class PipedInput {
  private var bytes: [UInt8] = []
  private var isOver = false

  /// The next line; nil at the end. Shows what comes meanwhile.
  func line(beside live: [any LiveText]) -> String? {
    while true {
      if let end = bytes.firstIndex(of: 10) {
        defer { bytes.removeSubrange(...end) }
        return String(decoding: bytes[..<end], as: UTF8.self)
      }
      if isOver {
        defer { bytes = [] }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
      }
      live.wait(orFor: STDIN_FILENO)
      live.show()
      read()
    }
  }

  /// Takes what is there, or notes the end.
  private func read() {
    var polled = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&polled, 1, 0) > 0 else { return }
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
      let count = Glibc.read(STDIN_FILENO, buffer.baseAddress!, buffer.count)
      if count > 0 { bytes += buffer[..<count] } else if count == 0 || errno != EINTR { isOver = true }
    }
  }
}
