// HandlerError — what a handler asked of its call, and why it did not get it. Facts here, words below.

/// A handler asked for something its call cannot give. The call is as it was before.
///
/// An error of this kind that leaves the handler makes the handler fail: the original runs with the arguments it was called
/// with (unless it ran already, then its result stands), and `Hooks.onFailure` is reported.
public enum HandlerError: Error, Sendable, Equatable {
  /// The selector has no argument of this label or at this position (from 0).
  case noArgument(selector: String, asked: String, known: [String])
  case wrongArgument(selector: String, position: Int, label: String?, expected: String, found: String)
  case argumentNotReadable(selector: String, position: Int, label: String?, reason: String)
  case argumentNotReplaceable(selector: String, position: Int, label: String?, reason: String)
  case wrongResult(selector: String, expected: String, found: String)
  /// The original has not run, or threw.
  case noResult(selector: String, reason: String)
  case resultNotReadable(selector: String, reason: String)
  case resultNotReplaceable(selector: String, reason: String)
  /// What the original consumes or leaves behind is good for one run.
  case runsOnce(selector: String)
  /// The original has run: its arguments cannot be changed any more.
  case tooLate(selector: String)
  /// The call was kept longer than its handler ran, or used on another thread.
  case callIsOver
  /// The handler neither ran the original nor returned a value for it.
  case leftOut(selector: String, returning: String)
  /// The handler did not run the original, and the caller has no code behind the call, because the function never returns.
  case mustNotReturn(selector: String)
  /// The function throws nothing, or only errors of one type, and the handler threw something else.
  case cannotThrow(selector: String, error: String)
  /// A value that was to be kept lies in the frame of the call's caller, and is gone when that returns.
  case inFrame(type: String)
  /// An object that was to be kept is in its `deinit`.
  case ending(type: String)
  /// The original consumes an argument that nobody else can end.
  case mustRun(selector: String)
  /// The original of an async function must run, because not all of its arguments on the stack are known.
  case argumentsUnknown(selector: String)
}

extension HandlerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noArgument(let selector, let asked, let known):
      "'\(selector)' has no argument \(asked); it has \(known.isEmpty ? "none" : known.joined(separator: ", "))"
    case .wrongArgument(let selector, let position, let label, let expected, let found):
      "argument \(argumentName(position, label)) of '\(selector)': expected \(expected), found \(found)"
    case .argumentNotReadable(let selector, let position, let label, let reason):
      "argument \(argumentName(position, label)) of '\(selector)' cannot be read: \(reason)"
    case .argumentNotReplaceable(let selector, let position, let label, let reason):
      "argument \(argumentName(position, label)) of '\(selector)' cannot be replaced: \(reason)"
    case .wrongResult(let selector, let expected, let found): "the result of '\(selector)': expected \(expected), found \(found)"
    case .noResult(let selector, let reason): "'\(selector)' has no result: \(reason)"
    case .resultNotReadable(let selector, let reason): "the result of '\(selector)' cannot be read: \(reason)"
    case .resultNotReplaceable(let selector, let reason): "the result of '\(selector)' cannot be replaced: \(reason)"
    case .runsOnce(let selector): "the original of '\(selector)' can run once only: it consumes what it is given, or may"
    case .tooLate(let selector): "the original of '\(selector)' has run; its arguments cannot be changed any more"
    case .callIsOver: "this call is over, or belongs to another thread; copy what you need while its handler runs"
    case .leftOut(let selector, let type):
      "the handler around '\(selector)' neither ran the original nor returned a value; call 'call.original()', or return \(type)"
    case .mustNotReturn(let selector):
      "the handler around '\(selector)' did not run the original, and its caller has no code behind the call: the function never returns; "
        + "hook the caller instead"
    case .cannotThrow(let selector, let error):
      "the handler of '\(selector)' threw '\(error)', which the function cannot throw; catch it in the handler"
    case .inFrame(let type):
      "a value of type \(type) cannot be kept: the optimiser put it into the frame of the call's caller; copy what you need of it"
    case .ending(let type): "this \(type) is in its deinit and cannot be kept; keep what you need of it"
    case .mustRun(let selector):
      "the original of '\(selector)' consumes an argument that cannot be released without it; call 'call.original()'"
    case .argumentsUnknown(let selector):
      "the original of async '\(selector)' must run: not all of its arguments on the stack are known; call 'call.original()'"
    }
  }
}
