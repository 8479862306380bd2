// BridgeError — why a script's value cannot become a Swift value, or a Swift value cannot be had.
internal import HookRuntime

indirect enum BridgeError: Error, Equatable {
  case wrongType(expected: String, found: String)
  case outOfRange(value: String, type: String)
  case invalidUTF8
  case notNil(type: String)
  case notConvertible(type: String)
  /// The caller would go on with what it knows.
  case lost(String)
  /// The place is not in reach, whatever the value.
  case notReplaceable(type: String)
  /// Such a value is received and passed on, never made from a script's parts, for this reason.
  case notMadeHere(type: String, why: String)
  /// An Any holds a value of this type, which its readers cast it to; why the script's value is none.
  case held(type: String, BridgeError)
  /// Part of a table: `[3]`, `.name`.
  case inside(path: String, BridgeError)
  case missingField(String, type: String)
  case unknownField(String, type: String, known: [String])
  case unknownCase(String, type: String, known: [String])
  case payload(case: String, type: String, expected: Int, found: Int)
  case hole(at: Int64)
  case listKey(String)
  /// Keys that are two for Lua and one for the dictionary.
  case equalKeys(type: String)
  case tooDeep
  case noConformance(String, type: String)
  case expired
  /// The value, or part of it, is not there any more; why.
  case gone(String)
  case ending(type: String)
  case notCopyable(type: String)
  /// It ends with the function that made it, whoever keeps it.
  case inFrame(type: String)
  case runsOnce(String)
  /// What the original returned or consumes would be lost.
  case cannotThrow
  /// Of an async function, whose arguments on the stack are not all known.
  case originalMustRun
  /// Of a function: a sentence.
  case closure(String)
  case fieldFixed(String, type: String, why: String)
  /// The policy keeps the script from it; why.
  case denied(String)

  var description: String {
    switch self {
    case .wrongType(let expected, let found): "expected \(expected), got \(found)"
    case .outOfRange(let value, let type): "\(value) does not fit in \(type)"
    case .invalidUTF8: "expected a String, got bytes that are not UTF-8; swift.data(s) makes bytes"
    case .notNil(let type): "expected \(type), got nil"
    case .lost(let why), .denied(let why): why
    case .notConvertible(let type): "values of type '\(type)' cannot be made in a script yet; pass on the one you were given"
    case .notReplaceable(let type):
      "the '\(type)' of this body cannot be replaced: it is <optimized out>, not decoded, or somebody else's; see explain"
    case .notMadeHere(let type, let why): "values of type '\(type)' cannot be made in a script: \(why)"
    case .held(let type, let problem):
      "this Any holds a value of type \(type), and those who read it cast it to that: \(problem.description); "
        + "a handle of another type is taken as it is: of an enum, swift.case(\"Type.case\", …) makes one"
    case .inside(let path, .inside(let inner, let problem)): BridgeError.inside(path: path + inner, problem).description
    case .inside(let path, let problem): "\(path): \(problem.description)"
    case .missingField(let name, let type): "field '\(name)' of \(type) is missing"
    case .unknownField(let name, let type, let known): "\(type) has no stored field '\(name)'" + BridgeError.list(known)
    case .unknownCase(let name, let type, let known): "\(type) has no case '\(name)'" + BridgeError.nearest(name, known)
    case .payload(let name, let type, let expected, let found):
      "case '\(name)' of \(type) takes \(expected) value\(expected == 1 ? "" : "s"), got \(found)"
    case .hole(let index): "a list has no holes, index \(index) is nil; write swift.null for none"
    case .listKey(let key): "a list has the keys 1, 2, …, got key \(key)"
    case .equalKeys(let type): "two keys of the table are equal as \(type); which value is meant does not show"
    case .tooDeep: "the table is nested more than 64 deep, or contains itself"
    case .noConformance(let found, let type): "expected \(type), and '\(found)' does not conform"
    case .runsOnce(let selector):
      "'\(selector)' cannot run twice for one call: its first run consumed what cannot be copied, or may have, or left what cannot be released"
    case .originalMustRun: "the original of an async function must run where not all of its arguments are known"
    case .cannotThrow: "the call cannot throw here: what the original returned or consumes is out of reach"
    case .closure(let text): text
    case .fieldFixed(let name, let type, let why): "field '\(name)' of \(type) cannot be set: \(why)"
    case .gone(let why): why
    case .expired: "this value was only borrowed for the call it came with, which is over"
    case .ending(let type): "this \(type) is in its deinit and cannot be kept or passed on"
    case .inFrame(let type):
      "this \(type) lies in the frame of the function that made it, where the optimiser put it: it is gone when that returns, "
        + "and cannot be kept; pass swift.lend(object) to what does not keep it"
    case .notCopyable(let type): "values of type '\(type)' cannot be copied"
    }
  }

  private static func list(_ known: [String]) -> String { known.isEmpty ? "" : "; it has \(known.prefix(12).joined(separator: ", "))" }

  private static func nearest(_ name: String, _ known: [String]) -> String {
    let close = EditDistance.closest(known, to: name, most: 1)
    return close.isEmpty ? list(known) : "; did you mean '\(close[0])'?"
  }
}
