import SwiftMangling
import Testing

@Suite struct HostileNameTests {
  /// Everything a caller can do with a name.
  private func read(_ name: [UInt8], with parser: inout SymbolParser) {
    name.withUnsafeBufferPointer { bytes in
      if let declaration = parser.declaration(bytes) {
        _ = declaration.selectorName
        _ = declaration.typedName(qualified: true)
        if let type = declaration.type { _ = mangled(type) }
      }
      _ = parser.quickKind(bytes)
      if let type = parser.type(bytes) { _ = type.description(qualified: false) }
    }
  }

  @Test("changed symbols and random bytes are read or refused, never more")
  func mutations() throws {
    var generator = SeededGenerator("mutations")
    let names = try sampledSymbols(3000, "mutations").prefix(3000).map { Array($0.utf8) }
    let operators = Array("ABCDEFGHIKLMNOPQRSTVWXYZacdfghilmnopqrstuvwxyz_0123456789$.".utf8)
    var parser = SymbolParser()
    for _ in 0..<20_000 {
      var name = names.randomElement(using: &generator)!
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let position = Int.random(in: 2...max(name.count, 2), using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0 where position < name.count: name[position] = operators.randomElement(using: &generator)!
        case 1 where position < name.count: name[position] = UInt8.random(in: 0...255, using: &generator)
        case 2: name.removeSubrange(position...)
        case 3: name.append(contentsOf: names.randomElement(using: &generator)!.dropFirst(2))
        case 4 where position < name.count: name.remove(at: position)
        default: name.insert(operators.randomElement(using: &generator)!, at: min(position, name.count))
        }
        if name.count < 2 { name = Array("$s".utf8) }
      }
      read(name, with: &parser)
    }
    for _ in 0..<10_000 {
      let length = Int.random(in: 0...40, using: &generator)
      read(Array("$s".utf8) + (0..<length).map { _ in operators.randomElement(using: &generator)! }, with: &parser)
    }
  }

  static let deep: [(String, String)] = [
    ("optionals in optionals", "$sSi" + String(repeating: "Sg", count: 50_000) + "D"),
    ("metatypes of metatypes", "$sSi" + String(repeating: "m", count: 100_000)),
    ("functions of functions", "$sSi" + String(repeating: "yc", count: 50_000) + "D"),
    ("tuples that double", "$sSi_Sit" + String(repeating: "D", count: 10)),
    ("arrays in arrays", "$s" + String(repeating: "Say", count: 30_000) + "Si" + String(repeating: "G", count: 30_000)),
    ("types in types", "$s4main1aV" + String(repeating: "1aV", count: 40_000)),
    ("functions in functions", "$s4main" + String(repeating: "1ayyF", count: 20_000)),
    ("closures in closures", "$s4main1ayyF" + String(repeating: "yycfU_", count: 20_000)),
    ("struct constants in struct constants", "$s4main1ayyFTf3p" + String(repeating: "S", count: 100_000) + "_n"),
    ("many copies", "$s1a" + String(repeating: "A2048a", count: 20_000) + "A"),
    ("words of words", "$s4abCd" + (0..<8000).map { _ in "0aaaaaaaaaaaaA0" }.joined()),
    ("parents with arguments", "$s1a" + String(repeating: "1aV", count: 300) + String(repeating: "y_", count: 300) + "SiG"),
    ("only underscores", "$s" + String(repeating: "_", count: 100_000)),
    ("only lists", "$s" + String(repeating: "y", count: 100_000) + "t"),
    ("only digits", "$s" + String(repeating: "1", count: 100_000)),
    ("too long", "$s" + String(repeating: "1a", count: 1 << 20)),
  ]

  @Test("deep and wide names end quickly", arguments: deep)
  func depth(_ name: String, _ symbol: String) {
    var parser = SymbolParser()
    let time = ContinuousClock().measure { read(Array(symbol.utf8), with: &parser) }
    #expect(time < .seconds(5), "\(name) took \(time)")
  }

  @Test("a small name that spells an enormous type is cut off")
  func doubling() {
    // Every level is a box of two of the level before, named by a substitution: 2⁴⁰ boxes when written out.
    func reference(_ index: Int) -> String {
      if index < 26 { return "A2" + String(Unicode.Scalar(UInt8(65 + index))) }
      return index == 26 ? "A_A_" : "A\(index - 27)_A\(index - 27)_"
    }
    var symbol = "$s4main1fyy4main3BoxVyS2iG_"
    // The substitutions so far: main, f, main, Box, Box's type, the box of integers.
    for level in 0..<40 { symbol += "AEy" + reference(level + 5) + "G" }
    symbol += "tF"
    var parser = SymbolParser()
    let time = ContinuousClock().measure { read(Array(symbol.utf8), with: &parser) }
    #expect(time < .seconds(5))
    #expect(parser.declaration(symbol)?.name == "f")
    let small = parser.declaration("$s4main1fyy4main3BoxVyS2iG_AEyA2FGtF")
    #expect(small?.typedName(qualified: false) == "main.f(_: Box<Int, Int>, _: Box<Box<Int, Int>, Box<Int, Int>>)")
  }
}
