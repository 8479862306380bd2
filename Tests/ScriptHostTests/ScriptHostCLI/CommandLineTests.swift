import Foundation
import Glibc
import Testing

@testable import Journal
@testable import ScriptHost

@Suite("command")
struct CommandLineTests {
  private func scripthost(_ words: String...) throws -> Outcome {
    _ = Subject.preload
    return try run(Place.command, words)
  }

  private func expectRefusal(_ status: Int32, _ part: String, _ words: String...) throws {
    _ = Subject.preload
    let outcome = try run(Place.command, words)
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(outcome.errors.contains(part), "\(outcome.errors)")
    #expect(outcome.errors.hasPrefix("scripthost: ") && outcome.errors.lines.count == 2)
    #expect(outcome.text == "")
  }

  @Test("usage mistakes end with status 2 and one sentence")
  func usage() throws {
    try expectRefusal(2, "unknown command 'runn'; did you mean 'run'?", "runn")
    try expectRefusal(2, "unknown option '--verbose'; options stand after the command", "--verbose")
    try expectRefusal(2, "put '--' before", "run", "ls")
    try expectRefusal(2, "needs a duration", "trace", "-e", "x", "--slower", "10", "--", Subject.probe)
    try expectRefusal(2, "descriptor is not open", "run", "--events", "fd:177", "--", Subject.probe)
    #expect(try scripthost().status == 2)
  }

  @Test("help and version")
  func help() throws {
    #expect(try scripthost("--help").text.hasPrefix("scripthost: make a Swift program scriptable"))
    #expect(try scripthost("run", "--help").text == scripthost("help", "run").text)
    #expect(try scripthost("--version").text.hasPrefix("scripthost 0."))
    // Behind "--" the option is the program's.
    #expect(try scripthost("run", "--", Subject.probe, "arguments", "--help").text.hasSuffix("arguments\n--help\n"))
  }

  @Test("programs that cannot be opened are refused before anything starts")
  func refusals() throws {
    let directory = try Place.scratch()
    func file(_ name: String, _ contents: Data, mode: Int = 0o755) throws -> String {
      let path = directory + "/" + name
      try contents.write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      return path
    }
    let probe = try Data(contentsOf: URL(fileURLWithPath: Subject.probe))
    try expectRefusal(127, "no program 'no-such-program' in PATH", "run", "--", "no-such-program")
    try expectRefusal(127, "no program '/no/such'", "run", "--", "/no/such")
    try expectRefusal(126, "is a directory", "run", "--", directory)
    try expectRefusal(126, "is not executable", "run", "--", file("plain", probe, mode: 0o644))
    try expectRefusal(126, "is a script for '/bin/sh'", "run", "--", file("script", Data("#!/bin/sh -e\n".utf8)))
    try expectRefusal(126, "is no ELF program", "run", "--", file("text", Data("hello".utf8)))
    try expectRefusal(126, "is no ELF program", "run", "--", file("empty", Data()))
    try expectRefusal(126, "is no regular file", "run", "--", "/dev/null")
    try expectRefusal(126, "is not a Swift program", "run", "--", "/bin/sh")
    try expectRefusal(126, "runtime linked in", "run", "--", Subject.staticProbe)
    var other = probe
    other[18] = 183
    try expectRefusal(126, "another processor (for aarch64)", "run", "--", file("arm", other))
    let commit = Data("llvm-project.git ".utf8)
    if let place = probe.range(of: commit)?.upperBound {
      var changed = probe
      changed.replaceSubrange(place..<(place + 4), with: Data("0000".utf8))
      try expectRefusal(126, "was compiled by another Swift", "run", "--", file("old", changed))
    } else {
      Issue.record("the probe names no compiler")
    }
    try expectRefusal(125, "--patches: no directory", "run", "--patches", directory + "/none", "--", Subject.probe)
  }

  @Test("set-uid programs of others are refused", .enabled(if: getuid() == 0))
  func setUser() throws {
    let path = try Place.scratch() + "/probe"
    try FileManager.default.copyItem(atPath: Subject.probe, toPath: path)
    chown(path, 1, 1)
    chmod(path, 0o4755)
    try expectRefusal(126, "is set-uid", "run", "--", path)
    chmod(path, 0o2755)
    try expectRefusal(126, "is set-gid", "run", "--", path)
  }

