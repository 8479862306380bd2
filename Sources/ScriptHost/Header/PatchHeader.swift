// PatchHeader — the first statement of a patch, read without running the file.
//
//     patch { id = "rounding", version = "1.2.0", api = 1, target = { program = "storefront" }, priority = 10 }
//
// Literals only: what a patch says of itself must be known before any of it runs.
package import Journal

/// When a patch is loaded.
package enum PatchPhase: String, Sendable, Equatable {
  /// It is loaded before the program's `main`.
  case boot
  /// It is loaded when the program has begun.
  case up
  /// It is loaded when the program has little to do for the first time, or 10 s after its start.
  case idle
}

/// Days and times as people write them, in UTC.
enum UTCTime {
  /// Seconds since 1970 of "2027-01-31" (its beginning) or "2027-01-31T12:00:00Z"; nil for anything else.
  static func seconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == 10 || bytes.count == 20 else { return nil }
    for (index, byte) in bytes.enumerated() {
      let isRight: Bool
      switch index {
      case 4, 7: isRight = byte == UInt8(ascii: "-")
      case 10: isRight = byte == UInt8(ascii: "T")
      case 13, 16: isRight = byte == UInt8(ascii: ":")
      case 19: isRight = byte == UInt8(ascii: "Z")
      default: isRight = byte >= 48 && byte <= 57
      }
      if !isRight { return nil }
    }
    func number(_ range: Range<Int>) -> Int64 {
      var number: Int64 = 0
      for byte in bytes[range] { number = number * 10 + Int64(byte - 48) }
      return number
    }
    let year = number(0..<4), month = number(5..<7), day = number(8..<10)
    let lengths: [Int64] = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard year >= 1970, month >= 1, month <= 12, day >= 1, day <= lengths[Int(month) - 1] else { return nil }
    var days = day - 1
    for earlier in 1970..<year { days += isLeap(earlier) ? 366 : 365 }
    for length in lengths[..<(Int(month) - 1)] { days += length }
    guard bytes.count == 20 else { return days * 86_400 }
    let hour = number(11..<13), minute = number(14..<16), second = number(17..<19)
    guard hour < 24, minute < 60, second < 60 else { return nil }
    return days * 86_400 + hour * 3_600 + minute * 60 + second
  }

  private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
}

/// How a patch is tried in a child of the program before it goes live.
package enum CanaryKind: String, Sendable, Equatable {
  /// It is loaded, and the child ends.
  case boot
  /// Its own tests are run, too.
  case test
  /// Recorded calls are made without it and with it.
  case replay
  /// The program's own self-test is run: the program, with the arguments of `canary_arguments`.
  case selfTest = "self-test"
}

