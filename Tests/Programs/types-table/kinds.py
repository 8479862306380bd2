"""The kinds of types and functions that docs/types.md speaks of.

A type: group, what the page calls it, Swift type, two values A and B, a Lua expression that is true of A in `v` (`w` is B),
how the program shows a value `x`.
"""

SHOWN = r'"\(x)"'


def kind(group, title, type_, a, b, check, shown=SHOWN): return {"group": group, "title": title, "type": type_, "a": a, "b": b, "check": check, "shown": shown}


N = "Numbers and text"
O = "Structs, tuples and enums"
P = "Optionals"
C = "Collections"
R = "References and existentials"
F = "Functions"
M = "Metatypes, pointers and vectors"
TYPES = [
    kind(N, "`Bool`", "Bool", "true", "false", "v == true"),
    kind(N, "`Int`, `UInt`", "Int", "-5", "7", "v == -5"),
    kind(N, "`Int8` to `Int64`", "Int16", "-300", "12", "v == -300"),
    kind(N, "`UInt8` to `UInt32`", "UInt8", "200", "3", "v == 200"),
    kind(N, "`UInt64`", "UInt64", ".max", "3", 'tostring(v) == "18446744073709551615"'),
    kind(N, "`Int128`, `UInt128`", "Int128", "-5", ".max", 'tostring(v) == "-5"'),
    kind(N, "`Float`, `Double`", "Double", "2.5", "-0.25", "v == 2.5"),
    kind(N, "`Float16`", "Float16", "2.5", "-0.25", "v == 2.5"),
    kind(N, "`Float80`", "Float80", "2.5", "-0.25", "v == 2.5"),
    kind(N, "`String`", "String", '"short"', '"a string that is long enough for the heap"', 'v == "short"'),
    kind(N, "`Substring`", "Substring", '"long enough for the heap, long".dropFirst(3)', '"xb".dropFirst()', 'v == "g enough for the heap, long"'),
    kind(N, "`Character`", "Character", '"e\\u{301}"', '"b"', 'v == "e\u0301"'),
    kind(N, "`Unicode.Scalar`", "Unicode.Scalar", '"ä"', '"b"', 'v == "ä"'),
    kind(N, "`StaticString`", "StaticString", '"fixed"', '"other"', 'v == "fixed" or tostring(v) ~= ""'),
    kind(O, "struct in registers", "Plain", "Plain(a: 1, b: 2.5)", 'Plain(a: 3, b: 4)', "v.a == 1 and v.b == 2.5"),
    kind(O, "struct of small fields, packed", "Packed", "Packed(a: 1, b: true, c: 3, d: 4)", "Packed(a: 5, b: false, c: 6, d: 7)", "v.a == 1 and v.b == true and v.c == 3 and v.d == 4"),
    kind(O, "struct with references", "Named", 'Named(name: "first, and long enough", owner: Thing(1))', 'Named(name: "second", owner: Thing(2))', 'v.name == "first, and long enough" and v.owner.id == 1', '"\\(x.name) \\(x.owner.id)"'),
    kind(O, "large struct, in memory", "Large", 'Large(a: 1, b: 2, c: 3, d: 4, e: 5, name: "large")', 'Large(a: 6, b: 7, c: 8, d: 9, e: 10, name: "larger")', 'v.a == 1 and v.e == 5 and v.name == "large"'),
    kind(O, "empty struct", "Empty", "Empty()", "Empty()", 'v ~= nil'),
    kind(O, "nested struct", "Outer", 'Outer(inner: Plain(a: 1, b: 2), flag: true)', 'Outer(inner: Plain(a: 3, b: 4), flag: false)', "v.inner.a == 1 and v.flag == true"),
    kind(O, "generic struct", "Box<Int>", "Box(value: 5)", "Box(value: 6)", "v.value == 5"),
    kind(O, "private struct behind a public one", "Wrapper", "Wrapper(5)", "Wrapper(6)", "v.secret.hidden == 5"),
    kind(O, "non-copyable struct", "Only", "Only(id: 5)", "Only(id: 6)", "v.id == 5", '"only \\(x.id)"'),
    kind(O, "tuple", "(n: Int, text: String)", '(n: 1, text: "one")', '(n: 2, text: "two")', 'v.n == 1 and v[2] == "one"'),
    kind(O, "tuple with a part in memory", "(Large, Int)", '(Large(a: 1, b: 2, c: 3, d: 4, e: 5, name: "large"), 7)', '(Large(a: 2, b: 2, c: 3, d: 4, e: 5, name: "x"), 8)', 'v[1].name == "large" and v[2] == 7'),
    kind(O, "enum without payload", "Colour", ".green", ".blue", 'v.case == "green"'),
    kind(O, "enum with raw values", "Level", ".high", ".low", 'v.case == "high"'),
    kind(O, "enum with one payload", "Maybe", ".number(5)", ".nothing", 'v.case == "number" and v.payload == 5'),
    kind(O, "enum with several payloads", "Shape", '.named("a shape of that name")', ".round(2.5)", 'v.case == "named" and v.payload == "a shape of that name"'),
    kind(O, "indirect enum", "Tree", ".node(.leaf(1), .leaf(2))", ".leaf(3)", 'v.case == "node" and v[1].payload == 1'),
    kind(O, "generic enum", "Result<Int, Failure>", ".success(5)", ".failure(.bad(1))", 'v.case == "success" and v.payload == 5'),
    kind(P, "`Int?`", "Int?", "5", "nil", "v == 5"),
    kind(P, "`String?`", "String?", 'nil', '"text"', "v == nil"),
    kind(P, "optional struct", "Named?", 'Named(name: "first", owner: Thing(1))', 'nil', 'v.name == "first"', '"\\(x?.name ?? "nil")"'),
    kind(P, "optional large struct", "Large?", 'Large(a: 1, b: 2, c: 3, d: 4, e: 5, name: "large")', "nil", 'v.name == "large"'),
    kind(P, "optional enum", "Shape?", ".round(1.5)", "nil", 'v.case == "round"'),
    kind(P, "optional object", "Thing?", "Thing(1)", "nil", "v.id == 1", '"\\(x?.id ?? 0)"'),
    kind(P, "optional of an optional", "Int??", ".some(nil)", "5", "v == swift.null"),
    kind(P, "optional closure", "((Int) -> Int)?", "{ $0 + 1 }", "{ $0 + 2 }", "v(1) == 2", '"\\(x?(1) ?? 0)"'),
    kind(C, "`Array`", "[Int]", "[1, 2, 3]", "[4]", "#v == 3 and v[3] == 3"),
    kind(C, "`Array` of structs", "[Named]", '[Named(name: "one", owner: Thing(1))]', "[]", '#v == 1 and v[1].name == "one"', '"\\(x.count)"'),
    kind(C, "`ArraySlice`, `ContiguousArray`", "ArraySlice<Int>", "[1, 2, 3, 4][1...]", "[4][...]", "#v == 3 and v[1] == 2"),
    kind(C, "`Dictionary`", "[String: Int]", '["a": 1]', '["b": 2]', "v.a == 1 and #v == 1"),
    kind(C, "`Set`", "Set<Int>", "[5]", "[6]", "v[5] == true and #v == 1"),
    kind(C, "`Range`, `ClosedRange`", "Range<Int>", "1..<5", "2..<3", "v.lowerBound == 1 and v.upperBound == 5"),
    kind(R, "object", "Thing", "Thing(1)", "Thing(2)", "v.id == 1", '"\\(x.id)"'),
    kind(R, "object of a generic class", "Cell<String>", 'Cell("a")', 'Cell("b")', 'v.value == "a"', "x.value"),
    kind(R, "actor", "Counter", "Counter(1)", "Counter(2)", "v.id == 1", '"\\(x.id)"'),
    kind(R, "`Any`", "Any", "5", '"text"', "v == 5"),
    kind(R, "`AnyObject`", "AnyObject", "Thing(1)", "Thing(2)", "v.id == 1", '"\\((x as! Thing).id)"'),
    kind(R, "`AnyHashable`", "AnyHashable", "5", '"text"', "v == 5"),
    kind(R, "`any P`", "any Speaking", "Plain(a: 1, b: 2)", "Plain(a: 3, b: 4)", "v.a == 1"),
    kind(R, "`any P & Q`", "any Speaking & Sendable", "Plain(a: 1, b: 2)", "Plain(a: 3, b: 4)", "v.a == 1"),
    kind(R, "class-bound `any P`", "any Bound", "Thing(1)", "Thing(2)", "v.id == 1", '"\\((x as! Thing).id)"'),
    kind(R, "`any P<Int>`", "any Holding<Int>", "Box(value: 5)", "Box(value: 6)", "v.value == 5"),
    kind(R, "`any Error`", "any Error", "Failure.bad(1)", "Failure.worse", 'v.case == "bad" or v.value.case == "bad"'),
    kind(F, "closure", "(Int) -> Int", "{ $0 + 1 }", "{ $0 + 2 }", "v(1) == 2", '"\\(x(1))"'),
    kind(F, "`@Sendable` closure", "@Sendable (String) -> String", '{ $0 + "a" }', '{ $0 + "b" }', 'v("x") == "xa"', 'x("x")'),
    kind(F, "throwing closure", "(Int) throws -> Int", "{ $0 + 1 }", "{ $0 + 2 }", "v(1) == 2", '"\\((try? x(1)) ?? 0)"'),
    kind(F, "closure that takes and gives structs", "(Named) -> Large", '{ Large(a: 1, b: 2, c: 3, d: 4, e: 5, name: $0.name) }', '{ Large(a: 2, b: 2, c: 3, d: 4, e: 5, name: $0.name) }', "v ~= nil", '"\\(x(Named(name: "n", owner: Thing(1))).a)"'),
    kind(F, "closure with an `inout` parameter", "(inout Int) -> Void", "{ $0 += 1 }", "{ $0 += 2 }", "v(1) == 2", "{ var n = 1; x(&n); return \"\\(n)\" }()"),
    kind(F, "async closure", "@Sendable (Int) async -> Int", "{ $0 + 1 }", "{ $0 + 2 }", "v ~= nil", '"closure"'),
    kind(F, "C function", "@convention(c) (Int32) -> Int32", "{ $0 + 1 }", "{ $0 + 2 }", "v(1) == 2", '"\\(x(1))"'),
    kind(M, "metatype of a struct", "Plain.Type", "Plain.self", "Plain.self", "v ~= nil"),
    kind(M, "metatype of a class", "Thing.Type", "Thing.self", "Special.self", 'tostring(v):find("Thing") ~= nil'),
    kind(M, "`Any.Type`, `any P.Type`", "Any.Type", "Int.self", "String.self", 'tostring(v):find("Int") ~= nil'),
    kind(M, "raw pointer", "UnsafeRawPointer", "UnsafeRawPointer(bitPattern: 4096)!", "UnsafeRawPointer(bitPattern: 8192)!", "v ~= nil"),
    kind(M, "typed pointer", "UnsafeMutablePointer<Int>", "UnsafeMutablePointer<Int>(bitPattern: 4096)!", "UnsafeMutablePointer<Int>(bitPattern: 8192)!", "v ~= nil"),
    kind(M, "buffer pointer", "UnsafeRawBufferPointer", "UnsafeRawBufferPointer(start: nil, count: 0)", "UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: 4096)!, count: 8)", "v ~= nil"),
    kind(M, "`OpaquePointer`", "OpaquePointer", "OpaquePointer(bitPattern: 4096)!", "OpaquePointer(bitPattern: 8192)!", "v ~= nil"),
    kind(M, "SIMD vector", "SIMD4<Float>", "SIMD4<Float>(1, 2, 3, 4)", "SIMD4<Float>(5, 6, 7, 8)", "v ~= nil and tostring(v) ~= ''"),
]
# Large vectors, unowned and weak fields have no value to pass.

