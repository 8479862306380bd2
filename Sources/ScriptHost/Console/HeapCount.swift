// HeapCount — how many objects of a class lie on the heap, as far as looking through malloc's chunks tells while the program runs.
//
// glibc keeps its chunks one behind the other: {size of the one before, size and flags, memory…}. The chunks of an arena are copied out
// piece by piece and followed; a chunk that is in use and begins with the class's metadata is an object. Nothing is stopped or written, so
// what the program changes meanwhile may be seen half: an arena whose chunks do not lead to its end is read again, and left out in the end.
internal import CHookTrampoline
private import Glibc
internal import HookRuntime

enum HeapCount {
  /// What was found, in lines for people.
  static func answer(of type: Metadata, _ name: String) -> ConsoleCommands.Answer {
    if let problem = allocatorProblem() { return .failed("objects of \(name) cannot be counted: \(problem)") }
    var count = Counter(type)
    var unread = 0
    let arenas = Arena.all()
    for arena in arenas where !count.count(arena) { unread += 1 }
    if arenas.count == unread {
      return .failed("objects of \(name) cannot be counted: no arena of malloc could be followed from its beginning to its end")
    }
    var lines = [
      "\(name): \(count.objects) object\(count.objects == 1 ? "" : "s") on the heap, \(count.bytes) bytes; \(count.ofSubclasses) "
        + "of them of subclasses"
    ]
    lines.append(
      "counted in \(arenas.count - unread) of \(arenas.count) arenas of malloc (\(count.looked >> 10) KiB) while the program ran: "
        + "objects in frames, in static data and in blocks that malloc maps alone are not among them; "
        + "memory that is allocated and not yet written may be")
    return .lines(lines)
  }

  /// Why chunks cannot be followed; nil for glibc's own malloc.
  private static func allocatorProblem() -> String? {
    // Another allocator that is loaded before the C library is who the program's calls are bound to.
    guard let libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY) else { return "the C library is not glibc" }
    defer { dlclose(libc) }
    guard let own = dlsym(libc, "malloc"), let used = dlsym(nil, "malloc") else { return "nothing tells whose malloc the program uses" }
    return own == used ? nil : "the program's malloc is not glibc's, and chunks of others are not known"
  }

  /// The addresses of chunks that lie one behind the other.
  private struct Arena {
    let start: UInt64
    let end: UInt64
    /// Its first chunk is at its start; of others it is behind what malloc keeps there.
    let isMain: Bool

    private static let threadArena: UInt64 = 64 << 20

    static func all() -> [Arena] {
      var found: [Arena] = []
      guard let file = fopen("/proc/self/maps", "re") else { return [] }
      defer { fclose(file) }
      var buffer = [CChar](repeating: 0, count: 4608)
      while fgets(&buffer, Int32(buffer.count), file) != nil {
        let line = String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count >= 5, words[1] == "rw-p" else { continue }
        let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
        guard ends.count == 2 else { continue }
        if words.last == "[heap]" {
          found.append(Arena(start: ends[0], end: ends[1], isMain: true))
        } else if words.count == 5, ends[0] % threadArena == 0 {
          // {arena, heap before, size, …}: its size tells how far it goes.
          var head: (UInt64, UInt64, UInt64) = (0, 0, 0)
          guard hkt_peek(ends[0], &head, 24), head.2 >= 4096, head.2 <= ends[1] - ends[0], head.2 % 4096 == 0 else { continue }
          found.append(Arena(start: ends[0], end: ends[0] + head.2, isMain: false))
        }
      }
      return found
    }

    /// Where the first chunk may be.
    var beginnings: [UInt64] { isMain ? [start] : Array(stride(from: start + 0x20, to: min(start + 0x1000, end), by: 16)) }
  }

  private struct Counter {
    private let type: Metadata
    private let least: UInt64
    private(set) var objects = 0
    private(set) var ofSubclasses = 0
    private(set) var bytes: UInt64 = 0
    private(set) var looked: UInt64 = 0
    /// What first words are: 1 the class, 2 one that inherits, 0 anything else.
    private var known: [UInt64: Int] = [:]

    init(_ type: Metadata) {
      self.type = type
      least = UInt64(max(type.instanceSize, 16))
    }

    /// Follows the chunks; false when they do not lead to the arena's end.
    mutating func count(_ arena: Arena) -> Bool {
      for _ in 0..<3 {
        for beginning in arena.beginnings {
          var copy = self
          if copy.follow(from: beginning, to: arena.end) {
            self = copy
            return true
          }
        }
      }
      return false
    }

    private mutating func follow(from start: UInt64, to end: UInt64) -> Bool {
      var window = Window(end: end)
      var at = start
      guard var size = window.word(at + 8) else { return false }
      while true {
        let length = size & ~7
        guard length >= 32, length % 16 == 0, at + length <= end else { return false }
        let next = at + length
        looked += length
        // The last chunk is what is not given out yet; some words mark the end of an arena that goes on elsewhere.
        if next + 16 >= end { return true }
        guard let following = window.word(next + 8) else { return false }
        if following & 1 != 0, length - 8 >= least, let first = window.word(at + 16), let counts = window.word(at + 24) {
          look(first, counts, length)
        }
        if following & ~7 == 0 || following & ~7 == 16 { return true }
        (at, size) = (next, following)
      }
    }

    private mutating func look(_ first: UInt64, _ counts: UInt64, _ length: UInt64) {
      let kind = kind(of: first)
      // An object that is being ended says so in its counts.
      guard kind != 0, counts >> 63 != 0 || counts >> 32 & 1 == 0 else { return }
      objects += 1
      if kind == 2 { ofSubclasses += 1 }
      bytes += length - 8
    }

    private mutating func kind(of word: UInt64) -> Int {
      guard word & 7 == 0, word >= 4096 else { return 0 }
      if let known = known[word] { return known }
      let wanted = UInt64(UInt(bitPattern: type.pointer))
      var kind = word == wanted ? 1 : 0
      var each = word
      // The second word of a class's metadata is its superclass.
      for _ in 0..<32 where kind == 0 {
        var above: UInt64 = 0
        guard each & 7 == 0, each >= 4096, hkt_peek(each + 8, &above, 8), above != 0 else { break }
        if above == wanted { kind = 2 }
        each = above
      }
      known[word] = kind
      return kind
    }
  }

  /// A copied piece of memory that moves along.
  private struct Window {
    private let end: UInt64
    private var from: UInt64 = 0
    private var bytes = [UInt64](repeating: 0, count: 8192)
    private var filled = 0

    init(end: UInt64) { self.end = end }

    mutating func word(_ address: UInt64) -> UInt64? {
      guard address % 8 == 0, address + 8 <= end else { return nil }
      if address < from || address >= from + UInt64(filled) * 8 {
        from = address
        filled = min(bytes.count, Int((end - address) / 8))
        let count = filled * 8
        guard bytes.withUnsafeMutableBytes({ hkt_peek(from, $0.baseAddress!, count) }) else {
          filled = 0
          return nil
        }
      }
      return bytes[Int((address - from) / 8)]
    }
  }
}
