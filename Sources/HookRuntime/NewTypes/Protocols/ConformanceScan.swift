// ConformanceScan — the conformances that the images of this process declare, read where they lie in memory.
private import Glibc

/// One conformance descriptor: {protocol, type, witness table, flags}, the first three relative.
struct DeclaredConformance {
  let record: UnsafeRawPointer
  let image: ImageCatalog

  var proto: UnsafeRawPointer? { record.indirectable(at: 0) }
  /// The nominal type's descriptor; nil where something else conforms.
  var type: UnsafeRawPointer? {
    let place = record + 4
    let distance = place.load(as: Int32.self)
    guard distance != 0 else { return nil }
    // Kind of reference: 0 to the descriptor, 1 to a pointer to it.
    switch record.load(fromByteOffset: 12, as: UInt32.self) >> 3 & 7 {
    case 0: return place + Int(distance)
    case 1: return (place + Int(distance)).load(as: UnsafeRawPointer?.self)
    default: return nil
    }
  }
  /// The table, where it is complete as it stands: {descriptor, one word for each requirement}.
  var table: UnsafeRawPointer? {
    let flags = record.load(fromByteOffset: 12, as: UInt32.self)
    // Bits 16 and 17: witnesses are filled in, or the table is made, at first use; bits 8 to 15: conditions.
    guard flags & 0x3_FF00 == 0 else { return nil }
    let distance = (record + 8).load(as: Int32.self)
    return distance == 0 ? nil : record + 8 + Int(distance)
  }
}

extension UnsafeRawPointer {
  /// A relative reference whose low bit says that a pointer to the target is meant.
  fileprivate func indirectable(at offset: Int) -> UnsafeRawPointer? {
    let place = self + offset
    let distance = place.load(as: Int32.self)
    guard distance != 0 else { return nil }
    let target = place + Int(distance & ~1)
    return distance & 1 == 0 ? target : target.load(as: UnsafeRawPointer?.self)
  }
}

enum ConformanceScan {
  /// All conformances to the protocol that Swift images of this process declare.
  static func conformances(to proto: ProtocolDescriptor) -> [DeclaredConformance] {
    ProcessCatalog.shared.current().flatMap { all(in: $0) }.filter { $0.proto == proto.pointer }
  }

  /// The protocols of classes that the type or one of its superclasses conforms to without conditions.
  static func protocols(of type: Metadata) -> [ProtocolDescriptor] {
    let descriptors = Set(type.classChain.compactMap { $0.descriptor?.pointer })
    return ProcessCatalog.shared.current().flatMap { all(in: $0) }.compactMap { conformance in
      guard let conformer = conformance.type, descriptors.contains(conformer), let proto = conformance.proto else { return nil }
      return ProtocolDescriptor(proto)
    }.uniqued().filter(\.isClassBound)
  }

  /// Those of one image.
  static func all(in image: ImageCatalog) -> [DeclaredConformance] {
    guard image.isLoaded, let section = image.file.section(named: "swift5_protocol_conformances"),
      let start = UnsafeRawPointer(bitPattern: UInt(section.address + image.bias))
    else { return [] }
    return stride(from: 0, to: Int(section.size) - 3, by: 4).compactMap { offset in
      let distance = (start + offset).load(as: Int32.self)
      // Linkers may pad between the contributions of two objects.
      return distance == 0 ? nil : DeclaredConformance(record: start + offset + Int(distance), image: image)
    }
  }

  /// The Swift image that has the address.
  static func image(containing address: UnsafeRawPointer) -> ImageCatalog? {
    let address = UInt(bitPattern: address)
    guard let found = LoadedImages.snapshot().image(containing: address) else { return nil }
    return ProcessCatalog.shared.current().first { $0.path == found.path }
  }
}
