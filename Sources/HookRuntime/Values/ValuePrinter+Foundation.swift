// ValuePrinter+Foundation — values of Foundation whose fields say little, shown as people write them.
//
// Read by the names of their stored fields (swift-foundation 6.3), through reflection, without Foundation and without
// running any of its code. What has other fields, or another class behind it, is shown by its fields like any struct.

extension ValuePrinter {
  /// Shows a Date, URL, UUID, Decimal or Data; false when `info` is none, or not laid out as known.
  func foundation(_ memory: UnsafeRawPointer, _ info: TypeInfo, into text: inout String) -> Bool {
    guard info.name.hasPrefix("FoundationEssentials.") else { return false }
    let value = Part(memory: memory, info: info)
    let shown: String? =
      switch info.name.utf8.dropFirst("FoundationEssentials.".utf8.count) {
      case let name where name.elementsEqual("Date".utf8): Self.date(value)
      case let name where name.elementsEqual("UUID".utf8): Self.uuid(value)
      case let name where name.elementsEqual("Decimal".utf8): Self.decimal(value)
      case let name where name.elementsEqual("URL".utf8): url(value)
      case let name where name.elementsEqual("Data".utf8): data(value)
      default: nil
      }
    guard let shown else { return false }
    text += shown
    return true
  }

  /// Seconds since 2001 as `2023-11-14T22:13:20.500Z`; nil outside of the years 1 to 9999.
  private static func date(_ value: Part) -> String? {
    guard let time = value.field("_time")?.load(Double.self), abs(time) < 1e12 else { return nil }
    // Rounded once, so that no part is carried over by itself.
    let milliseconds = Int64((time * 1000).rounded()) + 978_307_200_000
    let (day, inDay) = floored(milliseconds, 86_400_000)
    // Days to the calendar, counted in eras of 400 years that begin with March.
    let (era, dayOfEra) = floored(day + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    guard (1...9999).contains(year) else { return nil }
    let fraction = inDay % 1000 == 0 ? "" : "." + digits(inDay % 1000, 3)
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(dayOfYear - (153 * shifted + 2) / 5 + 1, 2))"
      + "T\(digits(inDay / 3_600_000, 2)):\(digits(inDay / 60_000 % 60, 2)):\(digits(inDay / 1000 % 60, 2))\(fraction)Z"
  }

  private static func floored(_ number: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let remainder = (number % divisor + divisor) % divisor
    return ((number - remainder) / divisor, remainder)
  }

  private static func digits(_ number: Int64, _ count: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }

