// CrashText — a crash file in words.
private import Journal

/// What `scripthost crashes` prints.
package enum CrashText {
  private static let signals = [4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"]
  package static func signal(_ number: Int) -> String { signals[number] ?? "signal \(number)" }

  /// How it ended, in a few words.
  package static func ending(_ file: CrashFile, _ report: CrashReport?) -> String {
    switch file.ending {
    case .running: return "running"
    case .ended: return "ended"
    case .killed: return "killed without a report, last seen \(seconds(file.lastSeen - file.started)) s after its start"
    case .crashed:
      guard let report else { return "crashed; its report cannot be read" }
      return report.message.isEmpty ? signal(report.signal) : "\(signal(report.signal)): \(EventText.printable(report.message))"
    }
  }

  /// One line for the list.
  package static func line(_ number: Int, _ file: CrashFile) -> String {
    let name = file.program.split(separator: "/").last.map(String.init) ?? "?"
    return "\(number)  \(time(file))  \(EventText.printable(name))[\(file.process)]  \(endingAndSuspect(file))"
  }

  /// When it crashed; of a process that was killed, when it is last known to have been there.
  package static func time(_ file: CrashFile) -> String { EventText.rfc3339(CrashReport(file.report)?.wall ?? file.lastSeen) }

  /// How it ended, and the patch that is the first suspect.
  package static func endingAndSuspect(_ file: CrashFile) -> String {
    let report = CrashReport(file.report)
    let suspect = report.flatMap { suspects(file, $0).first }.map { ", in \($0.patch) (\($0.place))" } ?? ""
    return ending(file, report) + EventText.printable(suspect)
  }

  /// The owners of what the crashed thread was in, each once: handlers at work first, and a step of the start at work; then those that
  /// changed something of the program on it, newest first, and hooked calls further out, innermost first; last the handler that ran last on
  /// it, for one that is over before the original leaves nothing on the stack.
  package static func suspects(_ file: CrashFile, _ report: CrashReport) -> [CrashFile.Owner] {
    let calls = report.threads.first?.calls ?? []
    let changed = changed(file, report).map(\.owner)
    let onStack = calls.filter(\.inHandler).map(\.owner) + (step(file, report).map { [$0] } ?? []) + changed
      + calls.filter { !$0.inHandler }.map(\.owner)
    // A patch whose text or steps ran before `main` has nothing to do with what happens later.
    let newest = file.crumbs.last {
      Int($0.thread) == report.thread && (owner($0, file).map { file.isBeforeMain || !($0.isLoad || $0.isStep) } ?? false)
    }.flatMap(\.owner)
    var seen: Set<Int> = []
    return (onStack + (newest.map { [$0] } ?? [])).filter { file.owners.indices.contains($0) && seen.insert($0).inserted }.map { file.owners[$0] }
  }

  /// The step of the start that was at work on the crashed thread, by index into `owners`.
  static func step(_ file: CrashFile, _ report: CrashReport) -> Int? {
    file.owners.firstIndex { $0.isStep && $0.atWork != 0 && Int($0.atWork) == report.thread }
  }

  private static let mostChanges = 4

  /// Handlers that changed something of the program on the crashed thread, with the time after the start; newest first, the newest few.
  static func changed(_ file: CrashFile, _ report: CrashReport) -> [(owner: Int, time: UInt64)] {
    // While patches are loaded the one whose text runs is nearer.
    guard !file.isBeforeMain else { return [] }
    let steps = file.crumbs.filter { Int($0.thread) == report.thread }.compactMap { crumb in
      crumb.changed.flatMap { time in crumb.owner.map { (owner: $0, time: time) } }
    }
    return Array(steps.reversed().prefix(mostChanges))
  }

  private static func owner(_ crumb: CrashFile.Crumb, _ file: CrashFile) -> CrashFile.Owner? {
    crumb.owner.flatMap { file.owners.indices.contains($0) ? file.owners[$0] : nil }
  }

  /// The patch whose text was running when the process ended before `main`.
  static func loading(_ file: CrashFile) -> CrashFile.Owner? {
    guard file.isBeforeMain else { return nil }
    return file.crumbs.lazy.compactMap { owner($0, file) }.last { $0.isLoad }
  }

  /// All of it, for a person.
  package static func text(_ file: CrashFile) -> String {
    let report = CrashReport(file.report)
    var lines = [
      "\(EventText.printable(file.program))[\(file.process)]: \(ending(file, report))",
      "started \(EventText.rfc3339(file.started)), \(max(0, Int(file.arguments) - 1)) argument\(file.arguments == 2 ? "" : "s"), "
        + "build-id \(file.buildID.isEmpty ? "none" : file.buildID), boot level \(file.bootLevel)",
    ]
    if let report { lines += body(file, report) }
    lines += ["", "breadcrumbs, newest last:"]
    lines += file.crumbs.isEmpty ? ["  none"] : file.crumbs.suffix(40).map { "  +\(seconds($0.time)) s  [\($0.thread)]  \($0.text)" }
    return lines.joined(separator: "\n")
  }

  private static func body(_ file: CrashFile, _ report: CrashReport) -> [String] {
    let up = report.monotonic > file.startedMonotonic ? report.monotonic - file.startedMonotonic : 0
    var lines = [
      "crashed \(EventText.rfc3339(report.wall)), after \(seconds(up)) s: \(signal(report.signal)) code \(report.code) "
        + "at 0x\(String(report.address, radix: 16))"
    ]
    if !report.refusal.isEmpty { lines.append("not contained: \(EventText.printable(report.refusal))") }
    if let again = report.again { lines.append("a second crash (\(signal(again))) came while the report was written") }
    if !report.isWhole { lines.append("the report is not complete: the process ended before it was written") }
    var symbols = CrashSymbols(report)
    for thread in report.threads {
      let isCrashed = thread.number == report.thread
      lines += ["", "thread \(thread.number) \(EventText.printable(thread.name))\(isCrashed ? ", crashed" : ""):"]
      for call in thread.calls where file.owners.indices.contains(call.owner) {
        let owner = file.owners[call.owner]
        lines.append(
          "  \(call.inHandler ? "in the handler" : "in a call with the handler") \(owner.position) "
            + "'\(EventText.printable(owner.selector))' of patch \(EventText.printable(owner.patch)), \(EventText.printable(owner.place))")
      }
      lines += frames(thread, &symbols)
      if thread.frames.isEmpty { lines.append("  it did not answer") }
    }
    lines += ["", "registers:", "  \(report.registers)", "", "images:"]
    var seen: Set<String> = []
    for image in report.images where seen.insert(image.path).inserted {
      lines.append(
        "  0x\(String(image.range.lowerBound, radix: 16))-0x\(String(image.range.upperBound, radix: 16)) \(image.buildID) "
          + "\(EventText.printable(image.path))")
    }
    return lines
  }

  /// The stack of the thread that crashed, as `text` has it.
  package static func stack(_ report: CrashReport) -> [String] {
    var symbols = CrashSymbols(report)
    guard let thread = report.threads.first else { return [] }
    return frames(thread, &symbols).map { String($0.drop { $0 == " " }) }
  }

  /// One line each; what lies between a hooked function and its original, or a handler and what it calls, is one line together, and so
  /// are the calls of a function by itself, but for the innermost two.
  private static func frames(_ thread: CrashReport.Thread, _ symbols: inout CrashSymbols) -> [String] {
    var lines: [String] = [], hosts = 0, repeated = 0, last = ""
    for (index, frame) in thread.frames.enumerated() {
      let text = symbols.text(frame)
      // Image, function and distance; an address whose function is not known has no function.
      let isNamed = text.contains("  ") && !text.hasPrefix("?")
      let function = isNamed ? text.split(separator: " ", omittingEmptySubsequences: false).dropLast(2).joined(separator: " ") : ""
      // Those of the host are counted together below.
      repeated = isNamed && function == last && hosts == 0 ? repeated + 1 : 0
      if repeated > 1 {
        if repeated > 2 { lines.removeLast() }
        lines.append("  \(index - repeated + 2)  \(repeated - 1) frame\(repeated == 2 ? "" : "s") of the same function")
        continue
      }
      last = function
      let isHost = index > 0 && (text.hasPrefix("libScriptHostBoot.so") || text.hasPrefix("liblua"))
      if hosts > 0, !isHost { lines.append("  \(index - hosts)  \(hosts) frame\(hosts == 1 ? "" : "s") of ScriptHost and Lua") }
      hosts = isHost ? hosts + 1 : 0
      if !isHost { lines.append("  \(index)\(frame.how == "s" ? "?" : "")  \(frame.how == "a" ? "waits: " : "")\(text)") }
    }
    if hosts > 0 { lines.append("  \(thread.frames.count - hosts)  \(hosts) frames of ScriptHost and Lua") }
    return lines
  }

  /// One object, on one line.
  package static func json(_ number: Int, _ file: CrashFile, whole: Bool) -> String {
    let report = CrashReport(file.report)
    var out = "{\"number\":\(number),\"program\":\(quoted(file.program)),\"pid\":\(file.process),\"build\":\(quoted(file.buildID))"
    out += ",\"started\":\(quoted(EventText.rfc3339(file.started))),\"ending\":\(quoted("\(file.ending)")),\"boot_level\":\(file.bootLevel)"
    if let report {
      out += ",\"signal\":\(quoted(signal(report.signal))),\"code\":\(report.code),\"address\":\(report.address)"
      out += ",\"message\":\(quoted(report.message))"
      if !report.refusal.isEmpty { out += ",\"not_contained\":\(quoted(report.refusal))" }
      out += ",\"time\":\(quoted(EventText.rfc3339(report.wall))),\"complete\":\(report.isWhole)"
      out += ",\"suspects\":[" + suspects(file, report).map { "{\(json($0))}" }.joined(separator: ",") + "]"
      if whole { out += threads(file, report) + registers(report) + images(report) }
    }
    if whole {
      out += ",\"breadcrumbs\":[" + file.crumbs.map { "{\"after_ns\":\($0.time),\"thread\":\($0.thread),\"text\":\(quoted($0.text))}" }
        .joined(separator: ",") + "]"
    }
    return out + "}"
  }

  private static func threads(_ file: CrashFile, _ report: CrashReport) -> String {
    var symbols = CrashSymbols(report)
    let shown = report.threads.map { thread in
      let frames = thread.frames.map {
        "{\"address\":\($0.address),\"how\":\(quoted(String($0.how))),\"text\":\(quoted(symbols.text($0)))}"
      }
      return "{\"thread\":\(thread.number),\"name\":\(quoted(thread.name)),\"crashed\":\(thread.number == report.thread)"
        + ",\"calls\":[\(calls(thread, file))],\"frames\":[\(frames.joined(separator: ","))]}"
    }
    return ",\"threads\":[\(shown.joined(separator: ","))]"
  }

  private static func json(_ owner: CrashFile.Owner) -> String {
    "\"patch\":\(quoted(owner.patch)),\"selector\":\(quoted(owner.selector)),\"position\":\(quoted(owner.position))"
      + ",\"source\":\(quoted(owner.source)),\"line\":\(owner.line)"
  }

  /// The hooked calls that a thread was in, innermost first.
  private static func calls(_ thread: CrashReport.Thread, _ file: CrashFile) -> String {
    thread.calls.filter { file.owners.indices.contains($0.owner) }
      .map { "{\(json(file.owners[$0.owner])),\"in_handler\":\($0.inHandler)}" }.joined(separator: ",")
  }

  /// By name, as hexadecimal texts: an Int of 64 bits is more than a number of JSON holds for sure.
  private static func registers(_ report: CrashReport) -> String {
    let all = report.registers.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }.filter { $0.count == 2 }
    return ",\"registers\":{" + all.map { "\(quoted(String($0[0]))):\(quoted(String($0[1])))" }.joined(separator: ",") + "}"
  }

  private static func images(_ report: CrashReport) -> String {
    ",\"images\":[" + report.images.map {
      "{\"from\":\($0.range.lowerBound),\"to\":\($0.range.upperBound),\"offset\":\($0.offset)"
        + ",\"build\":\(quoted($0.buildID)),\"path\":\(quoted($0.path))}"
    }.joined(separator: ",") + "]"
  }

  private static func quoted(_ text: String) -> String {
    var out = ""
    EventText.append(json: text, to: &out)
    return out
  }

  private static func seconds(_ nanoseconds: UInt64) -> String {
    let thousandths = nanoseconds / 1_000_000
    let rest = String(thousandths % 1000)
    return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}
