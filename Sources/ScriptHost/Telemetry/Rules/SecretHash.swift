// SecretHash — what takes a personal value's place: SipHash-2-4 under a key that stays on the machine.
//
// The key lies in the state directory (`salt`, readable by the owner alone), so that equal values are recognised across runs; without a
// state directory it is of this process only.
private import Glibc
internal import Journal
private import Synchronization

enum SecretHash {
  private static let key = Mutex<(UInt64, UInt64)?>(nil)

  /// Reads the key, or makes one. Called once at start; what cannot be kept is of this process only.
  static func open(in state: RawPath?) {
    var words = random()
    if let state, state.makeDirectories() { keep(&words, state.appending("salt")) }
    key.withLock { $0 = words }
  }

  private static func random() -> (UInt64, UInt64) {
    var source = SystemRandomNumberGenerator()
    return (source.next(), source.next())
  }

  private static func keep(_ words: inout (UInt64, UInt64), _ path: RawPath) {
    let made = path.withCString { Glibc.open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o400) }
    if made >= 0 {
      let written = withUnsafeBytes(of: &words) { write(made, $0.baseAddress, $0.count) }
      close(made)
      // A key in part is nobody's.
      if written != 16 { _ = path.withCString { unlink($0) } }
      return
    }
    let known = path.withCString { Glibc.open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard known >= 0 else { return }
    defer { close(known) }
    var read: (UInt64, UInt64) = (0, 0)
    if withUnsafeMutableBytes(of: &read, { Glibc.read(known, $0.baseAddress, $0.count) }) == 16 { words = read }
  }

  /// Sixteen hexadecimal digits for the bytes.
  static func digits(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    let key = key.withLock { key in
      if key == nil { key = random() }
      return key!
    }
    var value = siphash(bytes, key.0, key.1)
    withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { text in
      for at in (0..<16).reversed() {
        let digit = UInt8(value & 15)
        text[at] = digit < 10 ? 48 + digit : 87 + digit
        value >>= 4
      }
      body(UnsafeRawBufferPointer(text))
    }
  }

  /// SipHash-2-4 (Aumasson, Bernstein).
  static func siphash(_ bytes: UnsafeRawBufferPointer, _ k0: UInt64, _ k1: UInt64) -> UInt64 {
    var state = State(v0: k0 ^ 0x736f_6d65_7073_6575, v1: k1 ^ 0x646f_7261_6e64_6f6d, v2: k0 ^ 0x6c79_6765_6e65_7261, v3: k1 ^ 0x7465_6462_7974_6573)
    var at = 0
    while at + 8 <= bytes.count {
      state.absorb(bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self).littleEndian)
      at += 8
    }
    var last = UInt64(truncatingIfNeeded: bytes.count) << 56
    for (shift, index) in (at..<bytes.count).enumerated() { last |= UInt64(bytes[index]) << (8 * UInt64(shift)) }
    state.absorb(last)
    state.v2 ^= 0xff
    for _ in 0..<4 { state.round() }
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3
  }

  private struct State {
    var v0, v1, v2, v3: UInt64

    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    mutating func round() {
      func turn(_ value: UInt64, _ by: UInt64) -> UInt64 { value << by | value >> (64 - by) }
      v0 &+= v1; v1 = turn(v1, 13) ^ v0; v0 = turn(v0, 32)
      v2 &+= v3; v3 = turn(v3, 16) ^ v2
      v0 &+= v3; v3 = turn(v3, 21) ^ v0
      v2 &+= v1; v1 = turn(v1, 17) ^ v2; v2 = turn(v2, 32)
    }
  }
}
