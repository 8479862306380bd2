// How types of this process are laid out and passed; the compiler's own lowering is compared in Tests/Programs/values.
import Foundation
@testable import HookRuntime
import Testing

private struct Packed { var a: UInt8 = 1, b: UInt8 = 2, c: UInt16 = 3, d: UInt32 = 4 }
private struct Mixed { var a: Int32 = 1, b: Float = 2, c: Int8 = 3 }
private struct Five { var a = 1, b = 2, c = 3, d = 4, e = 5 }
private struct Weak { weak var object: AnyObject? }
private enum Plain { case a, b, c }
private enum Payload { case a(Int), b(Int8, Double), c }

@Suite("values: types")
struct ValuesTypeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var type: Any.Type
    /// Offsets and sizes of the machine values; nil for a value that goes by address.
    var pieces: [[Int]]?
    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "small integers of a word are one", type: Packed.self, pieces: [[0, 8]]),
    Case(name: "floats stay apart", type: Mixed.self, pieces: [[0, 4], [4, 4], [8, 1]]),
    Case(name: "five words go by address", type: Five.self, pieces: nil),
    Case(name: "a struct with a weak reference goes by address", type: Weak.self, pieces: nil),
    Case(name: "a case number alone", type: Plain.self, pieces: [[0, 1]]),
    Case(name: "an enum's payload is integers, whatever it holds", type: Payload.self, pieces: [[0, 8], [8, 8], [16, 1]]),
    Case(name: "an Optional float is an integer", type: Float?.self, pieces: [[0, 8]]),
    Case(name: "an Optional of a double has a byte behind", type: Double?.self, pieces: [[0, 8], [8, 1]]),
    Case(name: "a string is two words", type: String.self, pieces: [[0, 8], [8, 8]]),
    Case(name: "Any goes by address", type: Any.self, pieces: nil),
    Case(name: "an error is one reference", type: (any Error).self, pieces: [[0, 8]]),
    Case(name: "a vector fills a register", type: SIMD4<Float>.self, pieces: [[0, 16]]),
    Case(name: "a resilient type goes by address", type: Unicode.GeneralCategory.self, pieces: nil),
    Case(name: "also one of the concurrency library", type: TaskPriority.self, pieces: nil),
    Case(name: "and what holds it", type: TaskPriority?.self, pieces: nil),
    Case(name: "tuple elements share words", type: (Int8, Int8, Int).self, pieces: [[0, 2], [8, 8]]),
  ]

  @Test("machine values", arguments: cases)
  func passing(_ c: Case) throws {
    let info = try TypeResolver.shared.type(of: Metadata(c.type)).get()
    switch info.passing {
    case .indirect: #expect(c.pieces == nil)
    case .direct(let scalars): #expect(scalars.map { [$0.offset, $0.size] } == c.pieces)
    }
  }

  @Test("a metatype inside another type has no known layout")
  func metatypes() {
    // Metadata gives it a word, compiled code none.
    for type in [(Int.Type, Int).self, Int.Type?.self] as [Any.Type] {
      #expect(throws: TypeProblem.self) { try TypeResolver.shared.type(of: Metadata(type)).get() }
    }
  }

  @Test(
    "every public type that is not frozen is listed",
    arguments: ["Swift", "_Concurrency", "_StringProcessing", "_RegexParser", "RegexBuilder", "Runtime"])
  func resilientTypes(_ module: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["swiftc", "-print-target-info"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let path = try #require(output.firstMatch(of: /"runtimeResourcePath": "([^"]*)"/)?.1)
    let interface = try String(
      contentsOfFile: "\(path)/linux/\(module).swiftmodule/x86_64-unknown-linux-gnu.private.swiftinterface", encoding: .utf8)
    var previous: Substring = ""
    var found = 0
    for line in interface.split(separator: "\n", omittingEmptySubsequences: false) {
      defer { previous = line }
      // Top level only: nested types are spelled with what encloses them.
      guard line.hasPrefix("@") || line.hasPrefix("public "), let match = line.firstMatch(of: /^((?:@[\w.]+(?:\([^)]*\))? )*)public (?:struct|enum) (\w+)/) else { continue }
      if match.1.contains("@frozen") || previous.contains("@frozen") || match.2.hasPrefix("_Swiftify") || match.2 == "_DependenceType" {
        continue
      }
      found += 1
      #expect(ResilientTypes.names.contains("\(module).\(match.2)"), "\(module).\(match.2)")
    }
    #expect(found > 3)
  }
}
