// InterceptRefusal — why a body stays as it is: facts first, one sentence each below.
//
// The facts come from CHookTrampoline (HKTReason); a refused transaction has
// changed nothing unless the case says otherwise.

internal import CHookTrampoline
private import Glibc

/// Why a body cannot be diverted, or a transaction was undone. Addresses are those of the running process.
package enum InterceptRefusal: Error, Equatable, Sendable {
  // The body.
  /// A jump does not fit: the body and its padding have `bytes` bytes.
  case tooShort(body: UInt64, bytes: UInt64)
  /// No instruction the decoder knows.
  case undecodable(body: UInt64, address: UInt64)
  /// A jump at `address` goes into the bytes that would be moved.
  case jumpIntoWindow(body: UInt64, address: UInt64, target: UInt64)
  /// A jump at `address` goes back to the first byte: a loop would look like calls.
  case jumpToEntry(body: UInt64, address: UInt64)
  /// The bytes in memory are not those of the file.
  case differsFromFile(body: UInt64, address: UInt64, found: UInt8, expected: UInt8)
  /// The instruction at `address` refers to `operand`, and no stub space is near enough to both.
  case operandOutOfReach(body: UInt64, address: UInt64, operand: UInt64)
  /// A call near the entry returns into the bytes a jump would take.
  case callReturnsIntoWindow(body: UInt64, address: UInt64)
  /// The instruction at `address` has no equivalent elsewhere.
  case unmovable(body: UInt64, address: UInt64)
  /// A jump table may reach the bytes that would be moved.
  case hiddenJumpTarget(body: UInt64)
  /// The body starts with a call, and the processor checks return addresses.
  case shadowStack(body: UInt64)
  case noStubSpace(body: UInt64, errno: Int32)
  case noMemory(errno: Int32)

  // The process.
  /// `errno` 0: the write succeeded and had no effect.
  case codeNotWritable(address: UInt64, errno: Int32)
  case processorsNotSynchronisable(errno: Int32)
  case noFreeSignal
  case noTaskList(errno: Int32)
  case threadSilent(thread: Int32, name: String)
  case threadBlocksTrap(thread: Int32, name: String)
  /// First bytes as little-endian words.
  case changedElsewhere(body: UInt64, found: UInt64, expected: UInt64)
  case overlap(body: UInt64, other: UInt64)
  /// A word that calls go through is not there any more.
  case noWord(address: UInt64)
  /// `errno` 0: other processes share the word's memory, or it is executable.
  case wordNotWritable(address: UInt64, errno: Int32)
  case wordChangedElsewhere(address: UInt64, found: UInt64, expected: UInt64)
  /// The one refusal that leaves something behind: some bodies stay diverted through breakpoints.
  case notUndone(address: UInt64, errno: Int32)

  /// The facts as the C side states them.
  init(_ facts: HKTRefusal) {
    let body = facts.body
    self =
      switch facts.reason {
      case HKT_TOO_SHORT: .tooShort(body: body, bytes: facts.value)
      case HKT_UNDECODABLE: .undecodable(body: body, address: facts.address)
      case HKT_JUMP_INTO_WINDOW: .jumpIntoWindow(body: body, address: facts.address, target: facts.value)
      case HKT_JUMP_TO_ENTRY: .jumpToEntry(body: body, address: facts.address)
      case HKT_DIFFERS_FROM_FILE:
        .differsFromFile(
          body: body, address: facts.address, found: UInt8(truncatingIfNeeded: facts.value),
          expected: UInt8(truncatingIfNeeded: facts.expected))
      case HKT_OPERAND_OUT_OF_REACH:
        .operandOutOfReach(body: body, address: facts.address, operand: facts.value)
      case HKT_CALL_RETURNS_INTO_WINDOW: .callReturnsIntoWindow(body: body, address: facts.address)
      case HKT_UNMOVABLE: .unmovable(body: body, address: facts.address)
      case HKT_HIDDEN_JUMP_TARGET: .hiddenJumpTarget(body: body)
      case HKT_SHADOW_STACK: .shadowStack(body: body)
      case HKT_NO_STUB_SPACE: .noStubSpace(body: body, errno: facts.error)
      case HKT_NO_MEMORY: .noMemory(errno: facts.error)
      case HKT_CODE_NOT_WRITABLE: .codeNotWritable(address: facts.address, errno: facts.error)
      case HKT_NO_MEMBARRIER: .processorsNotSynchronisable(errno: facts.error)
      case HKT_NO_FREE_SIGNAL: .noFreeSignal
      case HKT_NO_TASK_LIST: .noTaskList(errno: facts.error)
      case HKT_THREAD_SILENT: .threadSilent(thread: facts.thread, name: facts.threadName)
      case HKT_THREAD_BLOCKS_TRAP: .threadBlocksTrap(thread: facts.thread, name: facts.threadName)
      case HKT_NO_WORD: .noWord(address: facts.address)
      case HKT_WORD_NOT_WRITABLE: .wordNotWritable(address: facts.address, errno: facts.error)
      case HKT_CHANGED_ELSEWHERE where body == 0:
        .wordChangedElsewhere(address: facts.address, found: facts.value, expected: facts.expected)
      case HKT_CHANGED_ELSEWHERE:
        .changedElsewhere(body: body, found: facts.value, expected: facts.expected)
      case HKT_OVERLAP: .overlap(body: body, other: facts.value)
      case HKT_NOT_UNDONE: .notUndone(address: facts.address, errno: facts.error)
      default: fatalError("internal error: unknown refusal \(facts.reason.rawValue); please report it")
      }
  }

  /// Whether the next try would be refused as well, as far as is known.
  var isLasting: Bool {
    switch self {
    case .threadSilent, .noMemory, .notUndone: false
    default: true
    }
  }

  /// The bodies the fault is with; none when it is the process's.
  var bodies: [UInt64] {
    switch self {
    case .tooShort(let body, _), .undecodable(let body, _), .jumpIntoWindow(let body, _, _), .jumpToEntry(let body, _),
      .differsFromFile(let body, _, _, _), .operandOutOfReach(let body, _, _), .callReturnsIntoWindow(let body, _), .unmovable(let body, _),
      .hiddenJumpTarget(let body), .shadowStack(let body), .noStubSpace(let body, _), .changedElsewhere(let body, _, _),
      .overlap(let body, _):
      [body]
    default: []
    }
  }

  /// The refusal, or nil when there is none.
  static func from(_ facts: HKTRefusal) -> InterceptRefusal? {
    facts.reason == HKT_OK ? nil : InterceptRefusal(facts)
  }
}

