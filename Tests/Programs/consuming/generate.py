# generate — methods of a class of which half are consuming, with bodies that do what methods do with their self.
#
#   generate.py SEED COUNT LIBRARY MAIN
#
# Names tell what code has to show: `kept7I(_:)` gives its self back, `used7I(_:)` uses it up, in either spelling; the letter stands for the
# result. The program calls each on an object of its own, prints what comes of it, and at the end how many objects are alive. Then come methods of structs and of an enum, passed by their
# words and by address, which scripts call on copies: the letters B, G, D and E stand for whose they are, S, M, X, W, K, H and N for those of
# further enums: with one payload, with classes alone, with existentials and closures, larger than four words, indirect, generic, Optional.
# Getters, named alike, are called by the program on the class, on two of the structs, on two of the enums, and on a struct that cannot be copied
# (A, U, Y, Z, L and R).
import random
import re
import sys

seed, count, library, main = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
chance = random.Random(seed)

HEAD = """
public protocol Numbered: AnyObject { var number: Int { get } }
public struct Problem: Error {}
nonisolated(unsafe) public var live = 0
nonisolated(unsafe) public var kept: [AnyObject] = []
nonisolated(unsafe) var last: Thing?
nonisolated(unsafe) var later: [() -> Int] = []
public struct Pair {
  public var number: Int
  public var thing: Thing
  @inline(never) __consuming func finished() -> Int { number &+ thing.number }
  @inline(never) __consuming func put() -> Int { kept.append(thing); return number }
  @inline(never) func looked() -> Int { number &+ thing.number }
}
public enum Choice { case none, text(String), thing(Thing), both(Pair) }
nonisolated(unsafe) var choices: [Choice] = []
@inline(never) func choose(_ choice: consuming Choice) -> Int { choices.append(choice); return 1 }
@inline(never) func takeLast(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ thing: consuming Thing) -> Int {
  kept.append(thing)
  return a &+ f
}
@inline(never) func lookLast(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ thing: Thing) -> Int { a &+ f &+ thing.number }
@inline(never) func takePair(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ pair: consuming Pair) -> Int {
  pairs.append(pair)
  return a &+ f
}
@inline(never) func run(_ body: @escaping () -> Int) -> Int { later.append(body); return 2 }
nonisolated(unsafe) public var taker: (Int, Int, Int, Int, Int, Int, __owned Thing) -> Int = takeLast
nonisolated(unsafe) var pairs: [Pair] = []
nonisolated(unsafe) var boxes: [Box] = []
/// Scripts call the methods of boxes here.
@inline(never) public func offer(_ box: Box, _ n: Int) { boxes.append(box) }
nonisolated(unsafe) var bigs: [Big] = []
nonisolated(unsafe) var anything: [Any] = []
@inline(never) public func offerBig(_ big: Big, _ n: Int) { bigs.append(big) }
@inline(never) public func offerDuo(_ duo: Duo<Thing>, _ n: Int) { anything.append(duo) }
@inline(never) public func offerCase(_ some: Some, _ n: Int) { anything.append(some) }
public func forget() { bigs = []; anything = [];  kept = []; last = nil; later = []; pairs = []; choices = []; boxes = [] }
public struct Box {
  public var number: Int
  public var thing: Thing
  public var text: String
  public init(_ n: Int) { number = n; thing = Thing(n); text = "text of more than fifteen bytes \\(n)" }
  @inline(never) __consuming func finished() -> Int { number &+ thing.number }
  @inline(never) func looked() -> Int { number &+ thing.number }
}
public struct Big {
  public var number: Int
  public var thing: Thing
  public var text: String
  public var more: [Thing]
  public var spare: Thing?
  public var tail: Int
  public init(_ n: Int) {
    (number, thing, text, tail) = (n, Thing(n), "text of more than fifteen bytes \\(n)", n)
    (more, spare) = ([Thing(n), Thing(n)], n % 3 == 0 ? nil : Thing(n))
  }
  @inline(never) __consuming func finished() -> Int { number &+ thing.number }
  @inline(never) func looked() -> Int { number &+ thing.number &+ more.count }
  @inline(never) mutating func changed(_ n: Int) { number = n; thing = Thing(n) }
}
public struct Duo<E> {
  public var number: Int
  public var thing: Thing
  public var first: E
  public var second: [E]
  public init(_ n: Int, _ first: E) { (number, thing, self.first, second) = (n, Thing(n), first, [first]) }
  @inline(never) __consuming func finished() -> Int { number &+ thing.number }
  @inline(never) func looked() -> Int { number &+ thing.number &+ second.count }
}
public struct Sole: ~Copyable {
  public var number: Int
  public var thing: Thing
  public init(_ n: Int) { (number, thing) = (n, Thing(n)) }
  deinit { ended &+= 1 }
}
nonisolated(unsafe) public var ended = 0
public indirect enum Deep { case leaf(Thing), node(Deep, Int) }
public enum Some {
  case none, thing(Thing), text(String), both(Thing, Int), box(Deep)
  public init(_ n: Int) {
    switch n % 5 {
    case 0: self = .none
    case 1: self = .thing(Thing(n))
    case 2: self = .text("text of more than fifteen bytes \\(n)")
    case 3: self = .both(Thing(n), n)
    default: self = .box(.node(.leaf(Thing(n)), n))
    }
  }
  var number: Int { switch self { case .none: 0; case .thing(let t): t.number; case .text(let t): t.utf8.count; case .both(let t, let n): t.number &+ n; case .box: 7 } }
  @inline(never) __consuming func finished() -> Int { number }
  @inline(never) func looked() -> Int { number &+ 1 }
}
public final class Other { public let number: Int; public init(_ n: Int) { number = n; live += 1 }; deinit { live -= 1 } }
public enum Slim {
  case none, thing(Thing)
  public init(_ n: Int) { self = n % 3 == 0 ? .none : .thing(Thing(n)) }
  var number: Int { if case .thing(let thing) = self { thing.number } else { 0 } }
  @inline(never) __consuming func finished() -> Int { number }
  @inline(never) func looked() -> Int { number &+ 1 }
}
public enum Duet {
  case none, thing(Thing), other(Other), things([Thing])
  public init(_ n: Int) { self = switch n % 4 { case 0: .none; case 1: .thing(Thing(n)); case 2: .other(Other(n)); default: .things([Thing(n)]) } }
  var number: Int { switch self { case .none: 0; case .thing(let t): t.number; case .other(let o): o.number; case .things(let all): all.count } }
  @inline(never) __consuming func finished() -> Int { number }
  @inline(never) func looked() -> Int { number &+ 1 }
}
public enum Mixed {
  case count(Int), some(any Numbered), run(() -> Int), pair(Thing, Other)
  public init(_ n: Int) {
    let thing = Thing(n)
    self = switch n % 4 { case 0: .count(n); case 1: .some(thing); case 2: .run { thing.number }; default: .pair(thing, Other(n)) }
  }
  var number: Int { switch self { case .count(let n): n; case .some(let one): one.number; case .run(let body): body(); case .pair(let t, let o): t.number &+ o.number } }
  @inline(never) __consuming func finished() -> Int { number }
  @inline(never) func looked() -> Int { number &+ 1 }
}
public enum Wide {
  case none, big(Big), box(Box), thing(Thing)
  public init(_ n: Int) { self = switch n % 4 { case 0: .none; case 1: .big(Big(n)); case 2: .box(Box(n)); default: .thing(Thing(n)) } }
  var number: Int { switch self { case .none: 0; case .big(let b): b.number; case .box(let b): b.thing.number; case .thing(let t): t.number } }
  @inline(never) __consuming func finished() -> Int { number }
  @inline(never) func looked() -> Int { number &+ 1 }
}
extension Deep {
  public init(_ n: Int) { self = n % 2 == 0 ? .leaf(Thing(n)) : .node(.leaf(Thing(n)), n) }
  var number: Int { switch self { case .leaf(let t): t.number; case .node(let deep, let n): deep.number &+ n } }
  @inline(never) __consuming func finished() -> Int { number }
  @inline(never) func looked() -> Int { number &+ 1 }
}
public enum Tree<E> {
  case none, leaf(E), pair(Thing, [E])
  public init(_ n: Int, _ e: E) { self = switch n % 3 { case 0: .none; case 1: .leaf(e); default: .pair(Thing(n), [e, e]) } }
  var number: Int { switch self { case .none: 0; case .leaf: 1; case .pair(let t, let all): t.number &+ all.count } }
  @inline(never) __consuming func finished() -> Int { number }
  @inline(never) func looked() -> Int { number &+ 1 }
}
extension Optional where Wrapped == Box {
  var number: Int { self?.number ?? 0 }
  @inline(never) __consuming func finished() -> Int { number }
  @inline(never) func looked() -> Int { number &+ 1 }
}
@inline(never) public func offerSlim(_ value: Slim, _ n: Int) { anything.append(value) }
@inline(never) public func offerDuet(_ value: Duet, _ n: Int) { anything.append(value) }
@inline(never) public func offerMixed(_ value: Mixed, _ n: Int) { anything.append(value) }
@inline(never) public func offerWide(_ value: Wide, _ n: Int) { anything.append(value) }
@inline(never) public func offerDeep(_ value: Deep, _ n: Int) { anything.append(value) }
@inline(never) public func offerTree(_ value: Tree<Thing>, _ n: Int) { anything.append(value) }
@inline(never) func risky(_ n: Int) throws -> Int { if n == 3 { throw Problem() }; return n &+ 1 }
@inline(never) func swallow<T>(_ value: consuming T) -> Int { any(value) }
@inline(never) func look(_ thing: Thing) -> Int { thing.number }
@inline(never) func take(_ thing: consuming Thing) -> Int { let number = thing.number; kept.append(thing); return number }
@inline(never) func drop(_ thing: __owned Thing) -> Int { thing.number }
@inline(never) func any<T>(_ value: T) -> Int { value is Thing ? 1 : 0 }
@inline(never) func ask(_ value: any Numbered) -> Int { value.number }
open class Thing: Numbered {
  public var number: Int
  public var next: Thing?
  public init(_ number: Int) { self.number = number; live += 1 }
  deinit { live -= 1 }
  @inline(never) public final func plain() -> Int { number }
  @inline(never) public final __consuming func finished() -> Int { number }
  open func virtual() -> Int { number }
"""

