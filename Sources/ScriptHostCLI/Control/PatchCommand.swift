// PatchCommand — scripthost patch: patches of a running process are listed, loaded, replaced, removed and switched.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Subcommand {
  private static let verbs = ["list", "load", "reload", "unload", "enable", "disable"]

  static let patch = Subcommand(
    name: "patch",
    summary: "load, replace and remove patches of a running process",
    synopsis: "list|load|reload|unload|enable|disable [--json] [--state DIR] [PID] [PATH|ID]…",
    description: [
      "Changes the patches of a process that runs under ScriptHost. Without PID it means the only process there is; a word of digits is a PID.",
      """
      list prints all patches with their states. load takes paths of patches or of directories with patches; a patch whose id is loaded \
      takes that one's place. reload reads the file of a patch again. unload removes a patch with all it installed. disable switches what \
      it installed off and keeps it loaded, enable switches it on again.
      """,
      """
      The new text is loaded beside the old one and takes its place in one step for each function: no call sees both or neither. A text \
      that cannot be loaded changes nothing, and the reason is told. Calls in flight finish with the text they began with.
      """,
    ],
    options: [.json, .controlState, Option(long: "why", value: "TEXT", help: "With disable: the reason that lists show.")],
    operands: .several(1...64, "one of \(verbs.joined(separator: ", "))", .words(verbs), rest: .patches),
    exitStatuses: ExitStatus.control,
    examples: [
      ("scripthost patch load Patches/rounding.lua", "Loads a patch into the only process there is, or replaces it."),
      ("scripthost patch disable 4711 rounding", "Switches a patch off in one process."),
      ("scripthost patch list", "All patches with their states."),
    ],
    seeAlso: ["ps", "status", "run"]
  ) { arguments in
    let verb = arguments.operand(0)!
    guard verbs.contains(verb) else {
      let near = Nearest.name(to: verb, among: verbs)
      throw Failure.usage(
        "patch: unknown '\(EventText.printable(verb))'; " + (near.map { "did you mean '\($0)'?" } ?? "use \(verbs.joined(separator: ", "))"))
    }
    var rest = arguments.operands.dropFirst()
    var pid: String?
    if let first = rest.first, !first.isEmpty, first.allSatisfy({ (48...57).contains($0) }) {
      pid = String(decoding: first, as: UTF8.self)
      rest = rest.dropFirst()
    }
    guard verb == "list" ? rest.isEmpty : !rest.isEmpty else {
      throw verb == "list"
        ? Failure.usage("patch list: '\(EventText.printable(String(decoding: rest.first!, as: UTF8.self)))' is no PID")
        : Failure.usage("patch \(verb): needs \(verb == "load" ? "the path of a patch" : "the id of a patch, as list shows it")")
    }
    let connection = try HostedProcess.find(pid, state: arguments.controlState)
    var status: Int32 = 0
    if verb == "list" {
      let patches = try connection.ask("patches")["patches"]?.elements ?? []
      if arguments.has("--json") { for patch in patches { Output.line(patch.line) } } else { PatchTable.show(patches) }
    }
    for word in rest {
      do throws(Failure) {
        let answer = try connection.ask(verb, try members(verb, word, arguments), timeout: 60_000)
        for problem in answer["problems"]?.elements ?? [] {
          Output.note(problem.text ?? "")
          status = 1
        }
        for patch in (answer["patches"]?.elements ?? []) + (answer["patch"].map { [$0] } ?? []) { tell(verb, patch, arguments) }
      } catch {
        Output.note(error.sentence)
        status = 1
      }
    }
    Output.flush()
    return status
  }

  private static func members(_ verb: String, _ word: [UInt8], _ arguments: Arguments) throws(Failure) -> [JSONValue.Member] {
    if verb == "load" {
      let path = RawPath(word).absolute()
      guard path.status() != nil else {
        throw Failure(status: 1, sentence: "'\(EventText.printable(RawPath(word).description))' cannot be read, \(systemMessage(errno))")
      }
      guard let text = String(validating: path.bytes, as: UTF8.self) else {
        throw Failure(status: 1, sentence: "'\(path)' is no UTF-8, which the protocol needs; rename it")
      }
      return [.init("path", .string(text))]
    }
    let id = JSONValue.Member("patch", .string(String(decoding: word, as: UTF8.self)))
    return [id] + (arguments.text("--why").map { [.init("why", .string($0))] } ?? [])
  }

  private static func tell(_ verb: String, _ patch: JSONValue, _ arguments: Arguments) {
    if arguments.has("--json") { return Output.line(patch.line) }
    let hooks = patch["hooks"]?.int ?? 0
    let time = verb == "load" || verb == "reload" ? ", \(Table.time(patch["load_ns"]?.int ?? 0))" : ""
    Output.line("\(EventText.printable(patch["id"]?.text ?? "")): \(patch["state"]?.text ?? ""), \(hooks) hook\(hooks == 1 ? "" : "s")\(time)")
  }
}

/// Patches for people.
enum PatchTable {
  static func show(_ patches: [JSONValue]) {
    var table = Table(["PATCH", "VERSION", "STATE", "HOOKS", "MEMORY", "PATH"])
    for patch in patches {
      let memory = patch["memory"]?.int ?? 0
      table.add([
        EventText.printable(patch["id"]?.text ?? ""), EventText.printable(patch["version"]?.text ?? "-"), patch["state"]?.text ?? "",
        "\(patch["hooks"]?.int ?? 0)", memory == 0 ? "-" : "\((memory + 1023) / 1024) KiB", EventText.printable(patch["path"]?.text ?? ""),
      ])
    }
    for line in table.lines { Output.line(line) }
    for patch in patches {
      if let why = patch["why"]?.text {
        Output.line("\(EventText.printable(patch["id"]?.text ?? "")): \(patch["state"]?.text ?? ""): \(EventText.printable(why))")
      }
      if let off = patch["switched_off"]?.int, off > 0 {
        Output.line(
          "\(EventText.printable(patch["id"]?.text ?? "")): \(off) handler\(off == 1 ? " is" : "s are") switched off, "
            + "for failing too often; a reload begins anew")
      }
      if let problem = patch["problem"]?.text {
        Output.line("\(EventText.printable(patch["id"]?.text ?? "")): not reloaded: \(EventText.printable(problem))")
      }
    }
  }
}
