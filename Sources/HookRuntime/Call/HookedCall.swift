// HookedCall — one call as a Swift closure sees it: arguments, result, error and the object.
internal import CHookTrampoline

/// A call that a hook sees. Valid until the closure returns.
public struct HookedCall: ~Copyable {
  private let view: CallView
  private let phase: HKTPhase

  init(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase) {
    view = CallView(call)
    self.phase = phase
  }

  /// Runs the layers below this one and the original, with the arguments as they are now. Only in `around`; there it may
  /// run any number of times, but arguments the callee consumes (an initialiser's) are only good for the first run.
  public borrowing func proceed() {
    guard phase == HKT_AROUND else {
      fatalError("'proceed' was called outside of an 'around' handler, which alone decides whether the original runs")
    }
    hkt_call_proceed(view.call)
  }

  /// The number of declared arguments.
  public var argumentCount: Int { view.plan.arguments.count }

  /// Argument `index` (from 0), or nil when it is of another type or not known in this body.
  public borrowing func argument<T>(_ index: Int, as type: T.Type = T.self) -> T? { Self.argument(index, of: view, as: type) }

  static func argument<T>(_ index: Int, of view: CallView, as type: T.Type) -> T? {
    let plan = view.plan
    guard plan.arguments.indices.contains(index), let info = plan.arguments[index].info, info.metadata == Metadata(type) else { return nil }
    return view.reader.withMemory(plan.arguments[index].location, info, isResult: false) { TypedValue.load($0, info) } ?? nil
  }

  /// Replaces argument `index`; false when it is of another type, not known in this body, or cannot be kept alive.
  @discardableResult
  public borrowing func setArgument<T>(_ index: Int, to value: T) -> Bool {
    let plan = view.plan
    guard plan.arguments.indices.contains(index), let info = plan.arguments[index].info, info.metadata == Metadata(T.self) else {
      return false
    }
    let argument = plan.arguments[index]
    guard argument.isReplaceable else { return false }
    let writer = ValueWriter(view.call)
    if !argument.isOwned, !argument.isInout, !info.isTrivial, !writer.canReleaseAfterCall { return false }
    guard let owned = TypedValue.owned(value, as: info) else { return false }
    writer.replace(argument, with: owned)
    return true
  }

  /// What the original returned; nil before it ran, when it threw, or when the type is another or not known.
  public borrowing func result<T>(as type: T.Type = T.self) -> T? {
    let result = view.plan.result
    guard hasResult, view.thrownError == 0, let info = result.info, info.metadata == Metadata(type) else { return nil }
    return view.reader.withMemory(result.location, info, isResult: true) { TypedValue.load($0, info) } ?? nil
  }

  /// Replaces the result, or gives one where the original did not run; a thrown error is swallowed. False when the type
  /// is another or the result cannot be written.
  @discardableResult
  public borrowing func setResult<T>(to value: T) -> Bool {
    let result = view.plan.result
    guard phase != HKT_ENTER, let info = result.info, info.metadata == Metadata(T.self), result.isReplaceable else { return false }
    guard let owned = TypedValue.owned(value, as: info) else { return false }
    let writer = ValueWriter(view.call)
    if hasResult { if view.thrownError != 0 { writer.retireError() } else { writer.retireResult(result) } }
    writer.setResult(result, to: owned)
    return true
  }

  /// The error the original threw.
  public var error: (any Error)? {
    guard hasResult, view.thrownError != 0 else { return nil }
    // The word is a reference to the box that `any Error` is; the copy is retained.
    return unsafeBitCast(view.thrownError, to: (any Error).self)
  }

  /// Makes the call throw, where nothing was returned yet and it may throw any error.
  func fail(_ error: any Error) {
    guard phase == HKT_AROUND, !hasResult, view.plan.mayThrow else { return }
    ValueWriter(view.call).setError(ErrorBox(error).word)
  }

  /// The object the method runs on; nil for other kinds of `self`.
  public var object: AnyObject? {
    // A borrowed native object; the copy is retained.
    view.selfObject.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
  }

  private var hasResult: Bool { phase == HKT_EXIT || view.call.pointee.state & UInt32(HKT_CALL_ORIGINAL_RAN) != 0 }
}