/// What a patch says of itself. All of it is optional.
package struct PatchHeader: Sendable, Equatable {
  package var id: String?
  package var version: String?
  package var priority = 0
  package var program: String?
  /// Build-ids of programs it is made for, in lower-case hexadecimal, whole or their beginnings of at least 8 digits; empty: any.
  package var buildIDs: [String] = []
  /// The Swift release of the program, such as "6.3".
  package var swift: String?
  /// Selectors that must be there.
  package var selectors: [String] = []
  /// The code that selectors had when the patch was pinned to it: digests (ImageCatalog.codeDigest), in the order they are written in.
  package var bodies: [Body] = []
  package var phase = PatchPhase.boot
  /// From this time on it is not in force, in seconds since 1970; the text as it was written beside it.
  package var expires: Int64?
  package var expiresText = ""
  /// How it is tried in a child before it goes live; nil: as the start's settings say.
  package var canary: CanaryKind?
  /// How long that may take, in seconds.
  package var canaryLimit = 20
  /// The settings it has, with their defaults: an object; nil where it declares none.
  package var config: JSONValue?
  /// Recorded calls may have other results with it.
  package var canaryChanges = false
  /// What the program's self-test is started with.
  package var canaryArguments: [String] = []
  /// What it may do beside hooking, where a policy restricts that.
  package var permissions: [Capability] = []
  /// How much of the process's time each of its hooks may take; nil: as the start's settings say.
  package var maxShare: Double?
  /// What is done about a hook that takes more; nil: rules are sampled, handlers are switched off.
  package var overShare: ShareRule.Consequence?
  /// Whether the file begins with a header, even an empty one.
  package var isWritten = false

  /// A selector whose code is known.
  package struct Body: Sendable, Equatable {
    package let selector: String
    /// 16 hexadecimal digits.
    package let digest: String

    package init(selector: String, digest: String) { (self.selector, self.digest) = (selector, digest) }
  }

  package init() {}

  /// Reads the header of a source text; no header is an empty one.
  package init(source: [UInt8], fileName: String) throws(PatchError) {
    var reader = LiteralReader(source: source, fileName: fileName)
    guard try reader.takeName("patch"), case .table(let fields)? = try reader.takeTable() else { return }
    isWritten = true
    for (key, value, line) in fields {
      switch (key, value) {
      case ("id", .string(let text)):
        guard Self.isName(text) else {
          throw .header(
            "\(fileName):\(line): an id has 1 to 64 letters, digits, '.', '-' and '_', found '\(EventText.printable(String(text.prefix(64))))'"
          )
        }
        id = text
      case ("version", .string(let text)): version = text
      case ("api", .number(1)): break
      case ("api", .number(let number)):
        throw .header("\(fileName):\(line): this host knows api 1, the patch asks for \(number)")
      case ("priority", .number(let number)): priority = number
      case ("target", .table(let target)):
        for (name, wanted, line) in target { try readTarget(name, wanted, "\(fileName):\(line)") }
      case ("phase", .string(let text)):
        guard let known = PatchPhase(rawValue: text) else {
          throw .header("\(fileName):\(line): 'phase' is \"boot\", \"up\" or \"idle\", found '\(EventText.printable(String(text.prefix(64))))'")
        }
        phase = known
      case ("expires", .string(let text)):
        guard let time = UTCTime.seconds(text) else {
          throw .header(
            "\(fileName):\(line): 'expires' is a day or a time in UTC, such as \"2027-01-31\" or \"2027-01-31T12:00:00Z\", "
              + "found '\(EventText.printable(String(text.prefix(64))))'")
        }
        expires = time
        expiresText = text
      case ("canary", .string(let text)):
        guard let known = CanaryKind(rawValue: text) else {
          throw .header(
            "\(fileName):\(line): 'canary' is \"boot\", \"test\", \"replay\" or \"self-test\", "
              + "found '\(EventText.printable(String(text.prefix(64))))'")
        }
        canary = known
      case ("canary_limit", .number(let seconds)):
        guard (1...50).contains(seconds) else {
          throw .header("\(fileName):\(line): 'canary_limit' is 1 to 50 seconds, found \(seconds)")
        }
        canaryLimit = seconds
      case ("config", .table(let fields)):
        guard !fields.contains(where: { $0.0.isEmpty }) else {
          throw .header("\(fileName):\(line): the settings in 'config' are named, such as config = { digits = 2 }")
        }
        config = .object(fields.map { .init($0.0, $0.1.setting) })
      case ("canary_changes", .boolean(let may)): canaryChanges = may
      case ("canary_arguments", .table(let elements)):
        canaryArguments = try elements.map { key, element, line throws(PatchError) in
          guard key.isEmpty, case .string(let text) = element else {
            throw .header("\(fileName):\(line): 'canary_arguments' is a list of texts, such as { \"--self-test\" }")
          }
          return text
        }
      case ("permissions", .table(let words)): permissions = try Self.capabilities(words, "permissions", fileName)
      case ("max_share", .string(let text)):
        guard let share = ShareRule.share(text) else {
          throw .header(
            "\(fileName):\(line): 'max_share' is a percentage of the process's time, such as \"5%\", "
              + "found '\(EventText.printable(String(text.prefix(64))))'")
        }
        maxShare = share
      case ("over_share", .string(let text)):
        guard let known = ShareRule.Consequence(rawValue: text) else {
          throw .header("\(fileName):\(line): 'over_share' is \"off\" or \"sample\", found '\(EventText.printable(String(text.prefix(64))))'")
        }
        overShare = known
      case ("", _): throw .header("\(fileName):\(line): the fields of patch are named, such as id = \"rounding\"")
      default:
        guard let form = Self.forms[key] else {
          throw .header("\(fileName):\(line): unknown field '\(key.prefix(64))' in patch; known are id, version, api, target, priority, phase, expires, canary, canary_limit, canary_changes, canary_arguments, config, permissions, max_share, over_share")
        }
        throw .header("\(fileName):\(line): '\(key)' is \(form), found \(value.spelled)")
      }
    }
    if canary == .selfTest, canaryArguments.isEmpty {
      throw .header(
        "\(fileName): canary = \"self-test\" needs canary_arguments, what the program is started with to test itself, such as { \"--self-test\" }")
    }
  }

  private mutating func readTarget(_ name: String, _ wanted: LiteralReader.Literal, _ place: String) throws(PatchError) {
    switch (name, wanted) {
    case ("program", .string(let text)): program = text
    case ("swift", .string(let text)): swift = text
    case ("build_ids", .table), ("selectors", .table):
      guard case .table(let elements) = wanted else { return }
      var texts: [String] = []
      for (key, element, _) in elements {
        guard key.isEmpty, case .string(let text) = element else { throw .header("\(place): 'target.\(name)' is a list of texts") }
        texts.append(text)
      }
      if name == "selectors" { return selectors = texts }
      let isHex = { (text: String) in text.utf8.count >= 8 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) } }
      buildIDs = texts.map { $0.lowercased() }
      if let wrong = buildIDs.first(where: { !isHex($0) }) {
        throw .header(
          "\(place): 'target.build_ids' has build-ids in hexadecimal, at least 8 digits of each, "
            + "found '\(EventText.printable(String(wrong.prefix(64))))'")
      }
    case ("bodies", .table(let elements)):
      bodies = try elements.map { selector, element, _ throws(PatchError) in
        guard !selector.isEmpty, case .string(let digest) = element, Self.isDigest(digest) else {
          throw .header("\(place): 'target.bodies' has selectors with digests of 16 digits, as 'scripthost pin' writes them")
        }
        return Body(selector: selector, digest: digest)
      }
    case ("version", _):
      throw .header("\(place): 'target.version' cannot be checked, programs say no version; use 'build_ids'")
    case ("program", _): throw .header("\(place): 'target.program' is a text, such as \"swift-format\", found \(wanted.spelled)")
    case ("swift", _): throw .header("\(place): 'target.swift' is a text, such as \"6.3\", found \(wanted.spelled)")
    case ("bodies", _):
      throw .header("\(place): 'target.bodies' is a table of selectors with digests, as 'scripthost pin' writes it, found \(wanted.spelled)")
    case ("build_ids", _), ("selectors", _): throw .header("\(place): 'target.\(name)' is a list of texts, found \(wanted.spelled)")
    default: throw .header("\(place): unknown target field '\(name.prefix(64))'; known are 'program', 'build_ids', 'swift', 'selectors', 'bodies'")
    }
  }

  private static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 16 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// Words of a list of permissions; each is known and stands there once.
  static func capabilities(_ words: [(String, LiteralReader.Literal, Int)], _ field: String, _ fileName: String) throws(PatchError) -> [Capability] {
    var found: [Capability] = []
    for (name, word, line) in words {
      guard name.isEmpty, case .string(let text) = word else {
        throw .header("\(fileName):\(line): '\(field)' is a list of words, such as { \"call\" }")
      }
      guard let known = Capability(rawValue: text) else {
        throw .header(
          "\(fileName):\(line): unknown word '\(EventText.printable(String(text.prefix(64))))' in \(field); "
            + "known are \(Capability.words.joined(separator: ", "))")
      }
      if !found.contains(known) { found.append(known) }
    }
    return found
  }

  /// What each field is.
  private static let forms = [
    "id": "a text, such as \"rounding\"", "version": "a text, such as \"1.0.0\"", "api": "the number 1",
    "priority": "a whole number, such as 10", "target": "a table, such as { program = \"swift-format\" }",
    "phase": "\"boot\", \"up\" or \"idle\"", "expires": "a text, such as \"2027-01-31\"",
    "canary": "\"boot\", \"test\", \"replay\" or \"self-test\"", "canary_limit": "a number of seconds, such as 20",
    "config": "a table of settings, such as { digits = 2 }",
    "canary_changes": "true or false", "canary_arguments": "a list of texts, such as { \"--self-test\" }",
    "permissions": "a list of words, such as { \"call\" }", "max_share": "a text, such as \"5%\"", "over_share": "\"off\" or \"sample\"",
  ]

  /// Ids appear in sentences, records and file names.
  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}

