/// The standard library's types that have a letter of their own: `S<letter>`, `Sc<letter>`.
struct StandardType {
  let kind: NodeKind
  let name: StaticString

  static func named(_ letter: Letter, isConcurrency: Bool) -> StandardType? {
    isConcurrency ? concurrency(letter) : basic(letter)
  }

  private static func basic(_ letter: Letter) -> StandardType? {
    switch letter {
    case "A": StandardType(kind: .structure, name: "AutoreleasingUnsafeMutablePointer")
    case "a": StandardType(kind: .structure, name: "Array")
    case "b": StandardType(kind: .structure, name: "Bool")
    case "D": StandardType(kind: .structure, name: "Dictionary")
    case "d": StandardType(kind: .structure, name: "Double")
    case "f": StandardType(kind: .structure, name: "Float")
    case "h": StandardType(kind: .structure, name: "Set")
    case "I": StandardType(kind: .structure, name: "DefaultIndices")
    case "i": StandardType(kind: .structure, name: "Int")
    case "J": StandardType(kind: .structure, name: "Character")
    case "N": StandardType(kind: .structure, name: "ClosedRange")
    case "n": StandardType(kind: .structure, name: "Range")
    case "O": StandardType(kind: .structure, name: "ObjectIdentifier")
    case "P": StandardType(kind: .structure, name: "UnsafePointer")
    case "p": StandardType(kind: .structure, name: "UnsafeMutablePointer")
    case "R": StandardType(kind: .structure, name: "UnsafeBufferPointer")
    case "r": StandardType(kind: .structure, name: "UnsafeMutableBufferPointer")
    case "S": StandardType(kind: .structure, name: "String")
    case "s": StandardType(kind: .structure, name: "Substring")
    case "u": StandardType(kind: .structure, name: "UInt")
    case "V": StandardType(kind: .structure, name: "UnsafeRawPointer")
    case "v": StandardType(kind: .structure, name: "UnsafeMutableRawPointer")
    case "W": StandardType(kind: .structure, name: "UnsafeRawBufferPointer")
    case "w": StandardType(kind: .structure, name: "UnsafeMutableRawBufferPointer")
    case "q": StandardType(kind: .enum, name: "Optional")
    case "B": StandardType(kind: .protocol, name: "BinaryFloatingPoint")
    case "E": StandardType(kind: .protocol, name: "Encodable")
    case "e": StandardType(kind: .protocol, name: "Decodable")
    case "F": StandardType(kind: .protocol, name: "FloatingPoint")
    case "G": StandardType(kind: .protocol, name: "RandomNumberGenerator")
    case "H": StandardType(kind: .protocol, name: "Hashable")
    case "j": StandardType(kind: .protocol, name: "Numeric")
    case "K": StandardType(kind: .protocol, name: "BidirectionalCollection")
    case "k": StandardType(kind: .protocol, name: "RandomAccessCollection")
    case "L": StandardType(kind: .protocol, name: "Comparable")
    case "l": StandardType(kind: .protocol, name: "Collection")
    case "M": StandardType(kind: .protocol, name: "MutableCollection")
    case "m": StandardType(kind: .protocol, name: "RangeReplaceableCollection")
    case "Q": StandardType(kind: .protocol, name: "Equatable")
    case "T": StandardType(kind: .protocol, name: "Sequence")
    case "t": StandardType(kind: .protocol, name: "IteratorProtocol")
    case "U": StandardType(kind: .protocol, name: "UnsignedInteger")
    case "X": StandardType(kind: .protocol, name: "RangeExpression")
    case "x": StandardType(kind: .protocol, name: "Strideable")
    case "Y": StandardType(kind: .protocol, name: "RawRepresentable")
    case "y": StandardType(kind: .protocol, name: "StringProtocol")
    case "Z": StandardType(kind: .protocol, name: "SignedInteger")
    case "z": StandardType(kind: .protocol, name: "BinaryInteger")
    default: nil
    }
  }

  private static func concurrency(_ letter: Letter) -> StandardType? {
    switch letter {
    case "A": StandardType(kind: .protocol, name: "Actor")
    case "C": StandardType(kind: .structure, name: "CheckedContinuation")
    case "c": StandardType(kind: .structure, name: "UnsafeContinuation")
    case "E": StandardType(kind: .structure, name: "CancellationError")
    case "e": StandardType(kind: .structure, name: "UnownedSerialExecutor")
    case "F": StandardType(kind: .protocol, name: "Executor")
    case "f": StandardType(kind: .protocol, name: "SerialExecutor")
    case "G": StandardType(kind: .structure, name: "TaskGroup")
    case "g": StandardType(kind: .structure, name: "ThrowingTaskGroup")
    case "h": StandardType(kind: .protocol, name: "TaskExecutor")
    case "I": StandardType(kind: .protocol, name: "AsyncIteratorProtocol")
    case "i": StandardType(kind: .protocol, name: "AsyncSequence")
    case "J": StandardType(kind: .structure, name: "UnownedJob")
    case "M": StandardType(kind: .class, name: "MainActor")
    case "P": StandardType(kind: .structure, name: "TaskPriority")
    case "S": StandardType(kind: .structure, name: "AsyncStream")
    case "s": StandardType(kind: .structure, name: "AsyncThrowingStream")
    case "T": StandardType(kind: .structure, name: "Task")
    case "t": StandardType(kind: .structure, name: "UnsafeCurrentTask")
    default: nil
    }
  }

  /// The letters of a standard type's abbreviation, without the leading `S`.
  static func letters(_ name: String) -> String? { lettersByName[name] }

  private static let lettersByName: [String: String] = {
    var letters: [String: String] = [:]
    for byte in UInt8(ascii: "A")...UInt8(ascii: "z") {
      for isConcurrency in [false, true] {
        guard let type = named(Letter(byte), isConcurrency: isConcurrency) else { continue }
        letters["\(type.name)"] = (isConcurrency ? "c" : "") + String(Unicode.Scalar(byte))
      }
    }
    return letters
  }()
}