TYPES_SOURCE = """
public protocol Speaking { func speak() -> String }
public protocol Bound: AnyObject { var id: Int { get } }
public protocol Holding<Element> { associatedtype Element; var value: Element { get } }
public class Thing: Bound, @unchecked Sendable { public let id: Int; public init(_ id: Int) { self.id = id } }
public final class Special: Thing, @unchecked Sendable {}
public final class Cell<T> { public var value: T; public init(_ value: T) { self.value = value } }
public actor Counter { public nonisolated let id: Int; public init(_ id: Int) { self.id = id } }
public struct Plain: Speaking, Sendable { public var a: Int; public var b: Double; public init(a: Int, b: Double) { self.a = a; self.b = b }
  public func speak() -> String { "plain" } }
public struct Packed { public var a: UInt8; public var b: Bool; public var c: Int16; public var d: UInt32
  public init(a: UInt8, b: Bool, c: Int16, d: UInt32) { self.a = a; self.b = b; self.c = c; self.d = d } }
public struct Named { public var name: String; public var owner: Thing; public init(name: String, owner: Thing) { self.name = name; self.owner = owner } }
public struct Large { public var a, b, c, d, e: Int; public var name: String
  public init(a: Int, b: Int, c: Int, d: Int, e: Int, name: String) { (self.a, self.b, self.c, self.d, self.e, self.name) = (a, b, c, d, e, name) } }
public struct Empty { public init() {} }
public struct Outer { public var inner: Plain; public var flag: Bool; public init(inner: Plain, flag: Bool) { self.inner = inner; self.flag = flag } }
public struct Box<T>: Holding { public var value: T; public init(value: T) { self.value = value } }
private struct Secret { var hidden: Int }
public struct Wrapper { private var secret: Secret; public init(_ n: Int) { secret = Secret(hidden: n) } }
public struct Only: ~Copyable { public var id: Int; public init(id: Int) { self.id = id } }
public enum Colour { case red, green, blue }
public enum Level: String { case low, high }
public enum Maybe { case number(Int), nothing }
public enum Shape { case named(String), round(Double), flat }
public indirect enum Tree { case leaf(Int), node(Tree, Tree) }
public enum Failure: Error { case bad(Int), worse }
"""
