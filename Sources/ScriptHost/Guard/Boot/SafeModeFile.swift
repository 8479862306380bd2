// SafeModeFile — the state of safe mode of one program, on disk: lines with a sum, replaced as a whole.
private import Glibc
package import Journal

/// Reads and writes the state. A file that is damaged counts as one failed start: never as many, never as none.
package struct SafeModeFile: Sendable {
  package let path: RawPath

  /// - Parameter program: the absolute path of the program.
  package init(state: RawPath, program: RawPath) {
    path = SummedFile.place(state, "boot", program: program, ending: "boot")
  }

  package init(_ path: RawPath) { self.path = path }

  package func read() -> SafeMode {
    guard let bytes = SummedFile.bytes(of: path) else { return SafeMode() }
    return Self.decode(bytes) ?? Self.damaged
  }

  private static var damaged: SafeMode {
    var state = SafeMode()
    state.failures = 1
    return state
  }

  /// Reads, changes and replaces the file, alone among the processes of the program; without the lock where another one holds it for long.
  /// False with errno set.
  package func change(_ body: (inout SafeMode) -> Void) -> Bool {
    guard path.parent.makeDirectories() else { return false }
    let lock = RawPath(path.bytes + Array(".lock".utf8)).withCString { open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    defer { if lock >= 0 { close(lock) } }
    if lock >= 0 {
      var tries = 0
      while flock(lock, LOCK_EX | LOCK_NB) != 0, tries < 100 {
        usleep(2000)
        tries += 1
      }
    }
    let before = read()
    var state = before
    body(&state)
    return state == before || write(state)
  }

  /// Replaces the file; false with errno set.
  package func write(_ state: SafeMode) -> Bool { SummedFile.replace(path, with: Self.encode(state)) }

  package func remove() -> Bool { path.withCString { unlink($0) } == 0 || errno == ENOENT }

  // MARK: Lines

  package static func encode(_ state: SafeMode) -> [UInt8] {
    // A line break in a path would be read as a line: such a patch is not remembered.
    let isPlain = { (text: String) in !text.contains("\n") }
    var text = "safe-mode 1\nfailures \(state.failures)\n"
    if let suspect = state.suspect, isPlain(suspect) { text += "suspect \(suspect)\n" }
    for (stamp, reason) in state.retired.sorted(by: { $0.key.path < $1.key.path }) where isPlain(stamp.path) {
      text += "retired \(reason.rawValue) \(stamp.changed) \(stamp.path)\n"
    }
    for stamp in state.waiting where isPlain(stamp.path) { text += "waiting \(stamp.changed) \(stamp.path)\n" }
    if state.actedAt != 0 { text += "acted \(state.actedAt)\n" }
    for path in state.caches where isPlain(path) { text += "cache \(path)\n" }
    for path in state.data where isPlain(path) { text += "data \(path)\n" }
    if let trial = state.trial, isPlain(trial.path) { text += "trial \(trial.changed) \(trial.path)\n" }
    return SummedFile.sealed(text)
  }

  package static func decode(_ bytes: [UInt8]) -> SafeMode? {
    guard let lines = SummedFile.lines(bytes, title: "safe-mode 1") else { return nil }
    var state = SafeMode()
    for line in lines {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { return nil }
      switch words[0] {
      case "failures": state.failures = Int(words[1]) ?? 1
      case "acted": state.actedAt = Int(words[1]) ?? 0
      case "cache": state.caches.append(words[1])
      case "data": state.data.append(words[1])
      case "suspect": state.suspect = words[1]
      case "retired":
        let parts = words[1].split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, let reason = SafeMode.Reason(rawValue: parts[0]), let stamp = stamp(parts[1]) else { return nil }
        state.retired[stamp] = reason
      case "waiting": if let stamp = stamp(words[1]) { state.waiting.append(stamp) }
      case "trial": state.trial = stamp(words[1])
      default: break
      }
    }
    return state
  }

  private static func stamp(_ text: String) -> PatchStamp? {
    let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2, let changed = UInt64(parts[0]) else { return nil }
    return PatchStamp(path: parts[1], changed: changed)
  }
}
