import Glibc

// IndexFile — what is remembered on disk about one build of one image.
//
// A file is a key and a payload. The key spells everything the payload was
// computed from (build-id, table sizes, format); a file with another key, a bad
// checksum, or an owner who is not us is as good as absent. Files are written
// beside their final name and renamed, so that readers see all or nothing.
// Every failure here means "work without": nothing throws.

/// A directory of index files. Nil directory: nothing is remembered.
struct IndexDirectory: Sendable {
  let path: String?

  private static let magic: UInt64 = 0x3158_4449_5448_4353  // "SCHTIDX1"
  /// magic, checksum, key size, payload size.
  private static let headerSize = 32
  /// The payload starts at a multiple of this, so that its tables are aligned.
  private static let alignment = 64

  /// A payload with what keeps its bytes alive.
  struct Payload: @unchecked Sendable {  // bytes are read-only; the owner unmaps them when it goes
    let bytes: ByteView
    let owner: AnyObject
  }

  /// The payload remembered under `name` for exactly this `key`.
  func read(_ name: String, key: [UInt8]) -> Payload? {
    guard let path,
      let file = try? MappedFile(path: path + "/" + name, flags: O_NOFOLLOW, populate: true),
      Self.isTrustworthy(file.status)
    else { return nil }
    let view = file.view
    guard view.load(0) == Self.magic, let sum: UInt64 = view.load(8), let keySize: UInt64 = view.load(16),
      let size: UInt64 = view.load(24), keySize == key.count,
      let storedKey = view.slice(UInt64(Self.headerSize), keySize), storedKey.raw.elementsEqual(key),
      let payload = view.slice(UInt64(Self.payloadOffset(key)), size), sum == Self.sum(key, payload.raw)
    else { return nil }
    return Payload(bytes: payload, owner: file)
  }

  /// Remembers `payload` under `name`; false when that is impossible.
  @discardableResult
  func write(_ name: String, key: [UInt8], payload: UnsafeRawBufferPointer) -> Bool {
    guard let path else { return false }
    mkdir(path, 0o700)  // fails when it exists; anything worse shows at open
    let final = path + "/" + name
    let temporary = "\(final).\(getpid()).\(uniqueNumber())"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return false }
    var header = [UInt8](repeating: 0, count: Self.payloadOffset(key))
    header.withUnsafeMutableBytes { bytes in
      bytes.storeBytes(of: Self.magic, toByteOffset: 0, as: UInt64.self)
      bytes.storeBytes(of: Self.sum(key, payload), toByteOffset: 8, as: UInt64.self)
      bytes.storeBytes(of: UInt64(key.count), toByteOffset: 16, as: UInt64.self)
      bytes.storeBytes(of: UInt64(payload.count), toByteOffset: 24, as: UInt64.self)
      bytes[Self.headerSize..<Self.headerSize + key.count].copyBytes(from: key)
    }
    let written = header.withUnsafeBytes { Self.writeAll(descriptor, $0) } && Self.writeAll(descriptor, payload)
    close(descriptor)
    guard written, rename(temporary, final) == 0 else {
      unlink(temporary)
      return false
    }
    return true
  }

  /// Only we (or root) may have written it: it decides which code gets patched.
  private static func isTrustworthy(_ status: stat) -> Bool {
    (status.st_uid == geteuid() || status.st_uid == 0) && status.st_mode & (S_IWGRP | S_IWOTH) == 0
  }

  private static func payloadOffset(_ key: [UInt8]) -> Int {
    (headerSize + key.count + alignment - 1) / alignment * alignment
  }

  /// The checksum of what a file's index says, which depends on what it is of.
  private static func sum(_ key: [UInt8], _ payload: UnsafeRawBufferPointer) -> UInt64 {
    checksum(payload, seed: key.withUnsafeBytes { checksum($0, seed: magic) })
  }

  /// Writes all bytes, in as many steps as the system takes; false where it refuses.
  private static func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
      if count > 0 { done += count } else if errno != EINTR || count == 0 { return false }
    }
    return true
  }

  /// Tells temporary files of two threads apart.
  private func uniqueNumber() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) &* 1_000_000_000 &+ UInt64(now.tv_nsec)
  }
}

/// Memory of trivial values that grows by doubling; freed when the object goes.
final class GrowingBuffer<Element: BitwiseCopyable> {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int) {
    self.capacity = max(16, capacity)
    base = .allocate(capacity: self.capacity)
  }

  deinit { base.deallocate() }

  @inline(__always)
  func append(_ element: Element) {
    if count == capacity { grow() }
    (base + count).initialize(to: element)
    count &+= 1
  }

  private func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: base, count: count)
    base.deallocate()
    base = larger
    capacity *= 2
  }

  var elements: UnsafeMutableBufferPointer<Element> { UnsafeMutableBufferPointer(start: base, count: count) }
}

/// Untyped memory, freed when the object goes.
final class HeapBytes: @unchecked Sendable {  // shared only after it has been filled
  let bytes: UnsafeMutableRawBufferPointer

  init(count: Int) { bytes = .allocate(byteCount: count, alignment: 64) }

  deinit { bytes.deallocate() }

  var view: ByteView { ByteView(base: UnsafeRawPointer(bytes.baseAddress!), count: bytes.count) }
}
