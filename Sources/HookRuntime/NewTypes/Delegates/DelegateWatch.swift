// DelegateWatch — sees every call that the program makes on the delegates in a property, whoever they are.
//
//     let watch = try DelegateWatch("Shop.Cart.delegate") { call in
//       print(call.requirement, call.argument(0, as: Cart.self)!)
//     }
//
// What is given to the property is put behind a proxy at the setter: the owner calls the proxy, which records and goes on to
// the target. The getter gives the very object back that was set. Where no proxy can stand in the property, hooks on the
// methods of all conforming types record instead. `explanation` says which, and what is not seen.
package import CHookTrampoline

/// A call on a delegate. Valid until the closure that gets it returns.
public struct DelegateCall: ~Copyable {
  package let call: UnsafeMutablePointer<HKTCall>
  /// `cartDidChange(_:)`
  public let requirement: String
  /// The delegate.
  public let target: AnyObject?
  private let behaviour: Behaviour?
  private let entry: RequirementEntry?

  init(_ call: UnsafeMutablePointer<HKTCall>, _ requirement: String, target: AnyObject?) {
    self.call = call
    self.requirement = requirement
    self.target = target
    behaviour = nil
    entry = nil
  }

  init(_ call: UnsafeMutablePointer<HKTCall>, _ entry: RequirementEntry, _ behaviour: Behaviour, target: AnyObject?) {
    self.call = call
    requirement = entry.name
    self.target = target
    self.behaviour = behaviour
    self.entry = entry
  }

  /// The delegate's type has an implementation of its own, and does not leave the requirement to a default one; nil where that
  /// does not show.
  public var isImplemented: Bool? {
    guard let behaviour, let entry else { return true }
    return behaviour.targetImplements(entry)
  }

  /// Argument `index` (from 0), or nil when it is of another type.
  public borrowing func argument<T>(_ index: Int, as type: T.Type = T.self) -> T? {
    HookedCall.argument(index, of: CallView(call), as: type)
  }
}

public final class DelegateWatch: @unchecked Sendable {
  // Set in init, but for `tokens` and `isOver`, which are behind `lock`.
  package enum Way: Sendable { case proxy, methods }
  package let way: Way
  /// Which way the calls are seen, and what is not seen.
  public let explanation: String
  private let center: DelegateCenter  // kept for ever
  private let recorder: DelegateRecorder
  private let lock = RecursiveLock()
  private var isOver = false

  /// - Parameters:
  ///   - property: `Shop.Cart.delegate`
  ///   - record: runs before each call goes on, on the caller's thread.
  public convenience init(_ property: String, _ record: @escaping @Sendable (borrowing DelegateCall) -> Void) throws(NewTypeError) {
    try self.init(property, requirements: nil, record)
  }

  /// - Parameters:
  ///   - requirements: those that are recorded; nil for all.
  ///   - way: nil: proxies where they can be.
  package init(
    _ property: String, requirements: [String]?, way: Way? = nil, _ record: @escaping DelegateRecorder.Record
  ) throws(NewTypeError) {
    center = try DelegateCenter.of(property, way: way)
    self.way = center.way
    recorder = try center.add(requirements, record)
    explanation = center.explanation
  }

  /// The requirement of this name, for what is shown of its calls.
  package static func family(_ requirement: String, of property: String) throws(NewTypeError) -> Family {
    try DelegateCenter.of(property, way: nil).family(requirement)
  }

  /// Gives the delegate that an owner has now the proxy it would have got when it was set. False where it cannot be done: the
  /// property is not stored, or not weak, or holds nothing.
  @discardableResult
  public func adopt(_ owner: AnyObject) -> Bool { center.adopt(owner) }

  /// Calls that start later are not recorded. Answers false when it was removed before. Never waits.
  @discardableResult
  public func remove() -> Bool {
    let isFirst = lock.withLock {
      defer { isOver = true }
      return !isOver
    }
    if isFirst { center.remove(recorder) }
    return isFirst
  }

  /// Proxies that stand in the property of some object now.
  public var proxies: Int { center.proxyCount }
  /// Values that were left without a proxy because it would have come to stand before itself.
  public var cycles: Int { center.refusedCycles }
}

/// One who records.
package final class DelegateRecorder: Sendable {
  package typealias Record = @Sendable (borrowing DelegateCall) -> Void
  let requirements: Set<String>?
  let record: Record

  init(_ requirements: [String]?, _ record: @escaping Record) {
    self.requirements = requirements.map(Set.init)
    self.record = record
  }
}
