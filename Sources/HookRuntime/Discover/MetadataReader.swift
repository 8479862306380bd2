import Glibc
import Synchronization

// MetadataReader — Swift metadata at addresses, whether in a file or in this process.
//
// Addresses are virtual addresses of the file when reading a file, and addresses of
// this process when reading memory. The metadata is position independent (relative
// 32-bit references), so all that differs is where bytes come from and how the few
// absolute pointers are understood: through relocations, or as they are.
//
// Reading memory stays inside readable segments of images that were loaded when the
// reader was made; images with Swift code are never really unloaded.

final class MetadataReader: @unchecked Sendable {  // constants, and what is behind locks; the memory is never written by us
  /// Addresses and where their bytes are.
  private struct Region {
    let start: UInt64
    let end: UInt64
    let bytes: ByteView
  }

  /// Where an indirect reference leads.
  enum Target {
    case address(UInt64)
    /// To another image, known by the name of the symbol only.
    case symbol(UnsafeBufferPointer<UInt8>)
  }

  /// The image described. Nil when reading memory of an image without a usable file.
  let file: ELFFile?
  /// What to subtract from an address to get a virtual address of the image.
  let bias: UInt64
  private let regions: [Region]
  private let readsMemory: Bool
  /// Of a file, where each pointer asks for them; readers of memory, where pointers are as they are, ask the file when they must.
  private let fileRelocations: Relocations?
  private let foundStubs = Mutex<Set<UInt64>?>(nil)

  init(file: ELFFile) {
    self.file = file
    bias = 0
    readsMemory = false
    fileRelocations = file.relocations
    regions = file.segments.filter { $0.isLoaded && $0.fileSize > 0 }.compactMap { segment in
      guard let bytes = file.view.slice(segment.offset, segment.fileSize) else { return nil }
      let (end, overflow) = segment.address.addingReportingOverflow(segment.fileSize)
      return overflow ? nil : Region(start: segment.address, end: end, bytes: bytes)
    }.sorted { $0.start < $1.start }
  }

  init(image: LoadedImage, among images: LoadedImages) {
    file = image.file
    bias = UInt64(image.bias)
    readsMemory = true
    fileRelocations = nil
    regions = images.images.flatMap(\.readable).compactMap { range in
      guard let base = UnsafeRawPointer(bitPattern: range.lowerBound) else { return nil }
      return Region(
        start: UInt64(range.lowerBound), end: UInt64(range.upperBound), bytes: ByteView(base: base, count: range.count))
    }.sorted { $0.start < $1.start }
  }

  private var relocations: Relocations? { fileRelocations ?? file?.relocations }

  /// Virtual addresses of the runtime's "deleted method" functions where the image itself has them.
  var deletedMethodStubs: Set<UInt64> {
    guard let file else { return [] }
    return foundStubs.withLock { found in
      if let found { return found }
      let made = Self.findDeletedMethodStubs(file)
      found = made
      return made
    }
  }

  /// An image that does not import the runtime brings it along.
  private static func findDeletedMethodStubs(_ file: ELFFile) -> Set<UInt64> {
    var found: Set<UInt64> = []
    for table in RawSymbols.tables(of: file) where table.source == .dynsym || file.isStaticallyLinkedSwift {
      for at in 0..<table.count {
        let entry = table[at]
        if entry.isDefined, Int(entry.name) < table.strings.count,
          table.strings.cString(at: Int(entry.name))?.starts(withBytes: "swift_deleted") == true
        {
          found.insert(entry.value)
        }
      }
    }
    return found
  }

  /// Everything readable from `address` to the end of its region.
  func view(at address: UInt64) -> ByteView? {
    var low = 0
    var high = regions.count
    while low < high {
      let middle = (low + high) / 2
      if regions[middle].start <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, address < regions[low - 1].end else { return nil }
    return regions[low - 1].bytes.suffix(from: Int(address - regions[low - 1].start))
  }

  @inline(__always)
  func load<T: BitwiseCopyable>(_ address: UInt64, as type: T.Type = T.self) -> T? {
    view(at: address)?.load(0)
  }

  /// The text at an address of the image, up to its NUL; nil where the image has no such address.
  func cString(at address: UInt64) -> UnsafeBufferPointer<UInt8>? { view(at: address)?.cString(at: 0) }

  func string(at address: UInt64) -> String? {
    cString(at: address).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The address a relative reference at `address` means; nil for null.
  func relative(at address: UInt64) -> UInt64? {
    guard let offset: Int32 = load(address), offset != 0 else { return nil }
    return address &+ UInt64(bitPattern: Int64(offset))
  }

  /// A relative reference whose low bit says that it leads to a pointer.
  func relativeIndirectable(at address: UInt64) -> Target? {
    guard let offset: Int32 = load(address), offset != 0 else { return nil }
    return target(address &+ UInt64(bitPattern: Int64(offset & ~1)), isIndirect: offset & 1 != 0)
  }

  func target(_ address: UInt64, isIndirect: Bool) -> Target? {
    isIndirect ? pointer(at: address) : .address(address)
  }

  /// The pointer at `address`, as it is once the loader is done; nil for null.
  func pointer(at address: UInt64) -> Target? {
    if readsMemory { return load(address, as: UInt64.self).flatMap { $0 == 0 ? nil : .address($0) } }
    switch relocations?[address] {
    case .address(let value): return .address(value)
    case .symbol(let name): return .symbol(name)
    case nil: return load(address, as: UInt64.self).flatMap { $0 == 0 ? nil : .address($0) }
    }
  }

  /// The symbol an import stub at `address` jumps to; nil when there is no such stub.
  func importStub(at address: UInt64) -> UnsafeBufferPointer<UInt8>? {
    // Lazy binding leaves no trace of the symbol in memory before the first call: the file tells in both cases.
    if let slot = importSlot(ofStub: address), case .symbol(let name) = relocations?[slot] { return name }
    return nil
  }

  /// The function of this very image that a stub at `address` jumps to.
  func stubTarget(at address: UInt64) -> UInt64? {
    if let slot = importSlot(ofStub: address), case .address(let target) = relocations?[slot] { return target &+ bias }
    return nil
  }

  /// The word, as the file counts, by which the stub at `address` jumps.
  private func importSlot(ofStub address: UInt64) -> UInt64? {
    guard let code = view(at: address) else { return nil }
    var at = 0
    if code.load(at) == UInt32(0xfa1e_0ff3) { at += 4 }  // endbr64
    if code.load(at) == UInt8(0xf2) { at += 1 }  // bnd
    guard code.load(at) == UInt16(0x25ff), let offset: Int32 = code.load(at + 2) else { return nil }  // jmp *offset(%rip)
    return address &+ UInt64(at + 6) &+ UInt64(bitPattern: Int64(offset)) &- bias
  }

  /// Start address and size of a metadata section.
  func section(_ name: String) -> (start: UInt64, size: UInt64)? {
    guard let section = file?.section(named: name), section.size > 0, section.flags & 2 != 0 else { return nil }
    return (section.address &+ bias, section.size)
  }
}
