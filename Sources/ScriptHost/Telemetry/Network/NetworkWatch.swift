// NetworkWatch — one record per task of URLSession, from its first resume to its end: which transfers it had is asked from libcurl when
// each is over. No script runs for it.
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
private import Synchronization

/// What scripts and the command ask for.
struct NetworkSettings: Sendable, Equatable {
  /// Puts the header `traceparent` into requests that have none.
  var traceparent = false
  /// A pattern for hosts that are given the header; `*` stands for anything.
  var hosts = "*"

  /// Whether requests to the host are given the header.
  func marks(_ host: String) -> Bool { traceparent && Self.matches(hosts.utf8[...], host.utf8[...]) }

  private static func matches(_ pattern: Substring.UTF8View, _ text: Substring.UTF8View) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == UInt8(ascii: "*") {
      let rest = pattern.dropFirst()
      var tail = text
      while true {
        if matches(rest, tail) { return true }
        if tail.isEmpty { return false }
        tail = tail.dropFirst()
      }
    }
    return text.first == first && matches(pattern.dropFirst(), text.dropFirst())
  }
}

/// Any thread.
final class NetworkWatch: Sendable {
  static let shared = NetworkWatch()

  /// A task that was resumed and is not over.
  private struct Open {
    let start: UInt64
    /// How often it was sent before.
    let retries: Int
    /// What it is below of; nil where no span ran when it was resumed.
    let scope: NetworkScope?
    var transfers: [(begin: UInt64, transfer: CurlTransfer)] = []
    var handle: UInt = 0
  }
  /// A handle of libcurl that Foundation works with.
  private struct Handle {
    var began: UInt64 = 0
    /// The task that it is prepared for.
    var task: UInt = 0
    /// As Foundation has set them last.
    var url = ""
    var method = "GET"
    var trace: TraceID?
    var span: UInt64 = 0
    var parent: UInt64?
    /// The trace is one that is recorded.
    var isRecorded = true

    /// Puts its request below a span.
    mutating func place(_ scope: NetworkScope) { (trace, span, parent, isRecorded) = (scope.trace, scope.span, scope.parent, scope.isRecorded) }
  }
  private struct State {
    /// By who asked: a request is recorded once, whoever wants it.
    var wishes: [ObjectIdentifier: NetworkSettings] = [:]
    var log: HostLog?
    var isOn: Bool { !wishes.isEmpty }
    var tasks: [UInt: Open] = [:]
    var handles: [UInt: Handle] = [:]
    /// Tasks that ended because the server asked for credentials: Foundation sends them again. The newest.
    var asked: [NetworkTask: Int] = [:]
  }
  private let state = Mutex(State())

  /// Begins to record, until each owner has stopped it; a second wish of an owner replaces its first.
  /// - Returns: What is wrong, one sentence each.
  func start(_ settings: NetworkSettings, owner: ObjectIdentifier, log: HostLog) -> [String] {
    let problems = TransferHooks.install()
    if problems.isEmpty { state.withLock { ($0.wishes[owner], $0.log) = (settings, log) } }
    return problems
  }
  func stop(owner: ObjectIdentifier) { state.withLock { $0.wishes[owner] = nil } }

  // MARK: What hooks tell

  func resumed(_ task: NetworkTask, in call: UnsafeMutablePointer<HKTCall>) {
    Effects.note()
    guard state.withLock({ $0.isOn && $0.tasks[task.address] == nil }) else { return }
    let scope = NetworkScope(around: call)
    state.withLock { state in
      guard state.isOn, state.tasks[task.address] == nil else { return }
      state.tasks[task.address] = Open(start: monotonicNow(), retries: state.asked.removeValue(forKey: task) ?? 0, scope: scope)
    }
  }

  func urlSet(handle: UInt, _ url: String) {
    state.withLock { if $0.isOn { $0.handles[handle, default: Handle()].url = url } }
  }
  func methodSet(handle: UInt, _ method: String) {
    state.withLock { if $0.isOn { $0.handles[handle, default: Handle()].method = method } }
  }
  /// A transfer of a task is about to begin.
  func transferPrepared(task: UInt, handle: UInt) {
    state.withLock { state in
      guard let scope = state.tasks[task]?.scope else {
        state.tasks[task]?.handle = handle
        return
      }
      state.tasks[task]?.handle = handle
      // A task that is redirected is one span.
      if state.handles[handle]?.task != task || state.handles[handle]?.trace == nil {
        state.handles[handle, default: Handle()].place(scope)
        state.handles[handle]?.task = task
      }
    }
  }

