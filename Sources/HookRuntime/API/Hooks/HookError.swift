// HookError — why a hook was not installed. Facts here, words below; nothing was changed when one is thrown.

public enum HookError: Error, Sendable, Equatable {
  /// No function of the program has this name. `type` is the one it was looked for in, where that exists.
  case notFound(selector: String, type: String?, nearest: [String])
  /// The program has no such type.
  case typeNotFound(String, nearest: [String])
  /// No image imports such a C function, or its prototype cannot be read.
  case importNotFound(String)
  /// Several functions have the name: the types tell them apart.
  case ambiguous(selector: String, candidates: [String])
  /// The function cannot be hooked, or not in this way. `code` is a stable word for the reason.
  case refused(selector: String, code: String, reason: String)
  /// The handler takes more arguments than the function has.
  case tooManyArguments(selector: String, takes: Int, asked: Int)
  /// The handler takes an argument as another type than it has. `position` counts from 0.
  case wrongArgument(selector: String, position: Int, label: String?, expected: String, found: String)
  /// The handler takes an argument that cannot be read in every body of the function.
  case argumentNotReadable(selector: String, position: Int, label: String?, reason: String)
  /// The handler returns, or takes as the result, another type than the function returns.
  case wrongResult(selector: String, expected: String, found: String)
  case resultNotReadable(selector: String, reason: String)
  case resultNotReplaceable(selector: String, reason: String)
  /// The function may throw, and the handler wants a result in any case.
  case resultMayBeMissing(selector: String, advice: String)
  /// An `around` handler is async exactly when its function is.
  case wrongEffect(selector: String, isAsync: Bool)
  /// Handlers of a pattern's functions take no arguments, which differ from one to the next.
  case patternWithArguments(selector: String)
}

extension HookError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notFound(let selector, nil, let nearest): LookupError.noSelector(selector, nearest: nearest).description
    case .notFound(let selector, let type?, let nearest): LookupError.noSelectorInType(selector, type: type, nearest: nearest).description
    case .typeNotFound(let name, let nearest): LookupError.noType(name, nearest: nearest).description
    case .importNotFound(let text): text
    case .ambiguous(let selector, let candidates): LookupError.ambiguous(selector, candidates: candidates).description
    case .refused(let selector, _, let reason): "cannot hook '\(selector)': \(reason)"
    case .tooManyArguments(let selector, let takes, let asked):
      "'\(selector)' takes \(takes) argument\(takes == 1 ? "" : "s"), the handler asked for \(asked)"
    case .wrongArgument(let selector, let position, let label, let expected, let found):
      "argument \(argumentName(position, label)) of '\(selector)': expected \(expected), found \(found) in the handler"
    case .argumentNotReadable(let selector, let position, let label, let reason):
      "argument \(argumentName(position, label)) of '\(selector)' cannot be given to the handler: \(reason)"
    case .wrongResult(let selector, let expected, let found):
      "the result of '\(selector)': expected \(expected), found \(found) in the handler"
    case .resultNotReadable(let selector, let reason): "the result of '\(selector)' cannot be given to the handler: \(reason)"
    case .resultNotReplaceable(let selector, let reason):
      "the result of '\(selector)' cannot be replaced: \(reason); let the handler return nothing"
    case .resultMayBeMissing(let selector, let advice): "'\(selector)' may throw and have no result; take '\(advice)' in the handler"
    case .wrongEffect(let selector, true):
      "'\(selector)' is async: the handler around it is async, too, and awaits the original: 'try await call.original()'"
    case .wrongEffect(let selector, false): "'\(selector)' is not async, so the handler around it cannot wait; leave 'await' out"
    case .patternWithArguments(let selector):
      "'\(selector)' is a pattern: its functions differ in their arguments, so the handler takes the call alone"
    }
  }
}

extension HookError {
  /// An image that is loaded later may bring what is missing.
  var mayAppear: Bool {
    switch self {
    case .notFound, .typeNotFound, .importNotFound: true
    default: false
    }
  }

  package init(_ error: LookupError) {
    switch error {
    case .noSelector(let name, let nearest): self = .notFound(selector: name, type: nil, nearest: nearest)
    case .absent(let name, .inlined(let copies, let image), _):
      self = .refused(selector: name, code: "inlined", reason: "\(Absence.inlined(copies: copies, image: image))")
    case .absent(let name, .stripped, let nearest), .absent(let name, .noModule, let nearest):
      self = .notFound(selector: name, type: nil, nearest: nearest)
    case .noSelectorInType(let name, let type, let nearest): self = .notFound(selector: name, type: type, nearest: nearest)
    case .ambiguous(let name, let candidates): self = .ambiguous(selector: name, candidates: candidates)
    case .noType(let name, let nearest): self = .typeNotFound(name, nearest: nearest)
    case .noImport, .badPrototype: self = .importNotFound(error.description)
    case .badPattern(let text): self = .refused(selector: String(text.prefix(60)), code: "pattern", reason: text)
    }
  }

  package init(_ selector: String, _ refusal: HookRefusal) {
    self = .refused(selector: selector, code: refusal.code, reason: refusal.description)
  }
}
