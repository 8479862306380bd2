// EventSink — events as JSON lines to a file or to an inherited descriptor
// (`--events FILE`, `--events fd:N`), beside or instead of the journal.
//
// The program's threads write here, so a reader that stops reading must not stop
// them: what a pipe or socket has no room for is dropped and counted.
internal import Glibc
internal import Synchronization

/// A place for JSON lines. May be used from any thread.
package final class EventSink: Sendable {
  private let descriptor: Int32
  private let isStream: Bool
  private let raisesSignals: Bool
  private let source: EventText.Source
  private let lock = Mutex(())
  private let droppedCount = Atomic<UInt64>(0)

  /// Opens "fd:N" or a path, which is created for the owner alone and appended to. Throws a
  /// sentence of facts when it cannot be opened.
  package init(_ destination: RawPath, source: EventText.Source) throws(EventSinkError) {
    self.source = source
    if destination.bytes.starts(with: "fd:".utf8) {
      let number = Int32(String(decoding: destination.bytes.dropFirst(3), as: UTF8.self))
      guard let number, number >= 0, fcntl(number, F_GETFD) >= 0 else { throw .notOpen(destination.description) }
      descriptor = number
    } else {
      let opened = destination.withCString { open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0o600) }
      guard opened >= 0 else { throw .notOpened(destination.description, systemMessage(errno)) }
      descriptor = HostDescriptor.moved(opened)
      guard descriptor >= 0 else { throw .notOpened(destination.description, systemMessage(EMFILE)) }
    }
    isStream = HostDescriptor.isStream(descriptor)
    raisesSignals = HostDescriptor.raisesSignals(descriptor)
  }

  /// Lines that were not written.
  package var dropped: UInt64 { droppedCount.load(ordering: .relaxed) }

  /// Writes one record as one line.
  package func write(_ record: JournalRecord) {
    let saved = errno
    defer { errno = saved }
    var line = EventText.json(record, source) + "\n"
    let complete = lock.withLock { _ in line.withUTF8(writeAll) }
    if !complete { droppedCount.add(1, ordering: .relaxed) }
  }

  /// Writes the bytes if there is room; a line that was begun is finished while the reader reads on.
  private func writeAll(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var done = 0
    while done < bytes.count {
      guard !isStream || hasRoom(waiting: done > 0) else { return false }
      // A pipe that polls writable takes 4 KiB without blocking.
      let piece = isStream ? min(4096, bytes.count - done) : bytes.count - done
      let place = bytes.baseAddress! + done
      let written =
        raisesSignals
        ? withoutWriteSignals { Glibc.write(descriptor, place, piece) } : Glibc.write(descriptor, place, piece)
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return false }
      done += written
    }
    return true
  }

  private func hasRoom(waiting: Bool) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&request, 1, waiting ? 100 : 0) == 1 && request.revents & Int16(POLLOUT) != 0
  }
}

/// Why events cannot go where they were sent.
package enum EventSinkError: Error, Equatable, Sendable, CustomStringConvertible {
  case notOpen(String)
  case notOpened(String, String)

  package var description: String {
    switch self {
    case .notOpen(let destination): "'\(destination)' is not an open descriptor; events are not written there"
    case .notOpened(let destination, let reason): "'\(destination)' cannot be opened, \(reason); events are not written there"
    }
  }
}
