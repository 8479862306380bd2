// ManualPage — manual pages for man(1), made from the interface.

enum ManualPage {
  /// scripthost(1): what there is.
  static func overview(_ commands: [Subcommand]) -> String {
    var page = head("scripthost", "make a Swift program scriptable, without rebuilding it")
    page += section("SYNOPSIS") + ".B scripthost\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
    page += section("DESCRIPTION")
    page += paragraph(
      "Opens an unmodified Swift program on Linux for Lua 5.4: patches fix it, tracking rules record what it does, a console looks around inside it.")
    page += section("COMMANDS")
    for command in commands { page += ".TP\n.BR scripthost\\-\(escaped(command.name)) (1)\n\(line(command.summary))" }
    page += section("EXIT STATUS")
    for status in ExitStatus.launch { page += entry(status.code, status.meaning) }
    return page
  }

  /// scripthost-NAME(1).
  static func page(_ command: Subcommand) -> String {
    var page = head("scripthost-\(command.name)", command.summary)
    page += section("SYNOPSIS") + ".B scripthost \(escaped(command.name))\n" + line(command.synopsis)
    page += section("DESCRIPTION") + command.description.map(paragraph).joined()
    page += section("OPTIONS")
    for option in command.options {
      let label = option.spellings.joined(separator: ", ") + (option.value.map { " \($0)" } ?? "")
      page += entry(label, option.help + (option.repeats ? " May be given several times." : ""))
    }
    page += entry("--help, -h", "Shows this page as text.")
    page += section("EXIT STATUS")
    for status in command.exitStatuses { page += entry(status.code, status.meaning) }
    page += section("EXAMPLES")
    for (example, effect) in command.examples { page += ".PP\n.nf\n.B \(escaped(example))\n.fi\n.RS\n\(line(effect)).RE\n" }
    page += section("SEE ALSO")
    page += (["scripthost"] + command.seeAlso.map { "scripthost-\($0)" }).map { ".BR \(escaped($0)) (1)" }.joined(separator: ",\n") + "\n"
    return page
  }

  private static func head(_ name: String, _ summary: String) -> String {
    ".TH \(name.uppercased().replacing("-", with: "\\-")) 1 \"\" \"scripthost \(ScriptHostCommand.version)\"\n"
      + section("NAME") + "\(escaped(name)) \\- \(escaped(summary))\n"
  }

  private static func section(_ title: String) -> String { ".SH \(title)\n" }
  private static func paragraph(_ text: String) -> String { ".PP\n" + line(text) }
  private static func entry(_ label: String, _ text: String) -> String { ".TP\n.B \(escaped(label))\n" + line(text) }

  /// Text on a line of its own; one that begins with a control character is no request.
  private static func line(_ text: String) -> String {
    let text = escaped(text)
    return (text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : "") + text + "\n"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\n", with: " ")
  }
}
