// StoredField — a stored property by name, its own class's or an inherited one.

package struct StoredField: Sendable {
  /// Bytes from the start of the object or value.
  package var offset: Int
  package var info: TypeInfo

  package enum Problem: Error, Sendable {
    case noField(String, type: String, known: [String])
    case notReadable(String, type: String)
  }

  package static func find(_ name: String, in type: Metadata) -> Result<StoredField, Problem> {
    var owner: Metadata? = type
    while let metadata = owner {
      if let descriptor = metadata.descriptor, let index = descriptor.fields.firstIndex(where: { $0.name == name }) {
        return field(descriptor.fields[index], index, descriptor, metadata)
      }
      owner = metadata.superclass
    }
    return .failure(.noField(name, type: typeName(type), known: names(in: type)))
  }

  private static func field(_ field: TypeDescriptor.Field, _ index: Int, _ descriptor: TypeDescriptor, _ owner: Metadata) -> Result<
    StoredField, Problem
  > {
    let problem = Problem.notReadable(field.name, type: typeName(owner))
    guard let vector = descriptor.fieldOffsetVector, let name = field.typeName, !name.hasSuffix("Xw"), !name.hasSuffix("Xo"),
      !name.hasSuffix("Xu"), let type = name.resolve(in: owner), case .success(var info) = TypeResolver.shared.type(of: type)
    else { return .failure(problem) }
    // Closures lie in the form the declaration asks for, which for a generic type's is not that of their own type.
    if descriptor.isGeneric, TypeResolver.shared.general(info) !== info {
      guard let isGeneral = name.isGenericParameter else { return .failure(problem) }
      if isGeneral { info = TypeResolver.shared.general(info) }
    }
    let base = owner.pointer + 8 * vector
    // Classes keep field offsets as words, structs as 32-bit numbers.
    let offset =
      descriptor.isClass ? base.load(fromByteOffset: 8 * index, as: Int.self) : Int(base.load(fromByteOffset: 4 * index, as: UInt32.self))
    return .success(StoredField(offset: offset, info: info))
  }

  /// Names of all stored properties, inherited ones last.
  package static func names(in type: Metadata) -> [String] {
    var names: [String] = []
    var owner: Metadata? = type
    while let metadata = owner {
      names += metadata.descriptor?.fields.map(\.name) ?? []
      owner = metadata.superclass
    }
    return names
  }

  private static func typeName(_ type: Metadata) -> String { (try? TypeResolver.shared.type(of: type).get().name) ?? "this type" }
}

extension StoredField.Problem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noField(let name, let type, let known):
      "\(type) has no stored field '\(name)'" + (known.isEmpty ? "" : "; it has \(known.prefix(12).joined(separator: ", "))")
    case .notReadable(let name, let type): "field '\(name)' of \(type) cannot be read yet (weak, unowned, or of unknown layout)"
    }
  }
}
