// ProtocolLayout — a protocol's requirements in the order of its witness tables, with their names and conventions.
//
// The protocol's descriptor has a record for each requirement: its kind, no name. Names come from the records' symbols
// (`…Tq`, protocols of modules built for evolution), and from the witnesses (`…TW`) in the tables of conforming types: a witness
// is called "protocol witness for REQUIREMENT in conformance TYPE: PROTOCOL". Equal functions are merged, so a witness tells a
// requirement only where its conformance is the table's own and no other word of the table names it.
internal import SwiftMangling
private import Synchronization

/// One word of a protocol's witness tables.
struct Requirement: Sendable {
  enum Kind: UInt8, Sendable {
    case baseProtocol, method, initialiser, getter, setter, read, modify, associatedType, associatedConformance
  }

  let kind: Kind
  let isInstance: Bool
  /// Methods and accessors are async, coroutines of the newer form.
  let isAsync: Bool
  /// The word of the table, its first word being the conformance.
  let word: Int
  var declaration: Declaration?
}

extension ProtocolDescriptor {
  /// The records, in order.
  fileprivate var requirementRecords: [(flags: UInt32, address: UnsafeRawPointer)] {
    (0..<requirementCount).map { ((requirements + 8 * $0).load(as: UInt32.self), requirements + 8 * $0) }
  }
}

final class ProtocolLayout: Sendable {
  let descriptor: ProtocolDescriptor
  /// `Shop.CartDelegate`
  let name: String
  let requirements: [Requirement]
  /// Protocols it inherits from, with the word of their table.
  let bases: [(word: Int, proto: ProtocolDescriptor)]
  /// Words of a table, the first included.
  var words: Int { requirements.count + 1 }

  private init(_ descriptor: ProtocolDescriptor, name: String) {
    self.descriptor = descriptor
    self.name = name
    var requirements: [Requirement] = []
    for (index, record) in descriptor.requirementRecords.enumerated() {
      requirements.append(
        Requirement(
          kind: Requirement.Kind(rawValue: UInt8(record.flags & 0xF)) ?? .associatedConformance, isInstance: record.flags & 0x10 != 0,
          isAsync: record.flags & 0x20 != 0, word: index + 1))
    }
    var names = RequirementNames(descriptor, requirements)
    self.requirements = names.named()
    let inherited = descriptor.signature.compactMap { requirement in
      if case .conformance(let proto) = requirement.kind, requirement.subjectIsSelf { proto } else { nil }
    }
    bases = Array(zip(requirements.filter { $0.kind == .baseProtocol }.map(\.word), inherited))
  }

  private static let known = Mutex<[ProtocolDescriptor: ProtocolLayout]>([:])

  static func of(_ descriptor: ProtocolDescriptor, name: String) -> ProtocolLayout {
    if let known = known.withLock({ $0[descriptor] }), known.isWhole { return known }
    let made = ProtocolLayout(descriptor, name: name)
    known.withLock { $0[descriptor] = made }
    return made
  }

  /// Every function has its name. A conforming type may be loaded later.
  private var isWhole: Bool { unnamed == 0 }
  private var unnamed: Int { requirements.count { $0.isFunction && $0.declaration == nil } }

  /// Why nothing can be made to conform; nil when it can.
  func problem() -> ProtocolProblem? {
    if !descriptor.isClassBound { return .notClassBound }
    if descriptor.signature.contains(where: { if case .superclass = $0.kind { $0.subjectIsSelf } else { false } }) { return .superclass }
    if requirements.contains(where: { $0.kind == .associatedType || $0.kind == .associatedConformance }) { return .associatedTypes }
    if bases.count != requirements.count(where: { $0.kind == .baseProtocol }) {
      return .inherited("a protocol", reason: "its records differ")
    }
    if unnamed > 0 { return .unnamed(unnamed, known: requirements.count { $0.declaration != nil }) }
    return nil
  }
}

extension ProtocolLayout {
  /// How each requirement is called is known.
  var canBePlanned: Bool {
    requirements.allSatisfy { requirement in
      guard requirement.isFunction else { return true }
      return (try? WitnessConvention(requirement)) != nil
    }
  }
}

extension Requirement {
  var isFunction: Bool {
    switch kind {
    case .baseProtocol, .associatedType, .associatedConformance: false
    default: true
    }
  }