  /// The headers of a request are given to libcurl: a list of lines that Foundation owns, to which one may be added.
  func headersSet(handle: UInt, _ list: UnsafeMutableRawPointer) {
    guard let curl = Curl.loaded else { return }
    let header = state.withLock { state -> String? in
      guard state.wishes.values.contains(where: \.traceparent), var noted = state.handles[handle] else { return nil }
      defer { state.handles[handle] = noted }
      if let given = Self.traceparent(in: list) {
        // What was put in before a redirection comes back: it is ours.
        if given.span != noted.span || given.trace != noted.trace { (noted.trace, noted.parent, noted.isRecorded) = (given.trace, given.span, true) }
        if noted.span == 0 { noted.span = .random(in: 1 ... .max) }
        return nil
      }
      let host = URLParts(noted.url).host
      guard state.wishes.values.contains(where: { $0.marks(host) }) else { return nil }
      let trace = noted.trace ?? TraceID(high: .random(in: 1 ... .max), low: .random(in: 1 ... .max))
      if noted.span == 0 { noted.span = .random(in: 1 ... .max) }
      noted.trace = trace
      return "traceparent: 00-\(trace)-\(EventText.hexadecimal(noted.span, nil))-\(noted.isRecorded ? "01" : "00")"
    }
    // The list has lines: appending leaves its head where it is.
    if let header { _ = curl.append(list, header) }
  }

  /// The program's own header among the lines of a list (struct curl_slist: the text, the next one).
  private static func traceparent(in list: UnsafeMutableRawPointer) -> (trace: TraceID, span: UInt64)? {
    var next: UnsafeMutableRawPointer? = list
    while let line = next {
      next = line.load(fromByteOffset: 8, as: UnsafeMutableRawPointer?.self)
      guard let text = line.load(as: UnsafePointer<CChar>?.self).map({ String(cString: $0) }),
        text.prefix(12).lowercased() == "traceparent:"
      else { continue }
      let parts = text.dropFirst(12).split(separator: "-")
      guard parts.count >= 4, parts[1].count == 32, let high = UInt64(parts[1].prefix(16), radix: 16),
        let low = UInt64(parts[1].suffix(16), radix: 16), let span = UInt64(parts[2], radix: 16)
      else { return nil }
      return (TraceID(high: high, low: low), span)
    }
    return nil
  }

  func transferBegan(handle: UInt) {
    state.withLock { if $0.isOn { $0.handles[handle, default: Handle()].began = monotonicNow() } }
  }

  func transferEnded(task: UInt, handle: UInt) {
    guard let curl = Curl.loaded, let place = UnsafeMutableRawPointer(bitPattern: handle),
      state.withLock({ $0.tasks[task] != nil })
    else { return }
    let transfer = CurlTransfer(place, curl)
    let now = monotonicNow()
    state.withLock { state in
      let began = state.handles[handle]?.began ?? 0
      state.tasks[task]?.transfers.append((began != 0 ? began : now - transfer.total, transfer))
      state.tasks[task]?.handle = handle
    }
  }

  /// - Parameter error: why it failed; nil when it did not.
  func ended(_ ending: NetworkTask, error: String?) {
    let end = monotonicNow()
    let found = state.withLock { state -> (Open, Handle?, HostLog)? in
      guard let task = state.tasks.removeValue(forKey: ending.address), let log = state.log else { return nil }
      if error == nil, task.transfers.last?.transfer.status == 401 {
        if state.asked.count >= Self.mostAsked { state.asked.removeAll() }
        state.asked[ending] = task.retries + 1
      }
      return (task, state.handles.removeValue(forKey: task.handle), log)
    }
    guard let (task, handle, log) = found else { return }
    let record = Self.record(task, handle, end, error)
    log.append(.network, FieldName("\(record.method) \(record.host)", masked: false)) { record.write(into: &$0) }
    log.happened("request \(record.method) \(record.host)\(record.error.map { ": \($0)" } ?? record.status.map { ", status \($0)" } ?? "")")
  }

  private static let mostAsked = 256

  private static func record(_ task: Open, _ handle: Handle?, _ end: UInt64, _ error: String?) -> NetworkRecord {
    let last = task.transfers.last
    // Before a redirection it is the first one that says what was asked for.
    let parts = URLParts(task.transfers.first?.transfer.url ?? handle?.url ?? "")
    var record = NetworkRecord(
      method: task.transfers.first?.transfer.method ?? handle?.method ?? "", url: parts.shown, host: parts.host, start: task.start,
      duration: end - task.start)
    record.port = parts.port
    record.client = "URLSession"
    record.error = error
    if task.retries > 0 { record.retries = task.retries }
    if let last {
      record.proto = last.transfer.proto
      record.status = last.transfer.status
      record.requestBytes = task.transfers.reduce(0) { $0 + $1.transfer.sent }
      record.responseBytes = last.transfer.received
      record.firstByte = last.transfer.firstByte.map { last.begin - task.start + $0 }
      record.redirects = task.transfers.dropLast().count { (300..<400).contains($0.transfer.status ?? 0) }
    }
    if let first = task.transfers.first {
      func since(_ time: UInt64?) -> UInt64? { time.map { first.begin - task.start + $0 } }
      record.queued = since(0)
      (record.dns, record.connect, record.tls) = (since(first.transfer.dns), since(first.transfer.connect), since(first.transfer.tls))
    }
    // Below a span that is not recorded it is a trace of its own.
    if let handle, let trace = handle.trace {
      if handle.isRecorded { (record.trace, record.span, record.parent) = (trace, handle.span, handle.parent) }
    } else if let scope = task.scope, scope.isRecorded { (record.trace, record.span, record.parent) = (scope.trace, scope.span, scope.parent) }
    return record
  }
}
