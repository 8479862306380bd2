// CanaryTrial — one child of the program that loads one patch, and what became of it.
private import CHookTrampoline
private import Glibc
internal import Journal
private import Synchronization

/// How a trial ended.
enum CanaryOutcome: Equatable, Sendable {
  case passed
  /// It was loaded, and has no test; or nothing was recorded that could be called again.
  case untested
  /// It cannot be loaded here either: why, in a sentence.
  case refused(String)
  /// Nothing is known of the patch.
  case notStarted(String)
  /// Its test failed: why, in words that go on behind "quarantined,".
  case failed(String)
}

extension CanaryOutcome: CustomStringConvertible {
  var description: String {
    switch self {
    case .passed: "passed in a child of the program"
    case .untested: "loaded in a child of the program"
    case .refused(let why): "refused in a child of the program: \(why)"
    case .notStarted(let why): "not tried: \(why)"
    case .failed(let why): why
    }
  }
}

/// A trial that is about to run.
struct CanaryTrial: Sendable {
  let settings: BootSettings
  let source: PatchSource
  let kind: CanaryKind

  /// What the child said, and how it ended.
  private struct End: Sendable {
    var error: Int32 = 0
    var status: Int32 = 0
    var isLate = false
    var answer = ""
    var said = ""
  }

  /// Waits until the child has ended.
  func run() -> CanaryOutcome {
    guard settings.has(.boot), settings.has(.stub) else { return .notStarted("the host was not started by the command") }
    switch runInThread() {
    case .failure(let problem): return .notStarted(problem.why)
    case .success(let end): return outcome(end)
    }
  }

  // MARK: What it means

  private func outcome(_ end: End) -> CanaryOutcome {
    if end.error != 0 { return .notStarted("no child of the program, \(systemMessage(end.error))") }
    guard let last = end.answer.split(separator: "\n").last else {
      return .notStarted("a child of the program \(ending(end)) before the patch was loaded")
    }
    let words = last.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = words.dropFirst().first ?? ""
    switch words.first {
    case CanaryWords.passed?: return kind != .boot && rest == "0" ? .untested : .passed
    case CanaryWords.changed? where source.header.canaryChanges: return .passed
    case CanaryWords.changed?: return .failed("a recorded call has another result: \(rest)")
    case CanaryWords.recalling?:
      return .notStarted(
        "a child of the program \(ending(end)) in a recorded call of '\(rest)', without the patch; record calls anew, or say canary = \"boot\"")
    case CanaryWords.replaying?: return .failed("a child of the program \(ending(end)) in a recorded call of '\(rest)'\(lastWords(end))")
    case CanaryWords.loaded?:
      guard end.isLate || end.status != 0 else { return .passed }
      return .failed(
        "the program's self-test, started with \(source.header.canaryArguments.map { "'\($0)'" }.joined(separator: " ")), "
          + "\(ending(end))\(lastWords(end))")
    case CanaryWords.refused?: return .refused(rest)
    case CanaryWords.failed?: return .failed("its test failed in a child of the program: \(rest)")
    case CanaryWords.testing?: return .failed("a child of the program \(ending(end)) in its test '\(rest)'\(lastWords(end))")
    default: return .failed("a child of the program \(ending(end)) as it was loaded\(lastWords(end))")
    }
  }

  private func ending(_ end: End) -> String {
    if end.isLate { return "did not end within \(source.header.canaryLimit) s" }
    let signal = end.status & 0x7f
    if signal != 0 { return "was ended by \(CrashText.signal(Int(signal)))" }
    return "ended with status \((end.status >> 8) & 0xff)"
  }

  /// The runtime's message, or the last line on stderr.
  private func lastWords(_ end: End) -> String {
    let lines = end.said.split(separator: "\n").map(String.init)
    guard let line = lines.last(where: { $0.contains("Fatal error") }) ?? lines.last else { return "" }
    return ": \(EventText.printable(String(line.prefix(300))))"
  }

  // MARK: The child

  private struct Problem: Error, Sendable { let why: String }

  /// Outcomes cross threads here.
  private final class Box: @unchecked Sendable {
    // `end` is written before the semaphore is raised and read after it was waited for.
    var end: Result<End, Problem> = .failure(Problem(why: "nothing was tried"))
    let isDone = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    init() { sem_init(isDone, 0, 0) }
    deinit {
      sem_destroy(isDone)
      isDone.deallocate()
    }
  }

