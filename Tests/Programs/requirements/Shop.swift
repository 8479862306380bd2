// Types that conform in all the ways in which a witness goes on to a method, or holds a copy of it. No two methods are the same code.
import Base

public protocol Reporter: AnyObject {
  func changed(_ n: Int) -> Int
  func told(_ n: Int) async throws -> Int
  var size: Int { get set }
  static func kind(_ n: Int) -> Int
}
/// Self goes by address.
public protocol Priced { func worth(_ n: Int) -> Int }

/// The witnesses go by slots of a class in another module, and by slots behind those.
open class Screen: Base, Reporter, Priced {
  open override func changed(_ n: Int) -> Int { n + 5 }
  open override class func kind(_ n: Int) -> Int { n + 2 }
  open func told(_ n: Int) async throws -> Int {
    await Task.yield()
    return n
  }
  open var size: Int {
    get { n }
    set { n = newValue }
  }
  open func worth(_ n: Int) -> Int { n &* 7 }
}
open class SubScreen: Screen {
  open override func changed(_ n: Int) -> Int { n + 100 }
  open override class func kind(_ n: Int) -> Int { n + 3 }
  open override func told(_ n: Int) async throws -> Int { n + 100 }
  open override func worth(_ n: Int) -> Int { n &* 8 }
}

/// By its own slots.
open class Plain: Reporter, Priced {
  var n = 1
  public init() {}
  open func changed(_ n: Int) -> Int { n + 6 }
  open class func kind(_ n: Int) -> Int { n + 4 }
  open func told(_ n: Int) async throws -> Int { n }
  open var size: Int {
    get { n }
    set { n = newValue }
  }
  open func worth(_ n: Int) -> Int { n &* 9 }
}
open class SubPlain: Plain {
  open override func changed(_ n: Int) -> Int { n + 200 }
  open override func worth(_ n: Int) -> Int { n &* 10 }
}

open class Older {
  public init() {}
  @inline(never) open func changed(_ n: Int) -> Int { n + 1 }
  open func told(_ n: Int) async throws -> Int { n + 30 }
  open class func kind(_ n: Int) -> Int { n + 31 }
  public var size = 1
}
/// With optimisation the witness is a copy, which calls the same method of another object.
public final class Next: Older, Reporter {
  let next: Older
  public init(_ next: Older) { self.next = next }
  public override func changed(_ n: Int) -> Int { next.changed(n) }
}
/// With optimisation its witness is a copy, which calls the method of its own ancestor.
public final class Upward: Older, Reporter {
  public override func changed(_ n: Int) -> Int { super.changed(n) + 1 }
}
/// And of a part.
public struct Part: Priced { @inline(never) public func worth(_ n: Int) -> Int { n &* 3 } }
public struct Whole: Priced {
  let part = Part()
  public init() {}
  public func worth(_ n: Int) -> Int { part.worth(n) + 1 }
}
/// Overloads: with optimisation the witness is a copy of the one that is meant, which calls the other.
public protocol Sink { func write(_ text: String) -> Int }
public struct Journal: Sink {
  public init() {}
  @inline(never) public func write(_ bytes: [UInt8]) -> Int { bytes.count &* 3 }
  public func write(_ text: String) -> Int { write(Array(text.utf8)) &+ 1 }
}

@inline(never) public func change(_ r: any Reporter) -> Int { r.changed(1) }
@inline(never) public func tell(_ r: any Reporter) async -> Int { (try? await r.told(1)) ?? 0 }
@inline(never) public func grow(_ r: any Reporter) { r.size = r.size + 1 }
@inline(never) public func kind(_ r: any Reporter) -> Int { type(of: r).kind(1) }
@inline(never) public func price(_ p: any Priced) -> Int { p.worth(1) }
@inline(never) public func note(_ s: any Sink) -> Int { s.write("a") }
nonisolated(unsafe) public var marks: [String] = []  // of the main task alone
@inline(never) public func mark(_ text: String) { marks.append(text) }

/// Async requirements that members carry out which are not: with optimisation the witnesses, which are async, are copies of them.
public protocol Watcher {
  var watched: [Int] { get async }
  func look(_ n: Int) async -> Int
}
public final class Sentry: Watcher {
  public init() {}
  public var watched: [Int] { [1, 2] }
  public func look(_ n: Int) -> Int { n &* 11 }
}
@inline(never) public func watch(_ w: any Watcher) async -> Int { await w.watched.count }
@inline(never) public func look(_ w: any Watcher) async -> Int { await w.look(2) }

/// A generic requirement: a witness takes what conforms, and the table, behind what the method is generic over.
public protocol Maker { func make<T: Numbered>(_ type: T.Type, _ n: Int) -> T }
public protocol Tooled { func make<T: Numbered>(_ type: T.Type, _ n: Int) -> T }
public protocol Numbered { init(number: Int) }
public struct Coin: Numbered {
  public let number: Int
  public init(number: Int) { self.number = number }
}
/// The witnesses of both protocols are equal, and forward to the method.
public final class Mint<Metal: Priced>: Maker, Tooled {
  let metal: Metal
  public init(_ metal: Metal) { self.metal = metal }
  @inline(never) public func make<T: Numbered>(_ type: T.Type, _ n: Int) -> T { T(number: metal.worth(n) &+ 1) }
}
/// With optimisation nothing is left of the method but the witness.
struct Press<Metal: Priced>: Maker {
  let metal: Metal
  @inline(__always) func make<T: Numbered>(_ type: T.Type, _ n: Int) -> T { T(number: metal.worth(n) &+ 2) }
}
@inline(never) public func made(_ maker: any Maker) -> Coin { maker.make(Coin.self, 3) }
@inline(never) public func made(by maker: any Tooled) -> Coin { maker.make(Coin.self, 4) }
@inline(never) public func press() -> any Maker { Press(metal: Plain()) }
