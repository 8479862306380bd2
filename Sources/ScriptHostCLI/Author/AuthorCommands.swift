// AuthorCommands — the commands that help to write a patch: new, stubs, doc.
internal import Glibc
internal import HookRuntime
internal import Journal
internal import ScriptHost

extension Subcommand {
  private static let statuses = [
    ExitStatus.success, ExitStatus(code: "1", meaning: "the selector or name is not there; the nearest is told"), .usage,
    ExitStatus(code: "126", meaning: "PROGRAM was refused, or a file cannot be written"), ExitStatus(code: "127", meaning: "PROGRAM was not found"),
  ]

  static let new = Subcommand(
    name: "new", summary: "write the beginning of a patch or rule, with a test",
    synopsis: "[-o FILE] patch|rule NAME PROGRAM SELECTOR|LINE",
    description: [
      """
      Writes NAME.lua: a patch with an around handler that has the function's parameters, or a tracking rule with its arguments as fields, \
      and a test that scripthost test runs. A file that is there is not written over. Instead of the selector, a LINE that scripthost \
      trace printed may be given, in quotes.
      """
    ],
    options: [Option(short: "o", value: "FILE", help: "Writes FILE instead of NAME.lua; - is stdout.", completion: .file)],
    operands: .several(4...4, "patch or rule, a NAME, a PROGRAM and a SELECTOR or a LINE of a trace", .words(["patch", "rule"])),
    exitStatuses: statuses,
    examples: [
      ("scripthost new patch banner swift-format 'SwiftFormat.PrettyPrinter.prettyPrint()'", "Writes banner.lua."),
      ("scripthost new rule adds ./shop '2.0 us    Cart.add(\"tea\", price: 2.5) -> 1'", "A rule for what a trace showed."),
    ],
    seeAlso: ["check", "test", "find"]
  ) { try newPatch($0) }

