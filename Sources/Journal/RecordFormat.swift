// RecordFormat — the bytes of a journal segment, written once for writer and reader.
//
// A segment is a header of 4 KiB and then units of 32 KiB. A unit belongs to one
// thread; records follow each other in it, none crosses its end, and the rest is
// zero, or the unit is not begun. A record is made of 64-bit little-endian words:
//
//     word 0   length in bytes (low 32 bits), checksum (high 32 bits): stored last,
//              in one piece, so that a record is there entirely or not at all
//     word 1   kind, flags, mark 0xA55A (16 bits), thread id (32 bits)
//     word 2   sequence: unit number << 10 | place in the unit
//     word 3   monotonic clock, nanoseconds
//     word 4   wall clock, nanoseconds since 1970
//     word 5…  payload (FieldWriter), padded with zeros
//
// The checksum covers words 1… and starts from the segment's seed, the offset and
// the length (Checksum), so bytes of a payload never pass for a record.
// Keep in step with docs/journal-format.md.

/// What a record is about.
package enum RecordKind: UInt8, Sendable, CaseIterable {
  /// Something a rule or a patch tracked.
  case event = 1
  /// A line a patch printed or logged; its name is the level.
  case log = 2
  /// A handler, a patch or the host failed.
  case failure = 3
  /// A fact about the session: patches loaded, hooks installed.
  case note = 4
  /// Records are missing here; field "dropped" says how many.
  case gap = 5
  /// A piece of work that is over: `SpanRecord`.
  case span = 6
  /// What a metric came to so far: `MetricRecord`.
  case metric = 7
  /// A stage of the program's start was reached: `StartupRecord`.
  case startup = 8
  /// A request over the network is over: `NetworkRecord`.
  case network = 9
  /// A thread did not go on for too long: `StallRecord`.
  case stall = 10
  /// Somebody changed or looked into the program from outside: `AuditRecord`.
  case audit = 11
  /// A screen, a request handler or a command appeared or disappeared: `ScreenRecord`.
  case screen = 12
  /// Where a thread was that used processor time: `SampleRecord`.
  case sample = 13

  /// The host measured it, and gave its fields their names.
  package var isMeasured: Bool {
    switch self {
    case .span, .metric, .startup, .network, .stall, .screen, .sample: true
    case .event, .log, .failure, .note, .gap, .audit: false
    }
  }
}

/// Sizes, offsets and the checksum of the format.
package enum RecordFormat {
  package static let magic: UInt64 = 0x0a6c_6e72_6a74_6873  // "shtjrnl\n"
  package static let version: UInt32 = 3
  package static let headerSize = 4096
  package static let unitSize = maximumRecordSize + 512
  package static let recordHeaderSize = 40
  /// The longest record: it fits into a fresh unit behind a gap record.
  package static let maximumRecordSize = FieldWriter.largest + recordHeaderSize
  package static let mark: UInt64 = 0xa55a
  /// The first word of a unit that no thread has taken: its bytes are of the segment's time before. No record's
  /// length has these bits.
  static let notBegun: UInt64 = .max

  /// Flag: fields did not fit and were left out.
  package static let flagCut: UInt8 = 1

  /// Offsets in the segment header.
  package enum Header {
    static let magic = 0
    static let version = 8
    static let pid = 12
    static let startWall = 16
    static let startMonotonic = 24
    static let seed = 32
    static let segment = 40
    static let textLength = 44
    static let checksum = 48
    /// Counter of records the writer had to drop, updated in place.
    static let dropped = 56
    /// Boot id, build-id and program path, each ended by a NUL.
    static let text = 64
    static let maximumText = headerSize - text
  }

  /// One step of the checksum. For a given state it is one-to-one in the word and for a given
  /// word one-to-one in the state, so one changed word always changes the result before folding.
  @inline(__always)
  static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let product = (state ^ word) &* 0x9e37_79b9_7f4a_7c15
    return product ^ product >> 32
  }

  /// The checksum of a record. The payload's words take turns in two states, so that a processor can do both at once,
  /// and while it waits for the clock.
  struct Checksum {
    private let start: UInt64
    private var even: UInt64
    private var odd: UInt64

    @inline(__always)
    init(seed: UInt64, offset: Int, length: Int) {
      start = seed ^ UInt64(truncatingIfNeeded: offset) << 20 ^ UInt64(truncatingIfNeeded: length)
      even = start
      odd = start
    }

    /// Takes the next word of the payload.
    @inline(__always)
    mutating func add(_ word: UInt64) { (even, odd) = (odd, RecordFormat.mix(even, word)) }

    /// The 32 bits that are stored, with words 1 to 4; never 0, so that word 0 of a record never is.
    @inline(__always)
    func folded(with head: (UInt64, UInt64, UInt64, UInt64)) -> UInt32 {
      var state = RecordFormat.mix(start, head.0)
      state = RecordFormat.mix(state, head.1)
      state = RecordFormat.mix(state, head.2)
      state = RecordFormat.mix(state, head.3)
      state = RecordFormat.mix(state, RecordFormat.mix(even, odd))
      let folded = UInt32(truncatingIfNeeded: state ^ state >> 29)
      return folded == 0 ? 1 : folded
    }
  }
}
