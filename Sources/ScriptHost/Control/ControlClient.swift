// ControlClient — one connection to the control socket: lines in, lines out. Nobody is waited for: of what streams, a client that does not read
// loses lines, and one that asks and does not read answers is dropped.
private import Glibc
internal import Journal
private import Synchronization

/// Read and written by the control thread; `send` may be called by any.
final class ControlClient: @unchecked Sendable {
  // What changes belongs to the control thread, but for what threads share, which is in `shared`.
  /// A number of the control thread's own table: only that thread may use it, and ends it by `end`.
  let descriptor: Int32
  let peer: ControlPeer
  private var input: [UInt8] = []
  /// When the line that is not whole began, and when something came last, in nanoseconds of CLOCK_MONOTONIC.
  private var lineBegan: UInt64
  private var lastRead: UInt64
  private let began: UInt64

  private enum Reading {
    case lines
    /// A line was too long: it is read to its end and left out, so that the client comes to read the answer.
    case discarding
    /// The client writes no more; what it asked is still answered.
    case ended
    /// It is closed as soon as it has its answers.
    case closing
  }
  private var reading = Reading.lines

  private struct Shared {
    var output: [UInt8] = []
    var isClosed = false
    /// Requests without an answer.
    var open: [ControlCall] = []
    /// Requests of which lines were left out that the client was not told of yet.
    var lost: [(call: ControlCall, lines: Int)] = []

    /// Writes of a request how many lines it lost, before anything else of it.
    mutating func tellLoss(of call: ControlCall) {
      guard let place = lost.firstIndex(where: { $0.call === call }) else { return }
      output += Array(call.loss(lost.remove(at: place).lines).line.utf8) + [10]
    }
  }
  private let shared = Mutex(Shared())

  /// Longest request.
  static let longestLine = 1 << 20
  /// Most that waits for a client that does not read.
  static let longestOutput = 4 << 20
  /// Most that waits of what may be left out: answers have the rest.
  static let longestStream = 2 << 20
  /// Most requests of one client at a time.
  static let mostOpen = 64
  /// How long a line may take to become whole, in nanoseconds.
  static let lineTime: UInt64 = 30_000_000_000
  /// How long nothing comes of a line that is left out until it counts as over.
  static let discardTime: UInt64 = 1_000_000_000

  init(_ descriptor: Int32, _ peer: ControlPeer, now: UInt64) {
    self.descriptor = descriptor
    self.peer = peer
    began = now
    lineBegan = now
    lastRead = now
  }

  // MARK: Any thread

  var isClosed: Bool { shared.withLock { $0.isClosed } }
  /// It can be closed when nothing is left to say.
  var isDone: Bool {
    shared.withLock { shared in
      if shared.isClosed { return true }
      switch reading {
      case .lines, .discarding: return false
      case .ended: return shared.open.isEmpty && shared.output.isEmpty
      case .closing: return shared.output.isEmpty
      }
    }
  }
  /// The control thread: something may come of it.
  var isRead: Bool {
    switch reading {
    case .lines, .discarding: true
    case .ended, .closing: false
    }
  }
  var hasOutput: Bool { shared.withLock { !$0.output.isEmpty } }
  /// It stays: it has been here for a second.
  func isStanding(_ now: UInt64) -> Bool { now > began && now - began > 1_000_000_000 }
  var openCalls: Int { shared.withLock { $0.open.count } }

  /// Puts a line on its way. False when the client is gone, or has read so little that it is dropped now.
  /// - Parameter call: the request that ends with this line.
  func send(_ value: JSONValue, endsIn call: ControlCall? = nil) -> Bool {
    let line = Array(value.line.utf8) + [10]
    return shared.withLock { shared in
      if shared.isClosed { return false }
      guard shared.output.count + line.count <= Self.longestOutput else {
        shared.isClosed = true
        shared.output = []
        return false
      }
      if let call { shared.tellLoss(of: call) }
      shared.output += line
      return true
    }
  }

  /// Puts a line of a request that streams on its way, or counts it where the client reads too slowly.
  func offer(_ value: @autoclosure () -> JSONValue, of call: ControlCall) {
    let hasRoom = shared.withLock { $0.lost.isEmpty && $0.output.count < Self.longestStream }
    let line = hasRoom ? Array(value().line.utf8) + [10] : []
    shared.withLock { shared in
      if shared.isClosed { return }
      if let place = shared.lost.firstIndex(where: { $0.call === call }) {
        shared.lost[place].lines += 1
      } else if !hasRoom || shared.output.count + line.count > Self.longestStream {
        shared.lost.append((call, 1))
      } else {
        shared.output += line
      }
    }
  }

  func finished(_ call: ControlCall) {
    shared.withLock { shared in
      shared.open.removeAll { $0 === call }
      shared.lost.removeAll { $0.call === call }
    }
  }

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
    let (open, lost) = shared.withLock { shared in
      shared.isClosed = true
      shared.output = []
      defer { (shared.open, shared.lost) = ([], []) }
      return (shared.open, shared.lost)
    }
    for call in open { call.becameOver() }
    withExtendedLifetime(lost) {}
  }

  /// Closes the connection, once. On another thread the number would be one of the program's.
  func end() {
    drop()
    close(descriptor)
  }

  /// Takes in what is there and answers the whole lines; nil when the client is to be dropped.
  func readLines(now: UInt64) -> [[UInt8]]? {
    if case .lines = reading, input.isEmpty { lineBegan = now }
    let count = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
      let count = recv(descriptor, buffer.baseAddress!, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { input += buffer[..<count] }
      return count
    }
    if count < 0 { return errno == EAGAIN || errno == EINTR ? [] : nil }
    lastRead = now
    if case .discarding = reading {
      if count == 0 || input.contains(10) { reading = .closing }
      input = []
      return []
    }
    if count == 0 { reading = .ended }
    var lines: [[UInt8]] = []
    var start = 0
    while let end = input[start...].firstIndex(of: 10), end - start <= Self.longestLine {
      if end > start { lines.append(Array(input[start..<end])) }
      start = end + 1
    }
    if start > 0 {
      input.removeFirst(start)
      lineBegan = now
    }
    if input.count > Self.longestLine { refuseLine() }
    if case .ended = reading, !input.isEmpty {
      lines.append(input)
      input = []
    }
    return lines
  }

  private func refuseLine() {
    reading = isRead && !input.contains(10) ? .discarding : .closing
    input = []
    _ = send(
      ["id": .null, "ok": false, "error": .string("a request has at most \(Self.longestLine) bytes and this one has more; the connection is closed")])
  }

  /// A line began long ago and is not whole.
  func isLate(_ now: UInt64) -> Bool {
    switch reading {
    case .lines: !input.isEmpty && now > lineBegan + Self.lineTime
    case .discarding: now > lastRead + Self.discardTime || now > lineBegan + Self.lineTime
    case .ended, .closing: false
    }
  }

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
      // With room for many lines again, those that were left out are told.
      guard shared.output.count < Self.longestStream / 2 else { return }
      while let (call, _) = shared.lost.first { shared.tellLoss(of: call) }
    }
    return true
  }
}
