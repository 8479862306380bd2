// Interface — what a command line looks like, as data: parser, help and shell
// completion are all made from it.
internal import Journal
internal import ScriptHost

/// An option of a subcommand.
struct Option: Sendable {
  /// Without dashes; an option has a long name, a short one or both.
  var long: String?
  var short: Character?
  /// What its value is called, nil for a switch.
  var value: String?
  /// Whether it may come more than once.
  var repeats = false
  /// One or two sentences.
  var help: String
  /// How a shell completes the value.
  var completion = Completion.none

  /// How a shell completes something.
  enum Completion: Sendable, Equatable {
    case none, file, directory, program
    case words([String])
    /// After `load` a file, after other words of `patch` the ids of a process's patches.
    case patches
    /// The numbers of hosted processes.
    case processes
  }

  /// The name used in sentences: "--depth", or "-e".
  var spelling: String { long.map { "--" + $0 } ?? "-" + String(short!) }
  /// All ways to write it: "-o", "--output".
  var spellings: [String] { (short.map { ["-" + String($0)] } ?? []) + (long.map { ["--" + $0] } ?? []) }
}

/// What stands on the line besides options.
enum Operands: Sendable {
  case none
  /// There is at most one, called so.
  case optional(String, Option.Completion)
  /// There is exactly one, called so.
  case one(String, Option.Completion)
  /// There are at least and at most so many; they are called so in sentences, the first is completed so, and others as `rest`.
  case several(ClosedRange<Int>, String, Option.Completion, rest: Option.Completion = .none)
  /// "-- PROGRAM ARGUMENTS", which must be there.
  case program
}

/// A subcommand.
struct Subcommand: Sendable {
  var name: String
  /// For the list of commands: lower case, no period.
  var summary: String
  /// The line after the name.
  var synopsis: String
  /// Paragraphs.
  var description: [String]
  var options: [Option]
  var operands: Operands
  var exitStatuses: [ExitStatus] = [.success, .usage]
  /// A line to type and what it does.
  var examples: [(line: String, effect: String)]
  /// Other commands to look at.
  var seeAlso: [String] = []
  /// Does the work and answers the exit status; it may not return.
  var run: @Sendable (Arguments) throws -> Int32
}

/// An exit status with its meaning.
struct ExitStatus: Sendable {
  var code: String
  var meaning: String

  static let success = ExitStatus(code: "0", meaning: "done")
  static let usage = ExitStatus(code: "2", meaning: "the command line is wrong; nothing was started")
  static let launch = [
    ExitStatus(code: "any", meaning: "that of PROGRAM, which takes the place of this command"),
    usage,
    ExitStatus(code: "125", meaning: "PROGRAM could not be started"),
    ExitStatus(code: "126", meaning: "PROGRAM was found and refused; the sentence says why and what to do"),
    ExitStatus(code: "127", meaning: "PROGRAM was not found"),
  ]
}

/// A parsed command line.
struct Arguments: Sendable {
  /// Values by option (`Option.spelling`), in order; switches have one empty value per use.
  var values: [String: [[UInt8]]] = [:]
  /// What is no option.
  var operands: [[UInt8]] = []
  /// What stands after "--": program and its arguments.
  var program: [[UInt8]] = []
  /// Of a command whose operands may go on behind "--": so many stand before it.
  var operandsBeforeDashes: Int?

  func has(_ option: String) -> Bool { values[option] != nil }
  /// The last value: the later one wins.
  func bytes(_ option: String) -> [UInt8]? { values[option]?.last }
  func text(_ option: String) -> String? { bytes(option).map { String(decoding: $0, as: UTF8.self) } }
  func path(_ option: String) -> RawPath? { bytes(option).map { RawPath($0) } }
  func all(_ option: String) -> [[UInt8]] { values[option] ?? [] }
}

/// Why the command does not do what was asked: a sentence and the exit status.
struct Failure: Error, Equatable {
  var status: Int32
  var sentence: String

  /// The command line is wrong.
  static func usage(_ sentence: String) -> Failure { Failure(status: 2, sentence: sentence) }
  static func notStarted(_ sentence: String) -> Failure { Failure(status: 125, sentence: sentence) }
  static func refused(_ sentence: String) -> Failure { Failure(status: 126, sentence: sentence) }
  static func notFound(_ sentence: String) -> Failure { Failure(status: 127, sentence: sentence) }
}
