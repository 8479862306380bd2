// CanaryBook — which texts of patches passed in a child of one program, and which failed there and why.
//
// Texts are known by digests that the program's build and the host's are part of: after an update of either, all are tried again. A file
// that cannot be read or is damaged is an empty one: then texts are tried once more.
private import Glibc
package import Journal

/// What is known of one program's patches.
package struct CanaryBook: Equatable, Sendable {
  package struct Failure: Equatable, Sendable {
    package let digest: String
    package let path: String
    package let why: String
  }

  /// Oldest first.
  package private(set) var passed: [String] = []
  /// Oldest first, one for each path at most.
  package private(set) var failed: [Failure] = []

  private static let most = 256

  package init() {}

  package mutating func pass(_ digest: String, path: String) {
    failed.removeAll { $0.path == path }
    passed.removeAll { $0 == digest }
    passed.append(digest)
    passed.removeFirst(max(0, passed.count - Self.most))
  }

  package mutating func fail(_ digest: String, path: String, why: String) {
    let shown = String(why.map { $0 == "\n" || $0 == "\t" ? " " : $0 })
    // A path with a line break would be read as two lines: it is tried again each time.
    guard !path.contains("\n"), !path.contains("\t") else { return }
    passed.removeAll { $0 == digest }
    failed.removeAll { $0.path == path }
    failed.append(Failure(digest: digest, path: path, why: shown))
    failed.removeFirst(max(0, failed.count - Self.most))
  }

  // MARK: The file

  private static let title = "canary 1"

  /// - Parameter program: its absolute path.
  package static func place(state: RawPath, program: RawPath) -> RawPath { SummedFile.place(state, "canary", program: program, ending: "canary") }

  package init(reading path: RawPath) {
    guard let bytes = SummedFile.bytes(of: path), let lines = SummedFile.lines(bytes, title: Self.title) else { return }
    for line in lines {
      let words = line.split(separator: "\t").map(String.init)
      switch (words.first, words.count) {
      case ("passed", 2): passed.append(words[1])
      case ("failed", 4): failed.append(Failure(digest: words[1], path: words[2], why: words[3]))
      default: break
      }
    }
  }

  /// False with errno set.
  package func write(to path: RawPath) -> Bool {
    var text = Self.title + "\n"
    for digest in passed { text += "passed\t\(digest)\n" }
    for failure in failed { text += "failed\t\(failure.digest)\t\(failure.path)\t\(failure.why)\n" }
    return SummedFile.replace(path, with: SummedFile.sealed(text))
  }

  /// The files of all programs of a state directory.
  package static func all(in state: RawPath) -> [RawPath] {
    let folder = state.appending("canary")
    return folder.directoryEntries().filter { $0.suffix(7) == Array(".canary".utf8)[...] }
      .sorted { $0.lexicographicallyPrecedes($1) }.map(folder.appending)
  }
}
