// AttachCommand — scripthost attach: a console in a running process.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Subcommand {
  static let attach = Subcommand(
    name: "attach", summary: "look around inside a running process",
    synopsis: "[--write] [--json] [--state DIR] [PID]",
    description: [
      """
      Opens a console in a process that runs under ScriptHost: Lua as in a patch, with the program's types, values and selectors. Without \
      --write it reads only: hooks, calls and writes are refused. Each change is in the journal. What a session installed goes with it.
      """,
      """
      What hooks and traces of the session print is shown as it comes, above the line that is typed. Lines that come faster than they are \
      shown are left out and counted.
      """,
      """
      Input that is no terminal is run as it comes: commands line by line, what stands between them as one snippet each. The status tells \
      whether something failed. An input that ends with :trace goes on with the calls until Ctrl-C or the program's end. Without PID it \
      means the only process there is.
      """,
    ],
    options: [
      Option(long: "write", help: "Allows hooks, calls and writes; each is recorded."), .json, .controlState,
    ],
    operands: .optional("PID", .processes), exitStatuses: ExitStatus.control,
    examples: [
      ("scripthost attach", "A console in the only process."), ("echo 'hooks()' | scripthost attach 4711", "One snippet, for a script."),
      ("echo ':trace Shop.Cart.checkout()' | timeout 10 scripthost attach --write", "The calls of ten seconds."),
    ],
    seeAlso: ["ps", "status", "run"]
  ) { arguments in
    let process = try HostedProcess.find(arguments.operand(0), state: arguments.controlState).process
    let client = try ConsoleClient(process, write: arguments.has("--write"), isJSON: arguments.has("--json"), state: arguments.controlState)
    if isatty(STDIN_FILENO) == 1 { return try client.run(ConsoleHistory(state: arguments.controlState)) }
    return try client.runPiped()
  }
}
