// ToolchainMethods — which methods of the toolchain's own libraries keep their self: the libraries' interfaces say so.
//
// What these modules declare does not change under one version of the compiler, and programs of another version are not entered. So a
// method that others can call needs no reading of its code, unless some method of its name is declared `consuming`.
// Tests/Programs/consuming compares with the interfaces.
internal import SwiftMangling

enum ToolchainMethods {
  /// A method of these modules that is no part of their inside keeps its self.
  static func keepsSelf(_ declaration: Declaration) -> Bool {
    #if compiler(>=6.3) && compiler(<6.4)
      declaration.kind == .function && declaration.hasInstance && declaration.specialization.isEmpty && declaration.localContext.isEmpty
        && !declaration.isMerged && !declaration.isEffectivelyPrivate && modules.contains(declaration.module)
        && (!consuming.contains(declaration.name) || isKeeping(declaration))
    #else
      // Nobody has looked.
      false
    #endif
  }

  private static let modules: Set<String> = [
    "Swift", "_Concurrency", "_StringProcessing", "Foundation", "FoundationEssentials", "FoundationInternationalization",
    "FoundationNetworking", "FoundationXML", "Dispatch", "Observation", "Distributed",
  ]

  /// Names that a method of some of these types is declared `consuming` by, mostly of sequences and sets.
  private static let consuming: Set<String> = [
    "_consumeAndCreateNew", "_copyContents", "_copyToContiguousArray", "_subtracting", "_toCustomAnyHashable", "compactMap",
    "copy", "drop", "dropFirst", "dropLast", "filter", "finalize", "flatMap", "flatMapError", "forEach", "get", "intersection",
    "joined", "make", "makeAsyncIterator", "makeIterator", "map", "mapError", "merging", "prefix", "reversed",
    "runSynchronously", "split", "start", "subtracting", "suffix", "symmetricDifference", "take", "union",
  ]

  /// Whose methods of such a name are declared, and all keep their self.
  private static func isKeeping(_ declaration: Declaration) -> Bool {
    keeping[declaration.name]?.contains(declaration.context?.description ?? "") ?? false
  }

  private static let keeping: [String: Set<String>] = [
    "map": ["Swift.Sequence", "Swift.Collection", "Swift.Optional", "Swift.Result"],
    "flatMap": ["Swift.Sequence", "Swift.Optional", "Swift.Result"],
    "compactMap": ["Swift.Sequence"],
    "forEach": ["Swift.Sequence"],
    "joined": ["Swift.BidirectionalCollection"],
  ]
}

extension Flows {
  /// The function at `address`, or the imported one, is a method that is declared to keep its self.
  func isDeclaredToKeepSelf(_ name: String, at address: UInt64?) -> Bool {
    guard believesInterfaces, name.hasPrefix("$s"), let declaration = parser.declaration(name),
      ToolchainMethods.keepsSelf(declaration)
    else { return false }
    // What is a module's own is not in its interface.
    guard let address else { return true }
    return symbols.symbols(at: address).contains { !$0.isLocal && $0.nameText == name }
  }
}

extension ImageCatalog {
  /// From here on nothing but code tells whether a method consumes its self: for tests, which hold one against the other.
  package func askCodeAlone() { lock.withLock { flows.believesInterfaces = false } }
}
