// CommandSupport — programs and processes for the tests of command, stub and journal.
import Foundation
import Glibc
import Synchronization
import Testing

/// Where things are.
enum Place {
  /// The package.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// The directory of the tests' own build, with the command in it.
  static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path

  static let command = products + "/scripthost"

  /// The directory of the toolchain's programs.
  static let toolchain: String = {
    let swift = try! run("/bin/sh", "-c", "readlink -f \"$(command -v swift)\"").text.trimmed
    return URL(fileURLWithPath: swift).deletingLastPathComponent().path
  }()

  /// Everything the tests of this process leave, removed at its end.
  private static let base: String = {
    var template = Array((NSTemporaryDirectory() + "scripthost-test-XXXXXX").utf8CString)
    let path = String(cString: mkdtemp(&template)!)
    atexit { try? FileManager.default.removeItem(atPath: Place.base) }
    return path
  }()

  /// A new directory.
  static func scratch() throws -> String {
    var template = Array((base + "/XXXXXX").utf8CString)
    return try #require(mkdtemp(&template).map { String(cString: $0) })
  }
}

extension String {
  var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
  var lines: [String] { split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
}

/// What a process left behind.
struct Outcome {
  var output: Data
  var errors: String
  /// Exit status, or the negative signal number.
  var status: Int32
  var text: String { String(decoding: output, as: UTF8.self) }
}

/// Runs a process to its end. `environment` nil means this one's.
func run(_ program: String, _ arguments: String..., environment: [String: String]? = nil) throws -> Outcome {
  try run(program, arguments, environment: environment)
}

func run(_ program: String, _ arguments: [String], environment: [String: String]? = nil) throws -> Outcome {
  // Files, not pipes: nothing has to be read while the process runs.
  let output = try TemporaryFile(), errors = try TemporaryFile()
  let process = try Spawned(
    program, arguments, environment: environment, output: output.descriptor, errors: errors.descriptor)
  let status = process.wait()
  return Outcome(output: output.contents(), errors: String(decoding: errors.contents(), as: UTF8.self), status: status)
}

/// Held while a process starts and while a descriptor exists that it would inherit.
private let descriptorLock = Mutex(())

/// A process that gets stdin, stdout and stderr and no other descriptor of the tests.
struct Spawned {
  let pid: pid_t

  init(
    _ program: String, _ arguments: [String], environment: [String: String]? = nil,
    output: Int32, errors: Int32 = 2
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    // Other tests open files meanwhile, and Foundation some that children inherit. Closing what is not open is no error for glibc.
    for descriptor: Int32 in 3..<256 { posix_spawn_file_actions_addclose(&actions, descriptor) }
    // Threads of the test runner block signals, and children inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let variables = (environment ?? ProcessInfo.processInfo.environment).map { strdup($0.key + "=" + $0.value) } + [nil]
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for text in variables + words { free(text) } }
    var pid: pid_t = 0
    let code = descriptorLock.withLock { _ in posix_spawn(&pid, program, &actions, &attributes, words, variables) }
    try #require(code == 0, "\(program) was not started: \(String(cString: strerror(code)))")
    self.pid = pid
  }

  /// Exit status, or the negative number of the signal that ended it.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
  }
}

/// A pipe whose ends the tests' other children do not get.
struct OutputPipe: ~Copyable {
  let reading: Int32
  private(set) var writing: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    let made = descriptorLock.withLock { _ in
      pipe(&ends) == 0 && ends.allSatisfy { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
    }
    try #require(made)
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    // A child that is being started has them until it is.
    let (reading, writing) = (reading, writing)
    descriptorLock.withLock { _ in
      close(reading)
      if writing >= 0 { close(writing) }
    }
  }

  /// To be called when the child has its end.
  mutating func closeWriting() {
    close(writing)
    writing = -1
  }

  /// What is there, waiting for at least one byte; empty at the end.
  func next() -> Data {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(reading, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      return Data(buffer.prefix(max(0, count)))
    }
  }
}

/// A file without a name.
private struct TemporaryFile: ~Copyable {
  let descriptor: Int32

  init() throws {
    var template = Array((NSTemporaryDirectory() + "/scripthost-out-XXXXXX").utf8CString)
    descriptor = descriptorLock.withLock { _ in
      let opened = mkstemp(&template)
      _ = fcntl(opened, F_SETFD, FD_CLOEXEC)
      return opened
    }
    try #require(descriptor >= 0)
    unlink(template)
  }

  deinit { close(descriptor) }

  func contents() -> Data {
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = pread(descriptor, &buffer, buffer.count, off_t(data.count))
      guard count > 0 else { return data }
      data += buffer.prefix(count)
    }
  }
}

/// Programs that the tests build once per run.
enum Subject {
  /// The probe as a position-independent program with a constructor of its own.
  static let probe = build { directory in
    try compileProbe(directory, [])
  }

  /// The probe at a fixed address.
  static let fixedProbe = build { directory in
    try compileProbe(directory, ["-Xclang-linker", "-no-pie"])
  }

  /// The probe with the Swift runtime linked in.
  static let staticProbe = build { directory in
    try compileProbe(directory, ["-static-stdlib"])
  }

  /// A process that writes a journal.
  static let journalWriter = build { directory in
    let sources = Place.root + "/Sources/Journal"
    let files = try FileManager.default.contentsOfDirectory(atPath: sources).filter { $0.hasSuffix(".swift") }
    return try compile(
      ["-O", "-wmo", "-swift-version", "6", "-parse-as-library", "-package-name", "writer", "-enable-upcoming-feature", "InternalImportsByDefault"]
        + files.map { sources + "/" + $0 } + [Place.root + "/Tests/Programs/journal-writer/writer.swift"],
      to: directory + "/writer")
  }

  /// The stub, beside the command, where the command looks for it.
  static let preload: String = {
    let outcome = try! run(Place.root + "/scripts/build-preload", Place.products)
    precondition(outcome.status == 0, outcome.errors)
    return Place.products + "/libscripthost_preload.so"
  }()

  private static func compileProbe(_ directory: String, _ options: [String]) throws -> String {
    let sources = Place.root + "/Tests/Programs/probe"
    let object = directory + "/constructor.o"
    let compiled = try run(Place.toolchain + "/clang", "-c", "-fPIC", "-o", object, sources + "/constructor.c")
    precondition(compiled.status == 0, compiled.errors)
    return try compile(["-O"] + options + ["-Xlinker", "--export-dynamic", sources + "/probe.swift", object], to: directory + "/probe")
  }

  @discardableResult
  private static func compile(_ arguments: [String], to path: String) throws -> String {
    let outcome = try run(Place.toolchain + "/swiftc", arguments + ["-o", path])
    precondition(outcome.status == 0, outcome.errors)
    return path
  }

  private static func build(_ body: (String) throws -> String) -> String { try! body(try! Place.scratch()) }
}
