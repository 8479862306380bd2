// Methods of structs of which the code's every end of self counts, and no other: `used…` are consuming, all others are not.
public final class Thing {
  nonisolated(unsafe) public static var alive = 0
  public var number = 1
  public init() { Thing.alive += 1 }
  deinit { Thing.alive -= 1 }
}
nonisolated(unsafe) public var sink = 0

/// The end of an unowned reference is no retain and no release, and still an end. Nothing else of `used` is in doubt.
public struct Idle {
  var n: Int
  unowned let thing: Thing
  public init(_ thing: Thing) { (n, self.thing) = (1, thing) }
  @inline(never) public __consuming func used() -> Int { n }
  @inline(never) public func kept() -> Int { n }
}

public struct Alone {
  var n: Int
  unowned let thing: Thing
  public init(_ thing: Thing) { (n, self.thing) = (1, thing) }
  @inline(never) public __consuming func used() -> Int { sink &+= n; return n &+ thing.number }
  @inline(never) public func kept() -> Int { sink &+= n; return n &+ thing.number }
  @inline(never) public func later(_ m: Int) async -> Int { sink &+= m; return m &+ thing.number }
}

public struct Beside {
  var n: Int
  var other: Thing?
  unowned let thing: Thing
  public init(_ thing: Thing) { (n, other, self.thing) = (1, nil, thing) }
  @inline(never) public __consuming func used() -> Int { sink &+= n; return n &+ thing.number }
  @inline(never) public func kept() -> Int { sink &+= n; return n &+ thing.number }
}

/// What holds a weak reference is ended like all else, though its bits change then.
public struct Watching {
  public var name: String
  weak var thing: Thing?
  public init(_ thing: Thing) { (name, self.thing) = ("a name that lives on the heap", thing) }
  public var length: Int { @inline(never) get { name.utf8.count } }
  @inline(never) public func kept() -> Int { name.utf8.count }
}

public enum Choice { case text(String), all([Thing]), one(Thing), nothing }

/// Others' words are copied and ended by functions that take fewer words than there are registers, while self is in those behind.
public struct Behind {
  let thing: Thing
  var n: Int
  public init(_ thing: Thing) { (self.thing, n) = (thing, 1) }
  @inline(never) public func kept(_ choice: __owned Choice) -> Int { n }
  @inline(never) public func kept() -> Int { n }
  @inline(never) public __consuming func used(_ choice: Choice) -> Choice { choice }
}

public struct Pot<T> {
  unowned let thing: Thing
  public var value: T
  public init(_ thing: Thing, _ value: T) { (self.thing, self.value) = (thing, value) }
  @inline(never) public func number() -> Int { sink &+= 1; return thing.number }
}

/// `consuming`, unlike `__consuming`, makes a variable of self: its words are moved into the frame, and end there by address.
public struct Pair {
  let thing: Thing
  let text: String
  public init(_ thing: Thing) { (self.thing, text) = (thing, "a text that lives on the heap") }
  @inline(never) public consuming func used() -> Int { thing.number }
  @inline(never) public consuming func used(_ n: Int) -> Int { n }
  @inline(never) public consuming func used(by other: String) -> String { other + text }
  @inline(never) public func kept(by other: String) -> String { other + text }
}

/// More words than registers hold.
public struct Pairs {
  let n: Int
  let first: Pair
  let second: Pair
  public init(_ thing: Thing) { (n, first, second) = (1, Pair(thing), Pair(thing)) }
  @inline(never) public consuming func used() -> Int { first.thing.number }
  @inline(never) public consuming func used(_ n: Int) -> Int { n &+ self.n }
  @inline(never) public consuming func used(by other: String) -> String { other + second.text }
  @inline(never) public consuming func used(twice other: String) -> String { first.text + second.text + other }
  @inline(never) public func kept(by other: String) -> String { other + second.text }
}

/// What a witness table leads to may be consuming.
public protocol Job: AnyObject { __consuming func finish() -> Int }
extension Job {
  @inline(never) public __consuming func used() -> Int { finish() &+ 1 }
}

/// The last that is done with self is its `deinit`, which takes it.
public struct File: ~Copyable {
  let thing: Thing
  var n: Int
  public init(_ thing: Thing) { (self.thing, n) = (thing, 1) }
  deinit { sink &+= thing.number }
  @inline(never) public consuming func used() -> Int { n }
}

/// The bits of self, as a value of another type, of which nothing is to be ended.
public enum Holder { case strong(Thing), lent(Unmanaged<Thing>) }
@inline(never) public func take(_ holder: __owned Holder) -> Int {
  if case .strong(let thing) = holder { return thing.number }
  return 0
}
public struct Lender {
  let thing: Thing
  public init(_ thing: Thing) { self.thing = thing }
  @inline(never) public func kept(_ isFirst: Bool) -> Int {
    let (one, other) = (Holder.lent(.passUnretained(thing)), Holder.lent(.passUnretained(thing)))
    return take(isFirst ? one : other)
  }
}

/// One getter gives up its self.
public struct Drawer {
  let thing: Thing
  let n: Int
  public init(_ thing: Thing) { (self.thing, n) = (thing, 1) }
  public var taken: Thing { @inline(never) __consuming get { thing } }
  public var shown: Thing { @inline(never) get { thing } }
}
