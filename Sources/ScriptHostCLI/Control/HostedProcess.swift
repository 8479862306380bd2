// HostedProcess — running programs with the host inside, found by their control sockets, and a connection to one of them.
internal import Glibc
internal import Journal
internal import ScriptHost

/// A socket that somebody may listen on.
struct HostedProcess {
  let pid: pid_t
  let directory: RawPath
  var name: String { ControlPlace.name(pid: pid) }

  /// All there are, by pid. Sockets that nobody listens on any more are removed.
  static func all(state: RawPath?) -> [HostedProcess] {
    var found: [pid_t: HostedProcess] = [:]
    for directory in ControlPlace.directories(state: state) where ControlPlace.problem(directory) == nil {
      for name in directory.directoryEntries() {
        guard let pid = ControlPlace.pid(of: name) else { continue }
        let process = HostedProcess(pid: pid, directory: directory)
        if process.isThere { found[pid] = found[pid] ?? process }
      }
    }
    return found.values.sorted { $0.pid < $1.pid }
  }

  /// Somebody listens on it; a socket of nobody is removed.
  var isThere: Bool {
    // It takes no connection, and one more that waits for it could be one too many.
    if isStopped { return true }
    let descriptor = ControlPlace.connect(directory, name)
    if descriptor >= 0 {
      close(descriptor)
      return true
    }
    if errno == ECONNREFUSED { directory.appending(name).withCString { _ = unlink($0) } }
    return false
  }

  /// A signal or a debugger stopped it: it answers nothing until it goes on.
  var isStopped: Bool {
    guard let file = fopen("/proc/\(pid)/stat", "re") else { return false }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 512)
    guard fgets(&buffer, Int32(buffer.count), file) != nil else { return false }
    // PID (NAME) STATE …, where the name may be anything.
    let state = buffer.lastIndex(of: CChar(bitPattern: UInt8(ascii: ")"))).flatMap { buffer.dropFirst($0 + 2).first }
    return state == CChar(bitPattern: UInt8(ascii: "T")) || state == CChar(bitPattern: UInt8(ascii: "t"))
  }

  /// The file that it runs, as far as the kernel tells.
  var program: String { RawPath("/proc/\(pid)/exe").resolved()?.description ?? "" }

  /// How long a start may take, and what passes between two looks, in microseconds.
  private static let longestStart: UInt32 = 2_000_000, betweenLooks: UInt32 = 20_000

  /// The process is our command, which becomes the program, or a program that the host was put into: it will listen, unless it was told not to.
  private static func isStarting(_ pid: pid_t) -> Bool {
    if let program = RawPath("/proc/\(pid)/exe").resolved(), program == RawPath("/proc/self/exe").resolved() { return true }
    guard let file = fopen("/proc/\(pid)/maps", "re") else { return false }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 8192)
    while fgets(&line, Int32(line.count), file) != nil {
      if strstr(line, "/libscripthost_preload.so") != nil || strstr(line, "/libScriptHostBoot.so") != nil { return true }
    }
    return false
  }

  /// Where nobody was found.
  static func nobody(_ state: RawPath?) -> String {
    let places = ControlPlace.directories(state: state).map { "'\($0)'" }.joined(separator: " or ")
    return "no process under ScriptHost listens in \(places); start one with scripthost run, or name the --state that it was started with"
  }

  /// The process that a command means.
  /// - Parameter pid: as on the command line; nil for the only one there is.
  static func find(_ pid: String?, state: RawPath?) throws(Failure) -> ControlConnection {
    var all = all(state: state)
    if let pid {
      // Who starts a program and asks for it at once comes before the program's host.
      var rest = Self.longestStart / Self.betweenLooks
      while rest > 0, let number = pid_t(pid), !all.contains(where: { $0.pid == number }), isStarting(number) {
        usleep(Self.betweenLooks)
        all = Self.all(state: state)
        rest -= 1
      }
      guard let number = pid_t(pid), let process = all.first(where: { $0.pid == number }) else {
        throw Failure(
          status: 1,
          sentence: "no process \(EventText.printable(pid)) under ScriptHost that listens"
            + (all.isEmpty ? "; start one with scripthost run" : "; there are \(all.map { "\($0.pid)" }.joined(separator: ", "))"))
      }
      return try ControlConnection(process)
    }
    guard let only = all.first else { throw Failure(status: 1, sentence: nobody(state)) }
    guard all.count == 1 else {
      throw Failure(status: 1, sentence: "\(all.count) processes run under ScriptHost; name one: \(all.map { "\($0.pid)" }.joined(separator: ", "))")
    }
    return try ControlConnection(only)
  }
}

