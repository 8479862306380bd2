// Masking — the one rule for which values are never shown.
//
// Everything that prints or records a named value asks here: traces, events, logs,
// breadcrumbs and reports. A name is cut into words ("apiKey", "api_key", "API-KEY"
// are "api" and "key"), so that "key" is secret and "monkey" or "keyboard" is not.
private import Glibc
internal import Journal

/// Decides by its name whether a value is a secret.
package enum Masking {
  /// Words that make a name secret, and that also do so at the end of a longer word, because
  /// people write "authtoken" and "sessioncookie".
  private static let secrets = ["password", "passwd", "passphrase", "passcode", "token", "secret", "authorization", "cookie", "credential"]

  /// Words that do so only by themselves: they end ordinary ones ("spin" has "pin").
  private static let secretWords: Set<String> = [
    "pwd", "pin", "jwt", "bearer", "auth", "otp", "totp", "ssn", "cvv", "cvc", "iban", "mnemonic", "psk", "sessionid", "sid",
  ]

  /// What makes the word before it a secret, and is none by itself: a session's id, not a session.
  private static let secretPairs: [(String, String)] = [("session", "id"), ("card", "number"), ("security", "code"), ("social", "number")]

  /// Words before "key" that make one word with it; other words that end so are ordinary
  /// ("monkey", "hockey").
  private static let keyKinds = [
    "access", "api", "app", "auth", "crypto", "encryption", "host", "license", "master", "my", "pass",
    "private", "public", "secret", "session", "shared", "sign", "signing", "ssh", "user",
  ]

  /// Whether the value called `name` is masked. The name is a label, a field, or a capture path
  /// such as "self.user.apiKey" or "request.headers[\"Authorization\"]", of which the last
  /// component decides.
  package static func isSecret(_ name: some StringProtocol) -> Bool {
    if showsAll { return false }
    let words = words(of: lastComponent(of: Array(name.utf8)))
    return words.contains(where: isSecret(word:)) || words.last.map { $0.elementsEqual("session".utf8) } ?? false
      || zip(words, words.dropFirst()).contains(where: isSecret(pair:))
  }

  /// SCRIPTHOST_MASKING=off: everything is shown, on one's own machine. Read once.
  private static let showsAll: Bool = getenv("SCRIPTHOST_MASKING").map { String(cString: $0) == "off" } ?? false

  private static func isSecret(pair: ([UInt8], [UInt8])) -> Bool {
    secretPairs.contains { pair.0.elementsEqual($0.0.utf8) && pair.1.elementsEqual($0.1.utf8) }
  }

  /// The part after the last dot that is outside of brackets and quotes.
  private static func lastComponent(of path: [UInt8]) -> ArraySlice<UInt8> {
    var start = 0, depth = 0
    for (index, byte) in path.enumerated() {
      switch byte {
      case UInt8(ascii: "["), UInt8(ascii: "("): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: ")"): depth -= 1
      case UInt8(ascii: ".") where depth <= 0: start = index + 1
      default: break
      }
    }
    return path[start...]
  }

  /// Lower-case words: cut where no letter stands, before a capital that follows a small letter,
  /// and before the last capital of a run that a small letter follows ("APIKey").
  private static func words(of name: ArraySlice<UInt8>) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var word: [UInt8] = []
    for (index, byte) in zip(name.indices, name) {
      let isCapital = isUpper(byte)
      let isLetter = isCapital || isLower(byte) || byte >= 0x80
      let endsWord =
        !isLetter
        || isCapital && index > name.startIndex
          && (isLower(name[index - 1])
            || isUpper(name[index - 1]) && index + 1 < name.endIndex && isLower(name[index + 1])
              && !isPluralMark(at: index + 1, in: name))
      if endsWord, !word.isEmpty {
        words.append(word)
        word = []
      }
      if isLetter { word.append(isCapital ? byte | 0x20 : byte) }
    }
    if !word.isEmpty { words.append(word) }
    return words
  }

  /// Whether the small letter is the "s" of "TOKENs".
  private static func isPluralMark(at index: Int, in name: ArraySlice<UInt8>) -> Bool {
    name[index] == UInt8(ascii: "s") && (index + 1 == name.endIndex || !isLower(name[index + 1]))
  }

  private static func isUpper(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
  }

  private static func isLower(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
  }

  private static func isSecret(word bytes: [UInt8]) -> Bool {
    var word = String(decoding: bytes, as: UTF8.self)
    if word.count > 3, word.hasSuffix("s") { word.removeLast() }
    if secrets.contains(where: word.hasSuffix) || word.hasPrefix("password") || secretWords.contains(word) { return true }
    guard word.hasSuffix("key") else { return false }
    let kind = word.dropLast(3)
    return kind.isEmpty || keyKinds.contains { $0 == kind }
  }
}

extension FieldName {
  /// A name that a script or the program chose: its values are masked when it says that they are secrets.
  init(given name: String) { self.init(name, masked: Masking.isSecret(name)) }
}
