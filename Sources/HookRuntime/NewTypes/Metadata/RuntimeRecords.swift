// RuntimeRecords — makes the Swift runtime know of types and conformances made here, as it learns of a new image's.
private import Glibc

enum RuntimeRecords {
  private typealias Register = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> Void
  // Entry points of the runtime (swift/Runtime/Metadata.h): begin and end of an array of relative references.
  private static let types = dlsym(nil, "swift_registerTypeMetadataRecords").map { unsafeBitCast($0, to: Register.self) }
  private static let conformances = dlsym(nil, "swift_registerProtocolConformances").map { unsafeBitCast($0, to: Register.self) }

  static var isAvailable: Bool { types != nil && conformances != nil }

  /// From now on the type is found by its name. `record` stays where it is for ever.
  static func addType(_ record: UnsafeRawPointer) { types?(record, record + 4) }
  /// From now on casts find the conformance, also where they failed before. `record` stays where it is for ever.
  static func addConformance(_ record: UnsafeRawPointer) { conformances?(record, record + 4) }
}
