// Hashing — numbers and bytes to 64 bits: for sampling, identifiers and telling records apart.

/// Spreads a number over 64 bits (splitmix64): one-to-one.
@inline(__always)
func mixed(_ value: UInt64) -> UInt64 {
  var z = value &+ 0x9e37_79b9_7f4a_7c15
  z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
  z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
  return z ^ z >> 31
}

/// A hash of bytes, for telling equal records; not for secrets.
func hash(_ bytes: UnsafeRawBufferPointer, from seed: UInt64 = 0) -> UInt64 {
  var state = mixed(seed ^ UInt64(bytes.count))
  var at = 0
  while at + 8 <= bytes.count {
    state = mixed(state ^ bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    at += 8
  }
  var rest: UInt64 = 0
  while at < bytes.count {
    rest = rest << 8 | UInt64(bytes[at])
    at += 1
  }
  return mixed(state ^ rest)
}