/// A connection to a process's control socket. One request at a time.
final class ControlConnection {
  let process: HostedProcess
  let descriptor: Int32
  /// The process closed it.
  private(set) var hasEnded = false
  private var input: [UInt8] = []
  private var lastID: Int64 = 0

  init(_ process: HostedProcess) throws(Failure) {
    self.process = process
    if process.isStopped { throw Failure(status: 1, sentence: Self.stopped(process)) }
    descriptor = ControlPlace.connect(process.directory, process.name)
    guard descriptor >= 0 else {
      throw Failure(status: 1, sentence: "process \(process.pid) cannot be reached, \(systemMessage(errno))")
    }
    // What listens in a directory of ours is ours, unless somebody else made the socket before.
    guard let peer = ControlPlace.peer(descriptor), peer.user == geteuid() || geteuid() == 0 else {
      throw Failure(status: 1, sentence: "the socket of process \(process.pid) belongs to another user; not used")
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Asks and answers the last line; `more` gets those before, and ends the request by answering false.
  /// - Parameter timeout: how long a line may take, in milliseconds; -1 for ever.
  func ask(
    _ verb: String, _ members: [JSONValue.Member] = [], timeout: Int32 = 10_000, more: (JSONValue) -> Bool = { _ in true }
  ) throws(Failure) -> JSONValue {
    lastID += 1
    try write(.object([.init("id", .int(lastID)), .init("do", .string(verb))] + members))
    while true {
      let line = try line(timeout)
      guard let answer = try? JSONValue(parsing: line) else { throw broken("answered no JSON") }
      if let id = answer["id"]?.int, id != lastID { continue }
      if answer["more"]?.bool == true {
        if !more(answer) { return answer }
        continue
      }
      guard answer["ok"]?.bool == true else {
        throw Failure(status: 1, sentence: "process \(process.pid): \(answer["error"]?.text ?? "the request failed")")
      }
      return answer
    }
  }

  private func broken(_ what: String) -> Failure { Failure(status: 1, sentence: "process \(process.pid) \(what)") }

  private func write(_ value: JSONValue) throws(Failure) {
    let line = Array(value.line.utf8) + [10]
    var done = 0
    while done < line.count {
      let count = line.withUnsafeBytes { send(descriptor, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw broken("has ended") }
      done += count
    }
  }

  private static func stopped(_ process: HostedProcess) -> String {
    "process \(process.pid) is stopped, by a signal or a debugger, and does not answer; kill -CONT \(process.pid) lets it go on"
  }

  /// How often a process that does not answer is looked at, in milliseconds.
  private static let lookTime: Int32 = 250

  private func line(_ timeout: Int32) throws(Failure) -> [UInt8] {
    var left = timeout
    while true {
      if let line = wholeLine() { return line }
      let wait = left < 0 ? left : min(left, Self.lookTime)
      if awaitLine(wait) {
        guard readMore() else { throw broken("has ended") }
        continue
      }
      // One that waits for ever may be in a debugger's hands for a while.
      if process.isStopped { throw Failure(status: 1, sentence: Self.stopped(process)) }
      left -= wait
      if left <= 0 { throw broken("does not answer") }
    }
  }

  private func wholeLine() -> [UInt8]? {
    guard let end = input.firstIndex(of: 10) else { return nil }
    defer { input.removeSubrange(...end) }
    return Array(input[..<end])
  }

  /// Waits until something can be read, so many milliseconds; -1: for ever.
  func awaitLine(_ timeout: Int32) -> Bool {
    while true {
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&polled, 1, timeout)
      if ready >= 0 { return ready > 0 }
      if errno != EINTR { return false }
    }
  }

  /// Takes in what is there; false at the end. Waits when nothing is.
  private func readMore() -> Bool {
    let count = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
      let count = read(descriptor, buffer.baseAddress!, buffer.count)
      if count > 0 { input += buffer[..<count] }
      return count
    }
    if count == 0 || count < 0 && errno != EINTR { hasEnded = true }
    return !hasEnded
  }

  /// The lines that are there, without waiting; not more than are read at a glance.
  func takeLines() -> [JSONValue] {
    for _ in 0..<8 where !hasEnded && awaitLine(0) { _ = readMore() }
    guard let end = input.lastIndex(of: 10) else { return [] }
    defer { input.removeSubrange(...end) }
    return input[..<end].split(separator: 10).compactMap { try? JSONValue(parsing: Array($0)) }
  }
}
