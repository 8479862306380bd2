/// The mangling's variant of RFC 3492: `_` is the delimiter, `a…z A…J` are the 36 digits.
enum Punycode {
  /// The UTF-8 text an encoded identifier stands for, nil when it is malformed.
  static func decode(_ encoded: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var scalars: [UInt32] = []
    var position = 0
    if let delimiter = encoded.lastIndex(of: UInt8(ascii: "_")) {
      for byte in encoded[..<delimiter] {
        guard byte < 0x80 else { return nil }
        scalars.append(UInt32(byte))
      }
      position = delimiter + 1
    }
    var scalar: UInt64 = 128
    var insertAt: UInt64 = 0
    var bias: UInt64 = 72
    while position < encoded.count {
      let before = insertAt
      var weight: UInt64 = 1
      var threshold: UInt64 = 36
      while true {
        guard position < encoded.count, let digit = digit(encoded[position]) else { return nil }
        position += 1
        insertAt += digit * weight
        guard insertAt < 1 << 32 else { return nil }
        let limit = threshold <= bias ? 1 : min(threshold - bias, 26)
        if digit < limit { break }
        weight *= 36 - limit
        guard weight < 1 << 32 else { return nil }
        threshold += 36
      }
      let count = UInt64(scalars.count) + 1
      bias = adapted(insertAt - before, count: count, isFirst: before == 0)
      scalar += insertAt / count
      insertAt %= count
      guard scalar <= 0x10FFFF else { return nil }
      scalars.insert(UInt32(scalar), at: Int(insertAt))
      insertAt += 1
      guard scalars.count < 1 << 14 else { return nil }
    }
    var bytes: [UInt8] = []
    for value in scalars {
      // The mangler spells ASCII characters that are not letters, digits or `_` as surrogates.
      let value = value >= 0xD800 && value < 0xD880 ? value - 0xD800 : value
      guard let scalar = Unicode.Scalar(value) else { return nil }
      bytes.append(contentsOf: Array(String(Character(scalar)).utf8))
    }
    return bytes
  }

  /// The encoded form of a text; the inverse of `decode(_:)`.
  static func encode(_ text: String) -> [UInt8] {
    let scalars = text.unicodeScalars.map(\.value)
    var encoded = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
    let basicCount = encoded.count
    if basicCount > 0 { encoded.append(UInt8(ascii: "_")) }
    var done = UInt64(basicCount)
    var scalar: UInt64 = 128
    var delta: UInt64 = 0
    var bias: UInt64 = 72
    while done < UInt64(scalars.count) {
      let next = scalars.filter { UInt64($0) >= scalar }.min().map(UInt64.init) ?? scalar
      delta += (next - scalar) * (done + 1)
      scalar = next
      for value in scalars {
        if UInt64(value) < scalar { delta += 1 }
        guard UInt64(value) == scalar else { continue }
        var rest = delta
        var threshold: UInt64 = 36
        while true {
          let limit = threshold <= bias ? 1 : min(threshold - bias, 26)
          if rest < limit { break }
          encoded.append(letter(limit + (rest - limit) % (36 - limit)))
          rest = (rest - limit) / (36 - limit)
          threshold += 36
        }
        encoded.append(letter(rest))
        bias = adapted(delta, count: done + 1, isFirst: done == UInt64(basicCount))
        delta = 0
        done += 1
      }
      delta += 1
      scalar += 1
    }
    return encoded
  }

  private static func letter(_ digit: UInt64) -> UInt8 {
    digit < 26 ? UInt8(ascii: "a") + UInt8(digit) : UInt8(ascii: "A") + UInt8(digit - 26)
  }

  private static func digit(_ byte: UInt8) -> UInt64? {
    let letter = Letter(byte)
    if letter.isLower { return UInt64(byte - 0x61) }
    if byte >= 0x41, byte <= 0x4A { return UInt64(byte - 0x41) + 26 }
    return nil
  }

  /// How the thresholds move with the distance just read (RFC 3492, section 6.1).
  private static func adapted(_ distance: UInt64, count: UInt64, isFirst: Bool) -> UInt64 {
    var delta = isFirst ? distance / 700 : distance / 2
    delta += delta / count
    var steps: UInt64 = 0
    while delta > (36 - 1) * 26 / 2 {
      delta /= 36 - 1
      steps += 36
    }
    return steps + 36 * delta / (delta + 38)
  }
}
