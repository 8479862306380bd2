// Interface first; bodies follow.
package struct SwiftTypes: Sendable {
  package let types: [TypeRecord]
  package let protocols: [ProtocolRecord]
  package let conformances: [ConformanceRecord]
  /// From the file alone: applies relocations itself.
  package init(file: ELFFile) { types = []; protocols = []; conformances = [] }
  /// From this process's memory.
  package init(image: LoadedImage) { types = []; protocols = []; conformances = [] }
}
package struct TypeRecord: Sendable {
  package enum Kind: Sendable { case `class`, `struct`, `enum` }
  package let kind: Kind
  /// "Shop.Cart.Line"
  package let name: String
  package let isGeneric: Bool
  package let descriptor: UInt64
  package let accessor: UInt64?
  package let superclass: String?
  package let hasResilientSuperclass: Bool
  package let privateDiscriminator: String?
  package let fields: [FieldRecord]
  package let vtable: [VTableEntry]
}
package struct FieldRecord: Sendable {
  package let name: String
  package let isVar: Bool
  package let isIndirect: Bool
  package let type: MangledTypeReference?
}
package struct MangledTypeReference: Sendable {
  /// The mangled bytes; a symbolic reference is one control byte and four (or eight) address bytes.
  package let bytes: [UInt8]
  package let symbolic: [SymbolicReference]
}
package struct SymbolicReference: Sendable {
  package let offset: Int
  package let kind: UInt8
  package let name: String?
  package let target: UInt64?
}
package struct VTableEntry: Sendable {
  package enum Kind: UInt8, Sendable { case method, initializer, getter, setter, modify, read }
  package enum Target: Sendable, Equatable { case address(UInt64), deleted, null, external(String) }
  package let kind: Kind
  package let isInstance: Bool
  package let isAsync: Bool
  package let isDynamic: Bool
  package let descriptor: UInt64
  package let implementation: Target
}
package struct ProtocolRecord: Sendable {
  package let name: String
  package let requirementCount: Int
  package let isClassConstrained: Bool
  package let descriptor: UInt64
}
package struct ConformanceRecord: Sendable {
  package let type: String?
  package let protocolName: String?
  package let descriptor: UInt64
  package let witnessTable: UInt64?
}
