import SwiftMangling
import Testing

@Suite struct TreeTests {
  /// Which `some P` a result is, the oracle names by mangling the declaration anew; we only where the
  /// spelling is at hand. The line says nothing else, so it is left out on both sides.
  private func comparable(_ tree: String) -> [Substring] {
    tree.split(separator: "\n").filter { !$0.contains("kind=OpaqueReturnTypeParent") }
  }

  @Test("trees of real symbols equal the toolchain's own")
  func oracle() throws {
    let names = try sampledSymbols(4000, "trees")
    let expected = try Toolchain.trees(of: names)
    try #require(expected.count == names.count)
    var parser = SymbolParser()
    var differing: [String] = []
    for (name, tree) in zip(names, expected) where comparable(parser.tree(name) ?? "") != comparable(tree) {
      differing.append(name)
    }
    #expect(differing.isEmpty, "\(differing.count) of \(names.count) differ")
  }

  static let rare = [
    "$s4main3fooyyFTTI", "$s4main3fooyyFTc", "$s4main3fooyyFTwb", "$s4main3fooyyFTwB", "$s4main3fooyyFTwS",
    "$s4main3fooyyFTI", "$s4main3fooyyFTE", "$s4main3fooyyFTF", "$s4main3fooyyFHF", "$s4main3fooyyFTD",
    "$s4main3barSivy", "$s4main3barSivx", "$s4main3barSivb", "$s4main3barSivz", "$s4main3barSivi",
    "$s4main3barSivG", "$s4main3barSivlO", "$s4main3barSivao", "$s4main3barSivlp", "$s4main3barSivm",
    "$s4main3barSivpfi", "$s4main3barSivpfP", "$s4main3barSivpfW", "$s4main3barSivpfF", "$s4main1ACfZ",
    "$sBi8_Bv4_", "$sSi$3_BV", "$sSay$n5_GD", "$sSiXSq", "$sSiXSa", "$sS2iXSD", "$sSiXSp", "$s4main1AVXo",
    "$s4main1AVXu", "$s4main1AVXw", "$s4main1ACXD", "$sypXp", "$sSiXMt", "$sSimXMT", "$ss5Error_pXmT",
    "$sSiYi", "$sSiYu", "$sSih", "$sSin", "$sSiz", "$sSiYt", "$sSiYg", "$sSiYk", "$sSiXe", "$sSixQp",
    "$sSi_SSQP", "$sSi_SSQSd", "$sxQe_", "$s4main1PP1TAC_AA1QTn", "$s4main1PPAA1QTb", "$s4main1P1TAAP_AA1QTN",
    "$s4main1fyyFSi_SSTg5", "$s4main1fyySiFSiTp5", "$s4main1fyySiF3foo3barTf4pfpgx_n", "$s4main1fyySiFTf4eDGX_dGX_gX",
    "$s4main1fyySiFTf4nC0_n", "$s4main1fyySiF4_123Tf3psb_n", "$s4main1fyySiFSiSSTf3pSi5d6_n", "$s4main1fyySiFTf4r_n",
    "$s4main1fyySiFTfqa4n_n", "$s4main1fyySiFTt2g5", "$s4main1fyyFyyXf_Tg5", "$s4main3vatSiSg_SitSg",
    "$s4mainoi2peopyS2iF", "$s4main4infxoiyS2i_SitF", "$s4main1aop", "$s4main005vergzJFa",
    "$s4main1AV1fyyFAcA1PAAHD1_HI2_HA3_", "$sSiSQHPyHC", "$s4main1AVAA1PHPyHCg_", "$s4main1AV1BLLV", "$s4main1AL_V",
    "$s4main1ALaV", "$sTA.123", "$s4main1fyyF.resume.0", "$sSiWOi3_", "$sxlWOh", "$s4main1AVXY", "$s4main1a_Wz",
    "$s4main3fooyyFSiXMT", "$sIegIYl_", "$sS2iIegyd_D", "$sSiSgIegyw_", "$sSiIegyTIL_", "$sSiIegzC3intyd_",
    "$sxRi_zRi0_zlySSIsegr_SgWOe", "$s4main1fyyx_q_tRvzRv_q_RhzlF", "$s4main1fyyxRlzClF", "$s4main1fyyxRlzE8_16_lF",
    "$s4main1fyyxSiRVzlF", "$s4main1fyyxRi_zlF", "$s4main3fooyycfMX0_1_", "$s4main1AV1m3fooSifMa_", "$s4main1m4nameSifMu_",
    "$s4main1ayycScMYccD", "$sSiSSYKcD", "$syyYAcD", "$syyYCcD", "$syyYaYbKcD", "$syySSYTcD", "$syyYjrcD", "$s4main1AyyFZTj",
    "$s", "$", "$sS", "$sSi\u{1}abcd", "$s4main\u{0}", "$s99999999999999999999a", "$s5abc", "$s00", "$s0a", "$s0A",
  ]

  @Test("rare operators read like the toolchain reads them", arguments: rare)
  func rareOperators(_ name: String) throws {
    var parser = SymbolParser()
    let own = parser.tree(name)
    // Names with bytes no symbol holds never reach the tool's reader.
    let isPlain = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && name.utf8.count > 3
    guard isPlain else { return #expect(own == nil) }
    let expected = try Toolchain.run(Toolchain.program("swift-demangle"), ["--tree-only", name])
    let lines = expected.split(separator: "\n").filter { !$0.hasPrefix("Demangling for") }
    if lines == ["<<NULL>>"] {
      #expect(own == nil)
    } else {
      #expect(comparable(own ?? "") == comparable(lines.joined(separator: "\n")))
    }
  }
}
