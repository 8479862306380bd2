/// The words that must occur literally in any mangled name that contains the identifier.
///
/// A mangled name spells an identifier out, or refers to words an earlier identifier spelled out;
/// either way each whole word stands in it somewhere. A caller that looks for an identifier may skip,
/// without reading it, every name that lacks one of the words.
/// - Returns: Empty when nothing can be concluded: operators, names the mangling abbreviates
///   (`Swift`, `String`, `init`), identifiers that are not ASCII.
package func requiredWords(ofIdentifier identifier: String) -> [String] {
  guard identifier.utf8.allSatisfy({ isIdentifierByte($0) }),
    StandardType.letters(identifier) == nil, !unspelledNames.contains(identifier)
  else { return [] }
  var words: [String] = []
  var start: Int?
  let bytes = Array(identifier.utf8)
  var previous = Letter(0)
  for index in 0...bytes.count {
    let letter = Letter(index < bytes.count ? bytes[index] : 0)
    if let first = start, WordRule.ends(before: letter, after: previous) {
      if index - first >= 2 { words.append(String(decoding: bytes[first..<index], as: UTF8.self)) }
      start = nil
    }
    if start == nil, WordRule.starts(at: letter) { start = index }
    previous = letter
  }
  return words
}

/// Names a mangled name spells with an operator instead of an identifier.
private let unspelledNames: Set<String> = [
  "Swift", "__C", "__C_Synthesized", "init", "deinit", "subscript", "Any", "AnyObject", "Self",
]

private func isIdentifierByte(_ byte: UInt8) -> Bool {
  let letter = Letter(byte)
  return letter.isLower || letter.isUpper || letter.isDigit || letter == "_" || letter == "$"
}
