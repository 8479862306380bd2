// ProcessCommands — what runs under ScriptHost: ps, status, hooks.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Option {
  /// Of commands that look for processes.
  static let controlState = Option(
    long: "state", value: "DIR",
    help: "Also looks for processes that ran with this state directory; the default is that of run.", completion: .directory)
  static let json = Option(long: "json", help: "Prints what the process answered, as one JSON object per line.")
}

extension Arguments {
  /// The state directory of a command that looks for processes.
  var controlState: RawPath? { StateDirectory.resolve(chosen: path("--state")?.absolute()) }
  /// An operand as text.
  func operand(_ index: Int) -> String? { index < operands.count ? String(decoding: operands[index], as: UTF8.self) : nil }
}

extension Subcommand {
  static let ps = Subcommand(
    name: "ps",
    summary: "list the processes that run under ScriptHost",
    synopsis: "[--json] [--state DIR]",
    description: [
      """
      Prints the processes of this user that run under ScriptHost and can be controlled: pid, time since the start, patches loaded and \
      all, and the program. Of one that a signal or a debugger stopped, or that does not answer within two seconds, that is said instead \
      of its patches; with --json it has state, stopped or silent.
      """,
      """
      Processes are found by the sockets in $XDG_RUNTIME_DIR/scripthost and in the folder control of the state directory. Sockets of \
      processes that were killed are removed.
      """,
    ],
    options: [.json, .controlState],
    operands: .none,
    examples: [("scripthost ps", "What runs."), ("scripthost ps --json", "For another program.")],
    seeAlso: ["status", "patch", "run"]
  ) { arguments in
    var table = Table(["PID", "TIME", "PATCHES", "PROGRAM"])
    let processes = HostedProcess.all(state: arguments.controlState)
    if processes.isEmpty { Output.note(HostedProcess.nobody(arguments.controlState)) }
    for process in processes {
      guard let answer = try? ControlConnection(process).ask("status", timeout: 2000) else {
        let isStopped = process.isStopped
        // It may have ended meanwhile.
        guard isStopped || process.isThere else { continue }
        let state = isStopped ? "stopped" : "silent"
        if arguments.has("--json") {
          Output.line(JSONValue(members: ("pid", JSONValue(process.pid)), ("program", .string(process.program)), ("state", .string(state))).line)
        } else {
          table.add(["\(process.pid)", "-", isStopped ? state : "no answer", EventText.printable(process.program)])
        }
        continue
      }
      if arguments.has("--json") {
        Output.line(answer.withoutEnvelope.line)
      } else {
        table.add([
          "\(process.pid)", Table.time(answer["uptime_ns"]?.int ?? 0),
          "\(answer["loaded"]?.int ?? 0) of \(answer["patches"]?.int ?? 0)", EventText.printable(answer["program"]?.text ?? ""),
        ])
      }
    }
    if !arguments.has("--json") { for line in table.lines { Output.line(line) } }
    Output.flush()
    return 0
  }

  static let status = Subcommand(
    name: "status",
    summary: "tell how a running process and its patches stand",
    synopsis: "[--json] [--state DIR] [PID]",
    description: [
      """
      Prints the program, the time since the start and each patch with its state: loaded, disabled, refused, expired, waiting or \
      quarantined, and why. Without PID it means the only process there is.
      """,
      "A patch whose newest text could not be loaded is shown with the reason; the text before it runs on.",
      """
      Where the process has ended, or none runs, it tells of the programs that ran with this state directory how they crashed or were \
      killed last, which patches safe mode and the canary keep out and why, and what the next start does. The exit status is 1 then, as \
      nothing runs.
      """,
    ],
    options: [.json, .controlState],
    operands: .optional("PID", .processes),
    exitStatuses: ExitStatus.control,
    examples: [("scripthost status", "Of the only process."), ("scripthost status 4711 --json", "For another program.")],
    seeAlso: ["ps", "patch", "hooks"]
  ) { arguments in
    let connection: ControlConnection
    do throws(Failure) { connection = try HostedProcess.find(arguments.operand(0), state: arguments.controlState) } catch {
      tellEnded(arguments)
      throw error
    }
    let status = try connection.ask("status")
    let patches = try connection.ask("patches")
    if arguments.has("--json") {
      Output.line(JSONValue.object(status.withoutEnvelope.members + patches.withoutEnvelope.members).line)
    } else {
      Output.line(
        "\(EventText.printable(status["program"]?.text ?? "")), process \(connection.process.pid), \(Table.time(status["uptime_ns"]?.int ?? 0))")
      for line in status["safe_mode"]?.elements ?? [] { Output.line("safe mode: \(EventText.printable(line.text ?? ""))") }
      PatchTable.show(patches["patches"]?.elements ?? [])
    }
    Output.flush()
    return 0
  }

