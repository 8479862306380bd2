import SwiftMangling
import Testing

@Suite struct NameTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let symbol, selector, typed: String
    let kind: EntityKind
    init(_ symbol: String, _ kind: EntityKind, _ selector: String, _ typed: String? = nil) {
      (self.symbol, self.kind, self.selector, self.typed) = (symbol, kind, selector, typed ?? selector)
    }
    var testDescription: String { selector }
  }

  static let cases = [
    Case("$s4Shop4freeyyF", .function, "Shop.free()"),
    Case("$s4Shop5total2of2bySiSayAA4CartCG_s7KeyPathCyAFSiGtF", .function, "Shop.total(of:by:)",
      "Shop.total(of: [Cart], by: KeyPath<Cart, Int>) -> Int"),
    Case("$s4Shop5tupleyySi_SStF", .function, "Shop.tuple(_:_:)", "Shop.tuple(_: Int, _: String)"),
    Case("$s4Shop5tupleyySi_SSt_tF", .function, "Shop.tuple(_:)", "Shop.tuple(_: (Int, String))"),
    Case("$s4Shop4CartC3add_5price8quantitySbSS_SdSitF", .function, "Shop.Cart.add(_:price:quantity:)",
      "Shop.Cart.add(_: String, price: Double, quantity: Int) -> Bool"),
    Case("$s4Shop4CartC4load_7retriesSDySSSiGSS_SitYaKF", .function, "Shop.Cart.load(_:retries:)",
      "Shop.Cart.load(_: String, retries: Int) async throws -> [String: Int]"),
    Case("$s4Shop4CartC5riskyyyAA7FailureOYKF", .function, "Shop.Cart.risky()", "Shop.Cart.risky() throws(Failure)"),
    Case("$s4Shop4CartC4makeACyFZ", .function, "static Shop.Cart.make()", "static Shop.Cart.make() -> Cart"),
    Case("$s4Shop4CartC5buildyACXDSgSid_tFZ", .function, "static Shop.Cart.build(_:)", "static Shop.Cart.build(_: Int...) -> Self?"),
    Case("$s4Shop4CartC5titleACSS_tcfC", .allocatingInit, "Shop.Cart.init(title:)", "Shop.Cart.init(title: String)"),
    Case("$s4Shop4CartC5titleACSS_tcfc", .`init`, "Shop.Cart.init(title:)", "Shop.Cart.init(title: String)"),
    Case("$s4Shop4CartCACycfc", .`init`, "Shop.Cart.init()"),
    Case("$s4Shop4CartCfd", .`deinit`, "Shop.Cart.deinit"),
    Case("$s4Shop4CartCfD", .deallocatingDeinit, "Shop.Cart.deinit"),
    // func `init`(), which is no initialiser.
    Case("$s4Shop4CartC4inityyF", .function, "Shop.Cart.`init`()", "Shop.Cart.`init`()"),
    Case("$s4Shop6WorkerCfZ", .isolatedDeinit, "Shop.Worker.deinit"),
    Case("$s4Shop4CartC5titleSSvg", .getter, "Shop.Cart.title.get", "Shop.Cart.title.get -> String"),
    Case("$s4Shop4CartC5titleSSvs", .setter, "Shop.Cart.title.set", "Shop.Cart.title.set -> String"),
    Case("$s4Shop4CartC5titleSSvM", .modify, "Shop.Cart.title.modify", "Shop.Cart.title.modify -> String"),
    Case("$s4Shop4CartC5titleSSvr", .read, "Shop.Cart.title.read", "Shop.Cart.title.read -> String"),
    Case("$s4Shop4CartC5titleSSvx", .modify2, "Shop.Cart.title.modify2", "Shop.Cart.title.modify2 -> String"),
    Case("$s4Shop4CartC5titleSSvy", .read2, "Shop.Cart.title.read2", "Shop.Cart.title.read2 -> String"),
    Case("$s4Shop4CartC5titleSSvW", .didSet, "Shop.Cart.title.didSet", "Shop.Cart.title.didSet -> String"),
    Case("$s4Shop4CartC5titleSSvw", .willSet, "Shop.Cart.title.willSet", "Shop.Cart.title.willSet -> String"),
    Case("$s4Shop4CartC4kindSSvgZ", .getter, "static Shop.Cart.kind.get", "static Shop.Cart.kind.get -> String"),
    Case("$s4Shop6globalSivau", .unsafeMutableAddressor, "Shop.global.unsafeMutableAddress", "Shop.global.unsafeMutableAddress -> Int"),
    Case("$s4Shop4CartC7handleryySicvg", .getter, "Shop.Cart.handler.get", "Shop.Cart.handler.get -> (Int) -> ()"),
    Case("$s4Shop4CartCyAC4LineCSicig", .getter, "Shop.Cart.subscript(_:).get", "Shop.Cart.subscript(_: Int).get -> Line"),
    Case("$s4Shop4CartC5named2atS2S_Sitcig", .getter, "Shop.Cart.subscript(named:at:).get",
      "Shop.Cart.subscript(named: String, at: Int).get -> String"),
    Case("$s4Shop4CartCyS2icigZ", .getter, "static Shop.Cart.subscript(_:).get", "static Shop.Cart.subscript(_: Int).get -> Int"),
    Case("$s4Shop5Type2V9subscriptSivgZ", .getter, "static Shop.Type2.subscript.get", "static Shop.Type2.subscript.get -> Int"),
    Case("$s4Shop5MoneyV1loiySbAC_ACtFZ", .function, "static Shop.Money.<(_:_:)", "static Shop.Money.<(_: Money, _: Money) -> Bool"),
    Case("$s4Shop5MoneyV1sopyA2CFZ", .function, "static Shop.Money.-(_:)", "static Shop.Money.-(_: Money) -> Money"),
    Case("$s4Shop5MoneyV2ppoPyA2CzFZ", .function, "static Shop.Money.++(_:)", "static Shop.Money.++(_: inout Money) -> Money"),
    Case("$s4Shop007p_qcaDcoiyS2i_SitF", .function, "Shop.«+»(_:_:)", "Shop.«+»(_: Int, _: Int) -> Int"),
    Case("$sSS4ShopE5shoutySSSiF", .function, "Swift.String.shout(_:)", "Swift.String.shout(_: Int) -> String"),
    Case("$sSa4ShopSiRszlE3sumSiyF", .function, "Swift.Array.sum()", "Swift.Array.sum() -> Int"),
    Case("$s4Shop3BoxV3mapyACyqd__Gqd__xXElF", .function, "Shop.Box.map(_:)", "Shop.Box.map(_: (A) -> A1) -> Box<A1>"),
    Case("$s4Shop1fyyAA3BoxV5InnerVySi_SSGF", .function, "Shop.f(_:)", "Shop.f(_: Inner<String>)"),
    Case("$s4Shop4CartC6hidden33_033113C85D93EDC47630898C7897F2E3LLyS2iF", .function, "Shop.Cart.hidden(_:)",
      "Shop.Cart.hidden(_: Int) -> Int"),
    Case("$s4Shop6Secret33_033113C85D93EDC47630898C7897F2E3LLV1fSiyF", .function,
      "Shop.Secret#_033113C85D93EDC47630898C7897F2E3.f()", "Shop.Secret#_033113C85D93EDC47630898C7897F2E3.f() -> Int"),
    Case("$s4Shop4CartC6helperSiyF5localL_yS2iF", .function, "Shop.Cart.helper().local(_:)", "Shop.Cart.helper().local(_: Int) -> Int"),
    Case("$s4Shop4CartC6helperSiyF3TmpL_V2goSiyF", .function, "Shop.Cart.helper().Tmp.go()", "Shop.Cart.helper().Tmp.go() -> Int"),
    Case("$s4Shop4CartC6helperSiyFS2iXEfU_", .explicitClosure(index: 0), "closure #1 in Shop.Cart.helper()", "closure #1 in Shop.Cart.helper() -> Int"),
    Case("$s4Shop4CartC6helperSiyFS2iXEfU0_SiycfU_", .explicitClosure(index: 0), "closure #1 in Shop.Cart.helper().closure #2",
      "closure #1 in Shop.Cart.helper().closure #2 -> Int"),
    Case("$s4Shop5MoneyV3add_5timesyAC_SitFfA0_", .defaultArgument(index: 1), "default argument 1 of Shop.Money.add(_:times:)"),
    Case("$s4Shop4CartC5titleSSvpfi", .variableInitializer, "initial value of Shop.Cart.title", "initial value of Shop.Cart.title -> String"),
    Case("$s4Shop0012vergenza_JFa009gre_GkaIiySi_tF", .function, "Shop.vergüenza(größe:)", "Shop.vergüenza(größe: Int)"),
    Case("$s4Shop4CartC4many3any4both3cls4meta3seq1t1oQrAA1P_p_AaL_AA1QpyXlypXpAaM_pSi7ElementAaMPRts_XPSi_SS5labeltSiSgSgtF",
      .function, "Shop.Cart.many(any:both:cls:meta:seq:t:o:)",
      "Shop.Cart.many(any: any P, both: any P & Q, cls: AnyObject, meta: Any.Type, seq: any Q<Swift.Int>, t: (Int, label: String), o: Int??) -> some"),
    Case("$s4Shop4CartC4autoySbSbyXKF", .function, "Shop.Cart.auto(_:)", "Shop.Cart.auto(_: @autoclosure () -> Bool) -> Bool"),
    Case("$s4Shop1fyyypXpF", .function, "Shop.f(_:)", "Shop.f(_: Any.Type)"),
    Case("$s4Shop1fyyAA1P_pXpF", .function, "Shop.f(_:)", "Shop.f(_: any P.Type)"),
    Case("$s4Shop1fyyAA1P_pmF", .function, "Shop.f(_:)", "Shop.f(_: (any P).Protocol)"),
    Case("$s4Shop1fyyAA1P_AA1QpSgF", .function, "Shop.f(_:)", "Shop.f(_: (any P & Q)?)"),
    Case("$s4Shop1fyyyXlF", .function, "Shop.f(_:)", "Shop.f(_: AnyObject)"),
    Case("$s4Shop1fyyAA1P_AA4CartCXcF", .function, "Shop.f(_:)", "Shop.f(_: any Cart & P)"),
    Case("$s4Shop1fyyAA5FixedVy$3_GF", .function, "Shop.f(_:)", "Shop.f(_: Fixed<4>)"),
    Case("$s4Shop4CartC4packyxxQp_txxQpRvzlF", .function, "Shop.Cart.pack(_:)", "Shop.Cart.pack(_: repeat A) -> (repeat A)"),
    // Symbols the compiler made say what for.
    Case("$s4Shop4CartC5titleSSvM.resume.0", .compilerMade("coroutine resume function"),
      "coroutine resume function for Shop.Cart.title.modify", "coroutine resume function for Shop.Cart.title.modify -> String"),
    Case("$s4Shop4CartC4makeACyFZTj", .compilerMade("dispatch thunk"), "dispatch thunk for static Shop.Cart.make()",
      "dispatch thunk for static Shop.Cart.make() -> Cart"),
    Case("$s4Shop4CartCMa", .compilerMade("type metadata access function"), "type metadata access function for Shop.Cart"),
    Case("$s4Shop4CartCN", .compilerMade("type metadata"), "type metadata for Shop.Cart"),
    Case("$s4Shop5MoneyVSQAASQ2eeoiySbx_xtFZTW", .compilerMade("protocol witness"),
      "protocol witness for static Swift.Equatable.==(_:_:)", "protocol witness for static Swift.Equatable.==(_: A, _: A) -> Bool"),
    Case("$s4Shop5MoneyVwcp", .compilerMade("value witness"), "value witness for Shop.Money"),
    Case("$s4Shop5MoneyVSgWOh", .compilerMade("outlined destroy"), "outlined destroy for Swift.Optional"),
    Case("$s4Shop4CartC4loadSSyYaFTu", .compilerMade("async function pointer"), "async function pointer for Shop.Cart.load()",
      "async function pointer for Shop.Cart.load() async -> String"),
  ]

  @Test("a symbol's names", arguments: cases)
  func names(_ row: Case) throws {
    let declaration = try declared(row.symbol)
    #expect(declaration.kind == row.kind)
    #expect(declaration.selectorName == row.selector)
    if row.selector != row.typed { #expect(declaration.typedName(qualified: false) == row.typed) }
  }

  @Test("an extension's member belongs to the extension's module")
  func extensionModule() throws {
    let member = try declared("$sSS4ShopE5shoutySSSiF")
    #expect(member.module == "Shop" && member.extensionModule == "Shop")
    #expect(member.context?.description == "Swift.String" && member.contextKind == .structure)
    let nested = try declared("$sSS4ShopE4DecoV1fyyF")
    #expect(nested.module == "Shop" && nested.context?.description == "Swift.String.Deco")
  }

  @Test("generic declarations tell counts and requirements")
  func generics() throws {
    let generic = try declared("$s4Shop4CartC7generic_1uSDyxq_Gx_q_tSHRzr0_lF")
    #expect(generic.isGeneric && generic.genericParameterCounts == [2])
    #expect(generic.requirements.map(\.description) == ["A: Swift.Hashable"])
    let plain = try declared("$s4Shop4freeyyF")
    #expect(!plain.isGeneric && plain.genericParameterCounts.isEmpty)
    let value = try declared("$s4Shop3BoxV1vxvg")
    #expect(value.isGeneric)
  }

  @Test("private and local declarations carry what tells them apart")
  func discriminators() throws {
    let hidden = try declared("$s4Shop4CartC6hidden33_033113C85D93EDC47630898C7897F2E3LLyS2iF")
    #expect(hidden.isPrivate && hidden.privateDiscriminator == "_033113C85D93EDC47630898C7897F2E3")
    let local = try declared("$s4Shop4CartC6helperSiyF5localL0_yS2iF")
    #expect(local.localContext == ["helper()"] && local.localIndex == 2 && !local.isPrivate)
  }

  @Test("both forms of an initialiser, and all clones, are one family")
  func families() throws {
    func family(_ symbol: String) throws -> String { try declared(symbol).familyName }
    #expect(try family("$s4Shop4CartC5titleACSS_tcfC") == family("$s4Shop4CartC5titleACSS_tcfc"))
    #expect(try family("$s4Shop4CartCfD") == family("$s4Shop4CartCfd"))
    let base = try family("$s4Shop4CartC3addyySiF")
    for clone in ["Tf4nd_n", "Tf4nd_nTm", "Tm", "TA", "Tj", "Tf4nd_nTf4d_n", "Tq", ".cold.1", "Tu", "TY0_"] {
      #expect(try family("$s4Shop4CartC3addyySiF" + clone) == base, "\(clone)")
    }
    #expect(try family("$s4Shop4CartC3addyySiF3fooTf3pf_n") == base)
    #expect(try family("$s4Shop4CartC3addyySSF") != base)
    #expect(try family("$s4Shop4makeyxxlFSi_Tg5") == "$s4Shop4makeyxxlF")
    #expect(try family("$s4Shop4CartC4makeACyFZ") == "$s4Shop4CartC4makeACyFZ")
  }

  @Test("specialisations are listed from the declaration outwards")
  func specializations() throws {
    let clone = try declared("$s4Shop4makeyxx_SitlFSi_Tg5Tf4dgX_nTm")
    #expect(clone.kind == .function && clone.isMerged)
    #expect(clone.specialization == [
      .generic(GenericSpecialization(types: [.int])),
      .signature(parameters: [.dead, .combined([.ownedToGuaranteed, .exploded])], result: .unchanged, pass: 4),
      .merged,
    ])
    let closed = try declared("$s4Shop4eachyyyyXE_SitF3fooSSSiTf1cn_n")
    #expect(closed.specialization == [
      .signature(parameters: [.closure(function: "foo", captures: [.string, .int]), .unchanged], result: .unchanged, pass: 1)
    ])
    let constant = try declared("$s4Shop4eachyyyyXE_SitF3fooTf3pfpi42_n")
    #expect(constant.specialization == [.signature(parameters: [.constant("foo"), .constant("42")], result: .unchanged, pass: 3)])
  }

  @Test("what is no Swift function is nil", arguments: ["", "main", "_ZN3fooE", "$s", "$sSi_", "$s4Shop", "$s4Shop3foo", "$sxyz!!"])
  func refused(_ name: String) {
    var parser = SymbolParser()
    #expect(parser.declaration(name) == nil)
  }

  @Test("the quick class agrees with the declaration's kind")
  func quickKinds() throws {
    var parser = SymbolParser()
    for symbol in try sampledSymbols(6000, "quick kinds") {
      guard let declaration = parser.declaration(symbol) else { continue }
      let quick = parser.quickKind(symbol)
      if declaration.kind.isSourceFunction { #expect(quick == .source, "\(symbol)") }
      else if declaration.kind.isAccessor { #expect(quick == .accessor, "\(symbol)") }
      else if declaration.kind.isClosure { #expect(quick == .closure, "\(symbol)") }
      else { #expect(quick == .compilerMade, "\(symbol)") }
    }
    #expect(parser.quickKind("main") == .notSwift)
  }
}

/// The symbol's declaration; a test that needs one ends without it.
func declared(_ symbol: String) throws -> Declaration {
  var parser = SymbolParser()
  let declaration = parser.declaration(symbol)
  return try #require(declaration, "\(symbol)")
}

extension TypeSyntax {
  static let int = swift("Int")
  static let string = swift("String")

  private static func swift(_ name: String) -> TypeSyntax {
    .nominal(NominalName(module: "Swift", steps: [.init(name: name, kind: .structure)]), kind: .structure, arguments: [])
  }
}
