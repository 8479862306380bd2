// ReplCommand — scripthost repl: a program under ScriptHost with a console on this terminal.
internal import Glibc
internal import Journal
internal import ScriptHost
private import Synchronization

extension Subcommand {
  static let repl = Subcommand(
    name: "repl", summary: "start a program with a console on this terminal",
    synopsis: """
      [--read-only] [--go] [--input FILE] [--output FILE] [--patches DIR]… [--policy FILE] [--kill] [--json] [--state DIR] -- PROGRAM \
      ARGUMENTS
      """,
    description: [
      """
      Starts PROGRAM as run does, held before its main function, and opens a console in it: look around, make hooks, then let it run with \
      :go. With --go it runs at once. The console is that of attach, with --write unless --read-only is given.
      """,
      """
      The terminal is the console's. The program's standard input is /dev/null, or FILE with --input; what it writes on stdout and stderr \
      is shown between the lines of the console, or goes to FILE with --output. It has a process group of its own, so Ctrl-C stops a \
      snippet and never the program.
      """,
      """
      When the session ends (:quit, Ctrl-D, the end of a piped input) a held program is let go, and this command waits for it and exits \
      with its status; with --kill it gets SIGTERM instead. Input that is no terminal is run as it comes; the status is 1 when a snippet \
      failed and the program ended with 0. Of a program that ends by signal N the status is 128+N.
      """,
    ],
    options: [
      Option(long: "read-only", help: "The session changes nothing: hooks, calls and writes are refused."),
      Option(long: "go", help: "The program runs at once, not when :go says so."),
      Option(long: "input", value: "FILE", help: "The program reads FILE as its standard input.", completion: .file),
      Option(long: "output", value: "FILE", help: "What the program writes goes to FILE.", completion: .file),
      Option(long: "kill", help: "The end of the session ends the program."),
      Option(long: "patches", value: "DIR", repeats: true, help: "Loads the patches of this directory, or one patch file.", completion: .directory),
      Option(long: "policy", value: "FILE", help: "As of run.", completion: .file), .json,
      Option(
        long: "state", value: "DIR", help: "Keeps journal and other state here, as of run.", completion: .directory),
    ],
    operands: .program,
    exitStatuses: [
      ExitStatus(code: "any", meaning: "that of PROGRAM"),
      ExitStatus(code: "1", meaning: "a snippet of a piped input failed, or there was no session"),
      .usage, ExitStatus(code: "125 to 127", meaning: "PROGRAM was not started, as of run"),
    ],
    examples: [
      ("scripthost repl -- swift-format file.swift", "A console before swift-format has done anything."),
      ("echo ':types SwiftFormat.*' | scripthost repl -- swift-format file.swift", "One question, for a script."),
    ],
    seeAlso: ["attach", "run"]
  ) { arguments in
    let child = try ReplChild(arguments)
    let state = arguments.controlState
    let status: Int32
    do throws(Failure) {
      let process = try child.awaitSocket(state: state)
      let client = try ConsoleClient(
        process, write: !arguments.has("--read-only"), isJSON: arguments.has("--json"), state: state,
        holds: !arguments.has("--go") && !arguments.has("--kill"))
      status = isatty(STDIN_FILENO) == 1
        ? try client.run(ConsoleHistory(state: state), beside: child.output) : try client.runPiped(isHeld: true)
    } catch {
      // The program may be about to end: its own status says more.
      for _ in 0..<400 where !child.hasEnded { usleep(5000) }
      guard child.hasEnded else {
        _ = child.end(kill: true)
        throw error
      }
      let ended = child.end(kill: false)
      Output.note("the program ended, \(ReplChild.text(ended))")
      return ReplChild.status(ended)
    }
    let ended = child.end(kill: arguments.has("--kill"))
    let own = ReplChild.status(ended)
    return own == 0 || arguments.has("--kill") ? status : own
  }
}

/// The program, as a child of the command.
final class ReplChild {
  let process: pid_t
  /// What the program writes, where the terminal shows it.
  let output: ProgramOutput?
  private var ended: Int32?
  private var socket: HostedProcess?

