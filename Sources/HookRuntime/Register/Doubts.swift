// Doubts — what is not certain of a hook that stands on every body of its selector: calls that run other code.
//
// Owns the question, for every place that tells of it: `explain`, what installing reports, the first line of a trace. A doubt is proven
// where calls are known to be missed, or no way to the hook is known.
internal import SwiftMangling

package enum Doubt: Sendable, Hashable {
  /// So many copies of it are in other functions, by the debug information.
  case inlined(Int)
  /// So many copies are in another image, which has no function of its name, by that image's debug information.
  case inlinedElsewhere(Int, image: String)
  /// Nothing in its image calls it, jumps to it or has its address, and no other image can.
  case notEntered(image: String)
  /// Clones have no names in an image that was stripped.
  case stripped(image: String)
  /// Whether copies were inlined is not known, because of this.
  case inliningUnknown(image: String, why: String)
  /// Whether specialisations of it are in merged bodies, under the names of other functions, is not known.
  case mergingUnknown(image: String)
  /// Its code is no more than a jump to this selector's, or a call of it, and calls go straight there.
  case elsewhere(String)
  /// Its code is no more than a jump to code that has no name, and others go straight there.
  case nameless
  /// It has a loop that calls of itself may have become.
  case looped
  /// Other selectors' calls enter its code, and nothing in a call tells whose it is: one of them, and how many there are.
  case othersCalls(String, count: Int)

  /// Calls are known to be missed, or none is known that is seen; or others' are taken for its own. Whether a loop was written
  /// as one, only the source tells: it is told of each function that has one.
  package var isProven: Bool {
    switch self {
    case .inlined, .inlinedElsewhere, .notEntered, .stripped, .elsewhere, .nameless, .looped, .othersCalls: true
    case .inliningUnknown, .mergingUnknown: false
    }
  }
}

extension Doubt: CustomStringConvertible {
  /// What hooks on the selector do, behind its name: `may miss 2 copies of it that …`.
  package var sentence: String {
    if case .othersCalls = self { return "may see \(self)" }
    return "may miss \(self)"
  }

  /// What may be missed, behind "may miss"; of `othersCalls`, what may be seen.
  package var description: String {
    switch self {
    case .inlined(let count): "\(count) cop\(count == 1 ? "y" : "ies") of it that \(count == 1 ? "was" : "were") inlined into other functions"
    case .inlinedElsewhere(let count, let image):
      "\(count) cop\(count == 1 ? "y" : "ies") of it in \(image), which compiled \(count == 1 ? "it" : "them") into its own code"
    case .notEntered(let image): "every call: nothing that is left in \(image) calls it, so its calls were inlined, or there are none"
    case .stripped(let image): "calls that go to clones of it: \(image) is stripped, and clones have no names there"
    case .inliningUnknown(let image, let why): "copies of it that were inlined: \(image) \(why)"
    case .mergingUnknown(let image):
      "specialisations of it that the compiler merged with other functions: in \(image) such code is called directly, and no name is left of it"
    case .elsewhere(let other): "calls that go straight to \(other): the code of both is equal, and the compiler keeps one"
    case .nameless: "calls that go straight to the code it jumps to, which has no name: several functions had equal code, and the compiler keeps one"
    case .looped: "calls of itself that the compiler made a loop of"
    case .othersCalls(let other, let count):
      "calls of \(other)\(count > 1 ? " and \(count - 1) more" : ""), too: their code is equal, the compiler keeps one, "
        + "and a call does not tell whose it is"
    }
  }
}

/// How much is read to find doubts.
package enum DoubtDepth: Sendable {
  /// The debug information of large images only where it was read before.
  case quick
  case full
}

