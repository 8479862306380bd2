// CrashPruning — how many crash files are kept, and for how long.
private import Glibc
internal import Journal

enum CrashPruning {
  /// Files beyond these go, the oldest first. One is 0.4 MB at most.
  static let most = 64
  /// Files that are older go, too; in seconds.
  static let longest: UInt64 = 30 * 24 * 3600

  /// Removes old files of a state directory, whatever program they are of; those of processes that run stay.
  /// - Parameter now: seconds since 1970.
  static func prune(in state: RawPath, now: UInt64) {
    let directory = CrashDirectory.path(in: state)
    // Their names say who and when, so none has to be opened.
    let files = directory.directoryEntries().compactMap { file($0) }.sorted { $0.time > $1.time }
    for (index, file) in files.enumerated() {
      let age = now > file.time / 1_000_000_000 ? now - file.time / 1_000_000_000 : 0
      guard index >= most || age > longest, !isAlive(file.process) else { continue }
      _ = directory.appending(file.name).withCString { unlink($0) }
    }
  }

  private struct File {
    let name: [UInt8]
    let process: Int32
    /// Nanoseconds since 1970.
    let time: UInt64
  }

  /// `PID-TIME.crash`; nil for anything else.
  private static func file(_ name: [UInt8]) -> File? {
    let text = String(decoding: name, as: UTF8.self)
    guard text.hasSuffix(".crash") else { return nil }
    let parts = text.dropLast(6).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let process = Int32(parts[0]), process > 0, let time = UInt64(parts[1]) else { return nil }
    return File(name: name, process: process, time: time)
  }

  private static func isAlive(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno == EPERM }
}
