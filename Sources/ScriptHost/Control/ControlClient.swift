// ControlClient — one connection to the control socket: lines in, lines out. Whoever does not read is dropped, never waited for.
private import Glibc
internal import Journal
private import Synchronization

/// Read and written by the control thread; `send` may be called by any.
final class ControlClient: @unchecked Sendable {
  // `input`, `lastRead` and `hasEnded` belong to the control thread; what threads share is in `shared`.
  /// A number of the control thread's own table: only that thread may use it, and ends it by `end`.
  let descriptor: Int32
  private var input: [UInt8] = []
  /// When something came last, in nanoseconds of CLOCK_MONOTONIC.
  private var lastRead: UInt64
  /// It writes no more; what it asked is still answered.
  private(set) var hasEnded = false

  private struct Shared {
    var output: [UInt8] = []
    var isClosed = false
    /// Requests without an answer.
    var open: [ControlCall] = []
  }
  private let shared = Mutex(Shared())

  /// Longest request.
  static let longestLine = 1 << 20
  /// Most that waits for a client that does not read.
  static let longestOutput = 4 << 20
  /// Most requests of one client at a time.
  static let mostOpen = 64
  /// How long a line may take to become whole, in nanoseconds.
  static let lineTime: UInt64 = 30_000_000_000

  init(_ descriptor: Int32, now: UInt64) {
    self.descriptor = descriptor
    lastRead = now
  }

  // MARK: Any thread

  var isClosed: Bool { shared.withLock { $0.isClosed } }
  /// It can be closed when nothing is left to say.
  var isDone: Bool { shared.withLock { $0.isClosed || hasEnded && $0.open.isEmpty && $0.output.isEmpty } }
  var hasOutput: Bool { shared.withLock { !$0.output.isEmpty } }
  var openCalls: Int { shared.withLock { $0.open.count } }

  /// Puts a line on its way. False when the client is gone, or has read so little that it is dropped now.
  func send(_ value: JSONValue) -> Bool {
    let line = Array(value.line.utf8) + [10]
    return shared.withLock { shared in
      if shared.isClosed { return false }
      guard shared.output.count + line.count <= Self.longestOutput else {
        shared.isClosed = true
        shared.output = []
        return false
      }
      shared.output += line
      return true
    }
  }

  func finished(_ call: ControlCall) { shared.withLock { $0.open.removeAll { $0 === call } } }

  // MARK: The control thread

  /// Notes a request. False when there are too many.
  func begin(_ call: ControlCall) -> Bool {
    shared.withLock { shared in
      guard shared.open.count < Self.mostOpen else { return false }
      shared.open.append(call)
      return true
    }
  }

  /// The request of that id that has no answer yet.
  func openCall(_ id: JSONValue) -> ControlCall? { shared.withLock { $0.open.first { $0.id == id } } }

  func drop() {
    // Let go of outside of the lock: a request holds its client.
    let open = shared.withLock { shared in
      shared.isClosed = true
      shared.output = []
      defer { shared.open = [] }
      return shared.open
    }
    withExtendedLifetime(open) {}
  }

  /// Closes the connection, once. On another thread the number would be one of the program's.
  func end() {
    drop()
    close(descriptor)
  }

  /// Takes in what is there and answers the whole lines; nil when the client is to be dropped.
  func readLines(now: UInt64) -> [[UInt8]]? {
    let count = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
      let count = recv(descriptor, buffer.baseAddress!, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { input += buffer[..<count] }
      return count
    }
    if count == 0 { hasEnded = true }
    if count < 0 { return errno == EAGAIN || errno == EINTR ? [] : nil }
    lastRead = now
    var lines: [[UInt8]] = []
    var start = 0
    while let end = input[start...].firstIndex(of: 10) {
      if end > start { lines.append(Array(input[start..<end])) }
      start = end + 1
    }
    if start > 0 { input.removeFirst(start) }
    if hasEnded, !input.isEmpty {
      lines.append(input)
      input = []
    }
    return input.count > Self.longestLine ? nil : lines
  }

  /// A line began long ago and is not whole.
  func isLate(_ now: UInt64) -> Bool { !input.isEmpty && now > lastRead + Self.lineTime }

  /// Writes what it can; false when the client is gone.
  func flush() -> Bool {
    let pending = shared.withLock { $0.output }
    if pending.isEmpty { return true }
    let count = pending.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress!, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
    if count < 0 { return errno == EAGAIN || errno == EINTR }
    shared.withLock { shared in
      // Others only append, or empty it.
      if shared.output.count >= count { shared.output.removeFirst(count) }
    }
    return true
  }
}