/// A reader of Lua literals: names, strings, whole numbers, booleans and tables of them.
struct LiteralReader {
  indirect enum Literal: Equatable {
    case string(String)
    case number(Int)
    /// It has a fraction or an exponent.
    case decimal(Double)
    case boolean(Bool)
    case table([(String, Literal, Int)])

    /// As a sentence names what was found.
    var spelled: String {
      switch self {
      case .string(let text): "the text '\(EventText.printable(String(text.prefix(64))))'"
      case .number(let number): "the number \(number)"
      case .decimal(let number): "the number \(number)"
      case .boolean(let value): "\(value)"
      case .table: "a table"
      }
    }

    static func == (a: Literal, b: Literal) -> Bool {
      switch (a, b) {
      case (.string(let x), .string(let y)): x == y
      case (.number(let x), .number(let y)): x == y
      case (.decimal(let x), .decimal(let y)): x == y
      case (.boolean(let x), .boolean(let y)): x == y
      default: false
      }
    }
  }

  private let bytes: [UInt8]
  private let fileName: String
  /// The word that the literals belong to: `patch` or `policy`.
  private let keyword: String
  private let deepest: Int
  /// Tables around the current place. Bounded: the reader runs on the program's stack.
  private var depth = 0
  private var position = 0
  private var line = 1