# Statements; `n` and `sum` are there.
STATEMENTS = [
    "sum &+= number",
    "sum &+= look(self)",
    "sum &+= take(self)",
    "sum &+= drop(self)",
    "sum &+= any(self)",
    "sum &+= ask(self)",
    "sum &+= any((n, self))",
    "sum &+= any((n, 1, 2, 3, 4, 5, self))",
    "sum &+= swallow((n, 1, 2, 3, 4, 5, self))",
    "anything.append((n, 1, 2, self))",
    "sum &+= any(Pair(number: n, thing: self))",
    "pairs.append(Pair(number: n, thing: self))",
    "pairs.append((Pair(number: n, thing: self)))",
    "sum &+= swallow(Pair(number: n, thing: self))",
    "sum &+= plain()",
    "sum &+= finished()",
    "sum &+= virtual()",
    "last = self",
    "kept.append(self)",
    "number = n",
    "next = Thing(n)",
    "sum &+= next?.number ?? 3",
    "if n > 4 { kept.append(self) }",
    "if n > 6 { last = self } else { sum &+= look(self) }",
    "if n & 1 == 0 { sum &+= take(self) }",
    "for _ in 0..<(n & 3) { sum &+= look(self) }",
    "for i in 0..<(n & 3) { kept.append(self); sum &+= i }",
    "later.append { self.number }",
    "sum &+= { self.number &+ n }()",
    "let all = [self, Thing(n)]; sum &+= all.count",
    "weak var me = self; sum &+= me?.number ?? 0",
    "let some: Thing? = n > 3 ? self : nil; sum &+= some?.number ?? 1",
    "switch n { case 1: sum &+= 4; case 2: last = self; case 3: sum &+= take(self); default: sum &+= number }",
    "let (a, b) = (self, Thing(n)); sum &+= a.number &+ b.number",
    "sum &+= (self as AnyObject as? Thing)?.number ?? 0",
    "withExtendedLifetime(self) { sum &+= $0.number }",
    "sum &+= Pair(number: n, thing: self).finished()",
    "sum &+= Pair(number: n, thing: self).put()",
    "sum &+= Pair(number: n, thing: self).looked()",
    "sum &+= takeLast(n, 1, 2, 3, 4, 5, self)",
    "sum &+= lookLast(n, 1, 2, 3, 4, 5, self)",
    "sum &+= takePair(n, 1, 2, 3, 4, 5, Pair(number: n, thing: self))",
    "sum &+= taker(n, 1, 2, 3, 4, 5, self)",
    "choices.append(.thing(self))",
    "sum &+= choose(.thing(self))",
    "sum &+= choose(.both(Pair(number: n, thing: self)))",
    "sum &+= run(plain)",
    "sum &+= run { [self] in number }",
    "sum &+= (try? risky(n)) ?? 2",
    "do { sum &+= try risky(n) } catch { last = self }",
    "defer { sum &+= (try? risky(1)) ?? 2 }",
    "if n == 5 { return %s }",
    "guard n != 7 else { kept.append(self); return %s }",
]
RESULTS = [("Int", "sum", "sum"), ("Int", "sum", "sum"), ("Thing", "self", "Thing(n)"), ("Thing?", "n > 2 ? self : nil", "nil"), ("Void", "()", "()"), ("Choice", ".thing(self)", ".none"),
           ("(Thing, Pair, Int)", "(self, Pair(number: n, thing: Thing(n)), 1)", "(Thing(n), Pair(number: 1, thing: Thing(n)), 2)")]

