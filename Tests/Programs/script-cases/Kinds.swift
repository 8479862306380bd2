// Functions of every kind of value and call, for scripts to stand around.

public enum Fruit: Equatable { case apple, pear, plum }
public enum Payload: Equatable { case none, number(Int), text(String, Int), deep([Int]) }
public struct One: Equatable {
  public var a: Int
  public init(a: Int) { self.a = a }
}
public struct Two: Equatable {
  public var a: Int, b: Double
  public init(a: Int, b: Double) { self.a = a; self.b = b }
}
public struct Three: Equatable {
  public var first: String, second: String, third: String
  public init(first: String, second: String, third: String) { self.first = first; self.second = second; self.third = third }
}
public struct Four: Equatable {
  public var a: Int, b: Int, c: Int, d: Int
  public init(a: Int, b: Int, c: Int, d: Int) { self.a = a; self.b = b; self.c = c; self.d = d }
}
public struct Mixed: Equatable {
  public var flag: Bool, one: One, name: String, list: [Int], end: Int8?
  public init(flag: Bool, one: One, name: String, list: [Int], end: Int8?) { self.flag = flag; self.one = one; self.name = name; self.list = list; self.end = end }
}
public struct Wide: Equatable {
  public var v: (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int)
  public var sum: Int { v.0 + v.7 + v.15 }
  init(_ n: Int) { v = (n, 0, 0, 0, 0, 0, 0, n, 0, 0, 0, 0, 0, 0, 0, n) }
  public static func == (a: Wide, b: Wide) -> Bool { a.sum == b.sum }
}
public struct Huge: Equatable {
  public var a: Wide, b: Wide, c: Wide
  public var sum: Int { a.sum + b.sum + c.sum }
  public init(_ n: Int) { (a, b, c) = (Wide(n), Wide(n + 1), Wide(n + 2)) }
}
public func wide(_ n: Int) -> Wide { Wide(n) }
public protocol Named { var name: String { get } }
public struct Tag: Named {
  public var name: String
  public init(_ name: String) { self.name = name }
}
public final class Item: Named {
  public var name: String
  public nonisolated(unsafe) static var alive = 0
  public init(_ name: String) { self.name = name; Item.alive += 1 }
  deinit { Item.alive -= 1 }
}

/// Makes each body one of its own: equal ones become one function.
public nonisolated(unsafe) var noted = 0
@inline(never) func note(_ number: Int) { noted &+= number }

public enum Echo {
  @inline(never) public static func int8(_ v: Int8) -> Int8 { note(1); return v }
  @inline(never) public static func int16(_ v: Int16) -> Int16 { note(2); return v }
  @inline(never) public static func int32(_ v: Int32) -> Int32 { note(3); return v }
  @inline(never) public static func int64(_ v: Int64) -> Int64 { note(4); return v }
  @inline(never) public static func int(_ v: Int) -> Int { note(5); return v }
  @inline(never) public static func uint8(_ v: UInt8) -> UInt8 { note(6); return v }
  @inline(never) public static func uint16(_ v: UInt16) -> UInt16 { note(7); return v }
  @inline(never) public static func uint32(_ v: UInt32) -> UInt32 { note(8); return v }
  @inline(never) public static func uint64(_ v: UInt64) -> UInt64 { note(9); return v }
  @inline(never) public static func float(_ v: Float) -> Float { note(10); return v }
  @inline(never) public static func double(_ v: Double) -> Double { note(11); return v }
  @inline(never) public static func bool(_ v: Bool) -> Bool { note(12); return v }
  @inline(never) public static func string(_ v: String) -> String { note(13); return v }
  @inline(never) public static func character(_ v: Character) -> Character { note(14); return v }
  @inline(never) public static func maybeInt(_ v: Int?) -> Int? { note(15); return v }
  @inline(never) public static func maybeBool(_ v: Bool?) -> Bool? { note(16); return v }
  @inline(never) public static func maybeDouble(_ v: Double?) -> Double? { note(17); return v }
  @inline(never) public static func maybeString(_ v: String?) -> String? { note(18); return v }
  @inline(never) public static func nested(_ v: Int??) -> Int?? { note(19); return v }
  @inline(never) public static func pair(_ v: (Int, String)) -> (Int, String) { note(20); return v }
  @inline(never) public static func one(_ v: One) -> One { note(21); return v }
  @inline(never) public static func two(_ v: Two) -> Two { note(22); return v }
  @inline(never) public static func three(_ v: Three) -> Three { note(23); return v }
  @inline(never) public static func four(_ v: Four) -> Four { note(24); return v }
  @inline(never) public static func mixed(_ v: Mixed) -> Mixed { note(25); return v }
  @inline(never) public static func wide(_ v: Wide) -> Wide { note(26); return v }
  @inline(never) public static func huge(_ v: Huge) -> Huge { note(27); return v }
  @inline(never) public static func fruit(_ v: Fruit) -> Fruit { note(28); return v }
  @inline(never) public static func payload(_ v: Payload) -> Payload { note(29); return v }
  @inline(never) public static func list(_ v: [Int]) -> [Int] { note(30); return v }
  @inline(never) public static func maybes(_ v: [Int?]) -> [Int?] { note(31); return v }
  @inline(never) public static func table(_ v: [String: Int]) -> [String: Int] { note(32); return v }
  @inline(never) public static func set(_ v: Set<Int>) -> Set<Int> { note(33); return v }
  @inline(never) public static func item(_ v: Item) -> Item { note(34); return v }
  @inline(never) public static func named(_ v: any Named) -> any Named { note(35); return v }
  @inline(never) public static func any(_ v: Any) -> Any { note(36); return v }
  @inline(never) public static func metatype(_ v: Any.Type) -> Any.Type { note(37); return v }
  @inline(never) public static func void(_ v: Void) { Item.alive += 0 }
  @inline(never) public static func three(_ a: Int?, _ b: Int?, _ c: Int?) -> String { "\(a ?? -1) \(b ?? -1) \(c ?? -1)" }
  @inline(never) public static func deep(_ v: [[[Int]]]) -> Int { v.joined().joined().reduce(0, +) }
}

