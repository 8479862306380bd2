import Testing

@testable import ScriptHost

@Suite("masking")
struct RecordMaskingTests {
  static let secret = [
    "password", "Password", "PASSWORD", "userPassword", "password2", "passwordHash", "passwords", "token", "authToken",
    "accesstoken", "token_id", "secret", "clientSecret", "secrets", "authorization", "Proxy-Authorization", "cookie",
    "Set-Cookie", "sessionCookies", "key", "keys", "KEY", "apiKey", "api_key", "API-KEY", "APIKey", "apikey", "APIKEYs",
    "keyID", "privateKey", "user.apiKey", "self.user.password", "request.headers[\"Authorization\"]", "cookies[0]",
    "config.key()", "X-Api-Key", "passwd", "user_pwd", "passphrase", "pin", "PIN", "jwt", "bearer", "auth", "credentials", "session",
    "sessionID", "otp", "ssn", "cvv", "cardNumber",
  ]
  static let plain = [
    "", "monkey", "keyboard", "keynote", "turkey", "hockey", "tokenizer", "tokenize", "secretary", "cookiecutter",
    "name", "total", "spin", "author", "sessionCount", "pinned", "cards", "passed", "self.key.count", "password.length", "authorize", "ke_y", "whiskey.brand", "äkey.ö",
  ]

  @Test("secret names are masked", arguments: secret)
  func masked(name: String) { #expect(Masking.isSecret(name)) }

  @Test("names that only look alike are not", arguments: plain)
  func notMasked(name: String) { #expect(!Masking.isSecret(name)) }
}
