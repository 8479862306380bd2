// CallError — why a function of the program was not called. Facts here, words below; nothing ran when one is thrown.

/// Why a function cannot be called by name, whatever the arguments.
package enum CallRefusal: Error, Equatable, Sendable {
  /// Its async function pointer is not found.
  case isAsync
  /// It runs on its caller's actor.
  case needsActor
  case coroutine
  case deinitialiser
  case neverReturns
  /// The compiler left bodies with changed arguments only.
  case onlyClones([String])
  case noBody
  case generic(String)
  case thrown(String)
  /// Its convention is not known: private, merged, compiler-made.
  case convention(String)
  case argument(position: Int, label: String?, reason: String)
  case result(String)
  case receiver(String)
  /// A mutating method needs the place where the value lives.
  case mutating
  case ownMachinery(String)
  case imported
}

extension CallRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .isAsync: "it is async, and how large its context has to be is not known"
    case .needsActor: "it runs on the actor of its caller, and a handler has none"
    case .coroutine: "it is a coroutine accessor; use the property's '.get' or '.set'"
    case .deinitialiser: "a 'deinit' is run by the runtime alone"
    case .neverReturns: "it never returns"
    case .onlyClones(let forms):
      "only bodies with changed arguments are left of it (\(forms.joined(separator: ", "))); its callers were compiled for those"
    case .noBody: "no body of it is left in the program: every call was inlined"
    case .generic(let reason): "it is generic, and \(reason)"
    case .thrown(let reason): "the error it throws: \(reason)"
    case .convention(let reason): reason
    case .argument(let position, let label, let reason): "argument \(argumentName(position, label)): \(reason)"
    case .result(let reason): "its result: \(reason)"
    case .receiver(let reason): "its self: \(reason)"
    case .mutating: "it is mutating, and this value is a copy; call it where the value lives, or change a copy with swift.with"
    case .imported: "it is a C function, which only hooks speak of: 'call:original()' in a handler calls it"
    case .ownMachinery(let image): "it belongs to ScriptHost itself (\(image))"
    }
  }
}

/// Why a call was not made. The program is as it was.
public enum CallError: Error, Sendable {
  /// No function has this name; `type` is the one it was looked for in, where that exists.
  case noMember(selector: String, type: String?, nearest: [String])
  /// Several functions have this name.
  case ambiguous(selector: String, candidates: [String])
  /// There is nothing to call, for the reason in the text.
  case notFound(String)
  /// The function cannot be called by name.
  case refused(selector: String, reason: String)
  case wrongCount(selector: String, expected: Int, found: Int)
  /// `position` counts from 0.
  case wrongArgument(selector: String, position: Int, label: String?, expected: String, found: String)
  case wrongResult(selector: String, expected: String, found: String)
  /// `self` is missing, of another type, or given to a function that takes none.
  case wrongReceiver(selector: String, expected: String, found: String)
  /// The object is in the middle of being changed (or read) on this thread: touching it now would stop the program.
  case accessOpen(selector: String, type: String, isModifying: Bool)
  /// The method changed its copy of the value; the value itself is as it was.
  case changedCopy(selector: String)
  /// Nothing tells whether the method consumes its self: whether the copy of the value that a call is made on is to be ended.
  case mayLeaveCopy(selector: String)
  /// The methods of an actor run on its executor, where this thread is not.
  case outsideActor(selector: String, type: String)
  /// A message came back to one that had passed it on: objects of these types.
  case forwardedInCircles(selector: String, through: [String])
  /// An async function, called where nobody can wait.
  case cannotWait(selector: String)
  /// No argument tells what a generic parameter is.
  case undetermined(selector: String, parameter: String)
  /// Two arguments say different things of a generic parameter.
  case ambiguousParameter(selector: String, parameter: String, types: [String])
  /// A type does not meet what the function requires of a generic parameter.
  case unmet(selector: String, parameter: String, type: String, requirement: String)
}

extension CallError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noMember(let selector, nil, let nearest): LookupError.noSelector(selector, nearest: nearest).description
    case .noMember(let selector, let type?, let nearest): LookupError.noSelectorInType(selector, type: type, nearest: nearest).description
    case .ambiguous(let selector, let candidates): LookupError.ambiguous(selector, candidates: candidates).description
    case .notFound(let text): text
    case .forwardedInCircles(let selector, let types):
      "'\(selector)' is forwarded in circles, by \(types.joined(separator: ", then "))"
    case .refused(let selector, let reason): "cannot call '\(selector)': \(reason)"
    case .wrongCount(let selector, let expected, let found):
      "'\(selector)' takes \(expected) argument\(expected == 1 ? "" : "s"), got \(found)"
    case .wrongArgument(let selector, let position, let label, let expected, let found):
      "argument \(argumentName(position, label)) of '\(selector)': expected \(expected), got \(found)"
    case .wrongResult(let selector, let expected, let found): "'\(selector)' returns \(expected), asked for \(found)"
    case .wrongReceiver(let selector, let expected, let found): "self of '\(selector)': expected \(expected), got \(found)"
    case .accessOpen(let selector, let type, let isModifying):
      "cannot call '\(selector)' now: this \(type) is in the middle of being \(isModifying ? "changed" : "read") on this thread; "
        + "read its stored fields, or call when the access is over"
    case .changedCopy(let selector):
      "'\(selector)' is mutating and changed a copy; the value it was called on is as it was"
    case .mayLeaveCopy(let selector):
      "cannot call '\(selector)': its code does not tell whether it consumes its self, so that each call may leave a copy of the value behind; "
        + "to accept that, say swift.allow_leak(\"\(selector)\"), in Swift SwiftFunction(\"\(selector)\", allowingLeak: true)"
    case .cannotWait(let selector):
      "'\(selector)' is async: only an 'around' handler of an async function can wait for it, in the handler itself"
    case .undetermined(let selector, let parameter):
      "cannot call '\(selector)': no argument tells what its generic parameter \(parameter) is"
    case .ambiguousParameter(let selector, let parameter, let types):
      "cannot call '\(selector)': its generic parameter \(parameter) is \(types.map { "'\($0)'" }.joined(separator: " by one argument and "))"
        + " by another"
    case .unmet(let selector, let parameter, let type, let requirement):
      "cannot call '\(selector)': its generic parameter \(parameter) would be '\(type)', which \(requirement)"
    case .outsideActor(let selector, let type):
      "cannot call '\(selector)' here: '\(type)' is an actor, and its code runs on its own executor; call it from a hook on one of its methods"
    }
  }
}

extension CallError {
  init(_ error: LookupError) {
    switch error {
    case .noSelector(let name, let nearest): self = .noMember(selector: name, type: nil, nearest: nearest)
    case .absent(let name, _, let nearest): self = .noMember(selector: name, type: nil, nearest: nearest)
    case .noSelectorInType(let name, let type, let nearest): self = .noMember(selector: name, type: type, nearest: nearest)
    case .ambiguous(let name, let candidates): self = .ambiguous(selector: name, candidates: candidates)
    case .noType, .noImport, .badPrototype, .badPattern: self = .notFound(error.description)
    }
  }
}
