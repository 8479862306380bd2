// What the scripts call: one function of each kind. A module of its own, so that the program's optimiser does not see through it.

public nonisolated(unsafe) var alive = 0  // objects of the module; counted on the main thread
public nonisolated(unsafe) var journal: [String] = []

public enum ShopError: Error { case empty(String), sold }

public struct Money: Equatable {
  public var cents: Int
  public var currency: String
  public init(cents: Int, currency: String) { self.cents = cents; self.currency = currency }
  @inline(never) public static func zero(_ currency: String) -> Money { Money(cents: 0, currency: currency) }
  @inline(never) public func doubled() -> Money { Money(cents: cents * 2, currency: currency) }
  @inline(never) public mutating func add(_ n: Int) { cents += n }
  public var isZero: Bool { @inline(never) get { cents == 0 } }
  @inline(never) public func text(_ prefix: String) -> String { "\(prefix)\(cents) \(currency)" }
}

public struct Big: Equatable {
  public var a, b, c, d, e: Int
  public var name: String
  public init(_ n: Int, _ name: String) { (a, b, c, d, e) = (n, n + 1, n + 2, n + 3, n + 4); self.name = name }
  @inline(never) public func sum(_ more: Int) -> Int { a + b + c + d + e + more }
  @inline(never) public mutating func grow() { a += 1 }
}

public enum Size {
  case small, number(Int)
  @inline(never) public static func made(_ n: Int) -> Size { .number(n) }
  @inline(never) public func steps(_ factor: Int) -> Int { if case .number(let n) = self { n * factor } else { 0 } }
}

public enum Parity: Error { case odd(Int) }
@inline(never) public func typed(_ n: Int) throws(Parity) -> Int { if n % 2 != 0 { throw .odd(n) }; return n / 2 }
@inline(never) public func pair(_ text: String) -> (String, Int) { (text, 1) }
@inline(never) public func mixed(_ n: Int) -> (Big, Int) { (Big(n, "mixed"), n) }

public final class Token {
  public let id: Int
  public init(_ id: Int) { self.id = id; alive += 1 }
  deinit { alive -= 1 }
}

open class Cart {
  public var title: String
  public var lines: [String] = []
  public var total = 0.0
  public var token: Token?
  public var observed: Int = 0 { didSet { journal.append("observed \(oldValue) \(observed)") } }
  public nonisolated(unsafe) static var made = 0
  @inline(never) public init(title: String) { self.title = title; alive += 1; Cart.made += 1 }
  @inline(never) public init(copying other: Cart, times: Int) throws {
    if times < 0 { throw ShopError.empty(other.title) }
    title = String(repeating: other.title, count: times)
    alive += 1
  }
  @inline(never) public init?(maybe: Bool) {
    if !maybe { return nil }
    title = "maybe"
    alive += 1
  }
  deinit { alive -= 1 }

  @inline(never) open func add(_ name: String, price: Double, quantity: Int) -> Int {
    lines.append(name)
    total += price * Double(quantity)
    return lines.count
  }
  @inline(never) open func kind() -> String { "cart" }
  @inline(never) public final func finalKind() -> String { "final " + kind() }
  @inline(never) public func checkout() throws -> Double {
    if lines.isEmpty { throw ShopError.empty(title) }
    return total
  }
  @inline(never) public func clear() { lines = []; total = 0 }
  @inline(never) public func pick(_ index: Int) -> String { lines[index] }
  @inline(never) public func pick(_ name: String) -> Int { lines.firstIndex(of: name) ?? -1 }
  @inline(never) public func find(name: String) -> Int { lines.firstIndex(of: name) ?? -1 }
  @inline(never) public func find(index: Int) -> String { lines[index] }
  @inline(never) public func find(index: Int, or other: String) -> String { index < lines.count ? lines[index] : other }
  @inline(never) public func end() -> String { "end of " + title }
  @inline(never) public func swap(_ a: inout Int, _ text: inout String, by n: Int) -> Bool { a += n; text += "!"; return a > 0 }
  @inline(never) public func merge(_ other: Cart?) -> Cart? { other.map { lines += $0.lines; return self } }
  @inline(never) public func release() { Cart.shelf = nil }
  @inline(never) public func give(_ token: __owned Token) -> Int { self.token = token; return token.id }
  @inline(never) public func take() -> Token? { defer { token = nil }; return token }
  @inline(never) public func money(_ cents: Int) -> Money { Money(cents: cents, currency: "EUR") }
  @inline(never) public func big(_ n: Int) -> Big { Big(n, title) }
  @inline(never) public func maybe(_ n: Int?) -> Int32? { n.map { Int32($0) } }
  @inline(never) public func flags(_ a: Bool, _ b: Int8, _ c: UInt16, _ d: Float, _ e: UInt64) -> String { "\(a) \(b) \(c) \(d) \(e)" }
  @inline(never) public func names() -> [String] { lines }
  @inline(never) public func set(names: [String]) { lines = names }
  @inline(never) public func nothing() {}
  @inline(never) public func stop() -> Never { fatalError("stopped") }
  @inline(never) public func later() async -> Int { 1 }
  @inline(never) public func generic<T>(_ value: T) -> T { value }

