import Foundation
import Glibc

/// The Swift toolchain the tests run with: the oracle, and the source of real symbols.
enum Toolchain {
  /// `…/usr` of the toolchain whose `swift` is first in PATH.
  static let root: URL = {
    for directory in (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") {
      let swift = URL(filePath: String(directory)).appending(path: "swift")
      if FileManager.default.isExecutableFile(atPath: swift.path) {
        return swift.resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
      }
    }
    fatalError("no 'swift' in PATH")
  }()

  static func program(_ name: String) -> URL { root.appending(path: "bin").appending(path: name) }
  static func library(_ name: String) -> URL { root.appending(path: "lib/swift/linux").appending(path: name) }

  /// Files whose symbols the tests read; those a toolchain lacks are left out.
  static let symbolSources: [URL] = [
    program("swift-format"), program("plutil"), program("docc"), library("libFoundation.so"),
    library("libFoundationEssentials.so"), library("libswiftCore.so"),
  ].filter { FileManager.default.isReadableFile(atPath: $0.path) }

  /// The symbols of all sources, read once.
  static let allSymbols = Result { try symbolSources.flatMap(symbols(of:)) }

  /// Every Swift symbol of the file, from the string tables of its ELF image; in order, once each.
  static func symbols(of file: URL) throws -> [String] {
    let data = try Data(contentsOf: file, options: .mappedIfSafe)
    return data.withUnsafeBytes { image in
      func word<T: FixedWidthInteger>(_ offset: Int, as type: T.Type) -> T {
        image.loadUnaligned(fromByteOffset: offset, as: type)
      }
      let sections = Int(word(40, as: UInt64.self))
      let size = Int(word(58, as: UInt16.self))
      var names: Set<String> = []
      for index in 0..<Int(word(60, as: UInt16.self)) {
        let header = sections + index * size
        guard word(header + 4, as: UInt32.self) == 3 else { continue }
        let start = Int(word(header + 24, as: UInt64.self))
        let table = UnsafeRawBufferPointer(rebasing: image[start..<start + Int(word(header + 32, as: UInt64.self))])
        for name in table.split(separator: 0) where name.starts(with: "$s".utf8) {
          names.insert(String(decoding: name, as: UTF8.self))
        }
      }
      return names.sorted()
    }
  }

  /// Runs a tool with a file as its input and returns what it wrote.
  static func run(_ tool: URL, _ arguments: [String], input: String? = nil) throws -> String {
    let scratch = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    let output = scratch.appending(path: "out")
    try Data().write(to: output)
    try Data((input ?? "").utf8).write(to: scratch.appending(path: "in"))
    let process = Process()
    process.executableURL = tool
    process.arguments = arguments
    process.standardInput = try FileHandle(forReadingFrom: scratch.appending(path: "in"))
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ToolFailure(tool: tool.path, status: process.terminationStatus) }
    return String(decoding: try Data(contentsOf: output), as: UTF8.self)
  }

  struct ToolFailure: Error { let tool: String, status: Int32 }

  /// The oracle's trees, in the order of the names.
  static func trees(of names: [String]) throws -> [String] {
    let text = try run(program("swift-demangle"), ["--tree-only"], input: names.joined(separator: "\n") + "\n")
    var trees: [String] = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("Demangling for ") {
        trees.append("")
      } else if !trees.isEmpty {
        trees[trees.count - 1] += line + "\n"
      }
    }
    return trees
  }
}

/// A generator with a seed that is printed, so that a failing run can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// Takes the seed from SCRIPTHOST_SEED, or from the clock.
  init(_ test: String) {
    let seed = ProcessInfo.processInfo.environment["SCRIPTHOST_SEED"].flatMap(UInt64.init) ?? UInt64(time(nil))
    print("\(test): SCRIPTHOST_SEED=\(seed)")
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The toolchain's symbols; all of them when SCRIPTHOST_SYMBOLS=all, else a sample.
func sampledSymbols(_ count: Int, _ test: String) throws -> [String] {
  let all = try Toolchain.allSymbols.get()
  if ProcessInfo.processInfo.environment["SCRIPTHOST_SYMBOLS"] == "all" { return all }
  var generator = SeededGenerator(test)
  return (0..<count).map { _ in all.randomElement(using: &generator)! }
}
