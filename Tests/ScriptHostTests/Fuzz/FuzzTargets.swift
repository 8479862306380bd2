// FuzzTargets — what reads texts of strangers: headers, policies, selectors, globs, capture paths, conditions, requests, what clients of the control
// socket send, snippets. Each takes any bytes, must end, and keeps what it promises.
//
// Used by the unit tests (kept seeds and a few mutations) and by Tests/Support/FuzzCases (libFuzzer, scripts/fuzz), which links to this file.
// A release build has no testable imports, and no use for it.
#if DEBUG || FUZZING
import Glibc
@testable import HookRuntime
@testable import Journal
@testable import LuaSyntax
@testable import ScriptHost

/// Functions of this module whose types capture paths are checked against.
public struct FuzzSubject {
  public struct Line { public var name = "apple", price = 2.5, tags: [String] = [] }
  public final class User { public var name = "", age: Int? = nil, next: User? = nil; public init() {} }
  public enum State { case open, closed(Int, reason: String) }
  public var lines: [Line] = []
  public var user = User()
  public var state = State.open
  public var total: Double { 1 }
  public init() {}
  @inline(never) public func buy(_ count: Int, from user: User?, at place: (x: Int, y: Int), state: State) -> Line? { count > lines.count ? nil : lines.first }
}

enum FuzzTargets {
  static let names = ["header", "policy", "selector", "glob", "path", "condition", "request", "control", "snippet"]

  /// Stops the process where a promise is broken.
  static func run(_ name: String, _ bytes: [UInt8]) {
    switch name {
    case "header": header(bytes)
    case "policy": sentence(of: { () throws(PatchError) in _ = try Policy(source: bytes, fileName: "policy.lua") }, beginsWith: "policy.lua:")
    case "selector": selector(String(decoding: bytes, as: UTF8.self))
    case "glob": glob(bytes)
    case "path": path(String(decoding: bytes, as: UTF8.self))
    case "condition": condition(String(decoding: bytes, as: UTF8.self))
    case "request": request(bytes)
    case "control": control(bytes)
    case "snippet": snippet(bytes)
    default: fatalError("no fuzz target '\(name)'")
    }
  }

  private static func expect(_ holds: Bool, _ promise: String) { if !holds { fatalError("broken promise: \(promise)") } }

  private static func sentence(of body: () throws(PatchError) -> Void, beginsWith place: String) {
    do throws(PatchError) { try body() } catch {
      let text = error.description
      expect(text.hasPrefix(place), "a mistake is told with its place: \(text)")
      expect(!text.contains("\n"), "a mistake is one line: \(text)")
      expect(text.utf8.count < 2000, "a mistake is a sentence: \(text.prefix(200))")
    }
  }

  private static func header(_ bytes: [UInt8]) {
    sentence(of: { () throws(PatchError) in
      let header = try PatchHeader(source: bytes, fileName: "a.lua")
      // What was read is what a second reading finds.
      let again = try PatchHeader(source: bytes, fileName: "a.lua")
      expect(header == again, "a header is read the same twice")
      if let id = header.id { expect((1...64).contains(id.utf8.count), "an id has 1 to 64 bytes") }
    }, beginsWith: "a.lua:")
  }

  private static func selector(_ text: String) {
    let pattern = SelectorPattern(text)
    _ = pattern.module
    _ = pattern.requiredWords
    _ = CSelector(text)?.problem
    _ = pattern.matches("Shop.Cart.add(_:price:)", isStatic: false) { ["Shop.Cart.add(_: Int, price: Double) -> Int"] }
    _ = SelectorLookup.resolve(text, suggesting: false)
    // All names of the program take seconds; those of a small image are as good.
    if text.utf8.count < 64 { _ = NearestNames.selectors(to: text, in: smallImage) }
  }

  private static let smallImage: [ImageCatalog] = {
    guard let image = ProcessCatalog.shared.current().first(where: { $0.file.path.contains("libswiftSynchronization") }) else { fatalError("no libswiftSynchronization here") }
    return [image]
  }()

