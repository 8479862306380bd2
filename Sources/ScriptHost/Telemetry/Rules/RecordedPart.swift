// RecordedPart — what a rule records of a URL: its path, or its query with secrets masked.
internal import Journal

struct RecordedPart {
  let part: RuleDefinition.URLPart
  /// Secrets are recorded as they are.
  let showsSecrets: Bool

  /// Adds the part; nothing where there is none.
  func add(_ value: CapturedValue, _ name: FieldName.Borrowed, _ printer: ValuePrinter, isHashed: Bool, _ writer: inout FieldWriter) {
    switch value {
    case .null, .missing: return value.add(name, printer, &writer)
    default: break
    }
    guard var text = text(of: value.shown(printer)) else { return }
    text.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      if isHashed { SecretHash.digits(bytes) { writer.add(name, utf8: $0) } } else { writer.add(name, utf8: bytes) }
    }
  }

  func text(of url: String) -> String? {
    let whole = url.prefix { $0 != "#" }
    let path = whole.prefix { $0 != "?" }
    switch part {
    case .path:
      guard let mark = path.firstRange(of: "://") else { return String(path) }
      // The path begins behind scheme and authority.
      let rest = path[mark.upperBound...].drop { $0 != "/" }
      return rest.isEmpty ? "/" : String(rest)
    case .query: return path.endIndex == whole.endIndex ? nil : masked(whole[path.endIndex...].dropFirst())
    }
  }

  private func masked(_ query: Substring) -> String {
    if showsSecrets { return String(query) }
    return query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
      guard let equals = pair.firstIndex(of: "="), Masking.isSecret(Self.decoded(pair[..<equals])) else { return String(pair) }
      return String(pair[...equals]) + FieldValue.maskedText
    }.joined(separator: "&")
  }

  /// Without percent-encoding, which must not hide a secret's name.
  private static func decoded(_ name: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = name.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), rest.count >= 2, let number = UInt8(Substring(rest.prefix(2)), radix: 16) else {
        bytes.append(byte)
        continue
      }
      bytes.append(number)
      rest = rest.dropFirst(2)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
