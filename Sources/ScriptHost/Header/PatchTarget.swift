// PatchTarget — what a patch's header asks of the program that loads it. Owns the questions and their sentences, for loading and for `check`.
internal import Journal

/// The program that a patch is to be loaded into, or checked against.
package struct PatchTarget {
  /// Its name, as `target.program` spells it.
  package let program: String
  /// In hexadecimal digits; empty where it has none.
  package let buildID: String
  /// Why no function has that selector; nil where one has.
  package let problem: (String) -> String?

  package init(program: String, buildID: String, problem: @escaping (String) -> String?) {
    self.program = program
    self.buildID = buildID
    self.problem = problem
  }
}

/// One thing that the header asks and the program does not have.
package enum TargetMisfit: Sendable {
  case program(String, found: String)
  /// The first build-id of the header, and the program's.
  case build(String, found: String)
  case swift(String)
  case selector(String, problem: String)

  /// What stands for it in the header.
  package var literal: String {
    switch self {
    case .program(let text, _), .build(let text, _), .swift(let text), .selector(let text, _): text
    }
  }
}

extension TargetMisfit: CustomStringConvertible {
  package var description: String {
    switch self {
    case .program(let wanted, let found): "made for program '\(wanted)', this is '\(found)'"
    case .build(_, let found): "made for other builds of the program than this, whose build-id is '\(found)'"
    case .swift(let wanted): "made for Swift \(wanted), this program is of Swift \(HostRelease.swift)"
    case .selector(let selector, let problem): "it needs '\(EventText.printable(selector))': \(problem)"
    }
  }
}

extension PatchHeader {
  /// What does not fit, in the order of the header's fields. Code that the patch is pinned to is compared by PinnedBodies.
  /// - Parameter onlyFirst: the rest is not looked for: selectors take time.
  package func misfits(in target: PatchTarget, onlyFirst: Bool = false) -> [TargetMisfit] {
    var found: [TargetMisfit] = []
    if let program, program != target.program { found.append(.program(program, found: target.program)) }
    // Of another build the code that the patch is pinned to may be the same.
    if let first = buildIDs.first, bodies.isEmpty, !isMade(forBuild: target.buildID) { found.append(.build(first, found: target.buildID)) }
    if let swift, !HostRelease.isSwift(swift) { found.append(.swift(swift)) }
    for selector in selectors where !onlyFirst || found.isEmpty {
      if let problem = target.problem(selector) { found.append(.selector(selector, problem: problem)) }
    }
    return found
  }

  /// The header names the build, by its build-id or the id's first digits.
  package func isMade(forBuild buildID: String) -> Bool { buildIDs.contains(where: buildID.hasPrefix) }
}

/// The Swift release of the host, and so of every program it fits.
package enum HostRelease {
  package static var swift: String {
    #if compiler(>=6.4)
      "6.4"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }

  /// That release, or the beginning of its number: "6" of "6.3".
  package static func isSwift(_ wanted: String) -> Bool { wanted == swift || swift.hasPrefix(wanted + ".") }
}
