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
  private let run: Run
  /// Of a handler that waits.
  let asyncBody: AsyncHandlerRun.Body?
  private let receiver: ReceiverCheck
  private let failed = Atomic<Int>(0)

  /// Runs the closure for one phase of one call; what it throws makes the handler fail.
  typealias Run = @Sendable (inout HandlerCall) throws(HandlerError) -> Void

  init(_ family: Family, _ position: HookPosition, site: String, run: @escaping Run, asyncBody: AsyncHandlerRun.Body?) {
    self.asyncBody = asyncBody
    selector = family.selector
    self.position = position
    isInitialiser = family.declaration.kind == .allocatingInit || family.declaration.kind == .`init`
    self.site = site
    self.run = run
    receiver = ReceiverCheck(family.declaration)
  }

  var failures: Int { failed.load(ordering: .relaxed) }

  fileprivate func run(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase) -> HKTOutcome {
    if isForeign(call) {
      // Below an `around` layer that failed, the original runs as if the layer were not there.
      return phase == HKT_AROUND ? HKT_FAILED : HKT_HANDLED
    }
    var state = HandlerCall(call, phase, self)
    do throws(HandlerError) {
      try run(&state)
      return HKT_HANDLED
    } catch {
      let outcome = state.abandon()
      report(error)
      return outcome
    }
  }

  /// The call is another class's, of which the handler knows nothing; it is counted.
  func isForeign(_ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    guard receiver.isForeign(CallView(call)) else { return false }
    hkt_count_foreign(call)
    return true
  }

  func report(_ error: HandlerError) {
    let number = failed.wrappingAdd(1, ordering: .relaxed).newValue
    HandlerFailures.tell(HandlerFailure(selector: selector, position: position, site: site, error: error, number: number))
  }

  /// The layer of every handler that runs to its end at once.
  static let layer: HKTLayerFunction = { call, context, phase in
    // The context is the handler that was retained for this layer.
    Unmanaged<Handler>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.run(call!, phase) }
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
final class ReceiverCheck: Sendable {
  private let context: NominalName?
  /// Metadata of the class, or one of the two below. The class may not be ready when the hook is installed.
  private let expected: Atomic<UInt>
  private static let unknown: UInt = 0
  private static let any: UInt = 1

  init(_ declaration: Declaration) {
    let looks = declaration.contextKind == .classType && !declaration.isStatic && declaration.kind != .allocatingInit
    context = looks ? declaration.context : nil
    expected = Atomic(looks ? Self.unknown : Self.any)
  }

  @inline(__always)
  func isForeign(_ view: CallView) -> Bool {
    let wanted = expected.load(ordering: .relaxed)
    if wanted == Self.any { return false }
    guard let object = view.selfObject else { return false }
    return object.load(as: UInt.self) != wanted && isOther(object)
  }

  private func isOther(_ object: UnsafeRawPointer) -> Bool {
    if expected.load(ordering: .relaxed) == Self.unknown {
      var found = Self.any
      if let context, case .success(let info) = TypeResolver.shared.type(.nominal(context, kind: .classType, arguments: [])) {
        found = UInt(bitPattern: info.metadata.pointer)
      }
      expected.store(found, ordering: .relaxed)
    }
    let wanted = expected.load(ordering: .relaxed)
    guard wanted != Self.any, let type = UnsafeRawPointer(bitPattern: wanted) else { return false }
    return !Metadata(object.load(as: UnsafeRawPointer.self)).isSubclass(of: Metadata(type))
  }
}
