// CrashCommands — the command that shows how programs ended: crashes.
internal import Journal
internal import ScriptHost

extension Subcommand {
  static let crashes = Subcommand(
    name: "crashes",
    summary: "show how programs crashed",
    synopsis: "[--json] [--state DIR] [show [N]]",
    description: [
      """
      Lists the programs that ran with this state directory and crashed or were killed, oldest first, with the patch whose handler was at \
      work. Programs that ended as they wanted leave nothing.
      """,
      """
      show prints one of them, the newest without N: signal, the Swift runtime's message, the stacks of all threads with the names found \
      in the files of the same build, patches and hooks on each, registers, images, and what happened before (breadcrumbs).
      """,
    ],
    options: [
      Option(long: "json", help: "Prints one JSON object per line."),
      Option(long: "state", value: "DIR", help: "Reads this state directory; the default is that of run.", completion: .directory),
    ],
    operands: .several(0...2, "show and a number", .words(["show"])),
    examples: [
      ("scripthost crashes", "All of them, a line each."),
      ("scripthost crashes show", "The newest."),
    ],
    seeAlso: ["run", "events"]
  ) { arguments in
    guard let state = StateDirectory.resolve(chosen: arguments.path("--state")) else {
      throw Failure(status: 1, sentence: "no state directory: HOME is not set; use --state DIR")
    }
    let files = CrashFile.ended(in: state)
    let words = arguments.operands.map { String(decoding: $0, as: UTF8.self) }
    if words.isEmpty {
      for (index, file) in files.enumerated() {
        Output.line(arguments.has("--json") ? CrashText.json(index + 1, file, whole: false) : CrashText.line(index + 1, file))
      }
      Output.flush()
      if files.isEmpty { Output.note("no program crashed with the state directory '\(state)'") }
      return 0
    }
    guard words[0] == "show", words.count <= 2 else {
      throw Failure.usage("crashes: expected 'show' and a number, found '\(EventText.printable(words.joined(separator: " ")))'")
    }
    guard let number = words.count == 2 ? Int(words[1]) : files.count, files.indices.contains(number - 1) else {
      if files.isEmpty { throw Failure(status: 1, sentence: "no program crashed with the state directory '\(state)'") }
      throw Failure(status: 1, sentence: "no crash '\(EventText.printable(words.last ?? ""))'; there are \(files.count), see scripthost crashes")
    }
    let file = files[number - 1]
    Output.line(arguments.has("--json") ? CrashText.json(number, file, whole: true) : CrashText.text(file))
    Output.flush()
    return 0
  }
}