extension ImageCatalog {
  var shortName: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// What may be missed by a hook on all bodies of the family. Any thread.
  package func doubts(about family: Family, depth: DoubtDepth = .full) -> [Doubt] {
    if family.imported != nil || family.bodies.isEmpty { return [] }
    if let known = lock.withLock({ doubtsKnown[family.key] }), known.bodies >= family.bodies.count { return known.doubts }
    var doubts: [Doubt] = []
    if !symbols.hasLocalSymbols { doubts.append(.stripped(image: shortName)) }
    doubts += sharingDoubts(about: family)
    if mayLoopForCalls(family) { doubts.append(.looped) }
    let isRead = depth == .full || isQuicklyRead || inlineTable.isAtHand
    if isRead {
      switch inlined(family) {
      case .known(0): break
      case .known(let count): doubts.append(.inlined(count))
      case .notKnown(let why): doubts.append(.inliningUnknown(image: shortName, why: why))
      }
      if depth == .full || isQuicklyRead, mayBeMergedNamelessly(family) { doubts.append(.mergingUnknown(image: shortName)) }
      if depth == .full || isQuicklyRead, isEnteredByNobody(family) { doubts.append(.notEntered(image: shortName)) }
    } else {
      doubts.append(.inliningUnknown(image: shortName, why: "is large, and its debug information was not read; 'scripthost explain' reads it"))
    }
    if depth == .full || isQuicklyRead { lock.withLock { doubtsKnown[family.key] = (family.bodies.count, doubts) } }
    return doubts
  }

  /// Its debug information and its code take no more than moments to read.
  var isQuicklyRead: Bool {
    let size = [".debug_info", ".text"].reduce(0) { $0 + (file.section(named: $1)?.size ?? 0) }
    return size <= Self.quicklyReadBytes
  }
  private static let quicklyReadBytes: UInt64 = 4 << 20

  // MARK: Equal code

  /// Where the optimiser keeps one of several equal functions, each of the others is a jump to it, or a call, and calls its callers have no more.
  private func sharingDoubts(about family: Family) -> [Doubt] {
    lock.withLock {
      var doubts: [Doubt] = []
      if let other = sharedCode.elsewhere(family, isCalled: isCalled) { doubts.append(.elsewhere(other)) }
      if symbols.hasLocalSymbols, sharedCode.isEnteredBehind(family) { doubts.append(.nameless) }
      if !tellsReceiver(family) {
        let others = sharedCode.others(in: family, isCalled: isCalled)
        if let first = others.first { doubts.append(.othersCalls(first, count: others.count)) }
      }
      return doubts
    }
  }

  /// Code of the image calls the function at the file's address, or jumps to it. To be asked under the lock.
  func isCalled(_ address: UInt64) -> Bool { flows.sites(to: address)?.isEmpty == false }

  /// A call tells by its object, or its class, whose it is.
  private func tellsReceiver(_ family: Family) -> Bool {
    let declaration = family.declaration
    guard declaration.contextKind == .classType, !declaration.isStatic, declaration.genericParameterCounts.allSatisfy({ $0 == 0 }) else {
      return false
    }
    return family.bodies.allSatisfy { (sharedCode.conflict($0, isCalled: isCalled)?.isOnObjects ?? true) && !sharedCode.leadsToNamelessCode($0) }
  }

  /// A specialisation of the generic function may have been merged with another function's: where all its calls were made direct ones of the merged
  /// body, neither a symbol nor the debug information names it. Told where an image has such calls, and the function that gave the merged body
  /// its name takes as many arguments and has the same result.
  private func mayBeMergedNamelessly(_ family: Family) -> Bool {
    let declaration = family.declaration
    guard declaration.isGeneric || declaration.genericParameterCounts.contains(where: { $0 > 0 }) else { return false }
    let shape = Merges.Shape(declaration.functionType)
    return lock.withLock { merges.enteredDirectly[shape]?.contains { $0 != family.key } ?? false }
  }

  // MARK: Inlined copies

  package enum InlinedCopies: Equatable, Sendable {
    case known(Int)
    /// Why not, behind the image's name.
    case notKnown(String)
  }

