// Protocols — protocols by name, and the default implementations of their requirements.
internal import SwiftMangling

enum Protocols {
  /// The protocol that the program knows by this name.
  static func named(_ text: String) throws(NewTypeError) -> ProtocolDescriptor {
    var names: [String] = []
    for image in ProcessCatalog.shared.current() {
      for found in image.protocolRecords {
        if found.name == text, let pointer = UnsafeRawPointer(bitPattern: UInt(found.descriptor + image.bias)) {
          return ProtocolDescriptor(pointer)
        }
        names.append(found.name)
      }
    }
    let near = EditDistance.closest(names.uniqued(), to: text, most: 1)
    throw .conformance(
      text, reason: "no protocol of this name in this program" + (near.isEmpty ? "" : "; did you mean '\(near[0])'?"))
  }
}

/// Which protocol a name means, found once: scripts ask it of value after value.
private enum KnownProtocols {
  private static let lock = RecursiveLock()
  // Both behind `lock`.
  nonisolated(unsafe) private static var byName: [String: ProtocolDescriptor?] = [:]
  nonisolated(unsafe) private static var seen: UInt64 = .max

  static func named(_ text: String) -> ProtocolDescriptor? {
    lock.withLock {
      // What was not found may have come with an image since.
      let change = LoadedImages.changeCount
      if seen != change {
        seen = change
        byName = byName.filter { $0.value != nil }
      }
      if let known = byName[text] { return known }
      let found = try? Protocols.named(text)
      // Names that programs have are few; names that scripts put together need not be.
      if found != nil || byName.count < mostNames { byName[text] = .some(found) }
      return found
    }
  }
  private static let mostNames = 1024
}

extension Metadata {
  /// Values of the type conform to the protocol of that name, as the program spells it: `Shop.CartDelegate`. False where the
  /// program has none of that name.
  package func conforms(toProtocolNamed name: String) -> Bool {
    KnownProtocols.named(name).map { conformance(to: $0) != nil } ?? false
  }
}

extension ProtocolDescriptor {
  /// `Shop.CartDelegate`
  var qualifiedName: String {
    guard let image = ConformanceScan.image(containing: pointer) else { return name }
    let address = UInt64(UInt(bitPattern: pointer)) - image.bias
    return image.protocolRecords.first { $0.descriptor == address }?.name ?? name
  }
}

extension ImageCatalog {
  /// The protocols that the image declares.
  var protocolRecords: [ProtocolRecord] { SwiftTypes(file: file).protocols }
}

enum DefaultImplementations {
  /// The body of the requirement in an extension of its protocol that every conforming type has; 0 where there is none, or
  /// several.
  static func body(of requirement: Declaration) -> UInt {
    guard let name = requirement.context else { return 0 }
    let selector = PrivateNames.stripped(requirement.selectorName)
    let escaped = selector.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "\\*")
    var bodies: [UInt] = []
    for image in ProcessCatalog.shared.current() {
      for family in image.families(matching: SelectorPattern(escaped)) {
        let declaration = family.declaration
        guard declaration.context == name, declaration.contextKind == .protocolType, declaration.kind == requirement.kind,
          declaration.type == requirement.type, declaration.requirements.isEmpty, let body = family.declaredBody
        else { continue }
        bodies.append(UInt(body.address))
      }
    }
    return bodies.count == 1 ? bodies[0] : 0
  }
}
