// CrashReport — the lines that CCrash/report.c wrote, as values.
private import Journal

/// What a process wrote when it crashed.
package struct CrashReport: Sendable {
  /// One frame; `how` is p (counter), u (unwound), f (frame pointer), s (found on the stack)
  /// or a (an async function that waits, where it goes on).
  package struct Frame: Sendable { package let how: Character, address: UInt64 }
  /// A hooked call a thread was in; `owner` is an index into CrashFile.owners.
  package struct Call: Sendable { package let owner: Int, inHandler: Bool }
  package struct Thread: Sendable {
    package let number: Int
    package let name: String
    package var calls: [Call] = []
    package var frames: [Frame] = []
  }
  package struct Image: Sendable {
    package let range: Range<UInt64>
    package let offset: UInt64
    package let buildID: String
    package let path: String
  }

  package private(set) var signal = 0
  package private(set) var code = 0
  package private(set) var address: UInt64 = 0
  /// The kernel's number of the crashed thread.
  package private(set) var thread = 0
  /// When it crashed: nanoseconds since 1970, and of the monotonic clock.
  package private(set) var wall: UInt64 = 0
  package private(set) var monotonic: UInt64 = 0
  package private(set) var message = ""
  /// Why the fault was not contained, though the call around it is; empty where nothing would have contained it.
  package private(set) var refusal = ""
  package private(set) var registers = ""
  package private(set) var images: [Image] = []
  /// The crashed one first.
  package private(set) var threads: [Thread] = []
  /// The signal that came while this was written.
  package private(set) var again: Int?
  /// False: the process ended before it was written.
  package private(set) var isWhole = false

  package init?(_ text: String) {
    guard text.hasPrefix("signal ") else { return nil }
    for line in text.split(separator: "\n") { read(line.split(separator: " ", omittingEmptySubsequences: false), line) }
  }

  private static func hex(_ word: Substring) -> UInt64 { UInt64(word.dropFirst(2), radix: 16) ?? 0 }

  private mutating func read(_ words: [Substring], _ line: Substring) {
    switch (words[0], words.count) {
    case ("signal", 8...):
      signal = Int(words[1]) ?? 0
      code = Int(words[3]) ?? 0
      address = Self.hex(words[5])
      thread = Int(words[7]) ?? 0
    case ("time", 3...):
      wall = UInt64(words[1]) ?? 0
      monotonic = UInt64(words[2]) ?? 0
    case ("message", 2...): message = String(line.dropFirst("message ".count))
    case ("refusal", 2...): refusal = String(line.dropFirst("refusal ".count))
    case ("registers", 2...): registers = String(line.dropFirst("registers ".count))
    case ("image", 6...):
      let start = Self.hex(words[1])
      images.append(
        Image(
          range: start..<max(start, Self.hex(words[2])), offset: Self.hex(words[3]), buildID: String(words[4]),
          path: words[5...].joined(separator: " ")))
    case ("thread", 2...): threads.append(Thread(number: Int(words[1]) ?? 0, name: words[2...].joined(separator: " ")))
    case ("call", 3...) where !threads.isEmpty:
      threads[threads.count - 1].calls.append(Call(owner: (Int(words[1]) ?? 0) - 1, inHandler: words[2] == "1"))
    case ("frame", 3...) where !threads.isEmpty:
      threads[threads.count - 1].frames.append(Frame(how: words[1].first ?? "?", address: Self.hex(words[2])))
    case ("again", 2...): again = Int(words[1])
    case ("end", _): isWhole = true
    default: break
    }
  }
}
