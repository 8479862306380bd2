// TopCommand — scripthost top: what hooks and patches take of a running process's time.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Subcommand {
  static let top = Subcommand(
    name: "top",
    summary: "show what hooks and patches take of a process's time",
    synopsis: "[-d TIME] [-n N] [--patches] [--json] [--state DIR] [PID]",
    description: [
      """
      Prints for each hook the calls of the last interval and how many that is a second, the share of the process's time that its handler \
      took, the mean of a run and, of all runs that were measured, the time that half of them and 99 of 100 kept within, and the mean of \
      what a run waited for another thread that was in the same patch; then failures, and calls it was skipped for or left out by sample \
      and rate. Above it stand the sums of each patch. Without PID it means the only process there is.
      """,
      """
      The process's time is what its threads computed, at least the time that passed. A handler's time is its own, without the original it \
      goes on to and without waiting for its patch, by the clock; what else it waits for counts. Each run is measured while somebody \
      looks, which costs it about 30 ns, and until ten seconds after.
      """,
      """
      On a terminal the table is shown again after each interval until q or Ctrl-C; with -n, or when the output goes elsewhere, so many \
      times, once if nothing is said.
      """,
      """
      A hook that takes more than its share (max_share in a header, run --max-share, or the policy's) is made rarer or switched off by the \
      process, which says so on stderr and here.
      """,
    ],
    options: [
      Option(long: "delay", short: "d", value: "TIME", help: "The interval, such as 500ms; the default is 1s."),
      Option(long: "number", short: "n", value: "N", help: "Ends after N intervals."),
      Option(long: "patches", help: "Prints the sums of patches only."),
      Option(long: "json", help: "Prints one JSON object per interval."), .controlState,
    ],
    operands: .optional("PID", .processes),
    exitStatuses: ExitStatus.control,
    examples: [
      ("scripthost top", "The only process, again each second."), ("scripthost top -n 1 -d 5s 4711", "One table of five seconds."),
      ("scripthost top --json -n 3 | jq .patches", "For another program."),
    ],
    seeAlso: ["status", "hooks", "run"]
  ) { try showTop($0) }

  private static func showTop(_ arguments: Arguments) throws(Failure) -> Int32 {
    let delay = try arguments.duration("--delay") ?? 1_000_000_000
    guard (10_000_000...3_600_000_000_000).contains(delay) else { throw .usage("'--delay' needs 10ms to 1h") }
    let isLive = isatty(STDOUT_FILENO) == 1 && !arguments.has("--number") && !arguments.has("--json")
    let count = try arguments.number("--number", in: 1...1_000_000) ?? (isLive ? .max : 1)
    let connection = try HostedProcess.find(arguments.operand(0), state: arguments.controlState)
    let status = try connection.ask("status")
    let hold = JSONValue.Member("hold_ms", .int(Int64(delay / 1_000_000) + 10_000))
    var before = try connection.ask("top", [hold])
    let keys = isLive ? TopKeys() : nil
    defer { keys?.end() }
    for _ in 0..<count {
      if let keys { if keys.waitForEnd(delay) { break } } else { sleepFor(delay) }
      let now: JSONValue
      do throws(Failure) { now = try connection.ask("top", [hold]) } catch {
        // What it took until its end is what was asked.
        if isLive { keys?.end() }
        throw error
      }
      let interval = TopInterval(before, now)
      before = now
      if arguments.has("--json") {
        Output.line(interval.json.line)
      } else {
        let lines = interval.lines(status, patchesOnly: arguments.has("--patches"))
        if isLive {
          Output.text("\u{1B}[H\u{1B}[2J" + TopKeys.fitting(lines).joined(separator: "\r\n"))
        } else {
          for line in lines { Output.line(line) }
        }
      }
      Output.flush()
    }
    return 0
  }

  private static func sleepFor(_ nanoseconds: UInt64) {
    var left = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    while true {
      let wanted = left
      if withUnsafePointer(to: wanted, { nanosleep($0, &left) }) == 0 || errno != EINTR { return }
    }
  }
}

