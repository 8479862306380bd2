// SafeModeCommand — what is out after failed starts, in words, and how to bring it back: safe-mode.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Subcommand {
  static let safeMode = Subcommand(
    name: "safe-mode",
    summary: "show what failed starts have taken out",
    synopsis: "[--state DIR] [plan|reset|off|on]",
    description: [
      """
      A start fails when the program crashes within 10 seconds, or ends while patches are being loaded. A patch whose own text or handler \
      was running when it crashed is not loaded any more. After two such starts, one after another, the patch on the stack of the crash is \
      not loaded, without one the newest, and the caches that patches registered are cleared; after three no patch is loaded; after five \
      the registered data is cleared, too. A good start resets the count, and patches come back one by one.
      """,
      """
      Without a word it tells how each program stands, and which patches are quarantined because they failed in a child of it (run \
      --canary); plan tells what the next start will do; reset forgets everything, so that all patches are loaded or tried again; off \
      keeps safe mode from doing anything, on ends that.
      """,
    ],
    options: [
      Option(long: "state", value: "DIR", help: "Reads this state directory; the default is that of run.", completion: .directory)
    ],
    operands: .optional("plan, reset, off or on", .words(["plan", "reset", "off", "on"])),
    examples: [
      ("scripthost safe-mode", "How each program stands."), ("scripthost safe-mode reset", "Loads all patches again."),
    ],
    seeAlso: ["crashes", "run"]
  ) { arguments in
    guard let state = StateDirectory.resolve(chosen: arguments.path("--state")) else {
      throw Failure(status: 1, sentence: "no state directory: HOME is not set; use --state DIR")
    }
    let word = arguments.operands.first.map { String(decoding: $0, as: UTF8.self) } ?? "status"
    let off = BootGuard.offSwitch(state)
    switch word {
    case "status", "plan":
      let isOff = off.status() != nil
      if isOff { Output.line("safe mode is off; scripthost safe-mode on ends that") }
      let standings = BootGuard.standings(in: state)
      for (name, mode) in standings {
        let program = ProgramStanding.program(name)
        for line in word == "status" ? mode.sentences() : isOff ? ["the next start loads all patches, and clears nothing"] : mode.planned() {
          Output.line("\(program): \(EventText.printable(line))")
        }
      }
      if standings.isEmpty { Output.line("no start failed: nothing is taken out") }
      for path in CanaryBook.all(in: state) {
        for line in ProgramStanding.quarantined(path) { Output.line("\(ProgramStanding.program(path.lastComponent)): \(line)") }
      }
    case "reset":
      let kept = BootGuard.forget(in: state) ?? CanaryBook.all(in: state).first { $0.withCString { unlink($0) } != 0 && errno != ENOENT }
      if let kept { throw Failure(status: 1, sentence: "cannot remove '\(kept)': \(systemMessage(errno))") }
      Output.line("forgotten: the next start loads all patches")
    case "off":
      guard off.parent.makeDirectories(), case let descriptor = off.withCString({ open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }),
        descriptor >= 0
      else {
        throw Failure(status: 1, sentence: "cannot write '\(off)': \(systemMessage(errno))")
      }
      close(descriptor)
      Output.line("safe mode is off: patches are loaded however many starts fail")
    case "on":
      _ = off.withCString { unlink($0) }
      Output.line("safe mode is on")
    default: throw Failure.usage("safe-mode: expected plan, reset, off or on, found '\(EventText.printable(word))'")
    }
    Output.flush()
    return 0
  }
}