  @Test("damaged ELF files never crash the command", arguments: [UInt64(21)])
  func damagedFiles(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let original = try Data(contentsOf: URL(fileURLWithPath: Subject.probe))
    let path = try Place.scratch() + "/damaged"
    for _ in 0..<40 {
      var bytes = original
      if Bool.random(using: &random) { bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)) }
      for _ in 0..<20 where bytes.count > 64 {
        bytes[Int.random(in: 16..<min(bytes.count, 1200), using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      try bytes.write(to: URL(fileURLWithPath: path))
      chmod(path, 0o755)
      let outcome = try scripthost("doctor", path)
      #expect([0, 1, 125, 126].contains(outcome.status), "seed \(seed): \(outcome.status) \(outcome.errors)")
    }
  }

  @Test("PATH is searched as a shell does")
  func path() throws {
    let first = try Place.scratch(), second = try Place.scratch()
    try Data("not executable".utf8).write(to: URL(fileURLWithPath: first + "/probe-in-path"))
    try FileManager.default.createSymbolicLink(atPath: second + "/probe-in-path", withDestinationPath: Subject.probe)
    _ = Subject.preload
    let environment = ProcessInfo.processInfo.environment.merging(["PATH": "\(first):\(second)"]) { $1 }
    let state = try Place.scratch()
    let outcome = try run(Place.command, "run", "--state", state, "--", "probe-in-path", "arguments", environment: environment)
    #expect(outcome.text == "probe-in-path\narguments\n")
  }

  @Test("events and logs read what was recorded")
  func events() throws {
    let state = try Place.scratch()
    var problems: [String] = []
    let identity = JournalIdentity(program: RawPath("/bin/shop"), pid: 99, bootID: "b", buildID: "c")
    let recorder = Recorder(state: RawPath(state), events: nil, identity: identity, problems: &problems)
    for number in 0..<5 { recorder.record(.event, "tick") { $0.add("number", number) } }
    recorder.record(.log, "warn") { $0.add("message", "careful") }
    let all = try scripthost("events", "--state", state)
    #expect(all.text.lines.count == 7)
    #expect(all.text.lines[5].hasSuffix(" shop[99] log: warn message=\"careful\""))
    #expect(all.errors == "")
    #expect(try scripthost("logs", "--state", state).text.lines.count == 2)
    #expect(try scripthost("events", "--state", state, "-n", "2", "--kind", "event").text.lines[0].hasSuffix("tick number=3"))
    #expect(try scripthost("events", "--state", state, "--program", "other").text == "")
    #expect(try scripthost("events", "--state", state, "--since", "2200-01-01").text == "")
    for line in try scripthost("events", "--state", state, "--json", "--since", "1h").text.lines.dropLast() {
      #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
    }
    #expect(try scripthost("events", "--state", state + "/none").errors.contains("nothing was recorded yet"))
    try Data("x".utf8).write(to: URL(fileURLWithPath: state + "/journal/odd.journal"))
    let odd = try scripthost("events", "--state", state)
    #expect(odd.text == all.text)
    #expect(odd.errors.contains("is not a journal segment; it is left out"))
    // A file that is gone when it is opened is nothing to tell of.
    try FileManager.default.createSymbolicLink(atPath: state + "/journal/gone.journal", withDestinationPath: "nowhere")
    #expect(try scripthost("events", "--state", state).errors == odd.errors)
  }

  @Test("completion scripts are good shell")
  func completion() throws {
    let file = try Place.scratch() + "/completion"
    try scripthost("completion", "bash").output.write(to: URL(fileURLWithPath: file))
    let words = try run(
      "/bin/bash", "-c",
      "source '\(file)'; COMP_WORDS=(scripthost trace --sl); COMP_CWORD=2; _scripthost; echo ${COMPREPLY[@]}; COMP_WORDS=(scripthost ev); COMP_CWORD=1; _scripthost; echo ${COMPREPLY[@]}"
    )
    #expect(words.text == "--slower\nevents\n")
    #expect(words.errors == "")
    #expect(try scripthost("completion", "zsh").text.hasPrefix("#compdef scripthost\n"))
    #expect(try scripthost("completion", "fish").text.hasPrefix("# fish completion"))
    #expect(try scripthost("completion", "tcsh").status == 2)
  }

  @Test("the doctor tells facts and advice")
  func doctor() throws {
    let outcome = try scripthost("doctor", Place.toolchain + "/swift-format")
    for subject in ["build-id", "symbols", "runtime", "libraries", "Lua", "code pages", "trampolines", "membarrier", "journal"] {
      #expect(outcome.text.contains(" \(subject) "))
    }
    #expect(outcome.status == (outcome.text.contains("missing ") ? 1 : 0))
  }
}
