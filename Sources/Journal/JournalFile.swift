// JournalFile — names of segment files, and which of them are kept.
//
//     <program>-<pid>-<start, hexadecimal nanoseconds>-<segment>.journal
//
// The name only helps people and finds the files of one session; what counts is
// in the header.
internal import Glibc

/// Segment files in a journal directory.
package enum JournalFile {
  package static let suffix: [UInt8] = Array(".journal".utf8)

  /// Added while a file is being made.
  static let unfinishedSuffix: [UInt8] = Array(".new".utf8)

  /// The file name of a segment; unusual bytes of the program's name become "_".
  static func name(_ identity: JournalIdentity, startWall: UInt64, segment: Int) -> [UInt8] {
    let program = identity.program.lastComponent.prefix(64).map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        byte
      default: UInt8(ascii: "_")
      }
    }
    let number = String(segment)
    let padded = String(repeating: "0", count: max(0, 4 - number.count)) + number
    return program + "-\(identity.pid)-\(String(startWall, radix: 16))-\(padded)".utf8 + suffix
  }

  /// All segment files of a directory, in no order.
  package static func list(in directory: RawPath) -> [RawPath] { list(in: directory, endingIn: suffix) }

  private static func list(in directory: RawPath, endingIn ending: [UInt8]) -> [RawPath] {
    directory.directoryEntries().filter { $0.count > ending.count && $0.suffix(ending.count).elementsEqual(ending) }
      .map(directory.appending)
  }

  /// Removes the oldest files until at most `bytes` and `count` are left, and before them those that are older than `age` nanoseconds and
  /// whose programs have ended. A file of a running program may go for the others too: the program notices when it next needs room, and
  /// starts a new one. Answers how many were removed.
  @discardableResult
  package static func prune(_ directory: RawPath, bytes: Int = 256 << 20, count: Int = 1000, age: UInt64? = nil) -> Int {
    let unfinished = list(in: directory, endingIn: suffix + unfinishedSuffix)
    var files = (list(in: directory) + unfinished).compactMap { path in
      path.status().map { (path: path, size: Int($0.st_size), time: $0.st_mtim.tv_sec) }
    }
    files.sort { $0.time > $1.time }
    var removed = 0
    if let age {
      let now = clockNanoseconds(CLOCK_REALTIME), bootID = currentBootID()
      while let last = files.last, now > age, last.time < Int((now - age) / 1_000_000_000) {
        // Stores into memory change no times: an old file of a running program may have the newest records.
        if let reader = try? JournalFileReader(last.path), reader.isWriterAlive(bootID: bootID) { break }
        if last.path.withCString({ unlink($0) }) == 0 { removed += 1 }
        files.removeLast()
      }
    }
    var total = files.reduce(0) { $0 + $1.size }
    guard total > bytes || files.count > count else { return removed }
    while let last = files.popLast(), total > bytes || files.count >= count {
      if last.path.withCString({ unlink($0) }) == 0 { removed += 1 }
      total -= last.size
    }
    return removed
  }
}