  /// In a thread with descriptors of its own: the program never sees those of the child.
  private func runInThread() -> Result<End, Problem> {
    let box = Box()
    let status = HostThread.start("sh-canary") {
      box.end = hkt_unshare_descriptors()
        ? .success(start()) : .failure(Problem(why: "a thread cannot have descriptors of its own, \(systemMessage(errno))"))
      sem_post(box.isDone)
    }
    guard status == 0 else { return .failure(Problem(why: "no thread, \(systemMessage(status))")) }
    while sem_wait(box.isDone) != 0, errno == EINTR {}
    return box.end
  }

  private func start() -> End {
    var arguments = words(of: "/proc/self/cmdline")
    if kind == .selfTest { arguments = arguments.prefix(1) + source.header.canaryArguments.map { Array($0.utf8) } }
    var result = End()
    var answer = [CChar](repeating: 0, count: 4096), said = [CChar](repeating: 0, count: 4096)
    withCStrings(arguments.isEmpty ? [Array("program".utf8)] : arguments) { arguments in
      withCStrings(environment()) { environment in
        let file = needsDescriptor ? settings.bytes(.stub).map { $0.map { CChar(bitPattern: $0) } + [0] } : nil
        answer.withUnsafeMutableBufferPointer { answer in
          said.withUnsafeMutableBufferPointer { said in
            file.withOptionalBuffer { file in
              "/proc/self/exe".withCString { path in
                var child = HKTChild(
                  path: path, arguments: arguments, environment: environment, file: file, limit: UInt64(source.header.canaryLimit) * 1_000_000_000)
                var end = HKTChildEnd()
                (end.answer, end.answer_room, end.said, end.said_room) = (answer.baseAddress, answer.count, said.baseAddress, said.count)
                hkt_run_child(&child, &end)
                (result.error, result.status, result.isLate) = (end.error, end.status, end.is_late)
                result.answer = String(decoding: UnsafeRawBufferPointer(start: answer.baseAddress, count: end.answer_length), as: UTF8.self)
                result.said = String(decoding: UnsafeRawBufferPointer(start: said.baseAddress, count: end.said_length), as: UTF8.self)
              }
            }
          }
        }
      }
    }
    return result
  }

  /// Texts that each end with a zero byte, as /proc has them: the program may have changed its own since.
  private func words(of path: String) -> [[UInt8]] {
    SummedFile.bytes(of: RawPath(path)).map { bytes in
      bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
    } ?? []
  }

  /// LD_PRELOAD cannot spell blanks, colons or dollars.
  private var needsDescriptor: Bool {
    settings.bytes(.stub)?.contains { [UInt8(ascii: " "), UInt8(ascii: ":"), UInt8(ascii: "$"), 9, 10].contains($0) } ?? false
  }

  /// The environment the program was started with, and what starts the host in it.
  private func environment() -> [[UInt8]] {
    let replaced = ["LD_PRELOAD=", "SCRIPTHOST_BOOT=", "SWIFT_BACKTRACE="].map { Array($0.utf8) }
    let kept = words(of: "/proc/self/environ").filter { variable in !variable.isEmpty && !replaced.contains { variable.starts(with: $0) } }
    let previous = settings.bytes(.preload) ?? []
    let stub = needsDescriptor ? Array("/proc/self/fd/\(HKT_CHILD_FILE)".utf8) : settings.bytes(.stub) ?? []
    return kept + [
      Array("LD_PRELOAD=".utf8) + stub + (previous.isEmpty ? [] : [UInt8(ascii: ":")] + previous),
      Array("SCRIPTHOST_BOOT=\(childSettings().encoded())".utf8), Array("SWIFT_BACKTRACE=enable=no".utf8),
    ]
  }

  private func childSettings() -> BootSettings {
    var child = BootSettings()
    for key in [BootSettings.Key.boot, .target, .program, .command, .stub, .preload, .buildID, .state] {
      if let value = settings.bytes(key) { child.add(key, value) }
    }
    child.add(.patches, (source.directory ?? source.path).bytes)
    child.add(.canaryChild, kind.rawValue)
    child.add(.control, "off")
    if needsDescriptor { child.add(.close, "\(HKT_CHILD_FILE)") }
    return child
  }
}

/// Calls `body` with texts as `execve` takes them.
private func withCStrings(_ texts: [[UInt8]], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Void) {
  var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { text in
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.count + 1)
    for (index, byte) in text.enumerated() { copy[index] = CChar(bitPattern: byte) }
    copy[text.count] = 0
    return copy
  }
  pointers.append(nil)
  defer { for pointer in pointers { pointer?.deallocate() } }
  pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
}

extension Optional<[CChar]> {
  /// Calls `body` with the text, or with nil.
  fileprivate func withOptionalBuffer(_ body: (UnsafePointer<CChar>?) -> Void) {
    guard let text = self else { return body(nil) }
    text.withUnsafeBufferPointer { body($0.baseAddress) }
  }
}