/// Two answers of one process, and what happened between them.
struct TopInterval {
  private let passed: Int64
  /// What its threads computed, at least what passed.
  private let had: Int64
  private let computed: Int64
  private let hooks: [Row]
  private let patches: [Row]
  private let count: Int64

  private struct Row {
    let now: JSONValue
    let calls: Int64
    let runs: Int64
    let time: Int64
    let waited: Int64
    let failures: Int64
    let skipped: Int64

    init(_ now: JSONValue, since before: JSONValue?) {
      func difference(_ name: String) -> Int64 { max(0, (now[name]?.int ?? 0) - (before?[name]?.int ?? 0)) }
      self.now = now
      calls = difference("calls")
      runs = difference("runs")
      time = difference("time_ns")
      waited = difference("waited_ns")
      failures = now["failures"]?.int ?? 0
      skipped = now["skipped"]?.int ?? 0
    }
    func text(_ name: String) -> String { EventText.printable(now[name]?.text ?? "") }
  }

  init(_ before: JSONValue, _ now: JSONValue) {
    passed = max(1, (now["now_ns"]?.int ?? 0) - (before["now_ns"]?.int ?? 0))
    computed = max(0, (now["cpu_ns"]?.int ?? 0) - (before["cpu_ns"]?.int ?? 0))
    had = max(passed, computed)
    count = now["count"]?.int ?? 0
    func rows(_ list: String, by key: String) -> [Row] {
      let earlier = Dictionary((before[list]?.elements ?? []).map { ($0[key]?.line ?? "", $0) }) { first, _ in first }
      return (now[list]?.elements ?? []).map { Row($0, since: earlier[$0[key]?.line ?? ""]) }
    }
    hooks = rows("hooks", by: "hook").sorted { ($0.time, $0.calls) > ($1.time, $1.calls) }
    patches = rows("patches", by: "id").sorted { ($0.time, $0.calls) > ($1.time, $1.calls) }
  }

  private func share(_ time: Int64) -> Double { Double(time) / Double(had) }
  private func rate(_ calls: Int64) -> Double { Double(calls) * 1e9 / Double(passed) }

  // MARK: For people

  func lines(_ status: JSONValue, patchesOnly: Bool) -> [String] {
    let all = patches.reduce(0) { $0 + $1.time }
    var lines = [
      "\(EventText.printable(status["program"]?.text ?? "")), process \(status["pid"]?.int ?? 0): \(Table.time(computed)) "
        + "of processor time in \(Table.time(passed)); handlers took \(Self.percent(share(all))) of the process's time",
      "",
    ]
    var table = Table(["SHARE", "CALLS", "CALLS/S", "FAILED", "SKIPPED", "HOOKS", "MEMORY", "STATE", "PATCH"])
    for row in patches {
      let memory = row.now["memory"]?.int ?? 0
      table.add([
        Self.percent(share(row.time)), "\(row.calls)", Self.rate(rate(row.calls)), "\(row.failures)", "\(row.skipped)",
        "\(row.now["hooks"]?.int ?? 0)", memory == 0 ? "-" : "\((memory + 1023) / 1024) KiB", row.now["state"]?.text ?? "-", row.text("id"),
      ])
    }
    lines += patches.isEmpty ? ["no patches and no hooks"] : table.lines
    if patchesOnly || hooks.isEmpty { return lines }
    lines.append("")
    var each = Table(["SHARE", "CALLS", "CALLS/S", "MEAN", "P50", "P99", "WAIT", "FAILED", "SKIPPED", "STATE", "HANDLER", "HOOK"])
    for row in hooks {
      let oneIn = row.now["one_in"]?.int ?? 1
      let state = row.now["enabled"]?.bool == false ? "off" : oneIn > 1 ? "1 of \(oneIn)" : "on"
      func time(_ name: String) -> String { row.now[name]?.int.map { Table.time($0) } ?? "-" }
      let title = row.text("title")
      each.add([
        Self.percent(share(row.time)), "\(row.calls)", Self.rate(rate(row.calls)), row.runs == 0 ? "-" : Table.time(row.time / row.runs),
        time("p50_ns"), time("p99_ns"), row.waited == 0 ? "-" : Table.time(row.waited / max(1, row.runs)), "\(row.failures)",
        "\(row.skipped)", state, title.isEmpty ? row.text("patch") : title,
        "\(row.text("position")) \(row.text("selector"))",
      ])
    }
    lines += each.lines
    if count > hooks.count { lines.append("… and \(Int(count) - hooks.count) more hooks") }
    for row in hooks { if let why = row.now["limited"]?.text { lines.append("\(row.text("selector")): \(EventText.printable(why))") } }
    return lines
  }