  /// Of programs that do not run: of the process that was named, or of all where none runs.
  private static func tellEnded(_ arguments: Arguments) {
    let process = arguments.operand(0).map { Int32($0) ?? 0 }
    guard let state = arguments.controlState, process != nil || HostedProcess.all(state: state).isEmpty else { return }
    for standing in ProgramStanding.all(in: state, process: process) {
      guard !arguments.has("--json") else {
        Output.line(standing.json.line)
        continue
      }
      Output.line("\(standing.program) does not run")
      for line in standing.lines { Output.line(line) }
    }
    Output.flush()
  }

  static let hooks = Subcommand(
    name: "hooks",
    summary: "list the hooks of a running process",
    synopsis: "[--patch ID] [--json] [--state DIR] [PID]",
    description: [
      """
      Prints the installed hooks in the order in which they were made: position, calls so far, whose, and the function; then what is \
      waited for. Without PID it means the only process there is.
      """,
      """
      Of hooks on a type, calls are those of the function since the hook was made; of others, those the hook took part in. Below the table \
      stands why a hook was switched off, or made rarer: a handler that failed too often stays listed until its patch is reloaded or \
      unloaded.
      """,
    ],
    options: [
      Option(long: "patch", value: "ID", help: "Only of this patch."), .json, .controlState,
    ],
    operands: .optional("PID", .processes),
    exitStatuses: ExitStatus.control,
    examples: [("scripthost hooks --patch rounding", "What one patch hooks in the only process there is.")],
    seeAlso: ["status", "explain"]
  ) { arguments in
    let connection = try HostedProcess.find(arguments.operand(0), state: arguments.controlState)
    let answer = try connection.ask("hooks", arguments.text("--patch").map { [.init("patch", .string($0)), .init("limit", 10_000)] } ?? [])
    if arguments.has("--json") {
      for hook in answer["hooks"]?.elements ?? [] { Output.line(hook.line) }
      for wait in answer["waits"]?.elements ?? [] { Output.line(wait.line) }
    } else {
      var table = Table(["POSITION", "CALLS", "STATE", "PATCH", "FUNCTION"])
      for hook in answer["hooks"]?.elements ?? [] {
        let state = hook["enabled"]?.bool == false ? "off" : hook["changed_elsewhere"]?.bool == true ? "changed" : "on"
        table.add([
          hook["position"]?.text ?? "", "\(hook["calls"]?.int ?? 0)", state, EventText.printable(hook["owner"]?.text ?? ""),
          EventText.printable(hook["selector"]?.text ?? ""),
        ])
      }
      for wait in answer["waits"]?.elements ?? [] where wait["waiting"]?.bool == true {
        table.add(["", "", "waiting", EventText.printable(wait["owner"]?.text ?? ""), EventText.printable(wait["selector"]?.text ?? "")])
      }
      for line in table.lines { Output.line(line) }
      for hook in answer["hooks"]?.elements ?? [] {
        guard let why = hook["limited"]?.text else { continue }
        Output.line("\(EventText.printable("\(hook["owner"]?.text ?? ""): \(hook["position"]?.text ?? "") \(hook["selector"]?.text ?? ""): \(why)"))")
      }
      let count = answer["count"]?.int ?? 0, shown = answer["hooks"]?.elements?.count ?? 0
      if count > shown { Output.line("… and \(Int(count) - shown) more") }
    }
    Output.flush()
    return 0
  }
}

extension JSONValue {
  /// An answer without what the protocol adds.
  var withoutEnvelope: JSONValue { .object(members.filter { !["id", "ok", "more"].contains($0.name) }) }
  /// Those of an object.
  var members: [Member] { if case .object(let members) = self { members } else { [] } }
}

extension ExitStatus {
  static let control = [
    success, ExitStatus(code: "1", meaning: "no such process, or it refused; the sentence says why"), usage,
  ]
}