  /// The requirement's declaration has the record's kind.
  func fits(_ declaration: Declaration) -> Bool {
    let kindFits =
      switch (kind, declaration.kind) {
      case (.method, .function), (.initialiser, .allocatingInit), (.getter, .getter), (.setter, .setter), (.read, .read),
        (.modify, .modify):
        true
      default: false
      }
    return kindFits && (kind == .initialiser || declaration.isStatic == !isInstance)
  }
}

extension GenericContext.Requirement {
  /// It is about `Self` and not about an associated type.
  fileprivate var subjectIsSelf: Bool {
    if case .genericParameter(0, 0)? = TypeResolver.shared.syntax(subject) { true } else { false }
  }
}

/// Finds out which record is which requirement.
private struct RequirementNames {
  private let descriptor: ProtocolDescriptor
  private var requirements: [Requirement]
  private var parser = SymbolParser()
  /// Records for which two names were found.
  private var disputed: Set<Int> = []

  init(_ descriptor: ProtocolDescriptor, _ requirements: [Requirement]) {
    self.descriptor = descriptor
    self.requirements = requirements
  }

  mutating func named() -> [Requirement] {
    readRecords()
    for conformance in ConformanceScan.conformances(to: descriptor) { read(conformance) }
    for index in disputed { requirements[index].declaration = nil }
    completeProperties()
    return requirements
  }

  private mutating func propose(_ declaration: Declaration, for index: Int) {
    guard requirements[index].fits(declaration) else { return }
    if let known = requirements[index].declaration {
      if known.typedName(qualified: true) != declaration.typedName(qualified: true) { disputed.insert(index) }
    } else {
      requirements[index].declaration = declaration
    }
  }

  /// Records of their own have the requirement's symbol.
  private mutating func readRecords() {
    guard let image = ConformanceScan.image(containing: descriptor.pointer) else { return }
    for (index, record) in descriptor.requirementRecords.enumerated() {
      for name in image.metadataSymbols.names(at: UInt64(UInt(bitPattern: record.address)) - image.bias) where name.hasSuffix("Tq") {
        if let declaration = parser.declaration(String(name.dropLast(2))) { propose(declaration, for: index) }
      }
    }
  }

  private mutating func read(_ conformance: DeclaredConformance) {
    guard let table = conformance.table, let type = conformance.type, let conformer = TypeCatalog.shared.name(of: TypeDescriptor(type))
    else {
      return
    }
    let words = (0...requirements.count).map { table.load(fromByteOffset: 8 * $0, as: UInt.self) }
    for (index, requirement) in requirements.enumerated() where requirement.isFunction && requirement.declaration == nil {
      let word = words[requirement.word]
      guard word != 0, words.count(where: { $0 == word }) == 1 else { continue }
      let found = witnesses(at: word, conformance.image, of: conformer)
      if found.count == 1 { propose(found[0], for: index) }
    }
  }

  /// The requirements that the function at a word of the type's table carries out, by its symbols.
  private mutating func witnesses(at word: UInt, _ image: ImageCatalog, of conformer: String) -> [Declaration] {
    let address = UInt64(word) &- image.bias
    let names = image.symbols.symbols(at: address).map(\.nameText) + image.metadataSymbols.names(at: address).map { String($0.dropLast(2)) }
    return names.uniqued().filter { $0.hasSuffix("TW") }.compactMap { name in
      guard var declaration = parser.declaration(name), let kind = declaration.wrappedKind,
        case .nominal(let type, _, _)? = declaration.conformer, PrivateNames.stripped(type.description) == PrivateNames.stripped(conformer)
      else { return nil }
      declaration.kind = kind
      declaration.wrappedKind = nil
      return declaration
    }
  }

  /// A property's accessors follow each other: getter, setter, modify.
  private mutating func completeProperties() {
    for index in requirements.indices where requirements[index].kind == .getter {
      var group = [index]
      for next in [Requirement.Kind.setter, .modify] {
        let position = index + group.count
        if position < requirements.count, requirements[position].kind == next { group.append(position) }
      }
      guard let known = requirements[group[0]...group[group.count - 1]].compactMap(\.declaration).first else { continue }
      for position in group where requirements[position].declaration == nil && !requirements[position].isAsync {
        var declaration = known
        declaration.kind =
          switch requirements[position].kind {
          case .setter: .setter
          case .modify: .modify
          default: .getter
          }
        requirements[position].declaration = declaration
      }
    }
  }
}