  private static func newPatch(_ arguments: Arguments) throws(Failure) -> Int32 {
    let words = arguments.operands.map { String(decoding: $0, as: UTF8.self) }
    guard words[0] == "patch" || words[0] == "rule" else { throw .usage("new: '\(EventText.printable(words[0]))' is neither patch nor rule") }
    guard !words[1].isEmpty, words[1].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }),
      words[1].utf8.count <= 64
    else {
      throw .usage("new: a NAME has 1 to 64 letters, digits, '.', '-' and '_', found '\(EventText.printable(words[1]))'")
    }
    let program = try ProgramView(arguments.operands[2])
    let (selector, family) = try function(words[3], SelectorBinding(program))
    let path = arguments.path("-o") ?? RawPath(words[1] + ".lua")
    let new = NewPatch(
      name: words[1], file: path.description, program: program.name, shown: program.shown, selector: selector, family: family, types: program.types)
    let text = words[0] == "patch" ? new.patch() : new.rule()
    try TextFile.write(text, to: path, replacing: false)
    if path.description != "-" { Output.note("wrote \(path); next: scripthost check \(path) \(program.shown)") }
    return 0
  }

  /// The function that a selector, or a line of a trace, is about.
  private static func function(_ text: String, _ binding: SelectorBinding) throws(Failure) -> (String, Family) {
    let problem: String
    switch binding.resolve(text) {
    case .failure(let found): problem = found.text
    case .success(let bound):
      guard let only = bound.only else {
        let names = Array(Set(bound.found.map { $0.image.fullName($0.family, typed: true) })).sorted()
        let shown = names.prefix(5).map { "'\($0)'" }.joined(separator: ", ") + (names.count > 5 ? ", …" : "")
        throw Failure(status: 1, sentence: "'\(text)' means \(bound.found.count) functions; name one: \(shown)")
      }
      return (text, only)
    }
    for selector in TraceLine.selectors(text, types: binding.program.types.keys.sorted()) {
      guard case .success(let bound) = binding.resolve(selector), let first = bound.found.first?.family else { continue }
      let names = Set(bound.found.map(\.family.selector)).sorted()
      guard names.count == 1 else {
        throw Failure(status: 1, sentence: "the line may be of \(names.prefix(5).map { "'\($0)'" }.joined(separator: ", ")); name one")
      }
      return (first.selector, first)
    }
    throw Failure(status: 1, sentence: problem)
  }

  static let stubs = Subcommand(
    name: "stubs", summary: "write a program's types for editors",
    synopsis: "[-o DIR] PROGRAM",
    description: [
      """
      Writes scripthost.lua, the host's own names, and PROGRAM.lua, the program's types and selectors, as annotations of the Lua language \
      server into DIR; editors that use it complete and check them. Put DIR into its workspace.library.
      """
    ],
    options: [
      Option(short: "o", value: "DIR", help: "The directory; the default is stubs. It is made where it is not there.", completion: .directory)
    ],
    operands: .one("a PROGRAM", .program), exitStatuses: statuses,
    examples: [("scripthost stubs -o .lua-stubs swift-format", "The types of swift-format.")], seeAlso: ["doc", "types"]
  ) { try writeStubs($0) }

  private static func writeStubs(_ arguments: Arguments) throws(Failure) -> Int32 {
    let directory = arguments.path("-o") ?? RawPath("stubs")
    if directory.lastComponent.suffix(4) == Array(".lua".utf8)[...] {
      throw .usage("stubs: -o takes a directory, for two files, found '\(EventText.printable(directory.description))'; leave .lua out")
    }
    let program = try ProgramView(arguments.operands[0])
    guard directory.makeDirectories() else {
      throw .refused("'\(EventText.printable(directory.description))' cannot be made, \(systemMessage(errno))")
    }
    try TextFile.write(ReferenceText.annotations(), to: directory.appending("scripthost.lua"), replacing: true)
    try TextFile.write(ProgramStubs(program).text(), to: directory.appending(program.name + ".lua"), replacing: true)
    Output.note("wrote \(directory)/scripthost.lua and \(directory)/\(program.name).lua")
    return 0
  }

  static let doc = Subcommand(
    name: "doc", summary: "print the reference of scripts",
    synopsis: "[--markdown|--stubs] [NAME]",
    description: ["""
      Prints what scripts can name: all of it in a line each, or one entry with its options and an example, such as track, swift.with or \
      Method:around.
      """],
    options: [
      Option(long: "markdown", help: "Prints the whole reference as Markdown: docs/lua-api.md."),
      Option(long: "stubs", help: "Prints it as annotations of the Lua language server."),
    ],
    operands: .optional("a NAME", .words(ScriptReference.entries.filter { !$0.isMember }.map(\.fullName))),
    exitStatuses: [.success, ExitStatus(code: "1", meaning: "there is no such name; the nearest is told"), .usage],
    examples: [("scripthost doc Method:around", "One entry."), ("scripthost doc --markdown >lua-api.md", "The whole reference.")],
    seeAlso: ["stubs", "check"]
  ) { arguments in
    if arguments.has("--markdown") || arguments.has("--stubs") {
      Output.text(arguments.has("--markdown") ? ReferenceText.markdown() : ReferenceText.annotations())
    } else if let name = arguments.operands.first.map({ String(decoding: $0, as: UTF8.self) }) {
      Output.text(try reference(name))
    } else {
      Output.text(ReferenceText.overview())
    }
    Output.flush()
    return 0
  }

  private static func reference(_ name: String) throws(Failure) -> String {
    let wanted = name.replacing(":", with: ".")
    let entries = ScriptReference.entries.filter {
      let full = $0.fullName.replacing(":", with: ".")
      return full == wanted || $0.owner == wanted || $0.isMember && $0.name == wanted || full.lowercased() == wanted.lowercased()
    }
    if !entries.isEmpty {
      let type = ScriptReference.types.first { $0.name == wanted }.map { "\($0.name)\n" + Help.wrap($0.summary, indent: 4) + "\n\n" } ?? ""
      return type + entries.map(ReferenceText.text).joined(separator: "\n\n") + "\n"
    }
    if let found = ScriptReference.standard.first(where: { ($0.library.isEmpty ? $0.name : "\($0.library).\($0.name)") == name }) {
      return "\(name)\n    As in Lua 5.4: https://www.lua.org/manual/5.4/manual.html#6\n    Within the budgets of a call: \(found.note)\n"
    }
    if let names = ScriptReference.members(ofTable: name) { return "\(name)\n" + Help.wrap(names.joined(separator: " "), indent: 4) + "\n" }
    let known = ScriptReference.entries.flatMap { [$0.fullName, $0.name] } + ScriptReference.globalNames
    throw Failure(
      status: 1,
      sentence: "no name '\(EventText.printable(name))' in the reference"
        + (Nearest.name(to: name, among: known).map { "; did you mean '\($0)'?" } ?? "; see scripthost doc"))
  }
}

/// Files that commands write for people.
enum TextFile {
  /// - Parameter path: `-` is stdout.
  static func write(_ text: String, to path: RawPath, replacing: Bool) throws(Failure) {
    if path.description == "-" {
      Output.text(text)
      return Output.flush()
    }
    let shown = EventText.printable(path.description)
    if !replacing, path.status() != nil { throw .refused("'\(shown)' is there already; choose another name, or remove it") }
    guard let file = path.withCString({ fopen($0, replacing ? "we" : "wxe") }) else {
      throw .refused("'\(shown)' cannot be written, \(systemMessage(errno))")
    }
    fputs(text, file)
    guard fclose(file) == 0 else { throw .refused("'\(shown)' cannot be written, \(systemMessage(errno))") }
  }
}
