import SwiftMangling
import Testing

@Suite struct WordTests {
  static let cases: [(String, [String])] = [
    ("prettyPrint", ["pretty", "Print"]), ("total", ["total"]), ("HTTPServer", ["HTTPServer"]),
    ("aFunction", ["Function"]), ("snake_case_name", ["snake", "case", "name"]), ("visit2Times", ["visit2", "Times"]),
    ("x", []), ("String", []), ("Swift", []), ("init", []), ("==", []), ("größe", []), ("", []), ("_private", ["private"]),
  ]

  @Test("the words of an identifier", arguments: cases)
  func words(_ identifier: String, _ words: [String]) {
    #expect(requiredWords(ofIdentifier: identifier) == words)
  }

  @Test("every required word of every identifier stands in the mangled name")
  func prefilter() throws {
    var parser = SymbolParser()
    var checked = 0
    for symbol in try sampledSymbols(3000, "words") {
      guard let tree = parser.tree(symbol) else { continue }
      // A relative's name is made up by the importer, a payload's by the optimiser; a suffix is no identifier.
      for line in tree.split(separator: "\n") {
        let line = line.drop { $0 == " " }
        guard line.hasPrefix("kind=Identifier, text=\"") || line.hasPrefix("kind=Module, text=\"") else { continue }
        let identifier = line.split(separator: "\"", omittingEmptySubsequences: false)[1]
        for word in requiredWords(ofIdentifier: String(identifier)) {
          checked += 1
          #expect(symbol.contains(word), "'\(word)' of '\(identifier)' in \(symbol)")
        }
      }
    }
    #expect(checked > 1000)
  }
}
