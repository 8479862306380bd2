// FoundOrder — in which order `find` lists what it found: what somebody who typed these words most likely meant comes first.

/// Ranks selectors by where the words stand in them.
struct FoundOrder {
  /// The words are in lower case.
  private let words: [String]

  init(_ words: [String]) { self.words = words }

  /// Smaller is nearer: the program's own before libraries, C functions behind them, and what is never hooked last; among these by where each word
  /// stands.
  func rank(_ selector: String, isOwn: Bool, isImported: Bool, isForbidden: Bool) -> Int {
    let source = isForbidden ? 3 : isImported ? 2 : isOwn ? 0 : 1
    let name = Name(selector)
    return source * 1000 + words.reduce(0) { $0 + name.distance(to: $1) }
  }

  /// The names of the member and of its type in `static Shop.Cart.add(_:price:)`.
  private struct Name {
    let member: Substring
    let type: Substring

    init(_ selector: String) {
      var parts = selector.prefix { $0 != "(" && $0 != "<" }.split(separator: ".")
      if let last = parts.last, parts.count > 1, ["get", "set", "modify", "read"].contains(last) { parts.removeLast() }
      member = parts.popLast() ?? ""
      type = parts.last ?? ""
    }

    func distance(to word: String) -> Int {
      let member = member.lowercased()
      if member == word { return 0 }
      if hasWord(self.member, word) { return 1 }
      if type.lowercased() == word { return 2 }
      if hasWord(type, word) { return 3 }
      return member.contains(word) ? 4 : 5
    }

    /// The word is one of those that make up a name such as `prettyPrint` or `pretty_print`.
    private func hasWord(_ name: Substring, _ word: String) -> Bool {
      let letters = Array(name), count = word.count
      guard count > 0, letters.count >= count else { return false }
      return (0...letters.count - count).contains { at in
        let isStart = at == 0 || !letters[at - 1].isLetter || (letters[at].isUppercase && !letters[at - 1].isUppercase)
        let end = at + count
        let isEnd = end == letters.count || !letters[end].isLowercase || !letters[end - 1].isLetter
        return isStart && isEnd && String(letters[at..<end]).lowercased() == word
      }
    }
  }
}
