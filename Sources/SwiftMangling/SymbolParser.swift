/// Tells what the descriptor is that a reference of the kind `control` (the byte in the name) leads to, and its address,
/// behind the same of the types around it, outermost first.
package typealias ReferenceResolver = (_ control: UInt8, _ target: UnsafeRawPointer) -> [(kind: NominalKind, address: UInt)]?

/// Reads mangled names. Keeps its memory between names: make one and reuse it.
///
/// One thread at a time. Copies share nothing once used: a copy that finds its machine shared makes its own.
package struct SymbolParser {
  /// Owns the machine; a class so that the parser itself can be copied.
  private final class Box {
    var demangler = Demangler()
  }

  private var box = Box()

  package init() {}

  /// The declaration behind a symbol (`$s…`, `_$s…`, `$S…`), or nil when the name is not a function-like Swift symbol.
  package mutating func declaration(_ mangled: UnsafeBufferPointer<UInt8>) -> Declaration? {
    declaration(mangled) { _ in true }
  }

  /// The declaration behind a symbol of a kind that is wanted: of others no model is made.
  package mutating func declaration(_ mangled: UnsafeBufferPointer<UInt8>, where isWanted: (QuickKind) -> Bool) -> Declaration? {
    claim()
    let global = box.demangler.parseSymbol(mangled)
    guard global != 0, isWanted(box.demangler.arena.quickKind(ofGlobal: global)) else { return nil }
    var reader = DeclarationReader()
    let familyEnd = box.demangler.entityEnd
    return reader.declaration(ofGlobal: global, familyEnd: familyEnd, name: mangled, in: box.demangler.arena)
  }

  /// The type behind a bare type mangling (`Si`, `4Shop4CartC`) or a symbol that is a type (`$sSaySiGD`).
  package mutating func type(_ mangled: UnsafeBufferPointer<UInt8>) -> TypeSyntax? {
    claim()
    var node: NodeIndex
    if Demangler.prefixLength(mangled) > 0 {
      node = box.demangler.arena.first(box.demangler.parseSymbol(mangled))
      if box.demangler.arena.kind(node) == .typeMangling {
        node = box.demangler.arena.child(node, box.demangler.arena.childCount(node) - 1)
      }
    } else {
      node = box.demangler.parseType(mangled)
      guard box.demangler.arena.kind(node) == .type else { return nil }
    }
    guard node != 0 else { return nil }
    var reader = TypeReader()
    let type = reader.type(node, in: box.demangler.arena)
    if case .unknown = type { return nil }
    return reader.isTruncated ? nil : type
  }

  /// The type behind a mangling in metadata, where it lies: it may hold references to descriptors, which read as names in
  /// the module `@`.
  package mutating func type(
    inMetadata mangled: UnsafeBufferPointer<UInt8>, resolving: @escaping ReferenceResolver
  ) -> TypeSyntax? {
    claim()
    box.demangler.resolveReference = resolving
    defer { box.demangler.resolveReference = nil }
    return type(mangled)
  }

  /// The symbol's class without building the model.
  package mutating func quickKind(_ mangled: UnsafeBufferPointer<UInt8>) -> QuickKind {
    claim()
    let global = box.demangler.parseSymbol(mangled)
    guard global != 0 else { return .notSwift }
    return box.demangler.arena.quickKind(ofGlobal: global)
  }

  /// The symbol's tree in the toolchain's dump form, nil when it cannot be read. For tests and diagnosis.
  package mutating func tree(_ mangled: UnsafeBufferPointer<UInt8>) -> String? {
    claim()
    let global = box.demangler.parseSymbol(mangled)
    return global == 0 ? nil : box.demangler.arena.dump(global)
  }

  private mutating func claim() {
    if !isKnownUniquelyReferenced(&box) { box = Box() }
  }
}

extension SymbolParser {
  /// `declaration(_:)` for a Swift string.
  package mutating func declaration(_ mangled: String) -> Declaration? {
    var mangled = mangled
    return mangled.withUTF8 { declaration($0) }
  }

  /// `type(_:)` for a Swift string.
  package mutating func type(_ mangled: String) -> TypeSyntax? {
    var mangled = mangled
    return mangled.withUTF8 { type($0) }
  }

  /// `quickKind(_:)` for a Swift string.
  package mutating func quickKind(_ mangled: String) -> QuickKind {
    var mangled = mangled
    return mangled.withUTF8 { quickKind($0) }
  }

  /// `tree(_:)` for a Swift string.
  package mutating func tree(_ mangled: String) -> String? {
    var mangled = mangled
    return mangled.withUTF8 { tree($0) }
  }
}

extension NodeArena {
  /// A symbol's class from its node kinds alone.
  func quickKind(ofGlobal global: NodeIndex) -> QuickKind {
    for position in 0..<childCount(global) {
      let node = child(global, position)
      switch kind(node) {
      case .functionSignatureSpecialization, .genericSpecialization, .genericSpecializationNotReAbstracted,
        .genericSpecializationInResilienceDomain, .genericSpecializationPrespecialized, .inlinedGenericFunction,
        .genericPartialSpecialization, .genericPartialSpecializationNotReAbstracted, .mergedFunction,
        .dynamicallyReplaceableFunctionImpl, .backDeploymentFallback:
        continue
      case let attribute where attribute.isFunctionAttribute: return .compilerMade
      default: return quickKind(ofEntity: node, suffix: child(global, childCount(global) - 1))
      }
    }
    return .compilerMade
  }

  private func quickKind(ofEntity entity: NodeIndex, suffix: NodeIndex) -> QuickKind {
    if kind(suffix) == .suffix, let text = text(suffix), text.count > 4 {
      if text.starts(with: ".resume".utf8) || text.starts(with: ".cold".utf8) { return .compilerMade }
    }
    let kind = kind(kind(entity) == .static ? first(entity) : entity)
    switch kind {
    case .function, .allocator, .constructor, .destructor, .deallocator, .isolatedDeallocator: return .source
    case .explicitClosure, .implicitClosure: return .closure
    default: return DeclarationReader.accessorKind(kind) != nil ? .accessor : .compilerMade
    }
  }
}
