// Conformances — witness tables and associated types, as the runtime finds them.
private import Glibc
package import SwiftMangling

extension Metadata {
  private typealias Conforms = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> UnsafeRawPointer?
  // The runtime's own entry point, in the library that the program uses.
  private static let conforms = dlsym(nil, "swift_conformsToProtocol").map { unsafeBitCast($0, to: Conforms.self) }

  /// The witness table of this type for the protocol; nil where it does not conform. The runtime may make the table, which
  /// runs code the compiler made, never code of the program's source.
  package func conformance(to protocol: ProtocolDescriptor) -> UnsafeRawPointer? { Self.conforms?(pointer, `protocol`.pointer) }

  private typealias AssociatedType =
    @convention(c) (
      UInt, UnsafeRawPointer, UnsafeRawPointer, UnsafeRawPointer, UnsafeRawPointer
    ) -> UnsafeRawPointer?
  // swiftcc with five words in and {metadata, state} out: the C convention agrees on all registers looked at.
  private static let associatedType = dlsym(nil, "swift_getAssociatedTypeWitness").map { unsafeBitCast($0, to: AssociatedType.self) }

  /// The type that this type has for an associated type of the protocol.
  package func associatedType(_ name: String, of protocol: ProtocolDescriptor, table: UnsafeRawPointer? = nil) -> Metadata? {
    guard let table = table ?? conformance(to: `protocol`), let requirement = `protocol`.associatedType(name) else { return nil }
    return Self.associatedType?(0, table, pointer, requirement.base, requirement.record).map(Metadata.init)
  }
}

extension TypeResolver {
  /// The protocol of this name, nil where no loaded image has it or it exists for the compiler only.
  package func protocolDescriptor(_ name: NominalName) -> ProtocolDescriptor? {
    if let address = name.reference { return UnsafeRawPointer(bitPattern: address).map(ProtocolDescriptor.init) }
    guard case .success(let info) = type(.existential(protocols: [name], superclass: nil, isClassBound: false)) else { return nil }
    return info.metadata.protocols.first
  }

  /// The witness table of `type` for the protocol of this name.
  package func conformance(of type: Metadata, to name: NominalName) -> UnsafeRawPointer? {
    protocolDescriptor(name).flatMap { type.conformance(to: $0) }
  }
}
