// SuperclassProblem — why no class can be made that inherits from a class of the program.

enum SuperclassProblem: Equatable {
  case notAClass
  case isActor
  case isForeign
  /// The metadata is not there yet, or of a form not read here.
  case noMetadata
  /// Nothing in its table but initialisers, or nothing that is called.
  case nothingOverridable
  case noRuntime

  init?(_ type: Metadata) {
    guard case .classType = type.kind else { self = .notAClass; return }
    guard let descriptor = type.descriptor, ClassHeader(type).size > 0, ClassHeader(type).addressPoint >= 24 else {
      self = .noMetadata; return
    }
    if type.classChain.contains(where: { $0.descriptor?.isActor ?? false }) { self = .isActor; return }
    if descriptor.flags & 0x1F != 16 { self = .isForeign; return }
    if !RuntimeRecords.isAvailable { self = .noRuntime; return }
    if !type.hasOverridableMember { self = .nothingOverridable; return }
    return nil
  }
}

extension SuperclassProblem: CustomStringConvertible {
  var description: String {
    switch self {
    case .notAClass: "it is no class"
    case .isActor: "it is an actor, and actors are final"
    case .isForeign: "it is another language's class"
    case .noMetadata: "its metadata has a form that is not read here"
    case .nothingOverridable:
      "no member of it can be overridden: it is final, or the compiler proved that nobody overrides it and calls everything directly"
    case .noRuntime: "the Swift runtime of this process cannot be told of new types"
    }
  }
}

extension Metadata {
  /// Some method or accessor in the tables of the class and its superclasses still has an implementation.
  fileprivate var hasOverridableMember: Bool {
    classChain.contains { type in
      guard let table = type.descriptor?.virtualTable else { return false }
      // Kind 1 is an initialiser; those are there for final classes, too.
      return (0..<table.count).contains { table.kind($0) != 1 && table.implementation($0) != 0 }
    }
  }
}
