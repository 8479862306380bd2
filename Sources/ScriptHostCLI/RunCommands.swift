// RunCommands — the commands that start a program: run and trace.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Subcommand {
  /// Options of every command that starts a program.
  private static let launchOptions = [
    Option(
      long: "patches", value: "DIR", repeats: true,
      help: "Loads the patches of this directory, or one patch file.", completion: .directory),
    Option(
      long: "events", value: "FILE",
      help: "Also writes everything recorded as JSON lines to FILE, or to an open descriptor with fd:N.", completion: .file),
    Option(
      long: "state", value: "DIR",
      help:
        """
        Keeps journal and other state here. Without it: $STATE_DIRECTORY, $XDG_STATE_HOME/scripthost or ~/.local/state/scripthost. Where \
        nothing can be written, the newest events stay in memory.
        """,
      completion: .directory),
    .debugDirectory,
    Option(
      long: "journal-size", value: "SIZE",
      help:
        """
        Keeps so much of what this process records, such as 512MB, at least 1MB; older records go first. The default is 64MB. All programs \
        of a state directory together keep four times as much.
        """),
    Option(
      long: "journal-age", value: "AGE",
      help: "Keeps records for so long, such as 7d; files with older ones alone are removed as programs start and as they record."),
    Option(
      long: "follow-children",
      help:
        """
        Also opens the Swift programs that PROGRAM starts. LD_PRELOAD and SCRIPTHOST_BOOT then stay in the environment; without this \
        option the program never sees them.
        """
    ),
  ]

  static let run = Subcommand(
    name: "run",
    summary: "start a program with patches",
    synopsis:
      """
      [-v] [--patches DIR]… [--config FILE] [--preset NAME]… [--apm] [--watch] [--no-control] [--canary boot|test|off] [--record-calls \
      GLOB]… [--policy FILE] [--max-share PERCENT] [--hold] [--stalls TIME] [--profile HZ] [--network] [--events FILE] [--state DIR] \
      [--debug-dir DIR]… [--journal-size SIZE] [--journal-age AGE] [--follow-children] -- PROGRAM ARGUMENTS
      """,
    description: [
      """
      Starts PROGRAM with the host inside and the patches loaded before its main function runs. PROGRAM is looked up in PATH as a shell \
      does, and takes the place of this command: same process, terminal, signals and exit status. Its environment is the one it would have \
      without ScriptHost.
      """,
      """
      Whatever a patch does, the program keeps running: a handler that fails falls back to the original code and is reported. What was \
      recorded survives the end of the process, also by kill -9; see events and logs.
      """,
      """
      The process can be controlled while it runs, by its user alone: see ps, status and patch. It listens on a Unix socket in \
      $XDG_RUNTIME_DIR/scripthost or the folder control of the state directory, with three threads of the host; --no-control, or \
      SCRIPTHOST_CONTROL=off in the environment, leaves both out.
      """,
      "A program that replaces itself (exec) leaves ScriptHost behind, unless children are followed.",
    ],
    options: [
      Option(long: "verbose", short: "v", help: "Prints what patches print and log, with file and line, on stderr."),
      Option(
        long: "preset", value: "NAME", repeats: true,
        help: "Loads a patch that is installed with this command: \(Presets.known.joined(separator: ", ")).",
        completion: .words(Presets.known)),
      Option(
        long: "config", value: "FILE",
        help: """
          Settings of patches, which they read as config: a JSON object with one object for each patch's id. They count more than those of \
          headers and of files beside patches (docs/patches.md).
          """,
        completion: .file),
      Option(
        long: "apm",
        help: "Loads all presets but c.accept: start-up, commands, requests, connections, stalls of 250ms; see it with scripthost report."),
      Option(
        long: "stalls", value: "TIME",
        help: "Records when the main thread, an event loop or the pool of tasks does not go on for TIME, such as 250ms, with the stack."),
      Option(long: "network", help: "Records the requests of URLSession: times of their phases, sizes, status, error."),
      Option(
        long: "profile", value: "HZ",
        help: "Asks threads that run for their stacks so many times a second, such as 99: a profile for report and export --speedscope."),
      Option(
        long: "watch",
        help:
          """
          Loads patches again when their files are saved, loads new files of the directories and removes patches whose files are gone. A \
          text that cannot be loaded changes nothing; the reason is told on stderr.
          """
      ),
      Option(
        long: "canary", value: "WHEN",
        help:
          """
          Tries each new or changed patch in a child of the program before it goes live: boot loads it there and ends before the program's \
          main function, test also runs its tests, off tries none. A patch that crashes, hangs or fails there is quarantined. The default \
          is what headers of patches say (canary = \"boot\" or \"test\").
          """,
        completion: .words(["boot", "test", "off"])),
      Option(
        long: "record-calls", value: "GLOB", repeats: true,
        help:
          """
          Keeps, in the state directory, what functions that match are called with, up to 16 different calls of each: patches whose \
          headers say canary = \"replay\" are tried with them. The arguments are kept as they are.
          """),
      Option(
        long: "policy", value: "FILE",
        help: """
          Lets patches touch and do only what FILE allows: see docs/policy.md. A policy that cannot be read is an error, and nothing is \
          started.
          """, completion: .file),
      Option(
        long: "max-share", value: "PERCENT",
        help: """
          Hooks whose handlers take more than this share of the process's time, such as 5%, are switched off; rules are made rarer. \
          Headers may name shares of their own (max_share, over_share).
          """),
      Option(
        long: "hold",
        help: """
          Waits before the program's main function until a console (:go) or a control request (go) lets it run; without a client, for 30 \
          seconds.
          """),
      Option(long: "no-control", help: "The process does not listen; it cannot be controlled from outside."),
    ] + launchOptions,
    operands: .program,
    exitStatuses: ExitStatus.launch,
    examples: [
      ("scripthost run --patches Patches -- swift-format file.swift", "Runs swift-format with the patches of a directory."),
      ("scripthost run --apm -- ./server", "Records start, commands, requests, connections and stalls, with no file at all."),
      ("scripthost run -v --events fd:3 -- ./server 3>events.jsonl", "Shows messages as they come, and keeps all events in a file."),
    ],
    seeAlso: ["trace", "events", "doctor"]
  ) { arguments in
    var launch = try Launch(arguments)
    try launch.addCommonOptions(arguments)
    if let when = try arguments.choice("--canary", of: ["boot", "test", "off"]) { launch.settings.add(.canary, when) }
    if let file = arguments.path("--config")?.absolute() {
      do throws(PatchError) { try PatchConfig.check(file) } catch { throw Failure.notStarted("--config: \(error)") }
      launch.settings.add(.config, file.bytes)
    }
    for pattern in arguments.all("--record-calls") { launch.settings.add(.recordCalls, pattern) }
    try launch.addPolicy(arguments)
    if let share = arguments.text("--max-share") {
      guard ShareRule.share(share) != nil else {
        throw Failure.usage("'--max-share' needs a percentage above 0 and at most 100, such as 5%; found '\(EventText.printable(share))'")
      }
      launch.settings.add(.maxShare, share)
    }
    if arguments.has("--network") { launch.settings.add(.network) }
    if let rate = try arguments.number("--profile", in: 1...1000) { launch.settings.add(.profile, "\(rate)") }
    for preset in presets(arguments) { launch.settings.add(.patches, try Presets.find(preset).bytes) }
    if let time = try arguments.duration("--stalls") {
      guard time >= 10_000_000 else { throw Failure.usage("'--stalls' needs at least 10ms; shorter pauses are the machine's own") }
      launch.settings.add(.stalls, "\(time)")
    }
    if arguments.has("--watch") {
      guard arguments.has("--patches") else { throw Failure.usage("run: '--watch' needs '--patches', whose files it watches") }
      launch.settings.add(.watch)
    }
    if arguments.has("--no-control") || getenv("SCRIPTHOST_CONTROL").map({ String(cString: $0) }) == "off" { launch.settings.add(.control, "off") }
    if arguments.has("--hold") {
      guard launch.settings.text(.control) != "off" else {
        throw Failure.usage("run: '--hold' waits for a control request, which a process that does not listen never gets; leave one of both out")
      }
      launch.settings.add(.hold)
    }
    try launch.exec()
  }

  /// What `--apm` and `--preset` name, each once. A threshold for stalls on the command line takes the preset's place.
  private static func presets(_ arguments: Arguments) -> [String] {
    // A server looks for connections more often than it has requests, which nio.http and others tell.
    var names = arguments.has("--apm") ? Presets.known.filter { $0 != "c.accept" && ($0 != "stalls" || !arguments.has("--stalls")) } : []
    for name in arguments.all("--preset").map({ String(decoding: $0, as: UTF8.self) }) where !names.contains(name) { names.append(name) }
    return names
  }

  static let trace = Subcommand(
    name: "trace",
    summary: "show the calls a program makes",
    synopsis:
      """
      [-e GLOB]… [-x GLOB]… [-c] [--for TIME] [-s N] [--width N] [-o FILE] [--why] [--depth N] [--slower TIME] [--timestamps] [--thread] \
      [--task] [--self] [--format text|json|bytes] [--debug-dir DIR]… -- PROGRAM ARGUMENTS
      """,
    description: [
      """
      Starts PROGRAM as run does, and prints each call of the matched functions with arguments, result and time. The first line tells how \
      many functions matched, were hooked and were refused, the lines below it what may be missed. Nothing matched is an error that names \
      the nearest.
      """,
      """
      A line begins with the time the call took, without what ScriptHost did meanwhile. A call with traced calls inside has two lines, the \
      first without a time. Lines of threads other than the main one name their thread. Colour is for terminals.
      """,
      """
      A GLOB is a name such as Shop.Cart.add(_:price:quantity:), in which * stops at a dot, ** crosses dots and \\* is the operator. \
      Values whose name says password, token, secret, authorization, cookie or key are masked.
      """,
    ],
    options: [
      Option(short: "e", value: "GLOB", repeats: true, help: "Traces what matches."),
      Option(short: "x", value: "GLOB", repeats: true, help: "Leaves out what matches, also where -e matches."),
      Option(
        short: "c",
        help:
          """
          Prints no calls, but a table at the end: calls, errors, total, mean and longest time. The end is also SIGINT, SIGTERM or SIGHUP, \
          where the program leaves them alone.
          """
      ),
      Option(long: "for", value: "TIME", help: "Ends the trace after TIME, such as 30s, with the table of -c; the program goes on without it."),
      Option(short: "s", value: "N", help: "Cuts strings after N bytes; the default is 64, 0 shows none of the text."),
      Option(
        long: "width", value: "N",
        help: """
          Cuts a value after about N bytes; the default is 200, on a terminal what fits into it. Of collections the first elements are \
          shown, and the count where there are more.
          """
      ),
      Option(short: "o", value: "FILE", help: "Writes the trace to FILE instead of stderr.", completion: .file),
      Option(long: "why", help: "Lists what was refused and what is hooked in part, with the reasons, before the first call."),
      Option(long: "depth", value: "N", help: "Shows calls nested up to N levels; the default is all."),
      Option(long: "slower", value: "TIME", help: "Shows only calls that took at least TIME, such as 10ms."),
      Option(long: "timestamps", help: "Begins each line with the time of day, in UTC."),
      Option(long: "thread", help: "Names the thread on each line, also the main one."),
      Option(long: "task", help: "Tells the number of the Swift task."),
      Option(long: "self", help: "Shows what the method was called on: the value, or class and address of the object."),
      Option(
        long: "format", value: "FORMAT",
        help:
          """
          text for people (the default), json: one object per line, for what is hooked, each call, and with -c each function and the sum, \
          or bytes: one object per entry and per return, with where each value is and the bytes found there, to compare with a debugger. \
          bytes masks values as the others do.
          """,
        completion: .words(["text", "json", "bytes"])),
    ] + launchOptions,
    operands: .program,
    exitStatuses: ExitStatus.launch,
    examples: [
      ("scripthost trace -e 'SwiftFormat.PrettyPrinter.*' -- swift-format t.swift", "All calls of the methods of one type."),
      ("scripthost trace -c -e 'Shop.**' -x '**.description' -- ./shop", "A table of what a module calls, without descriptions."),
      ("scripthost trace --slower 10ms -o slow.txt -e '**' -- ./server", "The slow calls, in a file."),
    ],
    seeAlso: ["run", "events"]
  ) { arguments in
    let options = try traceOptions(arguments)
    var launch = try Launch(arguments)
    try launch.addCommonOptions(arguments)
    launch.settings.add(.trace)
    for (name, value) in options { launch.settings.add(.trace(name), value) }
    try launch.exec()
  }

  /// Checked options as the tracer in the program reads them: "match" and "exclude" any number of
  /// times, "count" and others without a value, "string" and "width" in bytes, "for" in nanoseconds, "output" an absolute path, "depth",
  /// "slower" in nanoseconds, "format".
  private static func traceOptions(_ arguments: Arguments) throws(Failure) -> [(String, [UInt8])] {
    guard arguments.has("-e") else {
      throw .usage("trace: name what to trace: -e 'Module.Type.*'; see scripthost trace --help")
    }
    var options = arguments.all("-e").map { ("match", $0) } + arguments.all("-x").map { ("exclude", $0) }
    if arguments.has("-c") { options.append(("count", [])) }
    for flag in ["why", "timestamps", "thread", "task", "self"] where arguments.has("--" + flag) { options.append((flag, [])) }
    if let width = try arguments.number("--width", in: 16...1_000_000) { options.append(("width", Array("\(width)".utf8))) }
    if let time = try arguments.duration("--for") { options.append(("for", Array("\(time)".utf8))) }
    if let bytes = try arguments.number("-s", in: 0...1_000_000) { options.append(("string", Array("\(bytes)".utf8))) }
    if let path = arguments.path("-o") { options.append(("output", path.absolute().bytes)) }
    if let depth = try arguments.number("--depth", in: 1...10_000) { options.append(("depth", Array("\(depth)".utf8))) }
    if let time = try arguments.duration("--slower") { options.append(("slower", Array("\(time)".utf8))) }
    if let format = try arguments.choice("--format", of: ["text", "json", "bytes"]) { options.append(("format", Array(format.utf8))) }
    return options
  }
}