  public var count: Int { @inline(never) get { lines.count } }
  public var upper: String {
    @inline(never) get { title.uppercased() }
    @inline(never) set { title = newValue.lowercased() }
  }
  public var first: String { @inline(never) get throws { guard let first = lines.first else { throw ShopError.sold }; return first } }
  public subscript(index: Int) -> String {
    @inline(never) get { lines[index] }
    @inline(never) set { lines[index] = newValue }
  }
  public class var label: String { @inline(never) get { "label of Cart" } }
  @inline(never) public class func named(_ text: String) -> String { "Cart \(text)" }
  @inline(never) public static func make() -> Cart { Cart(title: "made") }
  public nonisolated(unsafe) static var shelf: Cart?

  /// Runs `body` while `total` is being changed.
  @inline(never) public func whileChanging(_ body: () -> Void) { change(&total, body) }
  public var purse = Money(cents: 1, currency: "EUR")
  @inline(never) public func earn() { purse.add(5) }
  @inline(never) public func idle() { turns += 1 }
  @inline(never) public func hooked() -> String { "hooked" }
  @inline(never) public func layered(_ text: String) -> String { text }
}

@inline(never) func change<T>(_ value: inout T, _ body: () -> Void) { body() }

open class Special: Cart {
  @inline(never) open override func kind() -> String { "special" }
  @inline(never) public func extra() -> Int { 7 }
  public override class var label: String { @inline(never) get { "label of Special" } }
  @inline(never) public override class func named(_ text: String) -> String { "Special \(text)" }
}

open class Rare: Special {
  @inline(never) open override func kind() -> String { "rare " + super.kind() }
}

extension Cart {
  @inline(never) public func discount(for user: String) -> Double { Double(user.utf8.count) / 10 }
}

public actor Till {
  public init() {}
  @inline(never) public func count() -> Int { 1 }
}

@inline(never) public func total(of prices: Double, _ more: Double) -> Double { prices + more }
@inline(never) public func many(
  _ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: Int8, _ i: Int, _ j: Double, _ k: Double, _ l: Double,
  _ m: Double, _ n: Double, _ o: Double, _ p: Double, _ q: Double, _ r: Float, _ s: String
) -> String {
  "\([a, b, c, d, e, f, g, Int(h), i]) \([j, k, l, m, n, o, p, q]) \(r) \(s)"
}
@inline(never) public func cents(_ money: Money) -> Int { money.cents }
@inline(never) public func sum(_ big: Big, _ more: Int) -> Int { big.a + big.b + big.c + big.d + big.e + more + big.name.count }
public var counter: Int { @inline(never) get { alive } }

// An effect, so that calls stay; another one in each function, so that the compiler does not merge them.
nonisolated(unsafe) var turns = 0

/// Where the scripts get their turn.
@inline(never) public func turn(_ cart: Cart, _ special: Cart, _ money: Money, _ till: Till) { turns += 2 }
@inline(never) public func values(_ cart: Cart, _ special: Cart, _ money: Money) { turns += 17 }
@inline(never) public func mistakes(_ cart: Cart, _ special: Cart, _ till: Till) { turns += 23 }
@inline(never) public func changing(_ cart: Cart) { turns += 3 }
@inline(never) public func hooks(_ cart: Cart) { turns += 4 }
@inline(never) public func tick(_ cart: Cart, _ other: Token) { turns += 5 }
