// Parser — reads a command line by the rules of an interface.
//
// Long options take "--name value" and "--name=value", short ones "-n value" and
// "-nvalue"; short switches may be joined ("-cv"). Options end at "--".
internal import Journal
internal import ScriptHost

/// Reads arguments; every problem is one sentence with exit status 2.
struct Parser {
  private let command: Subcommand
  private var parsed = Arguments()

  /// Parses what stands after the subcommand's name.
  static func parse(_ words: [[UInt8]], for command: Subcommand) throws(Failure) -> Arguments {
    var parser = Parser(command: command)
    try parser.read(words)
    try parser.checkOperands()
    return parser.parsed
  }

  private init(command: Subcommand) { self.command = command }

  private mutating func read(_ words: [[UInt8]]) throws(Failure) {
    var rest = words[...]
    while let word = rest.popFirst() {
      let text = String(decoding: word, as: UTF8.self)
      if text == "--" {
        guard case .program = command.operands else {
          parsed.operandsBeforeDashes = parsed.operands.count
          parsed.operands += rest
          return
        }
        parsed.program = Array(rest)
        return
      } else if text.hasPrefix("--") {
        try readLong(word, &rest)
      } else if text.hasPrefix("-"), text != "-" {
        try readShort(word, &rest)
      } else if case .program = command.operands {
        throw .usage(
          "\(command.name): put '--' before the program: scripthost \(command.name) … -- \(EventText.printable(text))")
      } else {
        parsed.operands.append(word)
      }
    }
  }

  private mutating func readLong(_ word: [UInt8], _ rest: inout ArraySlice<[UInt8]>) throws(Failure) {
    let equals = word.firstIndex(of: UInt8(ascii: "="))
    let name = String(decoding: word[2..<(equals ?? word.endIndex)], as: UTF8.self)
    guard let option = command.options.first(where: { $0.long == name }) else { throw unknown("--" + name) }
    if option.value == nil {
      guard equals == nil else { throw .usage("\(command.name): '--\(name)' takes no value; write '--\(name)' alone") }
      try store(option, [])
    } else if let equals {
      try store(option, Array(word[(equals + 1)...]))
    } else {
      try store(option, try value(of: option, &rest))
    }
  }

  private mutating func readShort(_ word: [UInt8], _ rest: inout ArraySlice<[UInt8]>) throws(Failure) {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      let character = Character(Unicode.Scalar(letter))
      guard let option = command.options.first(where: { $0.short == character })
      else { throw unknown("-" + String(character)) }
      if option.value == nil {
        try store(option, [])
      } else {
        try store(option, letters.isEmpty ? try value(of: option, &rest) : Array(letters))
        return
      }
    }
  }

  private func value(of option: Option, _ rest: inout ArraySlice<[UInt8]>) throws(Failure) -> [UInt8] {
    guard let value = rest.first, value != Array("--".utf8) else {
      throw .usage("\(command.name): '\(option.spelling)' needs a value: \(option.spelling) \(option.value!)")
    }
    rest = rest.dropFirst()
    return value
  }

  private mutating func store(_ option: Option, _ value: [UInt8]) throws(Failure) {
    if option.value != nil, !option.repeats, parsed.has(option.spelling) {
      throw .usage("\(command.name): '\(option.spelling)' is given twice; keep one")
    }
    parsed.values[option.spelling, default: []].append(value)
  }

  private func unknown(_ spelling: String) -> Failure {
    let known = command.options.flatMap(\.spellings) + ["--help"]
    // A short option is one letter: any other would be "near". One that was cut off comes before one that is mistyped.
    let near = spelling.count > 2 ? known.first { $0.hasPrefix(spelling) } ?? Nearest.name(to: spelling, among: known) : nil
    return .usage(
      "\(command.name): unknown option '\(EventText.printable(spelling))'; "
        + (near.map { "did you mean '\($0)'?" } ?? "see scripthost \(command.name) --help"))
  }

  private func checkOperands() throws(Failure) {
    switch command.operands {
    case .program:
      guard parsed.program.first?.isEmpty == false else {
        throw .usage("\(command.name): no program; write scripthost \(command.name) … -- PROGRAM ARGUMENTS")
      }
    case .none: try expect(0...0, "")
    case .optional(let name, _): try expect(0...1, name)
    case .one(let name, _): try expect(1...1, name)
    case .several(let count, let name, _, _): try expect(count, name)
    }
  }

  private func expect(_ count: ClosedRange<Int>, _ name: String) throws(Failure) {
    if parsed.operands.count > count.upperBound {
      let extra = EventText.printable(String(decoding: parsed.operands[count.upperBound], as: UTF8.self))
      throw .usage("\(command.name): '\(extra)' is one word too many; see scripthost \(command.name) --help")
    }
    if parsed.operands.count < count.lowerBound {
      let given = parsed.operands.map { "'\(EventText.printable(String(decoding: $0, as: UTF8.self)))'" }.joined(separator: ", ")
      throw .usage("\(command.name): needs \(name)\(given.isEmpty ? "" : ", found \(given)"); see scripthost \(command.name) --help")
    }
  }
}

/// Finds what a misspelt word may have meant.
enum Nearest {
  /// The closest of the names, when at most a third of the letters differ.
  static func name(to word: String, among names: [String]) -> String? {
    let best = names.map { (name: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
    guard let best, best.distance <= max(1, min(word.count, best.name.count) / 3) else { return nil }
    return best.name
  }

  /// Letters to insert, remove or change, or neighbours to swap.
  static func distance(_ a: String, _ b: String) -> Int {
    let a = Array(a.prefix(64).lowercased()), b = Array(b.prefix(64).lowercased())
    var before: [Int] = [], previous = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var best = min(previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
        row.append(best)
      }
      (before, previous) = (previous, row)
    }
    return previous[b.count]
  }
}