# With the parts of a value that has a number and an object.
PARTS = [
    "sum &+= number",
    "sum &+= thing.number",
    "sum &+= take(thing)",
    "sum &+= drop(thing)",
    "kept.append(thing)",
    "last = thing",
]

# What is done with self in the struct Box, whose words are passed by themselves.
ON_VALUES = PARTS + [
    "sum &+= any(self)",
    "sum &+= swallow(self)",
    "boxes.append(self)",
    "sum &+= text.utf8.count",
    "sum &+= text.hasPrefix(\"t\") ? 1 : 2",
    "sum &+= finished()",
    "sum &+= looked()",
    "if n & 1 == 0 { boxes.append(self) }",
    "for i in 0..<(n & 3) { kept.append(thing); sum &+= i }",
    "later.append { thing.number }",
    "later.append { [self] in text.utf8.count &+ number }",
    "var other = self; other.number = n; sum &+= other.looked()",
    "var another = self; another.thing = Thing(n); sum &+= another.finished()",
    "if n == 5 { return %s }",
    "guard n != 7 else { boxes.append(self); return %s }",
]


# What else values of the other types do, and what they return.
OF_ALL = [
    "sum &+= any(self)",
    "sum &+= swallow(self)",
    "anything.append(self)",
    "sum &+= finished()",
    "sum &+= looked()",
    "if n & 1 == 0 { anything.append(self) }",
    "later.append { [self] in any(self) }",
    "var copy = self; sum &+= copy.looked(); copy = self",
    "let both = (self, n); sum &+= any(both)",
    "let list = [self, self]; sum &+= list.count",
    "sum &+= (self as Any is Thing) ? 1 : 2",
    "withExtendedLifetime(self) { sum &+= $0.looked() }",
    "let many = (n, 1, 2, 3, 4, 5, self); sum &+= any(many)",
    "sum &+= swallow((n, 1, 2, 3, 4, 5, self))",
    "for i in 0..<(n & 3) { anything.append(self); sum &+= i }",
    "sum &+= (try? risky(n)) ?? 2",
    "if n == 5 { return %s }",
    "guard n != 7 else { anything.append(self); return %s }",
]
OF_PARTS = PARTS + [
    "for i in 0..<(n & 3) { kept.append(thing); sum &+= i }",
    "later.append { thing.number }",
]
OF_BIG = ["sum &+= text.utf8.count", "sum &+= more.count", "sum &+= more.first?.number ?? 1", "kept += more", "for each in more { sum &+= each.number }",
          "sum &+= spare?.number ?? 2", "if let spare { sum &+= take(spare) }", "var another = self; another.changed(n); sum &+= another.finished()",
          "sum &+= text.hasPrefix(\"t\") ? 1 : 2", "sum &+= tail"]
