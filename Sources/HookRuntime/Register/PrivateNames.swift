// PrivateNames — `Secret#_6A73CC…` (what a mangled name holds) as `Secret#Cart.swift` (what people write), or `Secret`.

enum PrivateNames {
  private static let hexDigits = 32

  /// Replaces every `#_<32 hexadecimal digits>` by what `name` answers for the digits with their underscore.
  private static func replace(in text: String, _ name: (Substring) -> String) -> String {
    guard text.utf8.contains(UInt8(ascii: "#")) else { return text }
    var result = ""
    var rest = text[...]
    while let mark = rest.firstIndex(of: "#") {
      result += rest[..<mark]
      let tail = rest[rest.index(after: mark)...]
      let end = tail.utf8.index(tail.startIndex, offsetBy: hexDigits + 1, limitedBy: tail.endIndex) ?? tail.endIndex
      let digits = tail[..<end]
      if digits.utf8.count == hexDigits + 1, digits.first == "_", digits.dropFirst().allSatisfy(\.isHexDigit) {
        result += name(digits)
        rest = tail[end...]
      } else {
        result += "#"
        rest = tail
      }
    }
    return result + rest
  }

  /// Without the files of private types: enough where no second type has the name.
  static func stripped(_ text: String) -> String { replace(in: text) { _ in "" } }

  /// With file names, where the debug information knows them.
  static func resolved(_ text: String, module: String, _ table: InlineTable) -> String {
    replace(in: text) { digits in "#" + (table.sourceFile(discriminator: String(digits), module: module) ?? String(digits)) }
  }
}
