// CommandSupport — programs and processes for the tests of command, stub and journal.
import Foundation
import Glibc
import Testing

/// Where things are.
enum Place {
  /// The package.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// The directory of the tests' own build, with the command in it.
  static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path

  static let command = products + "/scripthost"

  /// The directory of the toolchain's programs.
  static let toolchain: String = {
    let swift = try! run("/bin/sh", "-c", "readlink -f \"$(command -v swift)\"").text.trimmed
    return URL(fileURLWithPath: swift).deletingLastPathComponent().path
  }()

  /// A new directory below the temporary one.
  static func scratch() throws -> String {
    var template = Array((NSTemporaryDirectory() + "/scripthost-test-XXXXXX").utf8CString)
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
func run(_ program: String, _ arguments: String..., environment: [String: String]? = nil, directory: String? = nil) throws -> Outcome {
  try run(program, arguments, environment: environment, directory: directory)
}

func run(_ program: String, _ arguments: [String], environment: [String: String]? = nil, directory: String? = nil) throws -> Outcome {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: program)
  process.arguments = arguments
  if let environment { process.environment = environment }
  if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
  let output = Pipe(), errors = try FileHandle(forWritingTo: URL(fileURLWithPath: try temporaryFile()))
  process.standardOutput = output
  process.standardError = errors
  process.standardInput = FileHandle.nullDevice
  try process.run()
  let data = output.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  let path = "/proc/self/fd/\(errors.fileDescriptor)"
  let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
  return Outcome(
    output: data, errors: text,
    status: process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus)
}

/// An empty file that is removed at once by its name's owner, the system.
private func temporaryFile() throws -> String {
  var template = Array((NSTemporaryDirectory() + "/scripthost-out-XXXXXX").utf8CString)
  let descriptor = mkstemp(&template)
  close(descriptor)
  return String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
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
    let sources = Place.root + "/Sources/ScriptHost/Record"
    let files = try FileManager.default.contentsOfDirectory(atPath: sources).filter { $0.hasSuffix(".swift") }
    return try compile(
      ["-O", "-swift-version", "6", "-parse-as-library", "-package-name", "writer", "-enable-upcoming-feature", "InternalImportsByDefault"]
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
