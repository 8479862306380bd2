// ControlServer — the thread that listens on the control socket and reads what clients ask.
//
// It has descriptors of its own (hkt_unshare_descriptors): the program never sees the socket, its children do not inherit it, and no
// number is taken from it. It waits for no client and runs no script; what takes time or may run code of the program is the worker's.
// What only looks comes after the changes that were asked for before it, so that it sees them whole; a change may wait for the loader, and when
// it goes on for long the observer looks meanwhile.
internal import CHookTrampoline
private import Glibc
internal import Journal
private import Synchronization

/// One per process; runs as long as the process.
final class ControlServer: @unchecked Sendable {
  // Everything that changes belongs to the control thread.
  private let host: ControlHost
  private let worker: HostWorker
  private let observer: HostWorker
  private let directories: [RawPath]
  private let watch: PatchWatch?
  private let phases: PatchPhases
  private let shares: ShareLimit
  private var listener: Int32 = -1
  private var clients: [ControlClient] = []

  /// More than these at a time are turned away.
  private static let mostClients = 32

  /// - Parameters:
  ///   - directories: where to listen, best first; empty: nowhere.
  ///   - watches: whether patches are loaded again as their files change.
  init(_ host: ControlHost, directories: [RawPath], watches: Bool) {
    self.host = host
    self.directories = directories
    worker = HostWorker("scripthost-work")
    observer = HostWorker("scripthost-look")
    watch = watches ? PatchWatch(host.patches, worker) : nil
    phases = PatchPhases(host.patches, worker, started: host.started)
    shares = ShareLimit(host.patches, worker)
  }

  /// Starts the threads. Called before `main`, on the main thread.
  /// - Returns: why not, in a sentence.
  func start() -> String? {
    for code in [worker.start(), observer.start(), HostThread.start("scripthost") { self.run() }] where code != 0 {
      return "this process cannot be controlled: no thread, \(systemMessage(code))"
    }
    return nil
  }

  private func say(_ text: String) {
    // This thread has no stderr.
    worker.add { [log = host.log] in log.say(text) }
  }

  private func run() {
    guard hkt_unshare_descriptors() else {
      return say("this process cannot be controlled: a thread cannot have descriptors of its own, \(systemMessage(errno))")
    }
    if !directories.isEmpty {
      var problems: [String] = []
      for directory in directories where listener < 0 { listen(in: directory, &problems) }
      if listener < 0 {
        let log = host.log, why = problems.joined(separator: "; ")
        worker.add { log.note("no control", "this process cannot be controlled: \(why)") }
      }
    }
    watch?.start()
    while true { turn() }
  }

  // MARK: Listening

  private func listen(in directory: RawPath, _ problems: inout [String]) {
    if let problem = ControlPlace.prepare(directory) { return problems.append(problem) }
    let name = ControlPlace.name(pid: getpid())
    let path = directory.appending(name)
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
    guard descriptor >= 0 else { return problems.append("no socket, \(systemMessage(errno))") }
    // The socket's file is made with the mode of the socket.
    fchmod(descriptor, 0o600)
    // Who sees the socket's name can connect: it listens before it has that name.
    let unready = ControlPlace.unreadyName(pid: getpid())
    let made = directory.appending(unready)
    made.withCString { _ = unlink($0) }
    var status = ControlPlace.withAddress(directory, unready) { bind(descriptor, $0, $1) } ?? -1
    if status == 0 { status = Glibc.listen(descriptor, 128) }
    if status == 0, isTaken(directory, name) {
      status = -1
      errno = EADDRINUSE
    }
    if status == 0 { status = made.withCString { from in path.withCString { rename(from, $0) } } }
    guard status == 0 else {
      problems.append("'\(path)', \(systemMessage(errno))")
      made.withCString { _ = unlink($0) }
      close(descriptor)
      return
    }
    listener = descriptor
    ControlFile.made(path)
  }

  /// Somebody listens there. (Nobody does: this process, before it executed another program, or one that was killed.)
  private func isTaken(_ directory: RawPath, _ name: String) -> Bool {
    let descriptor = ControlPlace.connect(directory, name)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
  }

  // MARK: A turn

  /// Where requests are open somebody else may have something to say soon, and cannot wake this thread: it looks.
  private static let pauses: (soon: Int32, later: Int32) = (2, 20)
  private var turnsWithWork = 0

