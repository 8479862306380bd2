/// Reads one value after the other from a window of bytes. Past the end every read is 0 and `isDamaged` is set, so that a
/// reader checks once per entry instead of once per value.
struct DWARFCursor {
  private let base: UnsafePointer<UInt8>
  private(set) var offset: Int
  let end: Int
  private(set) var isDamaged = false

  /// Reads `view` from `offset` to `end`, which is cut to the view.
  init(_ view: ByteView, from offset: Int = 0, to end: Int = .max) {
    base = view.base.assumingMemoryBound(to: UInt8.self)
    self.end = Swift.max(0, min(end, view.count))
    self.offset = Swift.max(0, min(offset, self.end))
  }

  var isAtEnd: Bool { offset >= end }

  @inline(__always)
  mutating func read<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type = T.self) -> T {
    guard end - offset >= MemoryLayout<T>.size else {
      fail()
      return 0
    }
    defer { offset &+= MemoryLayout<T>.size }
    return UnsafeRawPointer(base + offset).loadUnaligned(as: T.self)
  }

  /// An offset into a section: four bytes, or eight in 64-bit DWARF.
  @inline(__always)
  mutating func readOffset(_ size: Int) -> UInt64 { size == 8 ? read(UInt64.self) : UInt64(read(UInt32.self)) }

  @inline(__always)
  mutating func readULEB() -> UInt64 {
    // Nearly all are one byte.
    if offset < end, base[offset] < 0x80 {
      defer { offset &+= 1 }
      return UInt64(base[offset])
    }
    return readLongULEB()
  }

  private mutating func readLongULEB() -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while offset < end {
      let byte = base[offset]
      offset += 1
      if shift < 64 { value |= UInt64(byte & 0x7f) << shift }
      if byte < 0x80 { return value }
      shift += 7
    }
    fail()
    return 0
  }

  @inline(__always)
  mutating func skip(_ count: Int) {
    if count >= 0, count <= end &- offset { offset &+= count } else { fail() }
  }

  mutating func skip(_ count: UInt64) {
    if count <= UInt64(end - offset) { offset += Int(count) } else { fail() }
  }

  /// Skips a NUL-terminated string and returns the offset it starts at.
  @discardableResult
  mutating func skipString() -> Int {
    let start = offset
    while offset < end {
      offset &+= 1
      if base[offset &- 1] == 0 { return start }
    }
    fail()
    return start
  }

  mutating func move(to offset: Int) {
    if offset >= 0, offset <= end { self.offset = offset } else { fail() }
  }

  private mutating func fail() {
    isDamaged = true
    offset = end
  }
}