  /// Pattern and text, with a NUL between them: the matcher against one that tries everything.
  private static func glob(_ bytes: [UInt8]) {
    let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].count <= 12, parts[1].count <= 16 else { return }
    let text = String(decoding: parts[0], as: UTF8.self), subject = String(decoding: parts[1], as: UTF8.self)
    // Words before a name, blanks and types have rules of their own; a glob is asked for here.
    guard text.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: ":") }), !text.hasPrefix("C."), text.contains("*"), !subject.hasPrefix("static ") else { return }
    let pattern = SelectorPattern(text)
    guard pattern.isGlob, !pattern.meansClosures else { return }
    let found = pattern.matches(subject, isStatic: false) { [] }
    let expected = matches(Array(text.utf8)[...], Array(subject.utf8)[...])
    expect(found == expected, "'\(text)' \(expected ? "matches" : "does not match") '\(subject)'")
  }

  private static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
    let star = UInt8(ascii: "*")
    guard let first = pattern.first else { return text.isEmpty }
    if first == UInt8(ascii: "\\"), pattern.dropFirst().first == star {
      return text.first == star && matches(pattern.dropFirst(2), text.dropFirst())
    }
    guard first == star else { return text.first == first && matches(pattern.dropFirst(), text.dropFirst()) }
    let isDouble = pattern.dropFirst().first == star
    let rest = pattern.dropFirst(isDouble ? 2 : 1)
    var text = text
    while true {
      if matches(rest, text) { return true }
      guard let next = text.first, isDouble || next != UInt8(ascii: ".") else { return false }
      text = text.dropFirst()
    }
  }

  private static let families: [Family] = {
    guard case .success(let found) = SelectorLookup.resolve("**.FuzzSubject.buy*") else { return [] }
    return found.map(\.1)
  }()

  private static func path(_ text: String) {
    expect(!families.isEmpty, "the function that paths are checked against is there")
    // What a path leads to is kept for ever: rules are few.
    guard text.utf8.count < 200 else { return }
    do throws(RuleProblem) { _ = try CapturePath(text, for: families[0]) } catch { expect(!error.text.isEmpty, "a mistake is told") }
  }

  private static func condition(_ text: String) {
    do throws(RuleProblem) {
      let read = try ConditionText(reading: text)
      expect(read == (try ConditionText(reading: text)), "a condition is read the same twice")
    } catch { expect(!error.text.isEmpty, "a mistake is told") }
  }

  private static func request(_ bytes: [UInt8]) {
    do throws(JSONValue.Problem) {
      let value = try JSONValue(parsing: bytes)
      let line = value.line
      expect(!line.utf8.contains(10), "an answer is one line")
      guard let again = try? JSONValue(parsing: Array(line.utf8)) else { fatalError("broken promise: what is written can be read: \(line.prefix(200))") }
      expect(again.line == line, "what was read again is written the same: \(line.prefix(200))")
    } catch { expect(error.position >= 0 && error.position <= bytes.count, "a mistake is inside of the request") }
  }

  private static let host: ControlHost = {
    let log = HostLog(recorder: nil, isVerbose: false)
    return ControlHost(patches: PatchRegistry(log: log, program: "fuzzed"), log: log, program: RawPath("/fuzzed"), buildID: "", started: 0)
  }()

  /// What a client sends, in pieces: the lines are put together, and each request that is known is answered once.
  private static func control(_ bytes: [UInt8]) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return }
    let client = ControlClient(ends[0], ControlPeer(user: getuid(), process: getpid()), now: 0)
    defer {
      client.end()
      close(ends[1])
    }
    var found: [[UInt8]] = []
    var rest = bytes[...]
    var size = Int(bytes.first ?? 0) % 97 + 1
    while !rest.isEmpty {
      let part = Array(rest.prefix(size))
      guard write(ends[1], part, part.count) == part.count else { return }
      rest = rest.dropFirst(size)
      size = size * 7 % 101 + 1
      guard let lines = client.readLines(now: 0) else { fatalError("broken promise: a client with short lines is read") }
      found += lines
    }
    shutdown(ends[1], Int32(SHUT_WR))
    found += client.readLines(now: 0) ?? []
    expect(found == bytes.split(separator: 10).map(Array.init), "lines are what stands between line ends, whatever the pieces")
    for line in found.prefix(16) {
      guard let request = try? JSONValue(parsing: line), let name = request["do"]?.text, let verb = ControlVerbs.find(name) else { continue }
      // Sessions have threads of their own; paths are files of this machine.
      if name == "console.open" || name == "load" && (request["path"]?.text ?? "").hasPrefix("/") { continue }
      let call = ControlCall(request, id: request["id"] ?? .null, client, host)
      guard client.begin(call) else { continue }
      verb.carryOut(call)
      expect(call.isOver, "'\(name)' is answered")
    }
    expect(client.openCalls == 0, "no request stays open")
    expect(client.flush(), "the answers are on their way")
  }

  private static func snippet(_ bytes: [UInt8]) {
    let source = SourceText(bytes)
    var end = 0
    for token in Lexer.tokens(source) {
      expect(token.range.lowerBound >= end && token.range.upperBound <= bytes.count, "tokens follow one another")
      end = token.range.upperBound
    }
    let script = Script(source)
    if let problem = script.problem { expect(problem.range.lowerBound <= bytes.count && !problem.message.isEmpty, "a mistake has a place and a sentence") }
  }
}

/// Small changes of kept texts.
struct Mutator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
    return z ^ z >> 31
  }

  private mutating func below(_ bound: Int) -> Int { bound == 0 ? 0 : Int(next() % UInt64(bound)) }

  /// A text like one of these.
  mutating func mutated(_ seeds: [[UInt8]]) -> [UInt8] {
    var text = seeds[below(seeds.count)]
    for _ in 0...below(4) {
      switch below(7) {
      case 0: text.insert(UInt8(truncatingIfNeeded: next()), at: below(text.count + 1))
      case 1 where !text.isEmpty: text.remove(at: below(text.count))
      case 2 where !text.isEmpty: text[below(text.count)] ^= 1 << UInt8(below(8))
      case 3 where !text.isEmpty:
        let start = below(text.count), length = min(below(16) + 1, text.count - start)
        text.insert(contentsOf: text[start..<start + length], at: below(text.count + 1))
      case 4 where !text.isEmpty:
        let start = below(text.count)
        text.removeSubrange(start..<min(text.count, start + below(16) + 1))
      case 5:
        let other = seeds[below(seeds.count)], start = below(other.count)
        text.insert(contentsOf: other[start..<min(other.count, start + below(24) + 1)], at: below(text.count + 1))
      default:
        let words = ["{", "}", "\"", "\\", "--[[", "]]", "0x7fffffffffffffff", "-9223372036854775808", "1e999", "**", "\\*", ".", "()", "\u{1F600}", "\0", "\n", "[", "self."]
        text.insert(contentsOf: Array(words[below(words.count)].utf8), at: below(text.count + 1))
      }
    }
    return text
  }
}
#endif