  /// Inlined copies of the family's functions, those among them that have no body of their own any more, by the debug information.
  package func inlined(_ family: Family) -> InlinedCopies {
    if family.imported != nil { return .known(0) }
    guard inlineTable.hasDebugInfo else { return .notKnown("has no debug information") }
    guard let first = family.bodies.first else { return .known(0) }
    var counts: [String: Int] = [:]
    for name in Set(family.bodies.map(\.mangledName)) {
      if case .known(let count) = inlineTable.copies(ofMangledName: Array(name.utf8)) { counts[name] = count }
    }
    // Specialisations bear the name of what they are made of, with more behind it.
    lock.withLock {
      for (name, count) in inlineTable.copies(prefix: Array(family.key.utf8)) where counts[name] == nil {
        if nameParser.declaration(name)?.familyName == family.key { counts[name] = count }
      }
    }
    let total = counts.values.reduce(0, +)
    if total > 0 { return .known(total) }
    if mayBeInlinedByName(first.declaration) {
      return .notKnown("has debug information for lines alone, which does not tell functions of one name apart")
    }
    if isDescribed(first) { return .known(0) }
    return .notKnown("has no debug information of its functions")
  }

  /// Copies of some function of that name, which has no other name in the debug information (`-gline-tables-only`).
  func mayBeInlinedByName(_ declaration: Declaration) -> Bool {
    let name = String(declaration.name.prefix { $0 != "(" })
    guard !name.isEmpty else { return false }
    return lock.withLock {
      inlineTable.copies(prefix: Array(name.utf8)).contains { found, count in
        // Accessors are named `total.get`.
        count > 0 && (found == name || found.hasPrefix(name + "."))
      }
    }
  }

  /// The debug information speaks of the functions of the body's module, which may have been compiled without it. It has
  /// more than a third of them then: all but those that the optimiser merged with others; of other modules, what was inlined into one of these.
  private func isDescribed(_ body: Body) -> Bool {
    let module = body.declaration.module
    if let known = lock.withLock({ describedModules[module] }) { return known }
    let all = symbols.candidates(prefix: Array("$s\(module.utf8.count)\(module)".utf8))
    let some = stride(from: 0, to: all.count, by: max(1, all.count / Self.describedSample)).map { all[$0].nameText }
    let found = some.count(where: inlineTable.covers)
    let isDescribed = some.isEmpty ? inlineTable.covers(body.mangledName) : found * 3 > some.count
    lock.withLock { describedModules[module] = isDescribed }
    return isDescribed
  }
  /// Each takes a look through all names of the debug information.
  private static let describedSample = 16

  // MARK: Who enters

  /// No code of the image goes to the family's bodies, nothing holds their addresses, and no other image knows their names.
  func isEnteredByNobody(_ family: Family) -> Bool {
    // What is made when the program runs is not seen in the file: tables of generic classes, records of async functions.
    let declaration = family.declaration
    if family.requirement != nil || declaration.kind.isClosure || declaration.kind.isDeinit || declaration.isCoroutine { return false }
    if family.bodies.contains(where: { $0.isAsync || $0.form == .merged || $0.isWitness }) { return false }
    // Tables of classes are filled from places that hold distances, not addresses.
    if declaration.contextKind == .classType || declaration.contextKind == .protocolType { return false }
    let own = family.bodies.map { $0.address - bias..<$0.address - bias + UInt64(max(1, $0.size)) }
    return lock.withLock {
      family.bodies.allSatisfy { body in
        let address = body.address - bias
        if symbols.isExported(address) || symbols.symbols(at: address).contains(where: { $0.nameText == "main" }) { return false }
        return !entrances.isEntered(address, exceptFrom: own)
      }
    }
  }
}

/// Which addresses of functions an image's code and data name.
struct Entrances {
  private let uses: CodeReferences
  private var inData: Set<UInt64> = []

  init(_ file: ELFFile, _ uses: CodeReferences) {
    self.uses = uses
    let code = file.sections.filter(\.isExecutable).map { $0.address..<$0.address + $0.size }
    file.relocations.forEachAddress { address in if code.contains(where: { $0.contains(address) }) { inData.insert(address) } }
  }

  /// Something names the address, but for code in the ranges.
  func isEntered(_ address: UInt64, exceptFrom own: [Range<UInt64>]) -> Bool {
    if inData.contains(address) { return true }
    return uses.sites(to: address).contains { site in !own.contains { $0.contains(site) } }
  }
}
