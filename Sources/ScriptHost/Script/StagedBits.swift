// StagedBits — new arguments that are bits alone, kept until the original runs or the handler returns.
//
// Numbers, Bools, and texts so short that they lie in a String's own two words: of none of them is anything to be ended, so that
// forgetting them is all it takes to undo what a handler did. In place, since a call that replaces an Int is not to allocate memory;
// where C finds them, since most are put there without a call of ours (CLuaShim/Border/shl_arguments.c).
// CallValues reads and writes the others, and puts all of them into the frame, by the slots of the body that was entered.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime

/// Two words, of which all but texts use the first.
typealias StagedBits = (UInt64, UInt64)

extension SHLArguments {
  /// Arguments from here on are staged as any other value.
  static let room = Int(SHL_MOST_STAGED)

  /// The arguments of a handler that begins.
  @inline(__always)
  init(_ changes: HandlerChanges, serial: UInt64) {
    self.init()
    begin(changes, serial: serial)
  }

  /// Fills in all but the room for new arguments, which holds nothing as long as `staged` says so: a call of a handler that changes
  /// nothing does not write it.
  @inline(__always)
  mutating func begin(_ changes: HandlerChanges, serial: UInt64) {
    let view = changes.view
    let (slots, count, consumes) = view.withPlan { ($0.slots, $0.argumentCount, $0.consumesArguments) }
    self.serial = serial
    from = SHLPlaces(frame: view.call.pointee.frame, slots: slots, count: Int32(truncatingIfNeeded: count))
    borrowed = 0
    changeable = changes.originalRuns == 0
    readable = changeable || !consumes
    staged = 0
  }

  /// The original runs now: what arguments are, and which of them may still be set, is asked of HandlerChanges from here on.
  @inline(__always)
  mutating func originalRuns() { (readable, changeable) = (false, false) }

  @inline(__always)
  var isChanged: Bool { staged != 0 }
  @inline(__always)
  func hasStaged(_ index: Int) -> Bool { index < Self.room && staged >> UInt8(truncatingIfNeeded: index) & 1 != 0 }

  @inline(__always)
  func stagedBits(_ index: Int) -> StagedBits {
    // The elements of a C array lie one behind the other.
    withUnsafeBytes(of: bits) { $0.load(fromByteOffset: 16 * index, as: StagedBits.self) }
  }

  @inline(__always)
  mutating func stage(_ new: StagedBits, at index: Int) {
    withUnsafeMutableBytes(of: &bits) { $0.storeBytes(of: new, toByteOffset: 16 * index, as: StagedBits.self) }
    staged |= 1 << UInt8(truncatingIfNeeded: index)
  }

  /// Forgets the new value: the argument is again what was passed.
  mutating func unstage(_ index: Int) { if hasStaged(index) { staged &= ~(1 << UInt8(truncatingIfNeeded: index)) } }

  @inline(__always)
  mutating func forgetStaged() { staged = 0 }

  /// All further changes are the record's, and it tells what the arguments are.
  mutating func close() { (readable, changeable, staged) = (false, false, 0) }

  /// A handle to the argument was given out.
  mutating func borrow(_ index: Int) { if index < 64 { borrowed |= 1 << UInt64(index) } }
  func isBorrowed(_ index: Int) -> Bool { index < 64 && borrowed & 1 << UInt64(index) != 0 }
}