OF_DUO = ["sum &+= any(first)", "sum &+= swallow(first)", "sum &+= second.count", "anything.append(second)", "for each in second { sum &+= any(each) }"]
OF_SOME = ["if case .thing(let thing) = self { sum &+= take(thing) }", "if case .text(let text) = self { sum &+= text.utf8.count }",
           "switch self { case .none: sum &+= 1; case .both(let thing, let n): sum &+= take(thing) &+ n; default: sum &+= number }",
           "sum &+= number", "if case .box(.node(let deep, _)) = self { anything.append(deep) }"]
TYPES = [
    ("Box", "B", ON_VALUES, [("Int", "sum", "sum"), ("Void", "()", "()"), ("Thing", "thing", "Thing(n)"), ("String", "text", "\"\""), ("Box", "self", "Box(n)")]),
    ("Big", "G", OF_ALL + OF_PARTS + OF_BIG,
     [("Int", "sum", "sum"), ("Void", "()", "()"), ("Thing", "thing", "Thing(n)"), ("Thing?", "spare", "nil"), ("[Thing]", "more", "[]"), ("Big", "self", "Big(n)")]),
    ("Duo", "D", OF_ALL + OF_PARTS + OF_DUO,
     [("Int", "sum", "sum"), ("Void", "()", "()"), ("Thing", "thing", "Thing(n)"), ("E", "first", "second[0]"), ("[E]", "second", "[]"), ("Duo", "self", "Duo(n, first)")]),
    ("Some", "E", OF_ALL + OF_SOME, [("Int", "sum", "sum"), ("Void", "()", "()"), ("Some", "self", "Some(n)"), ("Some?", "n > 2 ? self : nil", "nil")]),
]
OF_THING = ["if case .thing(let thing) = self { sum &+= take(thing) }", "if case .thing(let thing) = self { kept.append(thing) }",
            "switch self { case .thing(let thing): sum &+= drop(thing); default: sum &+= number }", "sum &+= number"]