extension HKTRefusal {
  /// The thread's name as the kernel knows it: at most 15 bytes.
  fileprivate var threadName: String {
    withUnsafeBytes(of: thread_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

extension InterceptRefusal: CustomStringConvertible {
  /// The one place of sentences.
  package var description: String {
    switch self {
    case .tooShort(let body, let bytes):
      "the function at \(hex(body)) is too short to divert (5 bytes needed, \(bytes) there)"
    case .undecodable(let body, let address):
      "the function at \(hex(body)) holds an instruction the decoder does not know at \(hex(address))"
    case .jumpIntoWindow(let body, let address, let target):
      "the function at \(hex(body)) cannot be diverted: the jump at \(hex(address)) goes to \(hex(target)), inside its first instructions"
    case .jumpToEntry(let body, let address):
      "the function at \(hex(body)) cannot be diverted: the jump at \(hex(address)) goes back to its first byte, so a loop would look like calls"
    case .differsFromFile(let body, let address, let found, let expected):
      "the function at \(hex(body)) was changed in memory at \(hex(address)) (file \(hex(UInt64(expected))), found \(hex(UInt64(found)))); "
        + "remove the debugger's breakpoint or the other hook"
    case .operandOutOfReach(let body, let address, let operand):
      "the function at \(hex(body)) cannot be diverted: the instruction at \(hex(address)) refers to \(hex(operand)), "
        + "and no free memory is within 2 GiB of both"
    case .callReturnsIntoWindow(let body, let address):
      "the function at \(hex(body)) cannot be diverted: the call at \(hex(address)) returns into its first five bytes"
    case .unmovable(let body, let address):
      "the function at \(hex(body)) cannot be diverted: the instruction at \(hex(address)) means something else at another place"
    case .hiddenJumpTarget(let body):
      "the function at \(hex(body)) cannot be diverted: a jump table may reach its first instructions"
    case .shadowStack(let body):
      "the function at \(hex(body)) starts with a call, which cannot be moved while the processor checks return addresses; "
        + "start the program without GLIBC_TUNABLES=glibc.cpu.x86_shstk"
    case .noStubSpace(let body, let code):
      "no free memory for code within 2 GiB of \(hex(body))\(reason(code))"
    case .noMemory(let code):
      "the system gave no memory\(reason(code))"
    case .codeNotWritable(_, 0):
      "code cannot be changed in this process: a write to /proc/self/mem had no effect"
    case .codeNotWritable(_, let code):
      "code cannot be changed in this process\(reason(code)); check that /proc is mounted and that the kernel's proc_mem.force_override is 'always'"
    case .processorsNotSynchronisable(let code):
      "code cannot be changed while threads run: membarrier is not available\(reason(code)); install hooks before the program starts threads"
    case .noFreeSignal:
      "code cannot be changed while threads run: every real-time signal is in use"
    case .noTaskList(let code):
      "the threads of the process cannot be listed\(reason(code)); check that /proc is mounted"
    case .threadSilent(let thread, let name):
      "thread \(thread) '\(name)' did not answer in time, nothing was changed; try again, or install hooks before the program starts threads"
    case .threadBlocksTrap(let thread, let name):
      "thread \(thread) '\(name)' blocks SIGTRAP, nothing was changed; unblock it there, or install hooks before the program starts threads"
    case .changedElsewhere(let body, let found, let expected):
      "the function at \(hex(body)) was changed by someone else (expected \(hex(expected)), found \(hex(found))); left as it is"
    case .noWord(let address):
      "there is no table at \(hex(address)) any more: its library was unloaded"
    case .wordNotWritable(let address, 0):
      "the table at \(hex(address)) cannot be changed: its memory is shared or executable"
    case .wordNotWritable(let address, let code):
      "the table at \(hex(address)) cannot be changed in this process\(reason(code)); hook it by entry"
    case .wordChangedElsewhere(let address, let found, let expected):
      "the table's word at \(hex(address)) was changed by someone else (expected \(hex(expected)), found \(hex(found))); left as it is"
    case .overlap(let body, let other):
      "the functions at \(hex(body)) and \(hex(other)) overlap; hook only one of them"
    case .notUndone(let address, let code):
      "internal error: a failed change of code at \(hex(address)) could not be undone\(reason(code)); calls go on, slower; please report it"
    }
  }
}

/// `0x` and hexadecimal digits.
private func hex(_ value: UInt64) -> String { "0x" + String(value, radix: 16) }

/// ` (error text)`, or nothing for 0.
private func reason(_ code: Int32) -> String {
  guard code != 0 else { return "" }
  var buffer = [CChar](repeating: 0, count: 128)
  // Glibc declares the POSIX variant here, which fills the buffer; its result is a status.
  _ = strerror_r(code, &buffer, buffer.count)
  let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
  return bytes.isEmpty ? " (error \(code))" : " (\(String(decoding: bytes, as: UTF8.self)))"
}

extension InterceptRefusal {
  /// A stable word for tables and filters.
  package var code: String {
    switch self {
    case .tooShort: "too-short"
    case .undecodable: "undecodable"
    case .jumpIntoWindow, .hiddenJumpTarget: "jump-into-window"
    case .jumpToEntry: "jump-to-entry"
    case .differsFromFile, .changedElsewhere, .wordChangedElsewhere: "foreign-bytes"
    case .noWord: "no-body"
    case .wordNotWritable: "table-not-writable"
    case .operandOutOfReach, .noStubSpace: "out-of-reach"
    case .callReturnsIntoWindow: "call-in-window"
    case .unmovable: "unmovable"
    case .shadowStack: "shadow-stack"
    case .noMemory: "no-memory"
    case .codeNotWritable: "code-not-writable"
    case .processorsNotSynchronisable, .noFreeSignal, .noTaskList, .threadSilent, .threadBlocksTrap: "threads"
    case .overlap: "overlap"
    case .notUndone: "not-undone"
    }
  }
}
