import Testing

@testable import Journal
@testable import ScriptHost
@testable import ScriptHostCLI

@Suite("command line")
struct CommandParserTests {
  private func parse(_ name: String, _ words: String...) throws(Failure) -> Arguments {
    let command = ScriptHostCommand.subcommands.first { $0.name == name }!
    return try Parser.parse(words.map { Array($0.utf8) }, for: command)
  }

  @Test("options are read in every spelling")
  func spellings() throws {
    let parsed = try parse(
      "trace", "-e", "a", "-eb", "-c", "-x", "-c", "--depth=3", "--slower", "10ms", "-cs", "7", "--patches=", "--", "ls", "-e", "--", "x")
    #expect(parsed.all("-e") == [Array("a".utf8), Array("b".utf8)])
    #expect(parsed.text("-x") == "-c")
    #expect(parsed.text("--depth") == "3")
    #expect(try parsed.duration("--slower") == 10_000_000)
    #expect(parsed.text("-s") == "7")
    #expect(parsed.values["-c"]?.count == 2)
    #expect(parsed.bytes("--patches") == [])
    #expect(parsed.program.map { String(decoding: $0, as: UTF8.self) } == ["ls", "-e", "--", "x"])
  }

  @Test("file names need not be UTF-8")
  func bytes() throws {
    let parsed = try Parser.parse([Array("--state".utf8), [0xff, 0x2f], Array("--".utf8), [0xfe]], for: .run)
    #expect(parsed.path("--state")?.bytes == [0xff, 0x2f])
    #expect(parsed.program == [[0xfe]])
  }

  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var words: [String]
    var sentence: String

    init(_ name: String, _ words: [String], _ sentence: String) {
      (testDescription, self.words, self.sentence) = (name, words, sentence)
    }
  }

  static let mistakes = [
    Case("a near miss gets a suggestion", ["run", "--patche", "a"], "run: unknown option '--patche'; did you mean '--patches'?"),
    Case("a beginning comes before a near miss", ["run", "--patch", "a"], "run: unknown option '--patch'; did you mean '--patches'?"),
    Case("no near miss, no guess", ["run", "--colour"], "run: unknown option '--colour'; see scripthost run --help"),
    Case("short options are never guessed", ["run", "-q"], "run: unknown option '-q'; see scripthost run --help"),
    Case("a missing value", ["run", "--state", "--", "x"], "run: '--state' needs a value: --state DIR"),
    Case("a missing value at the end", ["events", "-n"], "events: '--number' needs a value: --number N"),
    Case("a value too many", ["run", "-v", "--verbose=yes"], "run: '--verbose' takes no value; write '--verbose' alone"),
    Case("an option twice", ["run", "--state", "a", "--state", "b"], "run: '--state' is given twice; keep one"),
    Case("no dashes", ["run", "ls"], "run: put '--' before the program: scripthost run … -- ls"),
    Case("no program", ["run", "--"], "run: no program; write scripthost run … -- PROGRAM ARGUMENTS"),
    Case("too many words", ["events", "x"], "events: 'x' is one word too many; see scripthost events --help"),
    Case("too few words", ["completion"], "completion: needs bash, zsh or fish; see scripthost completion --help"),
    Case(
      "too few words, with those that are there", ["new", "patch", "banner", "./shop"],
      "new: needs patch or rule, a NAME, a PROGRAM and a SELECTOR or a LINE of a trace, found 'patch', 'banner', './shop'; see scripthost new --help"),
    Case("control characters are shown", ["run", "--\u{1b}[1m"], "run: unknown option '--\\u001b[1m'; see scripthost run --help"),
  ]

  @Test("mistakes are told", arguments: mistakes)
  func mistake(_ mistake: Case) {
    let command = ScriptHostCommand.subcommands.first { $0.name == mistake.words[0] }!
    #expect(throws: Failure.usage(mistake.sentence)) {
      try Parser.parse(mistake.words.dropFirst().map { Array($0.utf8) }, for: command)
    }
  }

  @Test("names are guessed only when close")
  func nearest() {
    #expect(Nearest.name(to: "evnets", among: ["events", "run"]) == "events")
    #expect(Nearest.name(to: "rnu", among: ["events", "run"]) == "run")
    #expect(Nearest.name(to: "patch", among: ["events", "run"]) == nil)
    #expect(Nearest.name(to: "", among: ["events"]) == nil)
  }

  @Test("durations", arguments: [
    ("10ms", 10_000_000), ("1.5s", 1_500_000_000), ("2m", 120_000_000_000), ("3us", 3000), ("0ns", 0), ("10", nil),
    ("-1s", nil), ("s", nil), ("nans", nil), ("1e30s", nil), ("infs", nil), ("1 s", nil),
  ] as [(String, UInt64?)])
  func durations(text: String, expected: UInt64?) { #expect(Duration.nanoseconds(text) == expected) }

  @Test("numbers out of range name the range")
  func numbers() throws {
    let parsed = try parse("events", "-n", "-1")
    #expect(throws: Failure.usage("'--number' needs a whole number, 0 to 10000000; found '-1'")) {
      try parsed.number("--number", in: 0...10_000_000)
    }
  }

  @Test("every command has a page that fits the terminal and names its options", arguments: ScriptHostCommand.subcommands.map(\.name))
  func pages(name: String) {
    let command = ScriptHostCommand.subcommands.first { $0.name == name }!
    let page = Help.page(command)
    for line in page.split(separator: "\n") where !line.hasPrefix("  scripthost") { #expect(line.count <= 80, "\(line)") }
    for option in command.options { #expect(page.contains("  " + option.spellings.joined(separator: ", "))) }
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES"] {
      #expect(page.contains(section + "\n"))
    }
    #expect(Help.overview(ScriptHostCommand.subcommands).contains("  \(name) "))
  }
}
