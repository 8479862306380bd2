import Foundation
import Glibc
import Testing

@Suite("preload")
struct PreloadTests {
  /// Runs a program under the command, with nothing to load.
  private func hosted(_ words: [String], options: [String] = [], environment: [String: String]? = nil) throws -> Outcome {
    _ = Subject.preload
    return try run(Place.command, ["run", "--state", Place.scratch()] + options + ["--"] + words, environment: environment)
  }

  private func expectSame(_ words: [String], environment: [String: String]? = nil) throws {
    let plain = try run(words[0], Array(words.dropFirst()), environment: environment)
    let under = try hosted(words, environment: environment)
    #expect(under.text == plain.text)
    #expect(under.errors == plain.errors)
    #expect(under.status == plain.status)
  }

  static let preloads: [String?] = [nil, "", "libm.so.6", "libm.so.6:libdl.so.2"]

  @Test("the environment is the same, in the same order", arguments: preloads)
  func environment(preload: String?) throws {
    var environment = ["PATH": "/usr/bin:/bin", "A": "1", "EMPTY": "", "ODD": "a=b;%\n", "ZZ": "ö"]
    environment["LD_PRELOAD"] = preload
    for probe in [Subject.probe, Subject.fixedProbe] {
      // Process orders the environment anew at each start; env -i with words does not.
      let words = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      let plain = try run("/usr/bin/env", ["-i"] + words + [probe, "environment"])
      _ = Subject.preload
      let state = try Place.scratch()
      let under = try run(
        "/usr/bin/env", ["-i"] + words + [Place.command, "run", "--state", state, "--", probe, "environment"])
      #expect(plain.text == words.joined(separator: "\n") + "\n")
      #expect(under.text == plain.text)
      #expect(under.status == 0)
    }
  }

  @Test("constructors of the program see the same environment too", arguments: [nil, "libm.so.6"])
  func constructors(preload: String?) throws {
    var environment = ProcessInfo.processInfo.environment
    environment["LD_PRELOAD"] = preload
    let seen = try hosted([Subject.probe, "constructor"], environment: environment)
    #expect(seen.text == "LD_PRELOAD \(preload ?? "unset"), SCRIPTHOST_BOOT unset\n")
  }

  @Test("the host library is opened, and Foundation is not")
  func libraries() throws {
    let under = try hosted([Subject.probe, "libraries"])
    #expect(under.text.contains("libScriptHostBoot.so"))
    #expect(!under.text.contains("Foundation"))
  }

  @Test("signals, errno, descriptors and arguments are the same", arguments: ["signals", "descriptors", "arguments", "none"])
  func surroundings(mode: String) throws {
    try expectSame([Subject.probe, mode, "ä b", ""])
    try expectSame([Subject.fixedProbe, mode])
  }

  @Test("exit statuses pass", arguments: ["0", "1", "3", "125", "255"])
  func exitStatus(status: String) throws { try expectSame([Subject.probe, "exit", status]) }

  @Test("a crash is the program's own")
  func crash() throws {
    let environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    let under = try hosted([Subject.probe, "trap"], environment: environment)
    #expect(under.status == -SIGILL)
    #expect(under.errors.contains("asked to"))
  }

  @Test("a signal reaches the program, which has the command's process id", arguments: [SIGTERM, SIGINT, SIGKILL])
  func signals(signal: Int32) throws {
    _ = Subject.preload
    var output = try OutputPipe()
    let process = try Spawned(
      Place.command, ["run", "--state", try Place.scratch(), "--", Subject.probe, "wait"], output: output.writing)
    output.closeWriting()
    #expect(String(decoding: output.next(), as: UTF8.self) == "ready\n")
    kill(process.pid, signal)
    #expect(process.wait() == -signal)
  }

  @Test("real programs give the same output and status")
  func realPrograms() throws {
    let directory = try Place.scratch()
    let source = directory + "/a.swift", list = directory + "/a.plist"
    try "struct A{ let b:Int }\n".write(toFile: source, atomically: true, encoding: .utf8)
    try "struct {{{\n".write(toFile: directory + "/bad.swift", atomically: true, encoding: .utf8)
    try PropertyListSerialization.data(fromPropertyList: ["a": [1, 2]], format: .xml, options: 0)
      .write(to: URL(fileURLWithPath: list))
    try expectSame([Place.toolchain + "/swift-format", source])
    try expectSame([Place.toolchain + "/swift-format", "lint", source])
    try expectSame([Place.toolchain + "/swift-format", directory + "/bad.swift"])
    try expectSame([Place.toolchain + "/swift-format", "--no-such-option"])
    try expectSame([Place.toolchain + "/plutil", "-p", list])
    try expectSame([Place.toolchain + "/plutil", "-lint", directory + "/missing.plist"])
  }

