// GuardsCommand — what the guards of a running process caught: guards.
internal import Journal
internal import ScriptHost

extension Subcommand {
  static let guards = Subcommand(
    name: "guards",
    summary: "show what the guards of a running process caught",
    synopsis: "[--json] [--state DIR] [PID]",
    description: [
      """
      Prints the guards that patches of the process have switched on, each with its mode, whose it is, how many functions it watches and \
      how many hits it had; below it the functions that were hit, most often first, with what was wrong the last time and who made the \
      call. Without PID it means the only process there is.
      """,
      "Each hit that is recorded is an event 'guard' in the journal, also after the process has ended: scripthost events.",
    ],
    options: [
      .json, .controlState, Option(long: "notes", help: "Also prints what each guard does not watch, and why."),
    ],
    operands: .optional("PID", .processes),
    exitStatuses: ExitStatus.control,
    examples: [("scripthost guards", "Of the only process."), ("scripthost guards 4711 --json", "For another program.")],
    seeAlso: ["status", "events", "crashes"]
  ) { arguments in
    let connection = try HostedProcess.find(arguments.operand(0), state: arguments.controlState)
    let answer = try connection.ask("guards")
    if arguments.has("--json") {
      Output.line(answer.withoutEnvelope.line)
    } else {
      let guards = answer["guards"]?.elements ?? []
      for each in guards { show(each, notes: arguments.has("--notes")) }
      for each in answer["over"]?.elements ?? [] {
        Output.line("\(each["guard"]?.text ?? ""): switched off, \(hits(each["hits"]?.int))")
      }
      if guards.isEmpty { Output.note("no guard is on in process \(connection.process.pid); see docs/guards.md") }
    }
    Output.flush()
    return 0
  }

  private static func hits(_ count: Int64?) -> String { count == 1 ? "1 hit" : "\(count ?? 0) hits" }

  private static func show(_ each: JSONValue, notes: Bool) {
    func text(_ name: String) -> String { EventText.printable(each[name]?.text ?? "") }
    let watched = each["watched"]?.int ?? 0
    Output.line(
      "\(text("guard")) (\(text("mode")), \(text("owner"))): \(hits(each["hits"]?.int))\(watched > 0 ? ", \(watched) functions watched" : "")")
    var table = Table(["  HITS", "FUNCTION", "LAST", "CALLED BY"])
    let places = each["places"]?.elements ?? []
    for place in places {
      table.add([
        "  \(place["hits"]?.int ?? 0)", EventText.printable(place["selector"]?.text ?? ""), EventText.printable(place["problem"]?.text ?? ""),
        EventText.printable(place["site"]?.text ?? ""),
      ])
    }
    if !places.isEmpty { for line in table.lines { Output.line(line) } }
    if notes { for note in each["notes"]?.elements ?? [] { Output.line("  \(EventText.printable(note.text ?? ""))") } }
  }
}