@inline(never) public func sixteen(
  _ a: Int, _ b: Double, _ c: Bool, _ d: String, _ e: Int8, _ f: Float, _ g: UInt16, _ h: Int, _ i: Double, _ j: String, _ k: Int32, _ l: Double,
  _ m: Bool, _ n: Int, _ o: Float, _ p: UInt64
) -> String { "\(a) \(b) \(c) \(d) \(e) \(f) \(g) \(h) \(i) \(j) \(k) \(l) \(m) \(n) \(o) \(p)" }
@inline(never) public func many(
  _ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: Int, _ i: Int, _ j: Int, _ k: Int, _ l: Double, _ m: Double, _ n: Double,
  _ o: Double, _ p: Double, _ q: Double, _ r: Double, _ s: Double, _ t: Double, _ u: Double, _ v: Double
) -> Double {
  let integers = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h
  let more = 9 * i + 10 * j + 11 * k
  let doubles = l + 2 * m + 3 * n + 4 * o + 5 * p
  let rest = 6 * q + 7 * r + 8 * s + 9 * t + 10 * u + 11 * v
  return Double(integers + more) + doubles / 100 + rest / 100
}

// MARK: Errors

public enum Wrong: Error, Equatable { case small(Int), other }
public nonisolated(unsafe) var deferred = 0
@inline(never) public func check(_ n: Int) throws -> Int {
  defer { deferred += 1 }
  if n < 10 { throw Wrong.small(n) }
  return n
}
@inline(never) public func typed(_ n: Int) throws(Wrong) -> Int {
  if n < 10 { throw .small(n) }
  return n
}

// MARK: Async, actors

@inline(never) public func later(_ n: Int) async -> Int {
  await Task.yield()
  return n + 1
}
@inline(never) public func laterOrThrow(_ n: Int) async throws -> String {
  await Task.yield()
  if n < 0 { throw Wrong.other }
  return "waited \(n)"
}
public actor Counter {
  public var count = 0
  public init() {}
  public func add(_ n: Int) -> Int {
    count += n
    return count
  }
}

// MARK: Conventions

@inline(never) public func grow(_ n: inout Int, by step: Int = 1) { n += step }
@inline(never) public func eat(_ text: consuming String) -> Int { text.utf8.count }
@inline(never) public func look(_ text: borrowing String) -> Int { text.utf8.count }
@inline(never) public func total(_ values: Int...) -> Int { values.reduce(0, +) }
@inline(never) @_optimize(none) public func same<T>(_ value: T) -> T { value }
public struct Box<T> {
  public var value: T
  public init(_ value: T) { self.value = value }
  @inline(never) public func get() -> T { value }
}

// MARK: Names

public enum Pick {
  @inline(never) public static func value(_ n: Int) -> String { "int" }
  @inline(never) public static func value(_ n: String) -> String { "text" }
  @inline(never) public static func value(at n: Int) -> String { "label" }
  @inline(never) public static func with_under_score(_ größe: Int) -> Int { größe }
  public struct Inner {
    public init() {}
    @inline(never) public func deep() -> String { "inner" }
  }
}
public struct Money: Equatable {
  public var cents: Int
  public init(_ cents: Int) { self.cents = cents }
  @inline(never) public static func + (a: Money, b: Money) -> Money { Money(a.cents + b.cents) }
}
private struct Secret {
  @inline(never) func open(_ n: Int) -> Int { n &* 3 }
}
@inline(never) public func opened(_ n: Int) -> Int { Secret().open(n) }

// MARK: Closures

public nonisolated(unsafe) var kept: [(Int) -> Int] = []
@inline(never) public func apply(_ n: Int, _ body: (Int) -> Int) -> Int { body(n) }
@inline(never) public func keep(_ body: @escaping (Int) -> Int) { kept.append(body) }
@inline(never) public func maker(_ n: Int) -> (Int) -> Int { { $0 + n } }
@inline(never) public func compose(_ f: @escaping (Int) -> Int, _ g: @escaping (String) -> String) -> (String) -> Int { { f(g($0).utf8.count) } }
