// The module whose protocols are implemented at run time, and whose delegates are watched. Compiled by itself, at -Onone
// and at -O.

public protocol Named: AnyObject {
  var name: String { get set }
  func describe() -> String
}

public protocol CartDelegate: Named {
  func cartDidChange(_ cart: Cart)
  func cart(_ cart: Cart, shouldAdd item: String, times: Int) throws -> Bool
  func many(_ a: Int, _ b: Double, _ c: String, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: [String]) -> [Double]
  func maybe(_ index: Int) -> String?
  subscript(index: Int) -> Int { get set }
  /// Types need not implement it.
  func optional() -> String
}

extension CartDelegate {
  public func optional() -> String { "default of \(type(of: self)) \(name)" }
}

open class Cart {
  public weak var delegate: (any CartDelegate)?
  public private(set) var items: [String] = []
  public let token = Token()
  public init() {}

  open func add(_ item: String, times: Int = 1) throws -> Bool {
    guard let delegate else {
      items.append(item)
      return true
    }
    guard try delegate.cart(self, shouldAdd: item, times: times) else { return false }
    for _ in 0..<times { items.append(item) }
    delegate.cartDidChange(self)
    return true
  }
}

/// An ordinary delegate.
open class Screen: CartDelegate {
  public var name: String { didSet { Trace.shared.add("renamed:\(name)") } }
  public var numbers = [1, 2, 3]
  public let token = Token()
  public init(_ name: String) { self.name = name }
  open func describe() -> String { "screen \(name)" }
  open func cartDidChange(_ cart: Cart) { Trace.shared.add("\(name):changed:\(cart.items.count)") }
  open func cart(_ cart: Cart, shouldAdd item: String, times: Int) throws -> Bool {
    Trace.shared.add("\(name):should:\(item)")
    if times > 100 { throw ShopError(code: times) }
    return times > 0
  }
  open func many(_ a: Int, _ b: Double, _ c: String, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: [String]) -> [Double] {
    [Double(a + d + e + f + g), b, Double(c.utf8.count), Double(h.joined().utf8.count)]
  }
  open func maybe(_ index: Int) -> String? { index == 0 ? nil : "\(name) \(index)" }
  public subscript(index: Int) -> Int {
    get { numbers[index] }
    set { numbers[index] = newValue }
  }
}

/// Another one, which has its own `optional`.
public final class Panel: CartDelegate {
  public var name = "panel"
  public init() {}
  public func describe() -> String { "a panel" }
  public func cartDidChange(_ cart: Cart) { Trace.shared.add("panel:changed:\(cart.items.count)") }
  public func cart(_ cart: Cart, shouldAdd item: String, times: Int) throws -> Bool { true }
  public func many(_ a: Int, _ b: Double, _ c: String, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: [String]) -> [Double] { [] }
  public func maybe(_ index: Int) -> String? { nil }
  public subscript(index: Int) -> Int {
    get { index }
    set {}
  }
  public func optional() -> String { "own" }
}

/// Calls as the program makes them: through the protocol.
public enum Desk {
  public static func many(_ d: any CartDelegate) -> [Double] { d.many(1, 2.5, "three", 4, 5, 6, 7, ["a", "bc"]) }
  public static func rename(_ d: any Named) { d.name += "!" }
  public static func bump(_ d: any CartDelegate, _ index: Int) { d[index] += 10 }
  public static func name(_ d: any Named) -> String { d.name }
  public static func describe(_ d: any Named) -> String { d.describe() }
  public static func optional(_ d: any CartDelegate) -> String { d.optional() }
  public static func maybe(_ d: any CartDelegate, _ index: Int) -> String? { d.maybe(index) }
  public static func asNamed(_ object: AnyObject) -> (any Named)? { object as? any Named }
  public static func asDelegate(_ object: AnyObject) -> (any CartDelegate)? { object as? any CartDelegate }
  public static func generic<T: CartDelegate>(_ d: T) -> String { d.describe() + "|" + d.optional() }
  public static func opened(_ d: any CartDelegate) -> String { generic(d) }
}

/// Whoever wants a delegate gets it here.
open class Provider: @unchecked Sendable {
  public static let shared = Provider()
  init() {}
  open func delegate(for screen: Screen) -> any CartDelegate { screen }
}

// MARK: Owners of delegates

