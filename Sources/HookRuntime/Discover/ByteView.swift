import Glibc

// ByteView — the only way this folder reads bytes that came from outside.
//
// Every read states how much it wants and gets nil when that lies outside, so a
// truncated or hostile file can make an answer wrong or absent, never a crash.
// All arithmetic on offsets is done here, with overflow checked.

/// A window of raw memory with checked reads; the owner of the memory must outlive it.
struct ByteView: @unchecked Sendable {  // read-only memory, never written after the view is made
  let base: UnsafeRawPointer
  let count: Int

  init(base: UnsafeRawPointer, count: Int) {
    self.base = base
    self.count = count
  }

  /// Placeholder for a table that is absent; every read answers nil.
  static var empty: ByteView { ByteView(base: UnsafeRawPointer(bitPattern: 8)!, count: 0) }

  var isEmpty: Bool { count == 0 }

  /// The value at `offset`, at any alignment; nil when any of it lies outside.
  @inline(__always)
  func load<T: BitwiseCopyable>(_ offset: Int, as type: T.Type = T.self) -> T? {
    // Two comparisons and no addition that could overflow.
    guard offset >= 0, count >= MemoryLayout<T>.size, offset <= count - MemoryLayout<T>.size else { return nil }
    return base.loadUnaligned(fromByteOffset: offset, as: T.self)
  }

  /// The window [offset, offset + size); nil when any of it lies outside.
  func slice(_ offset: UInt64, _ size: UInt64) -> ByteView? {
    guard offset <= UInt64(count), size <= UInt64(count) - offset else { return nil }
    return ByteView(base: base + Int(offset), count: Int(size))
  }

  /// Everything from `offset` on.
  func suffix(from offset: Int) -> ByteView? {
    guard offset >= 0, offset <= count else { return nil }
    return ByteView(base: base + offset, count: count - offset)
  }

  /// The bytes from `offset` up to the next NUL; nil when there is none before the end.
  func cString(at offset: Int) -> UnsafeBufferPointer<UInt8>? {
    guard offset >= 0, offset < count else { return nil }
    let start = base + offset
    guard let end = memchr(start, 0, count - offset) else { return nil }
    return UnsafeBufferPointer(
      start: start.assumingMemoryBound(to: UInt8.self), count: UnsafeRawPointer(end) - start)
  }

  /// The C string at `offset` as text, damaged UTF-8 repaired.
  func string(at offset: Int) -> String? {
    cString(at: offset).map { String(decoding: $0, as: UTF8.self) }
  }

  var raw: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether `text` occurs at the beginning.
  func starts(withBytes text: StaticString) -> Bool {
    count >= text.utf8CodeUnitCount && memcmp(baseAddress!, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  /// Whether `text` is all there is.
  func equals(_ text: StaticString) -> Bool {
    count == text.utf8CodeUnitCount && starts(withBytes: text)
  }

  /// Whether `needle` occurs anywhere.
  func contains(bytes needle: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = needle.first else { return true }
    guard var cursor = baseAddress else { return false }
    var left = count
    while left >= needle.count {
      // memchr for the first byte, memcmp for the rest: names are short, so setting up a cleverer search costs more.
      guard let found = memchr(cursor, Int32(first), left - needle.count + 1) else { return false }
      if memcmp(found, needle.baseAddress!, needle.count) == 0 { return true }
      let next = found.assumingMemoryBound(to: UInt8.self) + 1
      left -= UnsafePointer(next) - cursor
      cursor = UnsafePointer(next)
    }
    return false
  }
}
