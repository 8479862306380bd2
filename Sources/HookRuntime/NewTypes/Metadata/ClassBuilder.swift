// ClassBuilder — metadata of a class that inherits from one of the program's: a copy of the superclass's metadata, the
// words before the address point included, with a superclass, a descriptor and stored properties of its own.
//
// Layout on platforms without Objective-C (swift/ABI/Metadata.h, Swift 6.3): -24 layout string, -16 destroyer, -8 value
// witnesses; +0 kind, +8 superclass, +16 flags, +20 address point and +24 size of instances, +28 alignment mask, +32 size
// and +36 address point of the metadata, +40 descriptor, +48 destroyer of instance variables; members, the root's first.
private import CHookTrampoline

/// The header of class metadata in this process.
struct ClassHeader {
  private let pointer: UnsafeRawPointer
  init(_ metadata: Metadata) { pointer = metadata.pointer }

  var instanceSize: Int { Int(pointer.load(fromByteOffset: 24, as: UInt32.self)) }
  var alignmentMask: Int { Int(pointer.load(fromByteOffset: 28, as: UInt16.self)) }
  /// Bytes of the metadata, from its first byte.
  var size: Int { Int(pointer.load(fromByteOffset: 32, as: UInt32.self)) }
  /// Bytes before the address that stands for the class.
  var addressPoint: Int { Int(pointer.load(fromByteOffset: 36, as: UInt32.self)) }
  /// Words behind the address point.
  var positiveWords: Int { (size - addressPoint) / 8 }
  /// Words of the header, before the first member.
  static let words = 7
}

/// Metadata of a new class; nobody else knows of it until `publish`.
struct NewClassMetadata {
  let metadata: Metadata
  let fields: [NewField]
  private let block: MetadataBlock
  private let descriptor: UnsafeRawPointer
  private var memory: UnsafeMutableRawPointer { UnsafeMutableRawPointer(mutating: metadata.pointer) }

  init(_ name: NewTypeName, superclass: Metadata, fields wanted: [(name: String, info: TypeInfo)]) throws(NewTypeError) {
    let parent = ClassHeader(superclass)
    let names = wanted.reduce(name.module.utf8.count + name.name.utf8.count) { $0 + $1.name.utf8.count }
    block = try MetadataBlock(bytes: 1024 + parent.size + names + 256 * wanted.count)
    let start = block.take(parent.size + 8 * wanted.count, alignment: 16)
    start.copyMemory(from: superclass.pointer - parent.addressPoint, byteCount: parent.size)
    metadata = Metadata(start + parent.addressPoint)
    var end = parent.instanceSize
    var mask = parent.alignmentMask
    var fields: [NewField] = []
    for (name, info) in wanted {
      end = (end + info.alignment - 1) / info.alignment * info.alignment
      fields.append(NewField(name: name, type: info.metadata, isVar: true, offset: end))
      end += info.size
      mask |= info.alignment - 1
    }
    self.fields = fields
    let positive = parent.positiveWords + fields.count
    descriptor = UnsafeRawPointer(
      try DescriptorBuilder(block: block).classDescriptor(
        name, metadata: metadata.pointer, superclass: superclass, fields: fields, words: (parent.addressPoint / 8, positive)))
    let memory = UnsafeMutableRawPointer(mutating: metadata.pointer)
    memory.storeBytes(of: superclass.pointer, toByteOffset: 8, as: UnsafeRawPointer.self)
    memory.storeBytes(of: UInt32(end), toByteOffset: 24, as: UInt32.self)
    memory.storeBytes(of: UInt16(mask), toByteOffset: 28, as: UInt16.self)
    memory.storeBytes(of: UInt32(parent.size + 8 * fields.count), toByteOffset: 32, as: UInt32.self)
    memory.storeBytes(of: descriptor, toByteOffset: 40, as: UnsafeRawPointer.self)
    memory.storeBytes(of: 0, toByteOffset: 48, as: UInt.self)
    for (index, field) in fields.enumerated() { self[parent.positiveWords + index] = UInt(field.offset) }
    // What others put into the superclass's table since is about calls to that class alone.
    for index in ClassHeader.words..<parent.positiveWords where !SynthesizedMethods.isOurs(self[index]) {
      self[index] = UInt(hkt_slot_former(UInt64(self[index])))
    }
  }

  /// A word of the metadata, counted from the address point. Readers see the old value or the new one.
  subscript(index: Int) -> UInt {
    get { metadata.pointer.load(fromByteOffset: 8 * index, as: UInt.self) }
    nonmutating set { memory.storeBytes(of: newValue, toByteOffset: 8 * index, as: UInt.self) }
  }

  /// Words of the header that hold code: what ends an instance, and what ends its own stored properties alone.
  static let destroyer = -2, variableDestroyer = 6

  /// Makes the runtime find the class by its name.
  func publish() { RuntimeRecords.addType(DescriptorBuilder(block: block).record(of: descriptor)) }
}
