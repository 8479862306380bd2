// Help — manual pages in plain text, made from the interface.
internal import Journal

/// Writes the help of the command and of its subcommands.
enum Help {
  private static let width = 80

  /// The page of `scripthost --help`.
  static func overview(_ commands: [Subcommand]) -> String {
    let widest = commands.map(\.name.count).max() ?? 0
    let list = commands.map { command in
      "  " + command.name.padded(to: widest + 3, least: 1) + command.summary
    }
    return """
      scripthost: make a Swift program scriptable, without rebuilding it

      USAGE
        scripthost COMMAND [OPTIONS] …
        scripthost COMMAND --help
        scripthost --version

      COMMANDS
      \(list.joined(separator: "\n"))

      DESCRIPTION
      \(wrap("ScriptHost opens a Swift program with Lua 5.4: patches fix it, tracking rules record what it does, and nothing of it is built anew. Programs are named the same way everywhere: after '--' to start them, as PROGRAM to look at them.", indent: 2))

      \(wrap("A program is started under ScriptHost in this command's place: same process, terminal, signals and exit status.", indent: 2))

      ENVIRONMENT
      \(entry("SCRIPTHOST_LIBRARY_PATH", "Directories, separated by colons, where libScriptHostBoot.so and libscripthost_preload.so are looked for before the directory of this command."))
      \(entry("SCRIPTHOST_CONTROL", "off: programs that are started listen nowhere, as with --no-control."))
      \(entry("XDG_RUNTIME_DIR", "Processes listen in its directory scripthost, where there is one."))
      \(entry("STATE_DIRECTORY, XDG_STATE_HOME, HOME", "Where the journal is kept when --state is not given: $STATE_DIRECTORY, $XDG_STATE_HOME/scripthost or $HOME/.local/state/scripthost."))

      EXIT STATUS
      \(statuses(ExitStatus.launch))

      EXAMPLES
        scripthost doctor swift-format
            whether it can work here, and what to change
        scripthost run --patches Patches -- swift-format file.swift
            the program with the patches of a directory
        scripthost events -n 20
            the last things that were recorded

      """
  }

  /// The page of one subcommand.
  static func page(_ command: Subcommand) -> String {
    var sections = [
      "NAME\n  scripthost \(command.name): \(command.summary)",
      "SYNOPSIS\n" + wrap("scripthost \(command.name) \(command.synopsis)", indent: 2, hanging: 6),
      "DESCRIPTION\n" + command.description.map { wrap($0, indent: 2) }.joined(separator: "\n\n"),
    ]
    let options = command.options + [Option(long: "help", short: "h", help: "Shows this page.")]
    sections.append(
      "OPTIONS\n"
        + options.map { entry(label($0), $0.help + ($0.repeats ? " May be given several times." : "")) }
        .joined(separator: "\n"))
    sections.append("EXIT STATUS\n" + statuses(command.exitStatuses))
    sections.append(
      "EXAMPLES\n" + command.examples.map { "  \($0.line)\n" + wrap($0.effect, indent: 6) }.joined(separator: "\n"))
    if !command.seeAlso.isEmpty {
      sections.append("SEE ALSO\n  " + command.seeAlso.map { "scripthost \($0) --help" }.joined(separator: ", "))
    }
    return sections.joined(separator: "\n\n") + "\n"
  }

  private static func label(_ option: Option) -> String {
    option.spellings.joined(separator: ", ") + (option.value.map { " " + $0 } ?? "")
  }

  private static func statuses(_ statuses: [ExitStatus]) -> String {
    statuses.map { "  " + $0.code.padded(to: 5, least: 1) + $0.meaning }.joined(separator: "\n")
  }

  private static func entry(_ label: String, _ text: String) -> String {
    "  " + label + "\n" + wrap(text, indent: 6)
  }

  /// Breaks at blanks so that lines fit a terminal; lines after the first start at `hanging`.
  static func wrap(_ text: String, indent: Int, hanging: Int? = nil) -> String {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var isEmpty = true
    for word in text.split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = String(repeating: " ", count: hanging ?? indent)
        isEmpty = true
      }
      line += (isEmpty ? "" : " ") + word
      isEmpty = false
    }
    return (lines + [line]).joined(separator: "\n")
  }
}
