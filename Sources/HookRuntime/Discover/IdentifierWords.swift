// IdentifierWords — the words of identifiers, as the Swift mangler cuts them.
//
// A mangled name spells a word once and refers back to it later ("0C"), so an
// identifier need not occur in the name of its own declaration, but each of its
// words does. The index is therefore made of words. Cutting must be the same in
// the index and in a query; it is the mangler's rule: a word starts at a letter
// and ends before '_' and before an upper-case letter that follows a character
// that is not upper case. Words of one letter are never referred back to.

package enum IdentifierWords {
  /// The words of an identifier: "prettyPrintJSON_2" is pretty, Print, JSON.
  ///
  /// Leave out of a query what is not spelled by words: operators, identifiers with characters outside ASCII, the module
  /// Swift, and the types the mangler abbreviates (String is SS, Int is Si, Array is Sa …).
  package static func split(_ identifier: String) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var text = identifier
    text.withUTF8 { bytes in
      forEach(bytes) { start, end, _ in words.append(Array(bytes[start..<end])) }
    }
    return words
  }

  /// Calls `body` with start, end and hash of each word of `bytes`.
  @inline(__always)
  static func forEach(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (Int, Int, UInt32) -> Void) {
    var start = -1
    var hash: UInt32 = 0
    var previous: UInt8 = 0
    for at in 0..<bytes.count {
      let byte = bytes[at]
      if start >= 0, byte == UInt8(ascii: "_") || (isUpper(byte) && !isUpper(previous)) {
        if at - start > 1 { body(start, at, hash) }
        start = -1
      }
      if start < 0 {
        if !isDigit(byte) && byte != UInt8(ascii: "_") {
          start = at
          hash = step(seed, byte)
        }
      } else {
        hash = step(hash, byte)
      }
      previous = byte
    }
    if start >= 0, bytes.count - start > 1 { body(start, bytes.count, hash) }
  }

  /// The hash `forEach` gives for one whole word.
  static func hash(_ word: UnsafeBufferPointer<UInt8>) -> UInt32 {
    word.reduce(seed, step)
  }

  private static let seed: UInt32 = 0x811c_9dc5

  @inline(__always)
  private static func step(_ hash: UInt32, _ byte: UInt8) -> UInt32 { (hash ^ UInt32(byte)) &* 0x0100_0193 }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
  @inline(__always)
  static func isUpper(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }
}

/// The identifiers spelled out in a mangled name.
enum MangledIdentifiers {
  /// Calls `body` with every range that may be a spelled-out identifier or part of one.
  ///
  /// Reports too much rather than too little: digits are also used for indexes and pass numbers, and telling those apart
  /// would take the whole grammar. An index query verifies what it finds, so extra words cost time only.
  @inline(__always)
  static func forEach(_ name: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    var at = 0
    let end = name.count
    // Until the first doubtful number we are in step with the grammar and may skip over what we report.
    var inStep = true
    while at < end {
      let byte = name[at]
      guard IdentifierWords.isDigit(byte) else {
        at += 1
        continue
      }
      var length = 0
      while at < end, IdentifierWords.isDigit(name[at]), length < 1 << 20 {
        length = length * 10 + Int(name[at] & 15)
        at += 1
      }
      guard length > 0, length <= end - at else { continue }
      let identifier = UnsafeBufferPointer(rebasing: name[at..<at + length])
      if isDiscriminator(identifier) {
        // "_" and 32 hexadecimal digits: chopped up it would be a dozen words nobody asks for.
        at += length
        continue
      }
      body(identifier)
      // "10_" is an index, "10_something" an identifier: from here on read behind each number as well.
      if identifier[0] == UInt8(ascii: "_") { inStep = false }
      if inStep { at += length }
    }
  }

  /// Whether the identifier is a private discriminator.
  @inline(__always)
  static func isDiscriminator(_ identifier: UnsafeBufferPointer<UInt8>) -> Bool {
    guard identifier.count == 33, identifier[0] == UInt8(ascii: "_") else { return false }
    for byte in identifier.dropFirst() where !(IdentifierWords.isDigit(byte) || byte &- 0x41 < 6) { return false }
    return true
  }
}
