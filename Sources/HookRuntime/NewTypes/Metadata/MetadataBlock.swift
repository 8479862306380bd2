// MetadataBlock — the one owner of memory for metadata, descriptors and witness tables that are made at run time.
//
// The runtime keeps metadata for ever, and so do we: nothing is freed. Parts of one type refer to each other by 32-bit
// distances, so they lie in one block; what lies elsewhere is referred to through a pointer in the block.
private import CHookTrampoline
private import Glibc

final class MetadataBlock {
  // Filled by one thread before anybody else knows the addresses in it.
  private let base: UnsafeMutableRawPointer
  private let capacity: Int
  private var used = 0

  /// - Parameter bytes: the most that will be taken, padding included.
  init(bytes: Int) throws(NewTypeError) {
    capacity = (bytes + 4095) / 4096 * 4096
    let memory = mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory, memory != MAP_FAILED else { throw .noMemory }
    base = memory
  }

  /// Zeroed memory in the block.
  func take(_ bytes: Int, alignment: Int = 8) -> UnsafeMutableRawPointer {
    let start = (used + alignment - 1) / alignment * alignment
    guard start + bytes <= capacity else {
      fatalError("internal error: a metadata block of \(capacity) bytes is too small; please report it")
    }
    used = start + bytes
    return base + start
  }

  /// A C string in the block.
  func text(_ text: String) -> UnsafeMutableRawPointer {
    let bytes = Array(text.utf8)
    let memory = take(bytes.count + 1, alignment: 1)
    memory.copyMemory(from: bytes, byteCount: bytes.count)
    return memory
  }

  /// A pointer in the block, for references to what lies elsewhere.
  func pointer(to target: UnsafeRawPointer) -> UnsafeMutableRawPointer {
    let memory = take(8)
    memory.storeBytes(of: target, as: UnsafeRawPointer.self)
    return memory
  }

  /// Code of an accessor that answers the metadata, within reach of the block.
  func accessor(of metadata: UnsafeRawPointer) throws(NewTypeError) -> UnsafeRawPointer {
    var refusal = HKTRefusal()
    let code = hkt_constant_function(UInt64(UInt(bitPattern: base)), UInt64(UInt(bitPattern: metadata)), &refusal)
    guard let code = UnsafeRawPointer(bitPattern: UInt(code)) else { throw .code(InterceptRefusal(refusal)) }
    return code
  }

  /// A mangled type name that control bytes begin: 2 (a pointer to a descriptor) or 9 (a function that answers metadata).
  func reference(_ control: UInt8, to target: UnsafeRawPointer) -> UnsafeMutableRawPointer {
    let memory = take(6, alignment: 1)
    memory.storeBytes(of: control, as: UInt8.self)
    (memory + 1).storeDistance(to: target)
    return memory
  }
}

extension UnsafeMutableRawPointer {
  /// Stores how far `target` is from here, as descriptors do; `bits` go into the low bits.
  func storeDistance(to target: UnsafeRawPointer, bits: Int = 0) {
    guard let distance = Int32(exactly: target - UnsafeRawPointer(self) + bits) else {
      fatalError("internal error: two parts of a new type lie too far from each other; please report it")
    }
    storeBytes(of: distance, as: Int32.self)
  }
}
