// CrashFile — one crash file, read from outside: who the process was, how it ended, the path that led there, and its report.
private import CCrash
private import Glibc
package import Journal

/// A copy of a file's contents; nothing in it is trusted.
package struct CrashFile: Sendable {
  /// How the process ended, as far as its file tells.
  package enum Ending: Sendable {
    /// It is there still.
    case running
    /// It wrote a report.
    case crashed
    /// It left neither report nor good-bye: killed from outside, or the machine stopped.
    case killed
    /// It ended as it wanted, and the file could not be removed.
    case ended
  }

  /// One step on the way: what a handler, a log line or an event left.
  package struct Crumb: Sendable {
    /// Nanoseconds after the start of the process.
    package let time: UInt64
    package let thread: Int32
    package let text: String
    let sequence: UInt32
    /// Of a handler's call: whose, by index into `owners`.
    let owner: Int?
    /// When the handler last changed something of the program, as `time`; nil: it did not.
    let changed: UInt64?
  }

  /// Whose a handler is.
  package struct Owner: Sendable {
    package let patch, selector, source, position: String
    /// 0 where it is not known.
    package let line: Int32
    /// Of a step of the start: the thread that was running it; 0 for none.
    let atWork: Int32

    /// The text of a patch, while it runs to make hooks and all else.
    static let loadPosition = Patch.loadPosition
    var isLoad: Bool { position == Self.loadPosition }
    /// A step of the start.
    var isStep: Bool { position == StartTask.position }

    /// File and line.
    package var place: String { line > 0 ? "\(source):\(line)" : source }
  }

  /// A patch whose text ran, as its files were.
  struct RanPatch: Sendable {
    let path: String
    /// When they were last changed, ns since 1970.
    let changed: UInt64
    /// It was loaded, and there when the process ended.
    let isLive: Bool
  }

  package let path: RawPath
  package let program: String
  package let buildID: String
  package let bootID: String
  package let process: Int32
  package let arguments: Int32
  package let bootLevel: UInt32
  /// Wall clock at the start, ns since 1970.
  package let started: UInt64
  let startedMonotonic: UInt64
  /// When patches had been loaded; when it began where that was never reached.
  let mainMonotonic: UInt64
  private let processStart: UInt64
  private let state: UInt32
  /// Long enough after the start, or the program said that it is up.
  package let isSettled: Bool
  /// Patches were being loaded when it was read.
  package let isBeforeMain: Bool
  /// A later start's boot guard has taken note of it.
  package let isAccounted: Bool
  /// Oldest first.
  package let crumbs: [Crumb]
  package let owners: [Owner]
  /// Patches whose text ran; nil where not all are in the file.
  let patches: [RanPatch]?
  /// Empty when there is none.
  package let report: String

  /// All files of a state directory, oldest first; what is no crash file of this build is left out.
  package static func all(in state: RawPath) -> [CrashFile] {
    let directory = CrashDirectory.path(in: state)
    return directory.directoryEntries().filter { $0.suffix(6) == Array(".crash".utf8)[...] }
      .compactMap { CrashFile(directory.appending($0)) }.sorted { $0.started < $1.started }
  }

  /// Those of processes that crashed or were killed, oldest first.
  package static func ended(in state: RawPath) -> [CrashFile] { all(in: state).filter { $0.ending == .crashed || $0.ending == .killed } }

  init?(_ path: RawPath) {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let size = MemoryLayout<CCrashFile>.size
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    defer { memory.deallocate() }
    var done = 0
    while done < size {
      let count = read(descriptor, memory + done, size - done)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      done += count
    }
    // All bytes of the struct were read, and it is plain: any bytes are a value of it.
    let file = memory.assumingMemoryBound(to: CCrashFile.self)
    guard file.pointee.magic == Self.magic, file.pointee.size == UInt32(size) else { return nil }
    self.path = path
    program = Self.text(UnsafeRawPointer(memory + Int(CCRASH_AT_PROGRAM)), 1024)
    buildID = Self.text(UnsafeRawPointer(memory + Int(CCRASH_AT_BUILD_ID)), 64)
    bootID = Self.text(UnsafeRawPointer(memory + Int(CCRASH_AT_BOOT_ID)), 40)
    process = file.pointee.process
    arguments = file.pointee.arguments
    bootLevel = file.pointee.boot_level
    started = file.pointee.started_wall
    startedMonotonic = file.pointee.started_monotonic
    mainMonotonic = max(file.pointee.started_monotonic, file.pointee.main_monotonic)
    processStart = file.pointee.process_start
    state = file.pointee.state
    isSettled = file.pointee.settled != 0
    isBeforeMain = file.pointee.reached_main == 0
    isAccounted = file.pointee.accounted != 0
    owners = Self.readOwners(memory)
    patches = Self.readPatches(memory)
    crumbs = Self.readCrumbs(memory, owners)
    let length = min(Int(file.pointee.report_length), Int(CCRASH_REPORT_SIZE))
    report = String(decoding: UnsafeRawBufferPointer(start: memory + Int(CCRASH_AT_REPORT), count: length), as: UTF8.self)
  }

  /// When the process is last known to have been there, nanoseconds since 1970.
  package var lastSeen: UInt64 { started &+ (crumbs.last?.time ?? 0) }

  /// How the process ended.
  package var ending: Ending {
    if state == CCRASH_ENDED { return .ended }
    if isAlive { return .running }
    return state == CCRASH_REPORTED ? .crashed : .killed
  }

  /// The process is there: by number, and by the time it began.
  private var isAlive: Bool { bootID == currentBootID() && ProcessTimes.start(of: process) == processStart }

  /// Says in the file that the boot guard has taken note of it, or takes that back.
  func markAccounted(_ isAccounted: Bool = true) {
    let descriptor = path.withCString { open($0, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var word: UInt32 = isAccounted ? 1 : 0
    guard lseek(descriptor, off_t(CCRASH_AT_ACCOUNTED), SEEK_SET) >= 0 else { return }
    _ = write(descriptor, &word, MemoryLayout<UInt32>.size)
  }

  // MARK: Reading the memory

  private static var magic: UInt64 { 0x3148_5341_5243_4853 }

  /// The text in a field of that size, up to its NUL.
  private static func text(_ start: UnsafeRawPointer, _ size: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: size).prefix { $0 != 0 }, as: UTF8.self)
  }

  /// The handlers and rules that the file names.
  private static func readOwners(_ memory: UnsafeMutableRawPointer) -> [Owner] {
    let file = memory.assumingMemoryBound(to: CCrashFile.self)
    let first = memory + Int(CCRASH_AT_OWNERS)
    return (0..<min(Int(file.pointee.owner_count), Int(CCRASH_OWNERS))).map { index in
      let at = UnsafeRawPointer(first + index * MemoryLayout<CCrashOwner>.stride)
      let field = { (offset: Int?, size: Int) in text(at + offset!, size) }
      return Owner(
        patch: field(MemoryLayout<CCrashOwner>.offset(of: \.patch), 64),
        selector: field(MemoryLayout<CCrashOwner>.offset(of: \.selector), 120),
        source: field(MemoryLayout<CCrashOwner>.offset(of: \.source), 268),
        position: field(MemoryLayout<CCrashOwner>.offset(of: \.position), 16),
        line: at.assumingMemoryBound(to: CCrashOwner.self).pointee.line,
        atWork: at.assumingMemoryBound(to: CCrashOwner.self).pointee.at_work)
    }
  }

  /// The patches that the file of a crashed process lists; nil where their number cannot be right.
  private static func readPatches(_ memory: UnsafeMutableRawPointer) -> [RanPatch]? {
    let count = Int(memory.assumingMemoryBound(to: CCrashFile.self).pointee.patch_count)
    guard count <= Int(CCRASH_PATCHES) else { return nil }
    let first = memory + Int(CCRASH_AT_PATCHES)
    return (0..<count).map { index in
      let at = UnsafeRawPointer(first + index * MemoryLayout<CCrashPatch>.stride)
      let patch = at.assumingMemoryBound(to: CCrashPatch.self).pointee
      return RanPatch(
        path: text(at + MemoryLayout<CCrashPatch>.offset(of: \.path)!, 500), changed: patch.changed, isLive: patch.is_live != 0)
    }
  }

  /// What handlers were called last, oldest first.
  private static func readCrumbs(_ memory: UnsafeMutableRawPointer, _ owners: [Owner]) -> [Crumb] {
    let start = memory.assumingMemoryBound(to: CCrashFile.self).pointee.started_monotonic
    let after = { (time: UInt64) in time > start ? time - start : 0 }
    var all: [Crumb] = []
    let calls = (memory + Int(CCRASH_AT_CALLS)).assumingMemoryBound(to: CCrashCall.self)
    for index in 0..<Int(CCRASH_CALLS) {
      let call = calls[index]
      guard call.sequence != 0, call.owner > 0, Int(call.owner) <= owners.count else { continue }
      let owner = owners[Int(call.owner) - 1]
      let times = call.count > 1 ? " (\(call.count) times)" : ""
      all.append(
        Crumb(
          time: after(call.time), thread: call.thread,
          text: "\(owner.position) '\(owner.selector)' (\(owner.place))\(times)\(call.changed == 0 ? "" : ", changed something")",
          sequence: call.sequence, owner: Int(call.owner) - 1, changed: call.changed == 0 ? nil : after(call.changed)))
    }
    let crumbs = memory + Int(CCRASH_AT_CRUMBS)
    for index in 0..<Int(CCRASH_CRUMBS) {
      let at = crumbs + index * MemoryLayout<CCrashCrumb>.stride
      let crumb = at.assumingMemoryBound(to: CCrashCrumb.self)
      guard crumb.pointee.sequence != 0, let kind = names[Int(crumb.pointee.kind)] else { continue }
      let said = UnsafeRawBufferPointer(
        start: at + MemoryLayout<CCrashCrumb>.offset(of: \.text)!, count: min(Int(crumb.pointee.length), Int(CCRASH_CRUMB_TEXT)))
      all.append(
        Crumb(
          time: after(crumb.pointee.time), thread: crumb.pointee.thread,
          text: "\(kind) \(EventText.printable(String(decoding: said, as: UTF8.self)))",
          sequence: crumb.pointee.sequence, owner: nil, changed: nil))
    }
    return all.sorted { $0.sequence < $1.sequence }
  }

  private static let names: [Int: String] = [
    Int(CCRASH_LOG): "log", Int(CCRASH_EVENT): "event", Int(CCRASH_FAILURE): "failure", Int(CCRASH_LOADING): "loading",
    Int(CCRASH_NOTE): "note",
  ]
}

/// When processes began.
enum ProcessTimes {
  /// In clock ticks since the machine's boot; 0 when there is no such process.
  static func start(of process: Int32) -> UInt64 {
    let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
      let count = read(descriptor, buffer.baseAddress!, buffer.count)
      let text = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
      // Behind the name, which may hold anything: the 20th word is the start, the first the state.
      let words = text.split(separator: ")").last?.split(separator: " ") ?? []
      // A process that ended and was not collected yet is no more.
      guard words.count > 19, words[0] != "Z", words[0] != "X" else { return 0 }
      return UInt64(words[19]) ?? 0
    }
  }
}