  private static func percent(_ share: Double) -> String {
    let hundredths = (share * 10_000).rounded()
    guard hundredths > 0 else { return share > 0 ? "<0.01%" : "0%" }
    if hundredths >= 1000 { return "\(Int((hundredths / 100).rounded()))%" }
    return "\(hundredths / 100)%"
  }

  private static func rate(_ rate: Double) -> String {
    if rate >= 999_500 { return "\((rate / 100_000).rounded() / 10)M" }
    if rate >= 9_995 { return "\(Int((rate / 1000).rounded()))k" }
    return rate >= 100 || rate == 0 ? "\(Int(rate.rounded()))" : "\((rate * 10).rounded() / 10)"
  }

  // MARK: For programs

  var json: JSONValue {
    func row(_ row: Row) -> JSONValue {
      let added: [JSONValue.Member] = [
        .init("interval_calls", .int(row.calls)), .init("interval_runs", .int(row.runs)), .init("interval_time_ns", .int(row.time)),
        .init("interval_waited_ns", .int(row.waited)),
        .init("share_ppm", .int(Int64(share(row.time) * 1e6))),
      ]
      return .object(row.now.members + added)
    }
    return [
      "interval_ns": .int(passed), "process_ns": .int(had), "cpu_ns": .int(computed), "count": .int(count),
      "patches": .array(patches.map(row)), "hooks": .array(hooks.map(row)),
    ]
  }
}

/// The terminal while a table is shown: q and Ctrl-C end it.
private final class TopKeys {
  private var former = termios()
  private var isRaw = false

  init() {
    isRaw = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &former) == 0
    guard isRaw else { return }
    var mode = former
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
  }

  /// Waits so long; true when the table is to end.
  func waitForEnd(_ nanoseconds: UInt64) -> Bool {
    let until = clockNanoseconds(CLOCK_MONOTONIC) + nanoseconds
    while true {
      let now = clockNanoseconds(CLOCK_MONOTONIC)
      guard now < until else { return false }
      var polled = pollfd(fd: isRaw ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0)
      guard poll(&polled, 1, Int32((until - now) / 1_000_000 + 1)) > 0 else { continue }
      var byte: UInt8 = 0
      let count = read(STDIN_FILENO, &byte, 1)
      if count == 0 { isRaw = false }
      if count == 1, [UInt8(ascii: "q"), 3, 4].contains(byte) { return true }
    }
  }

  func end() {
    guard isRaw else { return }
    isRaw = false
    tcsetattr(STDIN_FILENO, TCSADRAIN, &former)
    Output.text("\r\n")
    Output.flush()
  }

  /// As many lines as the window has, cut at its width.
  static func fitting(_ lines: [String]) -> [String] {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 2, size.ws_col > 2 else { return lines }
    return lines.prefix(Int(size.ws_row) - 1).map { String($0.prefix(Int(size.ws_col))) }
  }
}