  init(_ arguments: Arguments) throws(Failure) {
    // As the child checks it: a wrong program is reported before a process is made.
    _ = try Launch(arguments)
    guard let own = RawPath("/proc/self/exe").resolved() else {
      throw .notStarted("this command's own file cannot be found, \(systemMessage(errno))")
    }
    var words: [[UInt8]] = [own.bytes, Array("run".utf8), Array("--hold".utf8)]
    if arguments.has("--go") { words.removeLast() }
    for option in ["--patches", "--policy", "--state"] { for value in arguments.all(option) { words += [Array(option.utf8), value] } }
    words += [Array("--".utf8)] + arguments.program
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let input = arguments.path("--input") ?? RawPath("/dev/null")
    guard input.status() != nil else {
      throw .notStarted("--input: '\(EventText.printable(input.description))' cannot be read, \(systemMessage(errno))")
    }
    _ = input.withCString { posix_spawn_file_actions_addopen(&actions, 0, $0, O_RDONLY, 0) }
    var ends: (Int32, Int32) = (-1, -1)
    if let path = arguments.path("--output") {
      let file = path.withCString { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666) }
      guard file >= 0 else { throw .notStarted("--output: '\(EventText.printable(path.description))' cannot be written, \(systemMessage(errno))") }
      ends.1 = file
    } else if isatty(STDIN_FILENO) == 1 {
      guard let made = ProgramOutput.pipe() else { throw .notStarted("no pipe for what the program writes, \(systemMessage(errno))") }
      ends = made
    }
    // What a piped input asks is on stdout; the program's words are beside it.
    posix_spawn_file_actions_adddup2(&actions, ends.1 >= 0 ? ends.1 : STDERR_FILENO, 1)
    if ends.1 >= 0 { posix_spawn_file_actions_adddup2(&actions, ends.1, 2) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    posix_spawnattr_setpgroup(&attributes, 0)
    var child: pid_t = 0
    let code = Child.withCStrings(words) { posix_spawn(&child, $0[0]!, &actions, &attributes, $0, environ) }
    if ends.1 >= 0 { close(ends.1) }
    guard code == 0 else { throw .notStarted("the program was not started, \(systemMessage(code))") }
    process = child
    output = ends.0 >= 0 ? ProgramOutput(ends.0) : nil
  }

  var hasEnded: Bool {
    if ended != nil { return true }
    var status: Int32 = 0
    guard waitpid(process, &status, WNOHANG) == process else { return false }
    ended = status
    return true
  }

  /// The socket of the program, as soon as it listens.
  func awaitSocket(state: RawPath?) throws(Failure) -> HostedProcess {
    for _ in 0..<6000 {
      if let found = HostedProcess.all(state: state).first(where: { $0.pid == process }) {
        socket = found
        return found
      }
      if hasEnded { break }
      usleep(5000)
    }
    throw Failure(
      status: 1,
      sentence: hasEnded ? "the program ended before a session could begin" : "the program does not listen; no session can begin")
  }

  /// Lets the program go, or ends it, and waits for it; answers the status of waitpid.
  func end(kill isKilled: Bool) -> Int32 {
    Interrupter.forward(to: process)
    // One that is held has done nothing when the signal ends it; one that ignores the signal runs on.
    if isKilled, !hasEnded { kill(process, SIGTERM) }
    go()
    while ended == nil {
      output?.show()
      var status: Int32 = 0
      let found = waitpid(process, &status, output == nil ? 0 : WNOHANG)
      if found == process { ended = status } else if found < 0, errno != EINTR { ended = 0 } else if output != nil { usleep(5000) }
    }
    output?.finish()
    return ended ?? 0
  }

  /// The program may be held still.
  private func go() {
    guard !hasEnded, let socket, let connection = try? ControlConnection(socket) else { return }
    _ = try? connection.ask("go")
  }

  static func status(_ status: Int32) -> Int32 { status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F) }
  static func text(_ status: Int32) -> String { status & 0x7F == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)" }
}

/// What the program writes, taken by a thread so that the program never waits for the console.
final class ProgramOutput: LiveText, @unchecked Sendable {
  // `kept` is behind a lock; the descriptors are set once.
  private let source: Int32
  /// Readable when something was written.
  let wakes: Int32
  private let wake: Int32
  private let kept = Mutex<(bytes: [UInt8], left: Int, isOver: Bool)>(([], 0, false))
  /// Most that waits to be shown.
  private static let most = 1 << 20

  init(_ source: Int32) {
    self.source = source
    (wakes, wake) = Self.pipe() ?? (-1, -1)
    for end in [wakes, wake] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    CommandThread.start { self.run() }
  }

  /// A pipe's reading and writing end, which other programs do not inherit; nil with errno.
  static func pipe() -> (Int32, Int32)? {
    var ends: (Int32, Int32) = (-1, -1)
    // The tuple has the layout of int[2].
    guard withUnsafeMutableBytes(of: &ends, { Glibc.pipe($0.assumingMemoryBound(to: Int32.self).baseAddress!) }) == 0 else { return nil }
    for end in [ends.0, ends.1] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  private func run() {
    // Ctrl-C is another thread's.
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(source, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      kept.withLock { kept in
        if count <= 0 {
          kept.isOver = true
        } else if kept.bytes.count + count <= Self.most {
          kept.bytes += buffer[..<count]
        } else {
          kept.left += count
        }
      }
      var byte: UInt8 = 1
      _ = write(wake, &byte, 1)
      if count <= 0 { return }
    }
  }

  /// What came since it was asked last.
  func take() -> String? {
    var byte: UInt8 = 0
    while read(wakes, &byte, 1) == 1 {}
    let (bytes, left) = kept.withLock { kept in
      defer { (kept.bytes, kept.left) = ([], 0) }
      return (kept.bytes, kept.left)
    }
    if bytes.isEmpty, left == 0 { return nil }
    var text = String(decoding: bytes, as: UTF8.self)
    if left > 0 { text += "\n… \(left) bytes left out\n" }
    return text
  }

  func show() {
    let live: [any LiveText] = [self]
    live.show()
  }

  /// The program has ended: what it wrote last is shown.
  func finish() {
    for _ in 0..<200 {
      if kept.withLock({ $0.isOver }) { break }
      usleep(1000)
    }
    show()
  }
}
