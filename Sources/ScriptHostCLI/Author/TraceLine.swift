// TraceLine — the function that a line of `scripthost trace` is about, for `new` with a line that was copied.
internal import Journal

enum TraceLine {
  /// Selectors and patterns that the line may mean, best first; none when it is no such line.
  ///
  /// A line in JSON has the selector. One for people has the type's name and labels: `2.0 us  Shop.add("tea", price: 2.5) -> 1`.
  /// - Parameter types: full names of the program's types, those of its libraries among them.
  static func selectors(_ line: String, types: [String]) -> [String] {
    if line.drop(while: { $0 == " " }).hasPrefix("{") {
      guard let value = line.firstRange(of: "\"selector\":\"") else { return [] }
      return [String(line[value.upperBound...].prefix { $0 != "\"" })]
    }
    guard let (name, labels) = call(in: line) else { return [] }
    let lists = labels.map { ["(\($0.map { $0 + ":" }.joined()))"] } ?? ["", "(**)"]
    return lists.flatMap { list in owners(of: name, types).map { $0 + list } + ["**.\(name)\(list)"] }
  }

  /// `Shop.Cart.add` for `Cart.add`, of each type that is called so.
  private static func owners(of name: String, _ types: [String]) -> [String] {
    guard let dot = name.lastIndex(of: ".") else { return [] }
    return types.filter { $0.hasSuffix("." + name[..<dot]) }.map { $0 + name[dot...] }
  }

  /// Name and labels; no labels where the line has no list of arguments.
  private static func call(in line: String) -> (String, [String]?)? {
    var rest = plain(line)[...]
    // Time and unit, or time of the day, thread and task, or the end of a call that has two lines.
    while let space = rest.firstIndex(of: " "), !isName(rest[..<space]) { rest = rest[rest.index(after: space)...].drop { $0 == " " } }
    let name = rest.prefix { $0.isLetter || $0.isNumber || "._$".contains($0) }
    guard name.contains(where: \.isLetter) else { return nil }
    rest = rest[name.endIndex...]
    return (String(name), rest.first == "(" ? labels(of: rest.dropFirst()) : nil)
  }

  /// Whether the word begins the call: neither number, unit nor mark of a column.
  private static func isName(_ word: Substring) -> Bool {
    let known: Set<Substring> = ["ns", "us", "ms", "s", "main", "task", "-", "}", ""]
    return !known.contains(word) && word.first.map { $0.isLetter || $0 == "_" } ?? false
  }

  /// The line with its colours taken away.
  private static func plain(_ line: String) -> String {
    var text = ""
    var rest = line[...]
    while let first = rest.popFirst() {
      if first == "\u{1b}" { rest = rest.drop { $0 != "m" }.dropFirst() } else { text.append(first) }
    }
    return String(text.drop { $0 == " " })
  }

  /// The labels of arguments up to the ')' of the list; `_` where there is none.
  private static func labels(of list: Substring) -> [String] {
    var labels: [String] = []
    var depth = 0, isText = false, isEscaped = false
    var word = ""
    // Whether the label of the argument at hand may still come.
    var mayBeLabel = true, isEmpty = true
    func add() { labels.append("_") }
    for character in list {
      if isEscaped { isEscaped = false; continue }
      if isText {
        if character == "\\" { isEscaped = true } else if character == "\"" { isText = false }
        continue
      }
      if depth == 0, character == ")" { break }
      if isEmpty { add(); isEmpty = false }
      switch character {
      case "\"": isText = true; mayBeLabel = false
      case "(", "[", "{": depth += 1; mayBeLabel = false
      case ")", "]", "}": depth -= 1
      case "," where depth == 0:
        add()
        (word, mayBeLabel) = ("", true)
      case ":" where depth == 0 && mayBeLabel && !word.isEmpty:
        labels[labels.count - 1] = word
        mayBeLabel = false
      case " " where word.isEmpty: break
      default: if character.isLetter || character.isNumber || character == "_" { word.append(character) } else { mayBeLabel = false }
      }
    }
    // What the method was called on is no argument.
    return labels.first == "self" ? Array(labels.dropFirst()) : labels
  }
}