  /// - Parameters:
  ///   - keyword: the word that the literals belong to, for messages.
  ///   - depth: how deep tables may nest.
  init(source: [UInt8], fileName: String, of keyword: String = "patch", depth: Int = 4) {
    bytes = source
    self.fileName = fileName
    self.keyword = keyword
    deepest = depth
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    if peek == UInt8(ascii: "#") { skipLine() }
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipLine() { while let byte = peek, byte != 10 { _ = byte; position += 1 } }

  /// The number of '=' in the `[==[` that starts here.
  private var longBracket: Int? {
    guard peek == UInt8(ascii: "[") else { return nil }
    let level = bytes[(position + 1)...].prefix { $0 == UInt8(ascii: "=") }.count
    return position + 1 + level < bytes.count && bytes[position + 1 + level] == UInt8(ascii: "[") ? level : nil
  }

  /// Skips to behind the `]==]` of the same level, or to the end.
  private mutating func skipLongComment(_ level: Int) {
    let end = [UInt8(ascii: "]")] + [UInt8](repeating: UInt8(ascii: "="), count: level) + [UInt8(ascii: "]")]
    position += level + 2
    while position < bytes.count, !bytes[position...].starts(with: end) {
      if bytes[position] == 10 { line += 1 }
      position += 1
    }
    position = min(position + end.count, bytes.count)
  }

  private mutating func skipSpace() {
    while let byte = peek {
      if byte == 10 { line += 1 }
      if byte == 32 || (9...13).contains(byte) { position += 1; continue }
      if byte == UInt8(ascii: "-"), position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "-") {
        position += 2
        if let level = longBracket { skipLongComment(level) } else { skipLine() }
        continue
      }
      return
    }
  }

  private mutating func name() -> String? {
    let start = position
    while let byte = peek,
      byte == 95 || (65...90).contains(byte) || (97...122).contains(byte) || (position > start && (48...57).contains(byte))
    {
      position += 1
    }
    return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
  }

  /// True (and consumed) when the next word is `wanted`.
  mutating func takeName(_ wanted: String) throws(PatchError) -> Bool {
    skipSpace()
    let start = position
    if name() == wanted { return true }
    position = start
    return false
  }

  mutating func takeTable() throws(PatchError) -> Literal? {
    skipSpace()
    if peek == UInt8(ascii: "(") { position += 1; skipSpace() }
    guard peek == UInt8(ascii: "{") else { throw problem("expected a table after '\(keyword)'") }
    return try literal()
  }

