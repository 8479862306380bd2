// CoverageCommand — how much of a program can be hooked and decoded.
internal import Journal
internal import ScriptHost

extension Subcommand {
  static let coverage = Subcommand(
    name: "coverage", summary: "tell how much of a program can be hooked and decoded",
    synopsis: "[--library FILE]… [--list [--places]] [--json] [--state DIR] [--debug-dir DIR]… PROGRAM",
    description: [
      """
      Judges every source function, initialiser, deinitialiser, accessor and closure of PROGRAM: can all its bodies be hooked, and can \
      self, every argument and the result be read? What cannot is counted by reason. Functions the compiler made are not counted.
      """,
      """
      Types are only known where they are loaded, so PROGRAM is started, and ended before its main function runs. With --library, the \
      libraries are opened in PROGRAM and judged instead of it.
      """,
    ],
    options: [
      Option(long: "library", value: "FILE", repeats: true, help: "Judges this library instead of the program.", completion: .file),
      Option(long: "list", help: "Lists every selector with its first obstacle instead of the table."),
      Option(long: "places", help: "With --list --json: adds in which registers and stack slots each body has its values."),
      Option(long: "json", help: "Prints one JSON object per line."),
      Option(long: "state", value: "DIR", help: "Keeps the index of names here; see run.", completion: .directory),
      .debugDirectory,
    ],
    operands: .one("PROGRAM", .program),
    exitStatuses: [
      .success, .usage, ExitStatus(code: "125", meaning: "PROGRAM or a library could not be opened"),
      ExitStatus(code: "126", meaning: "PROGRAM was refused"), ExitStatus(code: "127", meaning: "PROGRAM was not found"),
    ],
    examples: [
      ("scripthost coverage swift-format", "A table for the program's own functions."),
      ("scripthost coverage --list swift-format | grep 'not decoded'", "What cannot be decoded, and why."),
      ("scripthost coverage --library /usr/lib/libShop.so ./shop", "A library, in a program that can load it."),
    ],
    seeAlso: ["explain", "doctor"]
  ) { arguments in
    var arguments = arguments
    arguments.program = arguments.operands
    var launch = try Launch(arguments)
    launch.settings.add(.coverage)
    launch.addDebugDirectories(arguments)
    for library in arguments.all("--library") {
      guard let path = RawPath(library).resolved() else {
        throw Failure.notStarted("--library: no file '\(EventText.printable(RawPath(library).description))'; correct the path")
      }
      launch.settings.add(.coverageLibrary, path.bytes)
    }
    if arguments.has("--list") { launch.settings.add(.coverageList) }
    if arguments.has("--places") {
      guard arguments.has("--list"), arguments.has("--json") else { throw Failure.usage("'--places' needs --list and --json") }
      launch.settings.add(.coveragePlaces)
    }
    if arguments.has("--json") { launch.settings.add(.coverageJSON) }
    if let state = StateDirectory.resolve(chosen: arguments.path("--state")?.absolute()) { launch.settings.add(.state, state.bytes) }
    try launch.exec()
  }
}
