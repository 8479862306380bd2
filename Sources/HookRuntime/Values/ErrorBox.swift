// ErrorBox — a typed error as `any Error` holds it.
private import Glibc
internal import SwiftMangling

enum ErrorBox {
  private typealias Allocate = @convention(c) (UnsafeRawPointer, UnsafeRawPointer, UnsafeRawPointer, Bool) -> UnsafeRawPointer?
  // swiftcc with four words in and {box, value} out: the C convention agrees on all registers looked at.
  private static let allocate = dlsym(nil, "swift_allocError").map { unsafeBitCast($0, to: Allocate.self) }

  /// An owned `any Error` with a copy of the value at `memory`; nil where its type is no error.
  static func copying(_ memory: UnsafeRawPointer, _ info: TypeInfo) -> OwnedValue? {
    guard case .success(let existential) = TypeResolver.shared.type(of: Metadata((any Error).self)) else { return nil }
    let made = OwnedValue(uninitialized: existential)
    if info.metadata == existential.metadata {
      existential.metadata.initialize(made.memory, copying: memory)
      return made
    }
    guard info.metadata.isCopyable, let proto = existential.metadata.protocols.first ?? errorProtocol,
      let table = info.metadata.conformance(to: proto), let box = allocate?(info.metadata.pointer, table, memory, false)
    else {
      made.forget()
      return nil
    }
    made.memory.storeBytes(of: box, as: UnsafeRawPointer.self)
    return made
  }

  private static let errorProtocol = dlsym(nil, "$ss5ErrorMp").map { ProtocolDescriptor(UnsafeRawPointer($0)) }
}
