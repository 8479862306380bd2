// DescriptorBuilder — context, class and field descriptors of types that no compiler made.
//
// Layouts: swift/ABI/Metadata.h and swift/RemoteInspection/Records.h of Swift 6.3, as `swiftc -emit-irgen` writes them.

/// A stored property of a new class.
struct NewField {
  var name: String
  var type: Metadata
  var isVar: Bool
  /// Bytes from the start of the object.
  var offset: Int
}

struct DescriptorBuilder {
  let block: MetadataBlock

  /// {flags, parent, name}; modules of one name are one module.
  private func module(_ name: String) -> UnsafeMutableRawPointer {
    let descriptor = block.take(12, alignment: 4)
    (descriptor + 8).storeDistance(to: block.text(name))
    return descriptor
  }

  /// - Parameters:
  ///   - metadata: what its accessor answers; need not be filled in yet.
  ///   - words: of the metadata: before the address point, and behind it.
  /// - Returns: the class's descriptor, without a table of virtual methods: nobody overrides them by descriptor.
  func classDescriptor(
    _ name: NewTypeName, metadata: UnsafeRawPointer, superclass: Metadata, fields: [NewField], words: (negative: Int, positive: Int)
  ) throws(NewTypeError) -> UnsafeMutableRawPointer {
    let descriptor = block.take(44, alignment: 4)
    // Kind 16, a class; 0x40: the descriptor is the only one of its type.
    descriptor.storeBytes(of: 0x50, as: UInt32.self)
    (descriptor + 4).storeDistance(to: module(name.module))
    (descriptor + 8).storeDistance(to: block.text(name.name))
    (descriptor + 12).storeDistance(to: try block.accessor(of: metadata))
    (descriptor + 16).storeDistance(to: try fieldDescriptor(fields, of: descriptor))
    if let parent = superclass.descriptor, !parent.isGeneric {
      (descriptor + 20).storeDistance(to: block.reference(2, to: block.pointer(to: parent.pointer)))
    }
    let numbers = [words.negative, words.positive, fields.count, fields.count, words.positive - fields.count]
    for (index, number) in numbers.enumerated() { descriptor.storeBytes(of: UInt32(number), toByteOffset: 24 + 4 * index, as: UInt32.self) }
    return descriptor
  }

  /// {type, superclass, kind, record size, count}, then {flags, type, name} each.
  private func fieldDescriptor(_ fields: [NewField], of descriptor: UnsafeRawPointer) throws(NewTypeError) -> UnsafeMutableRawPointer {
    let table = block.take(16 + 12 * fields.count, alignment: 4)
    table.storeDistance(to: block.reference(2, to: block.pointer(to: descriptor)))
    table.storeBytes(of: 1, toByteOffset: 8, as: UInt16.self)  // a class
    table.storeBytes(of: 12, toByteOffset: 10, as: UInt16.self)
    table.storeBytes(of: UInt32(fields.count), toByteOffset: 12, as: UInt32.self)
    for (index, field) in fields.enumerated() {
      let record = table + 16 + 12 * index
      record.storeBytes(of: field.isVar ? 2 : 0, as: UInt32.self)
      (record + 4).storeDistance(to: try typeName(field.type))
      (record + 8).storeDistance(to: block.text(field.name))
    }
    return table
  }

  /// The type's mangled name where the runtime finds it by that, else a reference to a function that answers the metadata.
  private func typeName(_ type: Metadata) throws(NewTypeError) -> UnsafeMutableRawPointer {
    if let name = _mangledTypeName(type.type), name.utf8.allSatisfy({ $0 >= 0x20 }), let found = _typeByName(name), Metadata(found) == type
    {
      return block.text(name)
    }
    return block.reference(9, to: try block.accessor(of: type.pointer))
  }

  // MARK: Records that the runtime looks through

  /// One record of a section `swift5_type_metadata` or `swift5_protocol_conformances`: a distance.
  func record(of descriptor: UnsafeRawPointer) -> UnsafeMutableRawPointer {
    let record = block.take(4, alignment: 4)
    record.storeDistance(to: descriptor)
    return record
  }
}
