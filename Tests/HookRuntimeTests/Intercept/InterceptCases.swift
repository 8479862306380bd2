// The cases that need a process of their own: Tests/Fixtures/intercept-cases, one test per case.

import Glibc
import Testing

@Suite("interception core")
struct InterceptCases {
  /// What each case shows; the names are those of Tests/Fixtures/intercept-cases/main.c.
  static let cases: [(name: String, shows: String)] = [
    ("registers", "every register and stack slot survives the trampoline"),
    ("unwinding", "a backtrace walks through the trampoline to the program"),
    ("windows", "each class of instruction works from its new place"),
    ("refusals", "what cannot be moved is refused with its reason"),
    ("far", "jumps and calls reach beyond two gigabytes"),
    ("many", "21,000 bodies are diverted in well under half a second"),
    ("stress", "code changes while threads run it"),
    ("threads", "threads may be born and die meanwhile"),
    ("sleepers", "threads asleep are not disturbed"),
    ("masks", "threads that cannot be asked are named, and nothing changes"),
    ("profiler", "other signals' handlers may be running"),
    ("parked-window", "a counter at each instruction of a window is moved"),
    ("parked-stub", "a counter in a stub or a moved call survives the removal"),
    ("parked-handler", "a counter saved below another signal's handler is moved"),
    ("mdwe", "memory-deny-write-execute does no harm"),
    ("another-user", "no privilege is needed"),
    ("dropped", "privileges may be dropped after the start"),
    ("failures", "every failing kernel call leaves the code as it was"),
    ("fork", "a forked copy does not touch its parent"),
    ("traps", "other people's breakpoints reach their handlers"),
    ("descriptors", "files opened on a closed descriptor's number stay as they are"),
    ("changed", "code changed by someone else is left alone"),
    ("probe", "a probe changes nothing that stays"),
    ("slots", "words of tables are written together and restored only where they are still ours"),
    ("slots-failing", "every failing kernel call leaves the words as they were"),
    ("slots-threads", "words change while threads call through them"),
  ]

  @Test("a process of its own", arguments: cases.map(\.name))
  func runs(_ name: String) throws {
    let result = try Program.run("intercept-cases", [name])
    #expect(result.status == 0, "\(result.output)")
  }

  @Test("every function of a Swift module is diverted while it runs, at each optimisation level")
  func livePatching() throws {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    let result = try Program.run(path: "\(root)/scripts/test-live-patching", [])
    print(result.output)
    #expect(result.status == 0, "\(result.output)")
  }

  @Test("windows of real functions are moved correctly", arguments: RealBinaries.present())
  func corpus(_ path: String) throws {
    let seed = makeSeed("windows of \(path)")
    // A run of everything moves fewer windows (scripts/test).
    let count = getenv("WINDOWS_COUNT").map { String(cString: $0) } ?? "8000"
    let result = try Program.run("intercept-cases", ["corpus", path, count, String(seed)])
    print(result.output)
    #expect(result.status == 0, "seed \(seed): \(result.output)")
  }
}

/// Binaries of the toolchain that runs the tests.
enum RealBinaries {
  static func present() -> [String] {
    guard let swift = Program.find("swift") else { return [] }
    let root = swift.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    return ["/bin/swift-format", "/lib/swift/linux/libFoundation.so", "/lib/swift/linux/libswiftCore.so"]
      .map { root + $0 }.filter { access($0, R_OK) == 0 }
  }
}

/// Programs built beside the test bundle, and tools on the path.
enum Program {
  struct Failure: Error { let errno: Int32 }

  /// The file behind a name on PATH, links resolved.
  static func find(_ name: String) -> String? {
    guard let path = getenv("PATH") else { return nil }
    for folder in String(cString: path).split(separator: ":") {
      if let real = realpath("\(folder)/\(name)", nil) {
        defer { free(real) }
        return String(cString: real)
      }
    }
    return nil
  }

  /// The folder of the running test bundle, where the package's programs are.
  static var folder: String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let path = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
  }

  /// Runs a program of this package to its end; output and errors together.
  static func run(_ name: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
    try run(path: "\(folder)/\(name)", arguments)
  }

  /// Runs the program at a path to its end.
  static func run(path: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Failure(errno: errno) }
    let (reading, writing) = (ends[0], ends[1])
    defer { close(reading) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, writing, 1)
    posix_spawn_file_actions_adddup2(&actions, writing, 2)
    // Test workers block most signals; the program starts with none blocked.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    let words = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, path, &actions, &attributes, words, environ)
    close(writing)
    guard code == 0 else { throw Failure(errno: code) }

    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(reading, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      output += chunk[0..<count]
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return (status, String(decoding: output, as: UTF8.self))
  }
}