  @Test("children get nothing, unless they are followed")
  func children() throws {
    let alone = try hosted([Subject.probe, "child", Subject.probe, "libraries"])
    #expect(!alone.text.contains("scripthost_preload"))
    if Place.products.contains(" ") {
      let refused = try hosted([Subject.probe, "child", Subject.probe, "libraries"], options: ["--follow-children"])
      #expect(refused.errors.contains("LD_PRELOAD cannot spell a path with blanks"))
      return
    }
    let followed = try hosted([Subject.probe, "child", Subject.probe, "libraries"], options: ["--follow-children"])
    #expect(followed.text.contains("libScriptHostBoot.so"))
    let other = try hosted([Subject.probe, "child", "/usr/bin/env", "-0"], options: ["--follow-children"])
    #expect(other.errors == "")
  }

  /// Starts the stub by hand, with settings of any kind.
  private func stub(_ settings: String, _ program: String, _ arguments: [String] = []) throws -> Outcome {
    // LD_PRELOAD cannot spell a path with blanks, and this clone may stand in one.
    let link = try Place.scratch() + "/stub.so"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Subject.preload)
    return try run(
      "/usr/bin/env", ["LD_PRELOAD=" + link, "SCRIPTHOST_BOOT=" + settings, program] + arguments)
  }

  @Test("a process that is not meant passes everything on")
  func notMeant() throws {
    let outcome = try stub("1;target=1:1;boot=/nowhere;", Subject.probe, ["environment"])
    #expect(outcome.text.contains("SCRIPTHOST_BOOT=1;target=1:1;boot=/nowhere;\n"))
    #expect(outcome.errors == "")
  }

  @Test("what goes wrong is one sentence, and the program runs on")
  func failures() throws {
    let probe = URL(fileURLWithPath: Subject.probe).resolvingSymlinksInPath().path
    let cases = [
      ("9;boot=a;", "the settings in SCRIPTHOST_BOOT are of another version"),
      ("1;program=\(probe);", "the settings name no library"),
      ("1;program=\(probe);boot=/no/such%20file.so;", "/no/such file.so"),
      ("1;program=\(probe);boot=libm.so.6;", "has no function 'scripthost_boot'"),
    ]
    for (settings, expected) in cases {
      let outcome = try stub(settings, probe, ["none"])
      #expect(outcome.text == "hello\n")
      #expect(outcome.errors.hasPrefix("scripthost: ") && outcome.errors.lines.count == 2, "\(outcome.errors)")
      #expect(outcome.errors.contains(expected), "\(outcome.errors)")
    }
    let fixed = URL(fileURLWithPath: Subject.staticProbe).resolvingSymlinksInPath().path
    let linked = try stub("1;program=\(fixed);boot=/nowhere;", fixed)
    #expect(linked.text == "hello\n")
    #expect(linked.errors.contains("Swift runtime"))
    #expect(!linked.errors.contains("/nowhere"))
  }

  @Test("an installation path that LD_PRELOAD cannot spell works")
  func oddInstallation() throws {
    let directory = try Place.scratch() + "/a b:c$LIB"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    _ = Subject.preload
    // Copied by a process of its own: a test that starts one at the same moment would keep a file
    // that is being written open, and such a file cannot be executed.
    let files = ["libScriptHostBoot.so", "libscripthost_preload.so", "scripthost"].map { Place.products + "/" + $0 }
    #expect(try run("/bin/cp", files + [directory]).status == 0)
    let state = try Place.scratch()
    let libraries = try run(directory + "/scripthost", "run", "--state", state, "--", Subject.probe, "libraries")
    #expect(libraries.text.contains("a b:c$LIB/libScriptHostBoot.so"))
    #expect(libraries.errors == "")
    let odd = try run(directory + "/scripthost", "run", "--state", state, "--follow-children", "--", Subject.probe)
    #expect(odd.status == 125 && odd.errors.contains("LD_PRELOAD cannot spell"))
    let plain = try run(Subject.probe, "descriptors")
    #expect(try run(directory + "/scripthost", "run", "--state", state, "--", Subject.probe, "descriptors").text == plain.text)
  }
}
