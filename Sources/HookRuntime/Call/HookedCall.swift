// HookedCall — one call as a Swift closure sees it that names no types beforehand: arguments, result, error and the object.
//
// A door of HandlerChanges, which has the rules.
internal import CHookTrampoline

/// A call that a hook sees. Valid until the closure returns.
public struct HookedCall: ~Copyable {
  /// A closure that runs on the caller's thread.
  public typealias Handler = @Sendable (borrowing HookedCall) -> Void

  // It lies in the frame of the layer function.
  private let changes: UnsafeMutablePointer<HandlerChanges>
  private var view: CallView { changes.pointee.view }

  init(_ changes: UnsafeMutablePointer<HandlerChanges>) { self.changes = changes }

  /// Runs the layers below this one and the original, with the arguments as they are now. Only in `around`; there it may
  /// run any number of times, but where the original consumes what cannot be copied, only the first run is one.
  public borrowing func proceed() {
    guard changes.pointee.phase == HKT_AROUND else {
      fatalError("'proceed' was called outside of an 'around' handler, which alone decides whether the original runs")
    }
    do throws(HandlerProblem) { try changes.pointee.prepareOriginal() } catch { return }
    hkt_call_proceed(view.call)
  }

  /// The number of declared arguments.
  public var argumentCount: Int { view.plan.arguments.count }

  /// Argument `index` (from 0), or nil when it is of another type, not known in this body, or consumed by the original.
  public borrowing func argument<T>(_ index: Int, as type: T.Type = T.self) -> T? {
    if changes.pointee.isConsumed(index) { return nil }
    guard let changed = changes.pointee.current(index) else { return Self.argument(index, of: view, as: type) }
    return changed.info.metadata == Metadata(type) ? TypedValue.load(UnsafeRawPointer(changed.memory), changed.info) : nil
  }

  static func argument<T>(_ index: Int, of view: CallView, as type: T.Type) -> T? {
    let plan = view.plan
    guard plan.arguments.indices.contains(index), let info = plan.arguments[index].info, info.metadata == Metadata(type) else { return nil }
    return view.reader.withMemory(plan.arguments[index].location, info, isResult: false) { TypedValue.load($0, info) } ?? nil
  }

  /// Replaces argument `index`; false when it is of another type, not known in this body, cannot be kept alive, or has been used by the original.
  /// - Parameters:
  ///   - index: from 0.
  ///   - value: of the argument's type.
  ///   - forNextRun: the original has run, and is to run again with the new value.
  @discardableResult
  public borrowing func setArgument<T>(_ index: Int, to value: T, forNextRun: Bool = false) -> Bool {
    let plan = view.plan
    guard plan.arguments.indices.contains(index), let info = plan.arguments[index].info, info.metadata == Metadata(T.self) else {
      return false
    }
    guard changes.pointee.mayStage(index, forNextRun: forNextRun) else { return false }
    guard changes.pointee.obstacle(toStaging: index) == nil, let owned = TypedValue.owned(value, as: info) else { return false }
    changes.pointee.stage(owned, at: index)
    return true
  }

  /// What the original returned, or the result that was set; nil without either, when it threw, or when the type is another or not known.
  public borrowing func result<T>(as type: T.Type = T.self) -> T? {
    switch changes.pointee.resultState {
    case .missing, .threw: return nil
    case .staged(let staged):
      return staged.info.metadata == Metadata(type) ? TypedValue.load(UnsafeRawPointer(staged.memory), staged.info) : nil
    case .returned: break
    }
    let result = view.plan.result
    guard let info = result.info, info.metadata == Metadata(type) else { return nil }
    return view.reader.withMemory(result.location, info, isResult: true) { TypedValue.load($0, info) } ?? nil
  }

  /// Replaces the result, or gives one where the original did not run; a thrown error is swallowed. False when the type
  /// is another or the result cannot be written.
  @discardableResult
  public borrowing func setResult<T>(to value: T) -> Bool {
    let result = view.plan.result
    guard changes.pointee.phase != HKT_ENTER, let info = result.info, info.metadata == Metadata(T.self), result.isReplaceable else {
      return false
    }
    if changes.pointee.hasRun, view.didThrow, !changes.pointee.canReplaceError { return false }
    guard let owned = TypedValue.owned(value, as: info) else { return false }
    changes.pointee.stageResult(owned)
    return true
  }

  /// The error the original threw; nil where it returned, and where a result was set in the error's place.
  public var error: (any Error)? {
    guard case .threw = changes.pointee.resultState, view.thrownError != 0 else { return nil }
    // The word is a reference to the box that `any Error` is; the copy is retained.
    return unsafeBitCast(view.thrownError, to: (any Error).self)
  }

  /// The object the method runs on; nil for other kinds of `self`.
  public var object: AnyObject? {
    // A borrowed native object; the copy is retained.
    view.selfObject.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
  }
}
