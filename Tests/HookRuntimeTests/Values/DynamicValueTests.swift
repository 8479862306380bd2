import Testing

@testable import HookRuntime

private class Base {}
private final class Heir: Base {}
private struct Money: Equatable { var cents: Int; var currency: String }
private protocol Named {}
extension Money: Named {}

/// What a value becomes where a call knows the type it has to be.
@Suite struct DynamicValueTests {
  /// The value as a T, as a dynamic call makes it; or what was found instead.
  private func made<T>(_ value: Any?, as: T.Type = T.self) -> T? { DynamicValue.typed(value) }

  @Test("numbers become numbers of the type, where that is exact")
  func numbers() {
    #expect(made(2, as: Double.self) == 2)
    #expect(made(2.0, as: Int.self) == 2)
    #expect(made(200, as: UInt8.self) == 200)
    #expect(made(-1, as: Int8.self) == -1)
    #expect(made(UInt64.max, as: UInt64.self) == UInt64.max)
    #expect(made(0.1, as: Float.self) == 0.1)
    #expect(made(7, as: Int?.self) == 7)
    #expect(made(7, as: Double?.self) == 7)
  }

  @Test("numbers that do not fit are no numbers of the type")
  func misfits() {
    #expect(made(2.5, as: Int.self) == nil)
    #expect(made(300, as: UInt8.self) == nil)
    #expect(made(-1, as: UInt.self) == nil)
    #expect(made(UInt64.max, as: Int.self) == nil)
    #expect(made(Double.nan, as: Int.self) == nil)
    #expect(made(Double.infinity, as: Int.self) == nil)
    #expect(made((1 << 53) + 1, as: Double.self) == nil)
    #expect(made(300, as: UInt8?.self) == .some(.none) || made(300, as: UInt8?.self) == nil)
  }

  @Test("NaN and infinities stay what they are")
  func specialNumbers() {
    #expect(made(Double.infinity, as: Double.self) == .infinity)
    #expect(made(Double.nan, as: Double.self)?.isNaN == true)
    #expect(made(-0.0, as: Double.self)?.sign == .minus)
  }

  @Test("a number is no Bool, a Bool no number, a text neither")
  func strictness() {
    #expect(made(1, as: Bool.self) == nil)
    #expect(made(true, as: Int.self) == nil)
    #expect(made("1", as: Int.self) == nil)
    #expect(made(1, as: String.self) == nil)
    #expect(made(true, as: Bool.self) == true)
  }

  @Test("nil is an empty Optional and nothing else")
  func nils() {
    #expect(made(nil, as: String?.self) == .some(.none))
    #expect(made(nil, as: String.self) == nil)
    #expect(made(nil, as: Int.self) == nil)
    #expect(made("text", as: String?.self) == "text")
  }

  @Test("objects are of the class or a subclass")
  func objects() {
    let subclass = Heir()
    #expect(made(subclass, as: Base.self) === subclass)
    #expect(made(subclass, as: Heir.self) === subclass)
    #expect(made(Base(), as: Heir.self) == nil)
    #expect(made(Money(cents: 1, currency: "EUR"), as: Base.self) == nil)
    #expect(made(subclass, as: Base?.self).flatMap { $0 } === subclass)
  }

  @Test("structs, arrays and existentials are taken whole")
  func values() {
    let money = Money(cents: 1, currency: "a currency that lives on the heap")
    #expect(made(money, as: Money.self) == money)
    #expect(made([1, 2], as: [Int].self) == [1, 2])
    #expect(made([1, 2], as: [Double].self) == nil)
    #expect(made(money, as: (any Named).self) as? Money == money)
    #expect(made(1, as: (any Named).self) == nil)
    #expect(made(1, as: Any.self) as? Int == 1)
  }

  @Test("closures cross as they are")
  func closures() {
    let twice: (Int) -> Int = { $0 * 2 }
    #expect(made(twice, as: ((Int) -> Int).self)?(4) == 8)
    #expect(made(twice, as: ((String) -> Int).self) == nil)
  }
}

/// What a handler may say it takes.
@Suite struct TypedValueTests {
  private func info<T>(_: T.Type) throws -> TypeInfo { try TypeResolver.shared.type(of: Metadata(T.self)).get() }

  @Test("a value is its own type, Any, or a superclass's")
  func reading() throws {
    #expect(TypedValue.canRead(Int.self, try info(Int.self)))
    #expect(TypedValue.canRead(Any.self, try info(Int.self)))
    #expect(!TypedValue.canRead(Double.self, try info(Int.self)))
    #expect(TypedValue.canRead(Base.self, try info(Heir.self)))
    #expect(TypedValue.canRead(AnyObject.self, try info(Heir.self)))
    #expect(!TypedValue.canRead(Heir.self, try info(Base.self)))
    #expect(!TypedValue.canRead(AnyObject.self, try info(Money.self)))
    #expect(!TypedValue.canRead(Int.self, try info(Int?.self)))
  }

  @Test("what comes back is a copy")
  func loading() throws {
    let type = try info(String.self)
    let owned = try #require(TypedValue.owned("a text that lives on the heap", as: type))
    let copy: String? = TypedValue.load(owned.memory, type)
    let any: Any? = TypedValue.load(owned.memory, type, as: Any.self)
    owned.destroy()
    #expect(copy == "a text that lives on the heap")
    #expect(any as? String == "a text that lives on the heap")
  }

  @Test("an Any is taken for what it holds, and for nothing else")
  func storing() throws {
    #expect(TypedValue.owned(1 as Any, as: try info(Double.self)) == nil)
    #expect(TypedValue.owned("x" as Any, as: try info(Int.self)) == nil)
    let owned = try #require(TypedValue.owned(1.5 as Any, as: try info(Double?.self)))
    let value: Double?? = TypedValue.load(owned.memory, try info(Double?.self))
    owned.destroy()
    #expect(value == .some(.some(1.5)))
  }
}