  /// Nothing follows but blanks and comments, and the parenthesis of `policy ({ … })`.
  mutating func expectEnd() throws(PatchError) {
    skipSpace()
    if peek == UInt8(ascii: ")") { position += 1; skipSpace() }
    if peek != nil { throw .header("\(fileName):\(line): something follows the table of '\(keyword)'; a \(keyword) is one table") }
  }

  private func problem(_ text: String) -> PatchError {
    .header("\(fileName):\(line): \(text); \(keyword == "patch" ? "the patch header" : "a \(keyword)") holds literals only")
  }

  private static func isNumberByte(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: ".")
  }

  private mutating func literal() throws(PatchError) -> Literal {
    skipSpace()
    guard let byte = peek else { throw problem("the file ends inside \(keyword == "patch" ? "the patch header" : "the \(keyword)")") }
    switch byte {
    case UInt8(ascii: "{"): return try table()
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try quoted(byte))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let start = position
      position += 1
      while let digit = peek, Self.isNumberByte(digit) { position += 1 }
      let word = String(decoding: bytes[start..<position], as: UTF8.self)
      if word.contains("."), let value = Double(word), value.isFinite { return .decimal(value) }
      guard let value = Int(word) else { throw problem("'\(word.prefix(40))' is no whole number within 64 bits") }
      return .number(value)
    default:
      switch name() {
      case "true": return .boolean(true)
      case "false": return .boolean(false)
      case let word?: throw problem("'\(word.prefix(64))' is not a literal")
      case nil: throw problem("unexpected '\(EventText.printable(String(decoding: [byte], as: UTF8.self)))'")
      }
    }
  }

  private mutating func table() throws(PatchError) -> Literal {
    position += 1
    depth += 1
    defer { depth -= 1 }
    guard depth <= deepest else { throw problem("tables nest more than \(deepest) deep") }
    var fields: [(String, Literal, Int)] = []
    func field(_ key: String, _ line: Int) throws(PatchError) {
      if fields.contains(where: { $0.0 == key }) { throw problem("'\(EventText.printable(String(key.prefix(64))))' is given twice") }
      fields.append((key, try literal(), line))
    }
    while true {
      skipSpace()
      if peek == UInt8(ascii: "}") { position += 1; return .table(fields) }
      let start = position
      let startLine = line
      if peek == UInt8(ascii: "[") {
        try field(try quotedKey(), startLine)
      } else if let key = name() {
        skipSpace()
        if peek == UInt8(ascii: "=") {
          position += 1
          try field(key, startLine)
        } else {
          position = start
          fields.append(("", try literal(), startLine))
        }
      } else {
        fields.append(("", try literal(), startLine))
      }
      skipSpace()
      guard fields.count <= 64 else { throw problem("more than 64 fields") }
      guard let next = peek else { throw problem("the file ends inside \(keyword == "patch" ? "the patch header" : "the \(keyword)")") }
      if next == UInt8(ascii: ",") || next == UInt8(ascii: ";") {
        position += 1
      } else if next != UInt8(ascii: "}") {
        throw problem("expected ',' or '}'")
      }
    }
  }

  /// `["key"] =`
  private mutating func quotedKey() throws(PatchError) -> String {
    position += 1
    skipSpace()
    guard let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw problem("expected a text after '['") }
    let key = try quoted(quote)
    for wanted in "]=".utf8 {
      skipSpace()
      guard peek == wanted else { throw problem("expected '\(Character(Unicode.Scalar(wanted)))' after '\(EventText.printable(String(key.prefix(64))))'") }
      position += 1
    }
    return key
  }

  private func escaped(_ letter: UInt8) throws(PatchError) -> UInt8 {
    switch letter {
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "t"): 9
    case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"): letter
    default: throw problem("'\\\(EventText.printable(String(decoding: [letter], as: UTF8.self)))' in a string is not known here")
    }
  }

  private mutating func quoted(_ quote: UInt8) throws(PatchError) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = peek, byte != quote {
      if byte == 10 { throw problem("unfinished string") }
      if byte == UInt8(ascii: "\\"), position + 1 < bytes.count {
        position += 1
        text.append(try escaped(bytes[position]))
      } else {
        text.append(byte)
      }
      position += 1
    }
    guard peek == quote else { throw problem("unfinished string") }
    position += 1
    return String(decoding: text, as: UTF8.self)
  }
}
