// Handler — a Swift closure as a layer: hands it its call, applies what it changed, and stands in when it fails.
internal import CHookTrampoline
internal import SwiftMangling
private import Synchronization

/// One closure on one selector. Called from any thread.
final class Handler: @unchecked Sendable {
  // Everything is set before the handler is installed, but for the counters and the class, which are atomic.
  let selector: String
  let position: HookPosition
  let isInitialiser: Bool
  /// `Shop/Checkout.swift:12`, where the hook was made.
  let site: String
  fileprivate let run: Run
  /// What a handler that waits runs; nil for all others.
  let asyncBody: AsyncHandlerRun.Body?
  private let receiver: ReceiverCheck
  private let failed = Atomic<Int>(0)
  private let unprovenResult = UnprovenResult()
  /// The function is private: what the handler passes it none of its callers may pass.
  let isOnPrivate: Bool
  private let reportedPrivate = Atomic<Bool>(false)

  /// Hands the closure its call.
  typealias Run = @Sendable (RunningHandler) throws -> Void

  init(_ family: Family, _ position: HookPosition, site: String, run: @escaping Run, asyncBody: AsyncHandlerRun.Body?) {
    self.asyncBody = asyncBody
    selector = family.selector
    self.position = position
    isInitialiser = family.declaration.kind == .allocatingInit || family.declaration.kind == .`init`
    self.site = site
    self.run = run
    receiver = ReceiverCheck(family.declaration)
    isOnPrivate = family.declaration.isEffectivelyPrivate
  }

  var failures: Int { failed.load(ordering: .relaxed) }

  /// The layer of every handler that runs to its end at once.
  static let layer: HKTLayerFunction = { call, context, phase in
    // The dispatcher gives layers their call, and the context is the handler that was retained for this layer.
    Unmanaged<Handler>.fromOpaque(context.unsafelyUnwrapped)._withUnsafeGuaranteedRef { deliver(call.unsafelyUnwrapped, $0, phase) }
  }

  // Not where calls pass that change nothing: it would take a large frame from each of them.
  @inline(never)
  fileprivate func finish(_ state: UnsafeMutablePointer<HandlerCall>, _ thrown: (any Error)?) -> HKTOutcome {
    defer { state.pointee.end() }
    do throws(HandlerError) {
      if let thrown { try state.pointee.finish(throwing: thrown) } else { try state.pointee.finish() }
      return HKT_HANDLED
    } catch {
      let outcome = state.pointee.abandon()
      report(error)
      return outcome
    }
  }

  /// The call is another class's, of which the handler knows nothing; it is counted.
  @inline(__always)
  func isMismatch(_ call: UnsafeMutablePointer<HKTCall>) -> Bool { receiver.passesBy(CallView(call)) }

  func report(_ error: HandlerError) {
    let number = failed.wrappingAdd(1, ordering: .relaxed).newValue
    HandlerFailures.tell(HandlerFailure(selector: selector, position: position, site: site, error: error, number: number))
  }

  func note(_ reason: String) {
    HandlerFailures.tell(HandlerNote(selector: selector, position: position, site: site, reason: reason))
  }

  /// Says once, where it replaces an argument, what nobody can see of a private function.
  func notePrivate() { if !reportedPrivate.exchange(true, ordering: .relaxed) { note(OutcomeReach.privateArgument(of: selector)) } }

  /// Says once, where it replaces a result and nothing tells whether callers look at it.
  @inline(__always)
  func noteUnproven(_ view: CallView) { if let why = unprovenResult.why(selector, view) { note(why) } }
}

/// Hands a handler its call. No method, and the arguments in the order of a layer's: those of C functions lie where this one's do then,
/// and a jump is all there is between the dispatcher and this.
@inline(never)
private func deliver(_ call: UnsafeMutablePointer<HKTCall>, _ handler: Handler, _ phase: HKTPhase) -> HKTOutcome {
  // Below an `around` layer that failed, the original runs as if the layer were not there.
  if handler.isMismatch(call) { return phase == HKT_AROUND ? HKT_FAILED : HKT_HANDLED }
  var state = HandlerCall(call, phase, .passUnretained(handler))
  // Nothing is written behind its end: without the guard that the compiler has each call check.
  return _withUnprotectedUnsafeMutablePointer(to: &state) { state in
    let thrown = RunningHandler.run(state, handler.run)
    return thrown == nil && state.pointee.leavesAllAsItIs ? HKT_HANDLED : handler.finish(state, thrown)
  }
}

/// Where a handler stands.
public enum HookPosition: String, Sendable, CaseIterable {
  /// Runs first; may change arguments.
  case before
  /// Runs instead, and decides whether, how often and with what arguments the original runs.
  case around
  /// Runs last; may change the result or the error.
  case after
}

/// Whether calls arrive with a `self` of a class the selector does not name: bodies may be shared.
package final class ReceiverCheck: Sendable {
  private let context: NominalName?
  /// Metadata of the class, or one of the two below. The class may not be ready when the hook is installed.
  private let expected: Atomic<UInt>
  private static let unknown: UInt = 0
  private static let any: UInt = 1
  /// Metadata of the subclass that was seen last; no class's before the first.
  private let subclass = Atomic<UInt>(any)

  init(_ declaration: Declaration) {
    // Of an initialiser, the form that is given its object has that; the other, which makes it, the class of what it is to make.
    let looks = declaration.contextKind == .classType && !declaration.isStatic
    context = looks ? declaration.context : nil
    expected = Atomic(looks ? Self.unknown : Self.any)
  }

  /// Makes a check for a layer that looks at no values: nil where no other function is known to have the family's code.
  package convenience init?(whereSharedBy family: Family) {
    guard ProcessCatalog.shared.sharesCode(family) else { return nil }
    self.init(family.declaration)
  }

  /// Makes one for a family of that image.
  package convenience init?(whereSharedBy family: Family, in image: ImageCatalog) {
    guard image.sharesCode(family) else { return nil }
    self.init(family.declaration)
  }

  /// The call is another class's: counted once, to be passed by.
  @inline(__always)
  package func passesBy(_ view: CallView) -> Bool {
    isMismatch(view) && count(view.call)
  }

  @inline(__always)
  func isMismatch(_ view: CallView) -> Bool {
    let wanted = expected.load(ordering: .relaxed)
    if wanted == Self.any { return false }
    let found = view.classAtEntry
    // What runs on a class, and not on an object, tells none here.
    return (found == 0 || found != wanted && found != subclass.load(ordering: .relaxed)) && isOther(view)
  }

  /// True.
  @inline(never)
  private func count(_ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    hkt_count_receiver_mismatch(call)
    return true
  }

  @inline(never)
  private func isOther(_ view: CallView) -> Bool {
    let type = view.selfClass
    if type == 0 || type == expected.load(ordering: .relaxed) || type == subclass.load(ordering: .relaxed) { return false }
    if expected.load(ordering: .relaxed) == Self.unknown {
      var found = Self.any
      if let context, case .success(let info) = TypeResolver.shared.type(.nominal(context, kind: .classType, arguments: [])) {
        found = UInt(bitPattern: info.metadata.pointer)
      }
      expected.store(found, ordering: .relaxed)
    }
    let wanted = expected.load(ordering: .relaxed)
    guard wanted != Self.any, let found = UnsafeRawPointer(bitPattern: type), let wanted = UnsafeRawPointer(bitPattern: wanted)
    else { return false }
    guard Metadata(found).isSubclass(of: Metadata(wanted)) else { return true }
    subclass.store(type, ordering: .relaxed)
    return false
  }
}
