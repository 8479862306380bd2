// FrameTables — who called code that keeps no frame pointers, such as the C library's: by the call frame information of its image.
private import CCrash
private import CHookTrampoline
internal import HookRuntime

/// The tables of one file. Immutable; any thread.
struct FrameTables {
  private let index: HKTSection
  private let frames: HKTSection

  /// Nil where the file has none.
  init?(_ file: ELFFile) {
    guard let index = Self.section(".eh_frame_hdr", of: file), let frames = Self.section(".eh_frame", of: file) else { return nil }
    (self.index, self.frames) = (index, frames)
  }

  /// The bytes belong to the file's mapping, which is never undone.
  private static func section(_ name: String, of file: ELFFile) -> HKTSection? {
    guard let section = file.section(named: name), let bytes = file.bytes(of: section), let base = bytes.baseAddress else { return nil }
    return HKTSection(bytes: base.assumingMemoryBound(to: UInt8.self), size: UInt64(bytes.count), address: section.address)
  }

  /// A function that waits for what it called, or where a thread is.
  struct Frame {
    /// The instruction; behind the innermost frame, one to which a call returns.
    var counter: UInt
    /// The stack pointer there.
    var stack: UInt
    /// The frame pointer there; nil where that is not known.
    var pointer: UInt?
  }

  /// The frame of who called; nil where the tables do not tell.
  /// - Parameters:
  ///   - counter: the file's address of the instruction that runs, or of the call's last byte.
  ///   - word: what the thread's stack held at an address.
  func caller(of frame: Frame, at counter: UInt64, word: (UInt) -> UInt?) -> Frame? {
    var index = index
    var frames = frames
    var rule = HKTFrameRule()
    guard hkt_frame_rule(&index, &frames, counter, &rule), let base = rule.is_from_frame_pointer ? frame.pointer : frame.stack else { return nil }
    let stack = base &+ UInt(bitPattern: Int(rule.distance))
    guard stack > frame.stack, stack - frame.stack < UInt(CCRASH_LONGEST_FRAME), let counter = word(stack &- 8) else { return nil }
    let saved = stack &+ UInt(bitPattern: Int(rule.frame_pointer))
    return Frame(counter: counter, stack: stack, pointer: rule.is_frame_pointer_saved ? word(saved) : frame.pointer)
  }
}
