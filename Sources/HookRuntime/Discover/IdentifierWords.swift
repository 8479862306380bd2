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
  /// Calls `body` with every range that may be a spelled-out identifier.
  ///
  /// An identifier is a length and that many characters, but numbers mean other things too, and telling them all apart would
  /// take the whole grammar. As long as nothing is doubtful, identifiers are skipped as they are reported. From the first
  /// doubtful number on, everything that could be one is reported: too much, never too little. Words nobody spelled cost a
  /// query time only, for it verifies what it finds.
  ///
  /// With `isPrefix` the name may be cut anywhere: what is reported then is reported for every name that starts with it.
  @inline(__always)
  static func forEach(
    _ name: UnsafeBufferPointer<UInt8>, isPrefix: Bool = false, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) {
    var at = 0
    let end = name.count
    var isCertain = true
    // Between the A of a substitution and the capital letter or '_' that ends it: "A2bC".
    var inSubstitution = false
    while at < end {
      let byte = name[at]
      guard IdentifierWords.isDigit(byte) else {
        at += 1
        if inSubstitution {
          inSubstitution = byte &- 0x61 < 26
        } else if byte == UInt8(ascii: "A") {
          inSubstitution = true
        } else if byte == UInt8(ascii: "S"), at < end {
          // A standard type: S and a letter. A number there is a repeat count: "S2i" is Int, Int.
          if IdentifierWords.isDigit(name[at]) { isCertain = false } else { at += 1 }
        }
        continue
      }
      if inSubstitution { isCertain = false }
      inSubstitution = false
      let digits = at
      var length = 0
      while at < end, IdentifierWords.isDigit(name[at]) {
        if length < 1 << 20 { length = length * 10 + Int(name[at] & 15) }
        at += 1
      }
      // The identifier, or the number itself, may go on behind the cut: nothing from here on is sure.
      if isPrefix, length > end - at || at == end { return }
      if length == 33, length <= end - at, isDiscriminator(UnsafeBufferPointer(rebasing: name[at..<at + length])) {
        // "_" and 32 hexadecimal digits: chopped up it would be a dozen words nobody asks for.
        at += length
        continue
      }
      if length > end - at { isCertain = false }
      // "10_" is an index, "10_something" an identifier.
      if length > 0, at < end, name[at] == UInt8(ascii: "_") { isCertain = false }
      if isCertain {
        if length > 0 {
          body(UnsafeBufferPointer(rebasing: name[at..<at + length]))
          at += length
        }
      } else {
        // Digits may end one thing and start another: "utf16" and "9UTF16View" stand together as "utf169UTF16View".
        for start in digits..<at where name[start] != UInt8(ascii: "0") {
          var length = 0
          for digit in start..<at where length < 1 << 20 { length = length * 10 + Int(name[digit] & 15) }
          if length <= end - at { body(UnsafeBufferPointer(rebasing: name[at..<at + length])) }
        }
      }
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