def of_enum(name, new="%s(n)"):
    return [("Int", "sum", "sum"), ("Void", "()", "()"), (name, "self", new % name), (name + "?", "n > 2 ? self : nil", "nil")]


ENUMS = [
    ("Slim", "S", OF_ALL + OF_THING, of_enum("Slim")),
    ("Duet", "M", OF_ALL + OF_THING + ["if case .things(let all) = self { kept += all }", "if case .other(let other) = self { sum &+= other.number; kept.append(other) }"], of_enum("Duet")),
    ("Mixed", "X", OF_ALL + ["sum &+= number", "if case .run(let body) = self { later.append(body) }", "if case .some(let one) = self { sum &+= ask(one); kept.append(one) }",
                             "if case .pair(let thing, let other) = self { sum &+= take(thing) &+ other.number }"], of_enum("Mixed")),
    ("Wide", "W", OF_ALL + OF_THING + ["if case .big(let big) = self { sum &+= big.looked() }", "if case .box(let box) = self { boxes.append(box) }",
                                       "switch self { case .big(let big): sum &+= big.finished(); case .box(let box): sum &+= box.looked(); default: sum &+= n }"], of_enum("Wide")),
    ("Deep", "K", OF_ALL + ["sum &+= number", "if case .leaf(let thing) = self { sum &+= take(thing) }", "if case .node(let deep, let n) = self { anything.append(deep); sum &+= n }"], of_enum("Deep")),
    ("Tree", "H", OF_ALL + ["sum &+= number", "if case .leaf(let e) = self { sum &+= any(e) }", "if case .pair(let thing, let all) = self { sum &+= take(thing) &+ all.count }"],
     [("Int", "sum", "sum"), ("Void", "()", "()"), ("Tree", "self", ".none"), ("Tree?", "n > 2 ? self : nil", "nil")]),
    ("Optional where Wrapped == Box", "N", OF_ALL + ["sum &+= number", "if let box = self { kept.append(box.thing) }", "if let box = self { boxes.append(box) }"],
     [("Int", "sum", "sum"), ("Void", "()", "()"), ("Box?", "self", "nil"), ("Box", "self ?? Box(n)", "Box(n)")]),
]


