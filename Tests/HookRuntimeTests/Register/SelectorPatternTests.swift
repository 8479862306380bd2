import HookRuntime
import Testing

@Suite("selector patterns")
struct SelectorPatternTests {
  struct Case: CustomTestStringConvertible {
    var pattern: String
    var name: String
    var isStatic = false
    var typed: [String] = []
    var matches: Bool
    var testDescription: String { "'\(pattern)' \(matches ? "matches" : "does not match") '\(name)'" }
    init(_ pattern: String, _ name: String, _ matches: Bool, isStatic: Bool = false, typed: [String] = []) {
      self.pattern = pattern
      self.name = name
      self.matches = matches
      self.isStatic = isStatic
      self.typed = typed
    }
  }

  static let cases = [
    Case("Shop.Cart.add(_:price:)", "Shop.Cart.add(_:price:)", true),
    Case("Shop.Cart.add(_:price:)", "Shop.Cart.add(_:prices:)", false),
    Case("Shop.Cart.add(_:price:)", "Shop.Cart.add(_:price:)x", false),
    Case("Shop.Cart.*", "Shop.Cart.add(_:)", true),
    Case("Shop.Cart.*", "Shop.Cart.title.get", false),
    Case("Shop.Cart.*.get", "Shop.Cart.title.get", true),
    Case("Shop.Cart.**", "Shop.Cart.title.get", true),
    Case("Shop.*Controller.view*(_:)", "Shop.MainController.viewDidAppear(_:)", true),
    Case("Shop.*Controller.view*(_:)", "Shop.Main.Controller.viewDidAppear(_:)", false),
    Case("**", "Anything.at.all(_:)", true),
    Case("Shop.Money.\\*(_:_:)", "Shop.Money.*(_:_:)", true),
    Case("Shop.Money.\\*(_:_:)", "Shop.Money./(_:_:)", false),
    Case("Shop.Cart.make()", "static Shop.Cart.make()", false, isStatic: true),
    Case("static Shop.Cart.make()", "static Shop.Cart.make()", true, isStatic: true),
    Case("static Shop.Cart.make()", "Shop.Cart.make()", false),
    Case("Shop.Cart.*", "static Shop.Cart.make()", true, isStatic: true),
    Case("static Shop.Cart.*", "Shop.Cart.add(_:)", false),
    Case("Shop.Tree.visit(_: Decl) -> R", "Shop.Tree.visit(_:)", true, typed: ["Shop.Tree.visit(_: Decl) -> R"]),
    Case("Shop.Tree.visit(_: Decl)", "Shop.Tree.visit(_:)", true, typed: ["Shop.Tree.visit(_: Decl) -> R"]),
    Case("Shop.Tree.visit(_: Dec)", "Shop.Tree.visit(_:)", false, typed: ["Shop.Tree.visit(_: Decl) -> R"]),
    Case("Shop.Tree.visit(_: *Decl) -> *", "Shop.Tree.visit(_:)", true, typed: ["Shop.Tree.visit(_: FuncDecl) -> R"]),
    Case("*", "noDots()", true),
    Case("", "x", false),
    Case("**.description.get", "A.B.C.description.get", true),
    Case("a**b**c", "a.x.b.y.b.z.c", true),
    Case("a*b", "a.b", false),
  ]

  @Test(arguments: cases)
  func matching(_ c: Case) {
    #expect(SelectorPattern(c.pattern).matches(c.name, isStatic: c.isStatic, typed: { c.typed }) == c.matches)
  }

  @Test("a pattern of many stars ends soon on a long name")
  func pathological() {
    let pattern = SelectorPattern(String(repeating: "a**", count: 30) + "b")
    #expect(!pattern.matches(String(repeating: "a", count: 3000), isStatic: false, typed: { [] }))
  }

  @Test("the module is known where no wildcard decides it")
  func module() {
    #expect(SelectorPattern("Shop.**").module == "Shop")
    #expect(SelectorPattern("**").module == nil)
    #expect(SelectorPattern("Sho*.x").module == nil)
  }
}

@Suite("nearest names")
struct NearestNamesTests {
  @Test(
    "distances", arguments: [("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1), ("qiuet", "quiet", 1), ("", "abc", 3), ("pretyPrint", "prettyPrint", 1)])
  func distance(_ a: String, _ b: String, _ expected: Int) {
    #expect(EditDistance.editDistance(Array(a.utf8), Array(b.utf8), bound: 10) == expected)
  }

  @Test("beyond the bound the distance is only known to be greater")
  func bound() {
    #expect(EditDistance.editDistance(Array("aaaaaaaa".utf8), Array("bbbbbbbb".utf8), bound: 3) == 4)
    #expect(EditDistance.editDistance(Array("a".utf8), Array("aaaaaaaa".utf8), bound: 3) == 4)
  }

  @Test("lists take names that are not whole")
  func lists() {
    let members = SelectorPattern.ofMembers(named: "Cart")
    func first(_ name: String) -> Int? { members.firstIndex { $0.matches(name, isStatic: false, typed: { [] }) } }
    #expect(first("Cart.add(_:)") == 0)
    #expect(first("Shop.Cart.title.get") == 2)
    #expect(first("Shop.Till.Cart(_:)") == 3)
    #expect(first("Shop.CartView.add(_:)") == nil)
    let types = SelectorPattern.ofTypes(named: "Cart")
    #expect(types.map { $0.matches("Shop.Cart", isStatic: false, typed: { [] }) } == [true, true])
    #expect(types.map { $0.matches("Shop.CartView", isStatic: false, typed: { [] }) } == [false, true])
    for exact in ["Shop.*", "add(_:)", "closure #1 in Cart", ""] { #expect(SelectorPattern.ofMembers(named: exact).isEmpty) }
  }
}
