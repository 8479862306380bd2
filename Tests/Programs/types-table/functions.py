"""The kinds of functions that docs/types.md speaks of: selector, source, how main calls it, and what a script does with it.

Every function takes an Int and answers one, or is the nearest thing to that. `call` is a Lua expression that calls it with 5 and must
be `result`; `args` the Lua condition on the arguments that main passes; the replaced argument is 50, the replaced result 99.
`printed` is what main prints of the call alone, with the argument replaced, and with the result replaced.
"""


def function(group, title, selector, source, main, args="call.args[1] == 1", call=None, result="6", set_="call.args[1] = 50",
             printed=("2", "51", "99"), result_="call.result == 2", new="call.result = 99"):
    return {"group": group, "title": title, "selector": selector, "source": source, "main": main, "args": args, "call": call, "result": result,
            "set": set_, "printed": printed, "read_result": result_, "new": new}


C = "Classes"
V = "Structs and enums"
G = "Generic functions and protocols"
S = "Free functions, closures, async"
K = "@inline(never) public "
FUNCTIONS = [
    function(C, "method", "Kinds.A.method(_:)", "open class A { public init() {}; " + K + "func method(_ n: Int) -> Int { n + 1 + sink(1) } }", "A().method(1)", call='swift.new("Kinds.A", "init()"):method(5)'),
    function(C, "overridden method", "Kinds.A2.method(_:)", "open class A1 { public init() {}; @inline(never) open func method(_ n: Int) -> Int { n + sink(2) } }\nopen class A2: A1 { @inline(never) open override func method(_ n: Int) -> Int { n + 1 + sink(3) } }", "(A2() as A1).method(1)", call='swift.new("Kinds.A2", "init()"):method(5)'),
    function(C, "static and class method", "static Kinds.A3.method(_:)", "open class A3 { @inline(never) public class func method(_ n: Int) -> Int { n + 1 + sink(4) } }", "A3.method(1)", call='class("Kinds.A3"):method(5)'),
    function(C, "initialiser", "Kinds.A4.init(_:)", "public final class A4 { public var id: Int; " + K + "init(_ n: Int) { id = n + 1 + sink(5) } }", "A4(1).id", call='swift.new("Kinds.A4", "init(_:)", 5).id', result_="call.result.id == 2", new='call.result = swift.new("Kinds.A4", "init(_:)", 98)'),
    function(C, "failable initialiser", "Kinds.A5.init(_:)", "public final class A5 { public var id: Int; " + K + "init?(_ n: Int) { if n < 0 { return nil }; id = n + 1 + sink(6) } }", "A5(1)?.id ?? -1", call='swift.new("Kinds.A5", "init(_:)", 5).id', result_="call.result.id == 2", new="call.result = nil", printed=("2", "51", "-1")),
    function(C, "deinitialiser", "Kinds.A6.deinit", "public final class A6 { public var id = 1; public init() {}; deinit { zero[95] = id + 1 + sink(7) } }", "{ _ = A6(); return zero[95] }()", args="call.self.id == 1", set_="call.self.id = 50", result_="", new=""),
    function(C, "getter", "Kinds.A7.value.get", "public final class A7 { public init() {}; public var value: Int { @inline(never) get { 2 + sink(8) } } }", "A7().value", args="", set_="", call='swift.new("Kinds.A7", "init()").value', result="2"),
    function(C, "setter", "Kinds.A8.value.set", "public final class A8 { public var raw = 0; public init() {}; public var value: Int { @inline(never) get { raw + sink(9) } @inline(never) set { raw = newValue + 1 + sink(10) } } }", "{ let a = A8(); a.value = 1; return a.raw }()", call='(function() local a = swift.new("Kinds.A8", "init()") a.value = 5 return a.raw end)()', result_="", new=""),
    function(C, "observer (`didSet`)", "Kinds.A9.value.didSet", "public final class A9 { public var seen = 0; public init() {}; public var value = 1 { @inline(never) didSet { seen = oldValue + 1 + sink(11) } } }", "{ let a = A9(); a.value = 7; return a.seen }()", result_="", new=""),
    function(C, "`modify` coroutine", "Kinds.A10.value.modify", "open class A10 { public var raw = 1; public init() {}; open var value: Int { @inline(never) get { raw } @inline(never) _modify { raw += sink(12); yield &raw; raw += 1 } } }", "{ let a = A10(); a.value += 0; return a.raw }()", args="call.self.raw == 1", set_="call.self.raw = 50", result_="", new=""),
    function(C, "`read` coroutine", "Kinds.A11.value.read", "open class A11 { public var raw = 2; public init() {}; open var value: Int { @inline(never) _read { yield raw + sink(13) } } }", "A11().value", args="call.self.raw == 2", set_="call.self.raw = 51", result_="", new=""),
    function(C, "subscript", "Kinds.A12.subscript(_:).get", "public final class A12 { public init() {}; public subscript(n: Int) -> Int { @inline(never) get { n + 1 + sink(14) } } }", "A12()[1]", call='swift.send(swift.new("Kinds.A12", "init()"), "subscript(_:).get", 5)'),
    function(C, "method of a generic class", "Kinds.A13.method(_:)", "public class A13<T> { let x: T; public init(_ x: T) { self.x = x }; " + K + "func method(_ n: T) -> T { sink(15) == 0 ? n : x } }", "A13<Int>(0).method(1)", printed=("1", "50", "99"), result_="call.result == 1"),
    function(C, "private method", "Kinds.A14.hidden(_:)", "public final class A14 { public init() {}; @inline(never) private func hidden(_ n: Int) -> Int { n + 1 + sink(16) }\n" + K + "func show(_ n: Int) -> Int { hidden(n) + sink(17) } }", "A14().show(1)", call='swift.send(swift.new("Kinds.A14", "init()"), "hidden(_:)", 5)'),
    function(C, "actor's method", "Kinds.Act.method(_:)", "public actor Act { public init() {}; " + K + "func method(_ n: Int) -> Int { n + 1 + sink(18) } }", "await Act().method(1)", call='swift.new("Kinds.Act", "init()"):method(5)'),
    function(V, "method of a struct in registers", "Kinds.S1.method(_:)", "public struct S1 { public var id = 0; public init() {}; " + K + "func method(_ n: Int) -> Int { n + id + 1 + sink(19) } }", "S1().method(1)", call='swift.new("Kinds.S1", "init()"):method(5)'),
    function(V, "method of a large struct", "Kinds.S2.method(_:)", "public struct S2 { public var a = 0, b = 0, c = 0, d = 0, e = 1; public init() {}; " + K + "func method(_ n: Int) -> Int { n + e + sink(20) } }", "S2().method(1)", args="call.args[1] == 1 and call.self.e == 1", call='swift.new("Kinds.S2", "init()"):method(5)'),
    function(V, "mutating method", "Kinds.S3.add(_:)", "public struct S3 { public var id = 1; public init() {}; " + K + "mutating func add(_ n: Int) -> Int { id += n; return id + sink(21) } }", "{ var s = S3(); return s.add(1) }()", args="call.args[1] == 1 and call.self.id == 1", call='swift.new("Kinds.S3", "init()"):add(5)'),
    function(V, "static method", "static Kinds.S4.method(_:)", "public struct S4 { " + K + "static func method(_ n: Int) -> Int { n + 1 + sink(22) } }", "S4.method(1)", call='swift.call("static Kinds.S4.method(_:)", 5)'),
    function(V, "initialiser", "Kinds.S5.init(_:)", "public struct S5 { public var id: Int; " + K + "init(_ n: Int) { id = n + 1 + sink(23) } }", "S5(1).id", call='swift.new("Kinds.S5", "init(_:)", 5).id', result_="call.result.id == 2", new='call.result = { id = 99 }'),
    function(V, "getter, setter, `modify`", "Kinds.S6.value.set", "public struct S6 { public var raw = 0; public init() {}; public var value: Int { @inline(never) get { raw } @inline(never) set { raw = newValue + 1 + sink(24) } } }", "{ var s = S6(); s.value = 1; return s.raw }()", result_="", new=""),
    function(V, "subscript", "Kinds.S7.subscript(_:).get", "public struct S7 { public init() {}; public subscript(n: Int) -> Int { @inline(never) get { n + 1 + sink(25) } } }", "S7()[1]", call='swift.send(swift.new("Kinds.S7", "init()"), "subscript(_:).get", 5)'),
    function(V, "method of an enum", "Kinds.E1.method(_:)", "public enum E1 { case one(Int), two; " + K + "func method(_ n: Int) -> Int { if case .one(let m) = self { n + m + sink(26) } else { 0 } } }", "E1.one(1).method(1)", args='call.args[1] == 1 and call.self.case == "one"'),
    function(V, "method of a generic struct", "Kinds.S8.method(_:)", "public struct S8<T> { var x: T; public init(_ x: T) { self.x = x }; " + K + "func method(_ n: T) -> T { sink(27) == 0 ? n : x } }", 'S8<Int>(7).method(1)', args="call.args[1] == 1", printed=("1", "50", "99"), result_="call.result == 1"),
    function(G, "generic function", "Kinds.g1(_:)", K + "func g1<T>(_ n: T) -> T { _ = sink(28); return n }", "g1(1)", printed=("1", "50", "99"), result_="call.result == 1", call='swift.call("Kinds.g1(_:)", 5)', result="5"),
    function(G, "generic method with a constraint", "Kinds.G2.method(_:)", "public final class G2 { public init() {}; " + K + "func method<T: BinaryInteger>(_ n: T) -> T { n + T(1 + sink(29)) } }", "G2().method(1)", call='swift.new("Kinds.G2", "init()"):method(5)'),
    function(G, "opaque parameter (`some P`)", "Kinds.g3(_:)", K + "func g3(_ n: some BinaryInteger) -> Int { Int(n) + 1 + sink(30) }", "g3(1)", call='swift.call("Kinds.g3(_:)", 5)'),
    function(G, "specialised generic function", "Kinds.g4(_:)", "@inline(never) func g4<T: BinaryInteger>(_ n: T) -> T { n + T(1 + sink(31)) }\n" + K + "func g4s(_ n: Int) -> Int { g4(n) + sink(32) }", "g4s(1)"),
    function(G, "protocol requirement, by its implementation", "Kinds.W1.work(_:)", "public protocol Worker { func work(_ n: Int) -> Int }\npublic final class W1: Worker { public init() {}; " + K + "func work(_ n: Int) -> Int { n + 1 + sink(33) } }", "(W1() as any Worker).work(1)", call='swift.new("Kinds.W1", "init()"):work(5)'),
    function(G, "method of a protocol extension", "Kinds.Worker.extra(_:)", "extension Worker { " + K + "func extra(_ n: Int) -> Int { n + 1 + sink(34) } }", "W1().extra(1)"),
    function(S, "free function", "Kinds.f1(_:)", K + "func f1(_ n: Int) -> Int { n + 1 + sink(35) }", "f1(1)", call='swift.call("Kinds.f1(_:)", 5)'),
    function(S, "throwing function", "Kinds.f2(_:)", K + "func f2(_ n: Int) throws -> Int { if n < 0 { throw Failure.worse }; return n + 1 + sink(36) }", "try f2(1)", call='swift.call("Kinds.f2(_:)", 5)'),
    function(S, "function with typed throws", "Kinds.f3(_:)", K + "func f3(_ n: Int) throws(Failure) -> Int { if n < 0 { throw .worse }; return n + 1 + sink(37) }", "try f3(1)", call='swift.call("Kinds.f3(_:)", 5)'),
    function(S, "variadic parameters", "Kinds.f4(_:)", K + "func f4(_ n: Int...) -> Int { n[0] + 1 + sink(38) }", "f4(1)", args="call.args[1][1] == 1", set_="call.args[1] = { 50 }", call='swift.call("Kinds.f4(_:)", { 5 })'),
    function(S, "`consuming` parameter", "Kinds.f5(_:)", K + "func f5(_ t: consuming Thing) -> Int { t.id + 1 + sink(39) }", "f5(Thing(1))", args="call.args[1].id == 1", set_='call.args[1] = swift.new("Kinds.Thing", "init(_:)", 50)', call='swift.call("Kinds.f5(_:)", swift.new("Kinds.Thing", "init(_:)", 5))'),
    function(S, "getter of a global", "Kinds.global.get", "public var global: Int { @inline(never) get { 2 + sink(40) } }", "global", args="", set_="", call='swift.call("Kinds.global.get")', result="2"),
    function(S, "private free function", "Kinds.f6(_:)", "@inline(never) private func f6(_ n: Int) -> Int { n + 1 + sink(41) }\n" + K + "func f6s(_ n: Int) -> Int { f6(n) + sink(42) }", "f6s(1)", call='swift.call("Kinds.f6(_:)", 5)'),
    function(S, "function inside a function", "Kinds.f7(_:).inner(_:)", K + "func f7(_ n: Int) -> Int { @inline(never) func inner(_ m: Int) -> Int { m + 1 + sink(43) }; return inner(n) + sink(44) }", "f7(1)"),
    function(S, "closure, by its own name", "closure #1 in Kinds.f8(_:)", "@inline(never) func apply(_ n: Int, _ f: (Int) -> Int) -> Int { f(n) + sink(45) }\n" + K + "func f8(_ n: Int) -> Int { let f: (Int) -> Int = { $0 + n + sink(46) }; return keep(f)(1) }\nnonisolated(unsafe) var kept: ((Int) -> Int)?\n@inline(never) func keep(_ f: @escaping (Int) -> Int) -> (Int) -> Int { kept = f; return kept! }", "f8(1)"),
    function(S, "async function", "Kinds.f9(_:)", K + "func f9(_ n: Int) async -> Int { await Task.yield(); return n + 1 + sink(47) }", "await f9(1)", call='swift.call("Kinds.f9(_:)", 5)'),
    function(S, "async throwing function", "Kinds.f10(_:)", K + "func f10(_ n: Int) async throws -> Int { await Task.yield(); return n + 1 + sink(48) }", "try await f10(1)", call='swift.call("Kinds.f10(_:)", 5)'),
    function(S, "`@MainActor` function", "Kinds.f11(_:)", "@MainActor @inline(never) public func f11(_ n: Int) -> Int { n + 1 + sink(49) }", "await f11(1)", call='swift.call("Kinds.f11(_:)", 5)'),
]