/// Keeps its delegate.
open class Keeper {
  public var delegate: any CartDelegate { didSet { Trace.shared.add("kept:\(delegate.name)") } }
  public init(_ delegate: any CartDelegate) { self.delegate = delegate }
  open func change(_ cart: Cart) { delegate.cartDidChange(cart) }
}

/// Does not know whether its delegate is there.
open class Loose_ {
  public unowned var delegate: any CartDelegate
  public init(_ delegate: any CartDelegate) { self.delegate = delegate }
  open func change(_ cart: Cart) { delegate.cartDidChange(cart) }
}

/// Sets the delegate again while it is being set.
open class Stubborn {
  public var fallback: (any CartDelegate)?
  public var isDirect = true
  open weak var delegate: (any CartDelegate)? {
    didSet {
      if delegate == nil, let fallback {
        if isDirect { delegate = fallback } else { reset() }
      }
    }
  }
  public init() {}
  open func reset() { delegate = fallback }
  open func change(_ cart: Cart) { delegate?.cartDidChange(cart) }
}

/// Asks its delegate whether it can do more.
public protocol CartExtras: AnyObject { func extra(_ x: Int) -> Int }
extension Cart {
  public func extra() -> Int { (delegate as? any CartExtras)?.extra(20) ?? -1 }
  public func isPanel() -> Bool { delegate is Panel }
  /// A free read inside the module.
  public func holdsProxy(for object: AnyObject) -> Bool { delegate != nil && delegate !== object }
}
open class ExtraScreen: Screen, CartExtras { public func extra(_ x: Int) -> Int { x + 1 } }

/// Another library's proxy: implements nothing itself.
public final class Forwarder: CartDelegate {
  public var next: (any CartDelegate)?
  public let token = Token()
  public init(_ next: (any CartDelegate)?) { self.next = next }
  public var name: String {
    get { next?.name ?? "" }
    set { next?.name = newValue }
  }
  public func describe() -> String { "forward " + (next?.describe() ?? "") }
  public func cartDidChange(_ cart: Cart) {
    Trace.shared.add("forward")
    next?.cartDidChange(cart)
  }
  public func cart(_ cart: Cart, shouldAdd item: String, times: Int) throws -> Bool {
    try next?.cart(cart, shouldAdd: item, times: times) ?? true
  }
  public func many(_ a: Int, _ b: Double, _ c: String, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: [String]) -> [Double] { [] }
  public func maybe(_ index: Int) -> String? { next?.maybe(index) }
  public subscript(index: Int) -> Int {
    get { next?[index] ?? 0 }
    set { next?[index] = newValue }
  }
  /// What code of this module finds in the property.
  @inline(never) public static func find(_ cart: Cart) -> (any CartDelegate)? { cart.delegate }
  /// Takes the delegate's place, and forwards to it: what the module itself sees there.
  public func insert(before cart: Cart) {
    next = cart.delegate
    cart.delegate = self
  }
}

// What cannot be implemented.

public protocol Loose { func loose() }
public struct LooseValue: Loose { public func loose() {} }
public protocol Holder: AnyObject {
  associatedtype Item
  func item() -> Item
}
public final class IntHolder: Holder { public func item() -> Int { 1 } }
public protocol Comparing: AnyObject { func isLike(_ other: Self) -> Bool }
public final class Comparer: Comparing { public func isLike(_ other: Comparer) -> Bool { true } }
public protocol Making: AnyObject { static func make() -> Int }
public final class Maker: Making { public static func make() -> Int { 1 } }

/// One type conforms, and only this module knows it.
protocol Inner: AnyObject { func inner(_ x: Int) -> Int }
final class OnlyInner: Inner {
  var n = 1
  @inline(never) func inner(_ x: Int) -> Int {
    n += x
    return n
  }
}
@inline(never) func useInner(_ i: any Inner) -> Int { i.inner(3) }
public func innerTotal() -> Int { useInner(OnlyInner()) }

/// Two do.
protocol Shared: AnyObject { func shared(_ x: Int) -> Int }
final class OneShared: Shared { @inline(never) func shared(_ x: Int) -> Int { x + 1 } }
final class OtherShared: Shared { @inline(never) func shared(_ x: Int) -> Int { x + 2 } }
@inline(never) func useShared(_ s: any Shared) -> Int { s.shared(10) }
public func sharedTotal(_ object: AnyObject?) -> Int {
  if let s = object as? any Shared { return useShared(s) }
  return useShared(OneShared()) + useShared(OtherShared())
}