  private func turn() {
    var polled: [pollfd] = []
    if listener >= 0 { polled.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0)) }
    if let watch, watch.descriptor >= 0 { polled.append(pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)) }
    let first = polled.count
    for client in clients {
      let wanted = (client.isRead ? POLLIN : 0) | (client.hasOutput ? POLLOUT : 0)
      polled.append(pollfd(fd: client.descriptor, events: Int16(wanted), revents: 0))
    }
    let isBusy = clients.contains { $0.openCalls > 0 }
    turnsWithWork = isBusy ? turnsWithWork + 1 : 0
    var pause: Int32 = isBusy ? (turnsWithWork < 200 ? Self.pauses.soon : Self.pauses.later) : clients.isEmpty ? -1 : 1000
    for wait in [watch?.wait, phases.wait, shares.wait] { if let wait { pause = pause < 0 ? wait : min(pause, wait) } }
    guard poll(&polled, nfds_t(polled.count), pause) >= 0 || errno == EINTR else {
      // Nothing but a lack of memory is left; a moment later there may be some.
      usleep(100_000)
      return
    }
    let now = clockNanoseconds(CLOCK_MONOTONIC)
    for (client, events) in zip(clients, polled[first...].map(\.revents)) { serve(client, events, now) }
    if clients.contains(where: { $0.isStanding(now) }) { StartHold.note(now) }
    clients.removeAll { client in
      guard client.isDone else { return false }
      client.end()
      return true
    }
    watch?.look(now)
    if !StartHold.isHeld { phases.look(now) }
    shares.look(now)
    handOver(now)
    Measurement.end(now, observer)
    if listener >= 0, polled[0].revents != 0 { takeClients(now) }
  }

  private func takeClients(_ now: UInt64) {
    while true {
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { return }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      // Root may look at every process anyway.
      guard let peer = ControlPlace.peer(descriptor), peer.user == geteuid() || peer.user == 0 else {
        close(descriptor)
        continue
      }
      let client = ControlClient(descriptor, peer, now: now)
      guard clients.count < Self.mostClients else {
        _ = client.send(["ok": false, "error": .string("\(Self.mostClients) clients are connected, more are not served; end one")])
        _ = client.flush()
        client.end()
        continue
      }
      clients.append(client)
    }
  }

  private func serve(_ client: ControlClient, _ events: Int16, _ now: UInt64) {
    if client.isClosed { return }
    if events & Int16(POLLERR | POLLNVAL) != 0 { return client.drop() }
    // Nobody reads and nobody writes.
    if events & Int16(POLLHUP) != 0, !client.isRead { return client.drop() }
    if events & Int16(POLLIN | POLLHUP) != 0 {
      guard let lines = client.readLines(now: now) else { return client.drop() }
      for line in lines { take(line, client) }
    } else if client.isLate(now) {
      return client.drop()
    }
    if !client.flush() { client.drop() }
  }

  // MARK: Requests

  /// A request that another thread carries out: the first that comes to it.
  private final class Queued: Sendable {
    private let call: ControlCall
    private let verb: ControlVerb
    private let isTaken = Atomic<Bool>(false)
    var hasBegun: Bool { isTaken.load(ordering: .relaxed) }

    init(_ call: ControlCall, _ verb: ControlVerb) { (self.call, self.verb) = (call, verb) }

    func run() {
      if isTaken.exchange(true, ordering: .relaxed) { return }
      if !call.client.isClosed { verb.carryOut(call) } else { call.client.finished(call) }
    }
  }

  /// So long looking waits for changes, in nanoseconds.
  private static let patience: UInt64 = 100_000_000
  /// What looks and was not begun when it was last asked after, and until when it is left to the worker.
  private var looks: [(Queued, due: UInt64)] = []

  private func handOver(_ now: UInt64) {
    looks.removeAll { task, due in
      if task.hasBegun { return true }
      guard now >= due else { return false }
      observer.add { task.run() }
      return true
    }
  }

  private func take(_ line: [UInt8], _ client: ControlClient) {
    // A session is a request that stays open: its answers are looked for soon again after each line.
    turnsWithWork = 0
    let request: JSONValue
    do throws(JSONValue.Problem) { request = try JSONValue(parsing: line) } catch {
      _ = client.send([
        "id": .null, "ok": false, "error": .string("the request is no JSON: \(error.what) at byte \(error.position)"),
      ])
      return
    }
    let id = request["id"] ?? .null
    func refuse(_ sentence: String) { _ = client.send(["id": id, "ok": false, "error": .string(sentence)]) }
    guard case .object = request, let name = request["do"]?.text else {
      return refuse("a request is an object with 'do', such as {\"id\":1,\"do\":\"status\"}")
    }
    if name == "stop" { return stop(request, id, client) }
    guard let verb = ControlVerbs.find(name) else {
      return refuse("unknown request '\(EventText.printable(String(name.prefix(64))))'; ask for 'help'")
    }
    let call = ControlCall(request, id: id, client, host)
    guard client.begin(call) else { return refuse("\(ControlClient.mostOpen) requests are open, more are not taken; wait for answers") }
    switch verb.runner {
    case .control: verb.carryOut(call)
    case .observer, .worker:
      let task = Queued(call, verb)
      worker.add { task.run() }
      if verb.runner == .observer { looks.append((task, clockNanoseconds(CLOCK_MONOTONIC) &+ Self.patience)) }
    }
  }

  /// `{"do":"stop","request":ID}`: ends a request that streams.
  private func stop(_ request: JSONValue, _ id: JSONValue, _ client: ControlClient) {
    if let target = request["request"], let call = client.openCall(target) {
      call.answer([.init("stopped", true)])
      _ = client.send(["id": id, "ok": true])
    } else {
      _ = client.send(["id": id, "ok": false, "error": "no request of that id is open"])
    }
  }
}

/// The socket's file, which goes when the program ends.
enum ControlFile {
  private static let path = Mutex<(RawPath, pid_t)?>(nil)

  static func made(_ file: RawPath) { path.withLock { $0 = (file, getpid()) } }

  /// Removes it; not in a forked copy, whose parent still listens.
  static func remove() {
    guard let (file, pid) = path.withLock({ $0 }), pid == getpid() else { return }
    file.withCString { _ = unlink($0) }
  }
}

extension BootTask {
  static let control = BootTask("control", .services) { context in
    let settings = context.settings
    let isOff = settings.text(.control) == "off"
    guard !settings.has(.trace), let patches = context.patches else { return .goOn }
    let isNeeded = settings.has(.watch) || patches.nextExpiry != nil || patches.hasShares || patches.waiting(for: .up) || patches.waiting(for: .idle)
    guard !isOff || isNeeded else { return .goOn }
    let host = ControlHost(
      patches: patches, log: context.log, program: context.program, buildID: settings.text(.buildID) ?? "",
      started: clockNanoseconds(CLOCK_MONOTONIC))
    let server = ControlServer(
      host, directories: isOff ? [] : ControlPlace.directories(state: context.state), watches: settings.has(.watch))
    if let problem = server.start() { context.log.note("no control", problem) }
    context.atEnd { ControlFile.remove() }
    return .goOn
  }
}
