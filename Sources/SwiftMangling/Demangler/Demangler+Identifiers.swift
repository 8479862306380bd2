import Glibc

extension Demangler {
  // MARK: identifiers

  /// `<n>text`, `0…` with word substitutions, `00…` in punycode.
  mutating func readIdentifier() -> NodeIndex {
    var hasWords = false
    if skip("0") {
      if skip("0") { return readPunycodeIdentifier() }
      hasWords = true
    }
    let node: NodeIndex
    if hasWords {
      node = readWordIdentifier()
    } else {
      guard let slice = readCounted() else { return 0 }
      collectWords(slice)
      node = arena.make(.identifier, text: slice)
    }
    addSubstitution(node)
    return node
  }

  /// A length and that many bytes; nil when the length is 0 or beyond the end.
  private mutating func readCounted() -> UnsafeBufferPointer<UInt8>? {
    guard let count = readNatural(), count > 0, count <= text.count - position else { return nil }
    position += count
    return UnsafeBufferPointer(rebasing: text[position - count..<position])
  }

  /// Letters name earlier words, numbers introduce literal parts; an uppercase letter is the last word.
  private mutating func readWordIdentifier() -> NodeIndex {
    let start = position
    // First pass: how long is the result? Words are only added by literal parts, so run the real pass twice.
    let savedWords = wordCount
    guard let length = scanWordIdentifier(into: nil), length > 0 else { return 0 }
    builtTextSize += length
    guard builtTextSize <= Demangler.limitText else { return 0 }
    position = start
    wordCount = savedWords
    let memory = arena.reserveText(length)
    _ = scanWordIdentifier(into: memory)
    arena.commitText(length)
    return arena.make(.identifier, text: UnsafeBufferPointer(start: memory, count: length))
  }

  /// Reads an identifier made of words seen before; its length, and its bytes where memory is given.
  private mutating func scanWordIdentifier(into memory: UnsafeMutablePointer<UInt8>?) -> Int? {
    var length = 0
    var moreWords = true
    repeat {
      while moreWords, peeked.isLower || peeked.isUpper {
        let letter = next()
        let index = Int(letter.isLower ? letter.byte &- 0x61 : letter.byte &- 0x41)
        if letter.isUpper { moreWords = false }
        guard index < wordCount else { return nil }
        let word = words[index]
        if let memory, let base = word.baseAddress { memcpy(memory + length, base, word.count) }
        length += word.count
      }
      if skip("0") { break }
      guard let slice = readCounted() else { return nil }
      if let memory, let base = slice.baseAddress { memcpy(memory + length, base, slice.count) }
      length += slice.count
      collectWords(slice)
    } while moreWords
    return length
  }

  /// Remembers the words of a literal part for later word substitutions.
  private mutating func collectWords(_ slice: UnsafeBufferPointer<UInt8>) {
    guard wordCount < Demangler.limitWords else { return }
    var start = -1
    var previous = Letter(0)
    for index in 0...slice.count {
      let letter = Letter(index < slice.count ? slice[index] : 0)
      if start >= 0, WordRule.ends(before: letter, after: previous) {
        if index - start >= 2 {
          words[wordCount] = UnsafeBufferPointer(rebasing: slice[start..<index])
          wordCount += 1
          if wordCount == Demangler.limitWords { return }
        }
        start = -1
      }
      if start < 0, WordRule.starts(at: letter) { start = index }
      previous = letter
    }
  }

  private mutating func readPunycodeIdentifier() -> NodeIndex {
    guard let count = readNatural(), count > 0 else { return 0 }
    _ = skip("_")
    guard count <= text.count - position else { return 0 }
    let encoded = UnsafeBufferPointer(rebasing: text[position..<position + count])
    position += count
    guard let decoded = Punycode.decode(encoded) else { return 0 }
    builtTextSize += decoded.count
    guard !decoded.isEmpty, builtTextSize <= Demangler.limitText else { return 0 }
    let memory = arena.reserveText(decoded.count)
    for (offset, byte) in decoded.enumerated() { memory[offset] = byte }
    arena.commitText(decoded.count)
    let node = arena.make(
      .identifier, text: UnsafeBufferPointer(start: memory, count: decoded.count))
    addSubstitution(node)
    return node
  }

  /// `o`: the identifier spells an operator, one letter per character.
  mutating func readOperatorName() -> NodeIndex {
    let name = pop(.identifier)
    guard name != 0, let spelled = arena.text(name) else { return 0 }
    let memory = arena.reserveText(spelled.count)
    for (offset, byte) in spelled.enumerated() {
      guard let decoded = OperatorAlphabet.character(for: byte) else { return 0 }
      memory[offset] = decoded
    }
    arena.commitText(spelled.count)
    let decoded = UnsafeBufferPointer(start: UnsafePointer(memory), count: spelled.count)
    switch next() {
    case "i": return arena.make(.infixOperator, text: decoded)
    case "p": return arena.make(.prefixOperator, text: decoded)
    case "P": return arena.make(.postfixOperator, text: decoded)
    default: return 0
    }
  }

  // MARK: discriminated names

  /// `L…`: private, local and related declaration names.
  mutating func readLocalName() -> NodeIndex {
    let letter = peeked
    switch letter {
    case "L":
      _ = next()
      let discriminator = pop(.identifier)
      return make(.privateDeclName, discriminator, popDeclarationName())
    case "l":
      _ = next()
      return make(.privateDeclName, pop(.identifier))
    case "a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
      "A", "B", "C", "D", "E", "F", "G", "H", "I", "J":
      position += 1
      let kind = arena.make(
        .identifier, text: UnsafeBufferPointer(rebasing: text[position - 1..<position]))
      return make(.relatedEntityDeclName, kind, pop())
    default:
      let discriminator = readIndexNode()
      return make(.localDeclName, discriminator, popDeclarationName())
    }
  }

  // MARK: contexts

  mutating func popModule() -> NodeIndex {
    let identifier = pop(.identifier)
    return identifier != 0 ? arena.copy(identifier, as: .module) : pop(.module)
  }

  mutating func popContext() -> NodeIndex {
    let module = popModule()
    if module != 0 { return module }
    let type = pop(.type)
    if type != 0 {
      guard arena.childCount(type) == 1, arena.kind(arena.first(type)).isContext else { return 0 }
      return arena.first(type)
    }
    return topKind?.isContext == true ? pop() : 0
  }

  /// `E`: module, extended type and perhaps a generic signature.
  mutating func readExtension() -> NodeIndex {
    let signature = pop(.dependentGenericSignature)
    let module = popModule()
    let type = popNominal()
    let result = make(.extension, module, type)
    addIfPresent(signature, to: result)
    return result
  }
}

/// Where a word begins and ends inside an identifier, for word substitutions.
enum WordRule {
  @inline(__always) static func starts(at letter: Letter) -> Bool {
    !letter.isDigit && letter != "_" && letter.byte != 0
  }

  @inline(__always) static func ends(before letter: Letter, after previous: Letter) -> Bool {
    letter == "_" || letter.byte == 0 || (!previous.isUpper && letter.isUpper)
  }
}

/// The letters that stand for operator characters in mangled names.
enum OperatorAlphabet {
  private static let characters: StaticString = "& @/= >    <*!|+?%-~   ^ ."

  /// The operator character a letter stands for; bytes of non-ASCII characters stand for themselves.
  static func character(for byte: UInt8) -> UInt8? {
    if byte >= 0x80 { return byte }
    guard Letter(byte).isLower else { return nil }
    let character = characters.utf8Start[Int(byte - 0x61)]
    return character == 0x20 ? nil : character
  }
}