def asks_for_copy(found):
    return "(copy self)" if found[0] else "(copy self)."


def used_up(statements):
    """The spelling of a method that uses self up, and the statements as they are in it: a `consuming` self is copied by request only."""
    # An escaping closure cannot have it.
    if chance.random() < 0.5 or any("later.append" in each or "run(" in each or "run {" in each for each in statements):
        return "__consuming ", statements
    return "consuming ", [re.sub(r"\bself\b(?!\.)|(?<![.\w])(?=finished\()", asks_for_copy, each) for each in statements]


def on_values(letter, statements, results, number):
    made = []
    for index in range(number):
        for used in (False, True):
            result, last, early = chance.choice(results)
            lines = ["var sum = n"] + [each % early if "%s" in each else each for each in chance.sample(statements, chance.randrange(1, 5))]
            throws = chance.random() < 0.2
            if throws:
                lines.insert(chance.randrange(1, len(lines) + 1), "if n == 2 { throw Problem() }")
            spelled = ""
            if used:
                spelled, (*lines, last) = used_up(lines + [last])
            made.append("  @inline(never) public %sfunc %s%d%s(_ n: Int)%s -> %s {\n    %s\n    _ = sum\n    return %s\n  }" % (
                spelled, "used" if used else "kept", index, letter, " throws" if throws else "", result, "\n    ".join(lines), last))
    return "\n".join(made)


# What getters do: nothing that another run would find changed.
OF_CLASS = ["sum &+= look(self)", "sum &+= take(self)", "sum &+= drop(self)", "sum &+= any(self)", "sum &+= ask(self)", "kept.append(self)", "sum &+= plain()",
            "sum &+= finished()", "sum &+= Pair(number: n, thing: self).put()", "if n > 4 { kept.append(self) }", "later.append { self.number }"]
OF_SOLE = PARTS + ["let other = thing; sum &+= look(other)", "if n & 1 == 0 { kept.append(thing) }", "for i in 0..<(n & 3) { kept.append(thing); sum &+= i }",
                   "later.append { [thing] in thing.number }", "sum &+= any(thing)"]
GETTERS = [("Thing", "A", OF_CLASS, "self"), ("Box", "U", PARTS + ["sum &+= any(self)", "boxes.append(self)", "sum &+= finished()", "sum &+= looked()"], "thing"),
           ("Big", "Y", OF_PARTS + OF_BIG[:6] + ["sum &+= any(self)", "anything.append(self)"], "thing"), ("Some", "Z", OF_SOME + ["sum &+= any(self)"], "Thing(n)"),
           ("Slim", "L", OF_THING + ["sum &+= looked()"], "Thing(n)"), ("Sole", "R", OF_SOLE, "thing")]


def getters(type_name, letter, statements, thing, number):
    made, calls = [], []
    for index in range(number):
        for used in (False, True):
            of_object = chance.random() < 0.3
            lines = ["let n = number", "var sum = n"] + chance.sample(statements, chance.randrange(1, min(4, len(statements))))
            last = thing if of_object else "sum"
            spelled = ""
            if used:
                # Of what cannot be copied nothing is asked.
                spelled, (*lines, last) = ("consuming ", lines + [last]) if type_name == "Sole" else used_up(lines + [last])
            name = "%s%d%s" % ("used" if used else "kept", index, letter)
            made.append("  public %svar %s: %s {\n    @inline(never) %sget {\n    %s\n    _ = sum\n    return %s\n    }\n  }" % (
                "final " if type_name == "Thing" else "", name, "Thing" if of_object else "Int", spelled, "\n    ".join(lines), last))
            calls.append("  for n in numbers { show(\"%s\") { let made = %s; return \"\\(made.%s%s)\" } }" % (
                name, "make(n)" if type_name == "Thing" else type_name + "(n)", name, ".number" if of_object else ""))
    return "\n".join(made), calls


