extension NodeKind {
  /// The kind in words: "protocol witness table accessor" for `ProtocolWitnessTableAccessor`.
  var words: String { NodeKind.wordTable[Int(rawValue)] }

  private static let wordTable: [String] = {
    var table: [String] = []
    while let kind = NodeKind(rawValue: UInt16(table.count)) { table.append(split(kind.dumpName)) }
    return table
  }()

  private static func split(_ name: String) -> String {
    // Names that are one word although their capitals say otherwise.
    for (spelled, word) in [("ObjC", "objc"), ("VTable", "vtable"), ("IVar", "ivar"), ("SIL", "sil")] {
      if name.hasPrefix(spelled) { return word + split("x" + name.dropFirst(spelled.count)).dropFirst() }
    }
    var words = ""
    var previousIsUpper = true
    for character in name {
      if character.isUppercase, !previousIsUpper { words += " " }
      previousIsUpper = character.isUppercase
      words += character.lowercased()
    }
    return words
  }
}
