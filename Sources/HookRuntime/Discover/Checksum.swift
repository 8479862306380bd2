/// A 64-bit checksum of `bytes` against accidental damage (not against forgery), at memory speed.
func checksum(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
  guard let base = bytes.baseAddress else { return seed }
  let k: UInt64 = 0x9e37_79b9_7f4a_7c15
  // Four independent lanes, so that the multiplications overlap.
  var a = seed ^ UInt64(bytes.count), b = a &+ k, c = b &+ k, d = c &+ k
  var at = 0
  while at &+ 32 <= bytes.count {
    a = (a ^ base.loadUnaligned(fromByteOffset: at, as: UInt64.self)) &* k
    b = (b ^ base.loadUnaligned(fromByteOffset: at &+ 8, as: UInt64.self)) &* k
    c = (c ^ base.loadUnaligned(fromByteOffset: at &+ 16, as: UInt64.self)) &* k
    d = (d ^ base.loadUnaligned(fromByteOffset: at &+ 24, as: UInt64.self)) &* k
    // A multiplication moves bits upwards only; the rotation brings them back down.
    a = a << 29 | a >> 35
    b = b << 29 | b >> 35
    c = c << 29 | c >> 35
    d = d << 29 | d >> 35
    at &+= 32
  }
  var rest = a
  for lane in [b, c, d] { rest = (rest ^ lane) &* k; rest ^= rest >> 32 }
  while at < bytes.count {
    rest = (rest ^ UInt64(bytes[at])) &* k
    rest ^= rest >> 29
    at &+= 1
  }
  return rest
}

/// The CRC-32 that .gnu_debuglink carries.
func debugLinkCRC(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
  let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 != 0 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
  }
  var crc: UInt32 = ~0
  for byte in bytes { crc = table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ crc >> 8 }
  return ~crc
}