  private static func uuid(_ value: Part) -> String? {
    guard let uuid = value.field("uuid"), uuid.info.size == 16 else { return nil }
    var text = ""
    for (index, byte) in UnsafeRawBufferPointer(start: uuid.memory, count: 16).enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += hex(byte).uppercased()
    }
    return text
  }

  private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

  /// All digits, as its own description writes them.
  private static func decimal(_ value: Part) -> String? {
    guard let storage = value.field("storage"), let exponent = storage.field("exponent")?.load(Int8.self),
      let packed = storage.field("lengthFlagsAndReserved")?.load(UInt8.self), let words = storage.field("mantissa"), words.info.size == 16
    else { return nil }
    // From the top: the number of words in use, the sign, whether it is compact.
    let length = Int(packed >> 4)
    let isNegative = packed >> 3 & 1 == 1
    guard length > 0 else { return isNegative ? "NaN" : "0" }
    guard length <= 8 else { return nil }
    var mantissa: UInt128 = 0
    for index in (0..<length).reversed() {
      mantissa = mantissa << 16 | UInt128(words.memory.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
    }
    var text = "\(mantissa)"
    if exponent >= 0 {
      if mantissa != 0 { text += String(repeating: "0", count: Int(exponent)) }
    } else {
      let places = -Int(exponent)
      text = String(repeating: "0", count: max(0, places + 1 - text.utf8.count)) + text
      text.insert(".", at: text.index(text.endIndex, offsetBy: -places))
    }
    return (isNegative ? "-" : "") + text
  }

  /// `URL("https://…")`, with its base where it has one.
  private func url(_ value: Part) -> String? {
    guard let url = value.field("_url")?.object, url.info.name == "FoundationEssentials._SwiftURL",
      let string = url.field("_parseInfo")?.object?.field("urlString"), case .string = string.info.kind, let base = url.field("_baseURL")
    else { return nil }
    var text = "URL("
    StringBits.withUTF8(string.load(UInt64.self), string.memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) { quote($0, &text) }
    guard case .optional(let type) = base.info.kind, let tag = base.info.metadata.enumTag(base.memory) else { return nil }
    if tag == 0 {
      guard let shown = self.url(Part(memory: base.memory, info: type)) else { return nil }
      text += ", relativeTo: \(shown)"
    }
    return text + ")"
  }

  /// `Data(5 B "hello")`, or in hexadecimal where it is no text.
  private func data(_ value: Part) -> String? {
    guard let form = value.field("_representation"), let number = form.info.caseNumber(of: form.memory) else { return nil }
    let name = form.info.cases[number].name
    if name == "empty" { return "Data(0 B)" }
    return form.info.withPayload(of: form.memory) { memory, info -> String? in
      var part = Part(memory: memory, info: info)
      // One labelled or unlabelled value may be a tuple of one.
      if case .tuple = info.kind, let field = info.fields.first, let only = part.field(field.name) { part = only }
      if name == "inline" {
        guard let bytes = part.field("bytes"), let length = part.field("length")?.load(UInt8.self), length <= bytes.info.size else {
          return nil
        }
        return shown(UnsafeRawBufferPointer(start: bytes.memory, count: Int(length)))
      }
      guard let storage = part.field("storage")?.object, let start = storage.field("_bytes")?.load(UnsafeRawPointer?.self),
        let offset = storage.field("_offset")?.load(Int.self), let length = storage.field("_length")?.load(Int.self),
        let (lower, upper) = range(part), lower >= offset, upper >= lower, upper - offset <= length
      else { return nil }
      return shown(UnsafeRawBufferPointer(start: start + (lower - offset), count: upper - lower))
    } ?? nil
  }

  /// The bounds of a slice: 32 bits each in place, or words in an object of its own.
  private func range(_ part: Part) -> (Int, Int)? {
    guard var slice = part.field("slice") else { return nil }
    if case .object = slice.info.kind {
      guard let range = slice.object?.field("range") else { return nil }
      slice = range
    }
    guard let lower = slice.field("lowerBound"), let upper = slice.field("upperBound") else { return nil }
    switch (lower.info.size, upper.info.size) {
    case (4, 4): return (Int(lower.load(Int32.self)), Int(upper.load(Int32.self)))
    case (8, 8): return (lower.load(Int.self), upper.load(Int.self))
    default: return nil
    }
  }

  /// Data: its size and its first bytes, as text where they are one.
  private func shown(_ bytes: UnsafeRawBufferPointer) -> String {
    var text = "Data(\(bytes.count) B "
    var end = min(bytes.count, limits.string)
    while end > 0, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    let begin = bytes[..<end]
    if begin.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 10 || $0 == 9 || $0 == 13 }), String(validating: begin, as: UTF8.self) != nil {
      // The count stands before it already.
      quote(UnsafeRawBufferPointer(rebasing: begin), &text)
      if begin.count < bytes.count { text += "…" }
    } else {
      for byte in bytes.prefix(limits.string / 4) { text += Self.hex(byte) }
      if limits.string / 4 < bytes.count { text += "…" }
    }
    return text + ")"
  }

  /// A value found on the way through stored fields. Valid as long as the value it was found in.
  struct Part {
    let memory: UnsafeRawPointer
    let info: TypeInfo

    func field(_ name: String) -> Part? {
      guard let field = info.fields.first(where: { $0.name == name }), field.reference == .value, case .success(let type) = field.type
      else { return nil }
      return Part(memory: memory + field.offset, info: type)
    }

    /// The native object this reference is to, with its own class.
    var object: Part? {
      guard let object = load(UnsafeRawPointer?.self),
        case .success(let type) = TypeResolver.shared.type(of: Metadata(object.load(as: UnsafeRawPointer.self)))
      else { return nil }
      return Part(memory: object, info: type)
    }

    func load<T: BitwiseCopyable>(_: T.Type) -> T { memory.loadUnaligned(as: T.self) }
  }
}