methods, calls = [], []
for index in range(count):
    for used in (False, True):
        result, last, early = chance.choice(RESULTS)
        lines = ["var sum = n", "defer { kept.append(Thing(sum & 7)) }" if chance.random() < 0.1 else "sum &+= 1"]
        for statement in chance.sample(STATEMENTS, chance.randrange(1, 5)):
            lines.append(statement % early if "%s" in statement else statement)
        throws = chance.random() < 0.25
        if throws:
            lines.insert(chance.randrange(2, len(lines) + 1), chance.choice(["if n == 2 { throw Problem() }", "sum &+= try risky(n)"]))
        spelled = ""
        if used:
            spelled, (*lines, last) = used_up(lines + [last])
        letter = {"Int": "I", "Thing": "T", "Thing?": "O", "Void": "V", "Choice": "C", "(Thing, Pair, Int)": "P"}[result]
        name = "%s%d%s" % ("used" if used else "kept", index, letter)
        final = chance.choice(["final ", ""])
        methods.append("  @inline(never) public %s%sfunc %s(_ n: Int)%s -> %s {\n    %s\n    _ = sum\n    return %s\n  }" % (
            final, spelled, name, " throws" if throws else "", result, "\n    ".join(lines), last))
        shown = {"Int": "\\($0)", "Thing": "\\($0.number)", "Thing?": "\\($0?.number ?? -1)", "Void": "done", "Choice": "\\($0)", "(Thing, Pair, Int)": "\\($0.0.number)"}[result]
        calls.append("  for n in numbers { show(\"%s\") { let thing = make(n); let text = { (_ r: %s) in %s }; return text(%sthing.%s(n)) } }" % (
            name, result, '"%s"' % shown.replace("$0", "r"), "try " if throws else "", name))

with open(library, "w") as out:
    out.write(HEAD + "\n".join(methods) + "\n}\n")
    for name, letter, statements, results in TYPES:
        out.write("extension %s {\n%s\n}\n" % (name, on_values(letter, statements, results, count // 2)))
    for name, letter, statements, thing in GETTERS:
        made, more = getters(name, letter, statements, thing, max(count // 8, 2))
        out.write("extension %s {\n%s\n}\n" % (name, made))
        calls += more
    for name, letter, statements, results in ENUMS:
        out.write("extension %s {\n%s\n}\n" % (name, on_values(letter, statements, results, count // 4)))
with open(main, "w") as out:
    out.write("""import Things
let numbers = [0, 1, 2, 3, 5, 7, 9]
@inline(never) func make(_ n: Int) -> Thing { let thing = Thing(n &+ 10); thing.next = Thing(n); return thing }
@inline(never) func show(_ name: String, _ body: () throws -> String) {
  do { print(name, try body()) } catch { print(name, "throws") }
  forget()
  if live != 0 { print(name, "leaves \\(live) alive"); live = 0 }
}
@main struct Main { static func main() {
%s
  func offerAll(_ n: Int) {
    offer(Box(n), n)
    offerBig(Big(n), n)
    offerDuo(Duo(n, Thing(n)), n)
    offerCase(Some(n), n)
    offerSlim(Slim(n), n)
    offerDuet(Duet(n), n)
    offerMixed(Mixed(n), n)
    offerWide(Wide(n), n)
    offerDeep(Deep(n), n)
    offerTree(Tree(n, Thing(n)), n)
  }
  for n in 1..<6 { offerAll(n) }
  forget()
  let before = live
  for n in 1..<20 { offerAll(n) }
  forget()
  print("boxes left: \\(live - before)")
  print("values that cannot be copied ended: \\(ended)")
  print("the end")
} }
""" % "\n".join(calls))
