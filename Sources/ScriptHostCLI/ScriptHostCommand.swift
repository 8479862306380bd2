// ScriptHostCommand — the list of subcommands and the way from a command line to an exit status.
internal import Glibc
internal import Journal
internal import ScriptHost

/// The command as a whole.
enum ScriptHostCommand {
  static let version = HostVersion.text

  /// The compiler this was built with, whose programs it fits: its release, and the revision that binaries carry in `.comment`.
  private static var compiler: String {
    #if compiler(>=6.4)
      let release = "Swift 6.4 or newer"
    #elseif compiler(>=6.3)
      let release = "Swift 6.3"
    #else
      let release = "Swift 6.2"
    #endif
    return release + (OwnRuntime.current.compilers.sorted().first.map { ", LLVM \($0.prefix(10))" } ?? "") + ", x86_64 Linux"
  }

  /// All subcommands, in the order of the help.
  static let subcommands: [Subcommand] = [
    .run, .repl, .attach, .ps, .status, .patch, .hooks, .top, .trace, .types, .methods, .find, .explain, .coverage, .check, .pin, .test, .new,
    .stubs, .doc, .events, .logs,
    .crashes, .guards, .safeMode, .export, .query, .report, .doctor, .completion, .manual,
  ]

  /// The words of this process's command line, as bytes: file names need not be UTF-8.
  static func words() -> [[UInt8]] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { place in
      // unsafeArgv has argc entries, each a C string that lives as long as the process.
      CommandLine.unsafeArgv[place].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
  }

  /// Runs a command line and answers the exit status.
  static func main(_ words: [[UInt8]]) -> Int32 {
    do {
      return try run(words)
    } catch let failure as Failure {
      Output.note(failure.sentence)
      return failure.status
    } catch {
      Output.note("internal error: \(error); please report it")
      return 1
    }
  }

  private static func run(_ words: [[UInt8]]) throws -> Int32 {
    guard let first = words.first.map({ String(decoding: $0, as: UTF8.self) }) else {
      Output.text(Help.overview(subcommands))
      Output.flush()
      return 2
    }
    switch first {
    case "--help", "-h", "help": return try help(words.dropFirst().first)
    case "--version":
      Output.line("scripthost \(version) (\(compiler))")
      Output.flush()
      return 0
    default: break
    }
    let command = try find(first)
    let rest = Array(words.dropFirst())
    if rest.prefix(while: { $0 != Array("--".utf8) }).contains(where: { $0 == Array("--help".utf8) || $0 == Array("-h".utf8) }) {
      return try help(words[0])
    }
    return try command.run(Parser.parse(rest, for: command))
  }

  private static func find(_ name: String) throws(Failure) -> Subcommand {
    if let command = subcommands.first(where: { $0.name == name }) { return command }
    let shown = EventText.printable(name)
    if name.hasPrefix("-") {
      throw .usage("unknown option '\(shown)'; options stand after the command: scripthost COMMAND \(shown)")
    }
    let near = Nearest.name(to: name, among: subcommands.map(\.name))
    throw .usage("unknown command '\(shown)'; " + (near.map { "did you mean '\($0)'?" } ?? "see scripthost --help"))
  }

  private static func help(_ name: [UInt8]?) throws(Failure) -> Int32 {
    if let name {
      Output.text(Help.page(try find(String(decoding: name, as: UTF8.self))))
    } else {
      Output.text(Help.overview(subcommands))
    }
    Output.flush()
    return 0
  }
}

extension Subcommand {
  static let manual = Subcommand(
    name: "manual",
    summary: "write the manual pages",
    synopsis: "DIRECTORY",
    description: ["Writes scripthost.1 and a page for each command into DIRECTORY, which must be there; man reads them with man -M or -l."],
    options: [],
    operands: .one("a directory", .directory),
    examples: [("scripthost manual /usr/local/share/man/man1", "For man scripthost and man scripthost-trace.")]
  ) { arguments in
    let directory = RawPath(arguments.operands[0])
    let pages = [("scripthost", ManualPage.overview(ScriptHostCommand.subcommands))]
      + ScriptHostCommand.subcommands.map { ("scripthost-" + $0.name, ManualPage.page($0)) }
    for (name, text) in pages {
      let path = directory.appending("\(name).1")
      guard let file = path.withCString({ fopen($0, "we") }) else {
        throw Failure(status: 1, sentence: "cannot write '\(path)': \(String(cString: strerror(errno)))")
      }
      fputs(text, file)
      guard fclose(file) == 0 else { throw Failure(status: 1, sentence: "cannot write '\(path)': \(String(cString: strerror(errno)))") }
    }
    return 0
  }

  static let completion = Subcommand(
    name: "completion",
    summary: "print a completion script for a shell",
    synopsis: "bash|zsh|fish",
    description: ["Prints a script that lets the shell complete commands, options and programs."],
    options: [],
    operands: .one("bash, zsh or fish", .words(["bash", "zsh", "fish"])),
    examples: [
      ("source <(scripthost completion bash)", "Completion for this shell; put the line into ~/.bashrc to keep it."),
      ("scripthost completion zsh >~/.zfunc/_scripthost", "Completion for zsh, in a directory of $fpath."),
      ("scripthost completion fish >~/.config/fish/completions/scripthost.fish", "Completion for fish."),
    ]
  ) { arguments in
    switch String(decoding: arguments.operands[0], as: UTF8.self) {
    case "bash": Output.text(CompletionScript.bash(ScriptHostCommand.subcommands))
    case "zsh": Output.text(CompletionScript.zsh(ScriptHostCommand.subcommands))
    case "fish": Output.text(CompletionScript.fish(ScriptHostCommand.subcommands))
    case let shell:
      throw Failure.usage("completion: no script for '\(EventText.printable(shell))'; use bash, zsh or fish")
    }
    Output.flush()
    return 0
  }
}
