// StagedWords — new arguments and a new result that are one word each, kept until the original runs or the handler returns.
//
// For values of which nothing is to be ended, so that forgetting them is all it takes to undo what a handler did; in place, since a
// call that replaces an Int is not to allocate memory.

struct StagedWords {
  /// The places there are: arguments, by index, and the result.
  static let arguments = 0..<5
  static let result = 5

  private var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)
  /// One bit for each word that holds a value.
  private var isSet: UInt8 = 0

  var isEmpty: Bool { isSet == 0 }
  var hasResult: Bool { has(Self.result) }
  func has(_ place: Int) -> Bool { isSet >> UInt8(place) & 1 != 0 }

  /// Bit i: there is a new value of argument i.
  var changedArguments: UInt64 { UInt64(isSet & ~(1 << UInt8(Self.result))) }

  subscript(place: Int) -> UInt64 {
    // The elements of a tuple of one type lie one behind the other.
    withUnsafeBytes(of: words) { $0.load(fromByteOffset: 8 * place, as: UInt64.self) }
  }

  /// The value is trivial and has at most eight bytes.
  mutating func stage<T>(_ value: T, at place: Int) {
    withUnsafeMutableBytes(of: &words) { words in
      words.storeBytes(of: 0, toByteOffset: 8 * place, as: UInt64.self)
      (words.baseAddress! + 8 * place).initializeMemory(as: T.self, to: value)
    }
    isSet |= 1 << UInt8(place)
  }

  mutating func forget() { isSet = 0 }
  mutating func dropResult() { isSet &= ~(1 << UInt8(Self.result)) }

  /// The value in memory of its own.
  func owned(_ place: Int, _ info: TypeInfo) -> OwnedValue {
    let value = OwnedValue(uninitialized: info)
    // Nothing but bits, of a type that has at most eight.
    value.memory.storeBytes(of: self[place], as: UInt64.self)
    return value
  }
}
