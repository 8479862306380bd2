// TestCommand — scripthost test: a patch's own tests, in a process of the program.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Subcommand {
  static let test = Subcommand(
    name: "test", summary: "run a patch's own tests in a process of the program",
    synopsis: "[--json] [--policy FILE] PATCH PROGRAM [ARGUMENT…]",
    description: [
      """
      Starts PROGRAM under ScriptHost, loads PATCH, of a directory with patch.lua also the files of its directory tests, runs the tests \
      and ends the process before its main function: test \"name\" (function(t) … end). Functions that a test calls are hooked as in the \
      running program, and a handler of the patch that fails meanwhile fails the test. t.expect, t.equal, t.fails, t.hooked, t.call and \
      t.stub are described in docs/checking.md.
      """,
    ],
    options: [
      Option(long: "json", help: "Prints one JSON object per test."),
      Option(long: "policy", value: "FILE", help: "The patch may touch and do only what FILE allows, as under run --policy.", completion: .file),
    ],
    operands: .several(2...256, "a PATCH and a PROGRAM", .file),
    exitStatuses: [
      ExitStatus(code: "0", meaning: "all tests passed"), ExitStatus(code: "1", meaning: "a test failed, or the patch was refused"),
      ExitStatus(code: "2", meaning: "the command line is wrong, or the patch has no tests"),
      ExitStatus(code: "125", meaning: "PROGRAM could not be started"), ExitStatus(code: "126", meaning: "PROGRAM was refused"),
      ExitStatus(code: "127", meaning: "PROGRAM or PATCH was not found"),
    ],
    examples: [("scripthost test banner.lua swift-format", "The tests of banner.lua.")],
    seeAlso: ["check", "new", "run"]
  ) { arguments in
    var arguments = arguments
    let patch = RawPath(arguments.operands[0]).absolute()
    guard patch.status() != nil else { throw Failure.notFound("no patch '\(EventText.printable(patch.description))'; check the path") }
    arguments.program = Array(arguments.operands.dropFirst())
    var launch = try Launch(arguments)
    launch.settings.add(.patches, patch.bytes)
    try launch.addPolicy(arguments)
    launch.settings.add(.test, arguments.has("--json") ? "json" : "text")
    launch.settings.add(.verbose)
    try launch.exec()
  }
}
