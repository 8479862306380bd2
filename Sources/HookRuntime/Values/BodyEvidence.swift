// BodyEvidence — what machine code shows of a body's calling convention.
//
// After the names are given, LLVM still changes functions that nobody outside their object file can call: arguments and
// results (each register by itself) that turn out dead are dropped, and what follows moves up. For all others, callers
// compiled together with the body leave registers unset that the body never reads. Nothing else happens to swiftcc
// functions in Swift 6.3's pipelines (docs/abi-notes.md, "After the names are given").
//
// So a register is an argument for certain when the body takes it, and a list of arguments is complete when its last
// register is taken.

/// Registers and stack slots, as the flow reader numbers them, with more slots than it follows at a time.
package struct Places: OptionSet, Sendable, Hashable {
  package let rawValue: UInt128
  package init(rawValue: UInt128) { self.rawValue = rawValue }

  static let argumentRegisters: [UInt64] = [7, 6, 2, 1, 8, 9]  // rdi rsi rdx rcx r8 r9
  static let resultRegisters: [UInt64] = [0, 2, 1, 8]  // rax rdx rcx r8
  package static let errorRegister = Places(rawValue: 1 << 12)
  package static let selfRegister = Places(rawValue: 1 << 13)
  package static let nothing: Places = []
  /// None of them is a stack slot.
  package var areRegisters: Bool { rawValue < 1 << 32 }

  private static let mostSlots = 96
  private static let slotsAtATime = 32

  /// First slots of the flow reader's questions: what it answers of one says nothing of the slots of another.
  static let firstSlots = stride(from: 0, to: mostSlots, by: slotsAtATime)

  /// - Parameter word: the flow reader's places, where bit 32 is the slot `first`.
  init(word: UInt64, from first: Int = 0) {
    let slots = UInt128(word >> 32) << UInt128(32 + first)
    self.init(rawValue: slots | UInt128(UInt32(truncatingIfNeeded: word)))
  }

  /// The registers, and the slots from `first` on, as the flow reader numbers them.
  func word(from first: Int = 0) -> UInt64 {
    let slots = UInt32(truncatingIfNeeded: rawValue >> UInt128(32 + first))
    return UInt64(slots) << 32 | UInt64(UInt32(truncatingIfNeeded: rawValue))
  }
  /// A place that is not followed: nothing takes it, nobody sets it. (The stack pointer's.)
  static let unknown = Places(rawValue: 1 << 4)

  /// The place of an argument; nil for a stack slot beyond those that are followed.
  package init?(argument place: Place) {
    switch place {
    case .integer(let i): self.init(rawValue: 1 << UInt128(Self.argumentRegisters[i]))
    case .float(let i): self.init(rawValue: 1 << UInt128(16 + i))
    case .stack(let i):
      guard i < Self.mostSlots else { return nil }
      self.init(rawValue: 1 << UInt128(32 + i))
    case .selfRegister: self = .selfRegister
    case .indirectResult: self.init(rawValue: 1)
    case .yielded, .x87: return nil
    }
  }

  /// The place of a result on return.
  package init?(result place: Place) {
    switch place {
    case .integer(let i), .yielded(let i): self.init(rawValue: 1 << UInt128(Self.resultRegisters[i]))
    case .float(let i): self.init(rawValue: 1 << UInt128(16 + i))
    default: return nil
    }
  }
}

/// Whether a function uses the error register.
package enum ErrorEvidence: Sendable, Equatable {
  case reported
  /// It saves the register for its caller.
  case never
  case unknown
}

/// Bytes of a variable, from its start. Those behind the ones that are followed are not in it.
package struct EntryBytes: Sendable, Hashable {
  private let words: [UInt64]

  /// The body may write to the variable, so that it was given to be changed.
  let isWritten: Bool

  init(_ words: [UInt64], isWritten: Bool) {
    self.words = words
    self.isWritten = isWritten
  }

  /// One of the bytes is there: nobody stores a part of a scalar.
  func overlaps(offset: Int, size: Int) -> Bool {
    (offset..<offset + size).contains { $0 / 64 < words.count && words[$0 / 64] >> UInt64($0 % 64) & 1 != 0 }
  }
  var isEmpty: Bool { words.allSatisfy { $0 == 0 } }
}

/// What a method of a class does with the reference to its self.
package enum SelfUse: Sendable {
  /// It gives it back, as its caller expects of all but `consuming` methods.
  case kept
  /// It uses it up.
  case consumed
  case unknown
}

/// The evidence about one body. Answers are proofs: what is not shown is unknown. Used by one thread at a time.
package protocol BodyEvidence: AnyObject {
  /// Why the optimiser must have kept the convention that the type spells; nil when it may have changed it.
  var keptBecause: String? { get }
  /// Those of the places whose value at entry the body certainly takes.
  func taken(_ places: Places) -> Places
  /// The body certainly takes none of the places.
  func isCertainlyUnused(_ places: Places) -> Bool
  /// Those of the result registers that some caller certainly uses after a call.
  func used(_ places: Places) -> Places
  var error: ErrorEvidence { get }
  /// Those of the places that some direct call certainly sets for the body.
  func given(_ places: Places) -> Places
  /// One direct call certainly sets all of the places for the body; false for none.
  func areGivenTogether(_ places: Places) -> Bool
  /// Every call sets the places: the body takes them, or its callers set them all the same, or do not know the body.
  ///
  /// Callers compiled together with a body set nothing for what it does not read.
  func arePassed(_ places: Places) -> Bool
  /// What the body does with the object in a register.
  /// - Parameter results: those of its result registers whose references are its caller's.
  func selfUse(of object: Places, results: OwnedResults?) -> SelfUse
  /// The bytes that the body reads, as they came, of a variable whose address is in the register; nil when it may read all.
  func entryBytes(ofVariableAt register: Places) -> EntryBytes?
  /// Functions that call the body may have been compiled together with it. Costs a look at the whole image's calls.
  var mayHaveCloseCallers: Bool { get }
  /// Other images can name it.
  var isExported: Bool { get }
  /// The body only returns: its results are what lay in their places at entry.
  var onlyReturns: Bool { get }
}

extension BodyEvidence {
  package func areGivenTogether(_ places: Places) -> Bool { false }
}
