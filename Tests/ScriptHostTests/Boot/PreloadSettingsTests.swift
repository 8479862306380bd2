import Testing

@testable import ScriptHost

@Suite("boot settings")
struct PreloadSettingsTests {
  @Test("what is encoded is decoded, whatever the bytes", arguments: [UInt64(1), 2, 3, 42])
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      var settings = BootSettings()
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        let key = ["boot", "patches", "trace.match", "a-b_c.9"].randomElement(using: &random)!
        let value = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        settings.add(.init(key), value)
      }
      let text = settings.encoded()
      #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "seed \(seed)")
      #expect(try BootSettings(decoding: text.utf8) == settings, "seed \(seed)")
    }
  }

  @Test("absent, empty and several values differ")
  func presence() throws {
    var settings = BootSettings()
    settings.add(.preload, "")
    settings.add(.patches, "a;b=c%")
    settings.add(.patches, "ü")
    let read = try BootSettings(decoding: settings.encoded().utf8)
    #expect(read.bytes(.preload) == [])
    #expect(read.bytes(.state) == nil)
    #expect(read.texts(.patches) == ["a;b=c%", "ü"])
  }

  static let damaged: [(String, BootSettingsError)] = [
    ("", .otherVersion(found: "")),
    ("2;boot=a;", .otherVersion(found: "2")),
    ("1;boot", .badEntry(position: 2)),
    ("1;=a;", .badEntry(position: 2)),
    ("1;a=b;B=c;", .badEntry(position: 6)),
    ("1;a=%4", .badEscape(position: 4)),
    ("1;a=x%4G;", .badEscape(position: 5)),
  ]

  @Test("damaged settings are refused with the place", arguments: damaged)
  func refusals(text: String, expected: BootSettingsError) {
    #expect(throws: expected) { try BootSettings(decoding: text.utf8) }
  }
}

/// A generator that gives the same numbers for the same seed.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &+ 0x9e37_79b9_7f4a_7c15 }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33 ^ state) &* 0xff51_afd7_ed55_8ccd
  }
}
