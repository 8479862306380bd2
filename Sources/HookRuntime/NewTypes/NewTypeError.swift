// NewTypeError — why a type was not made. Facts here, words below; nothing was changed when one is thrown.

/// Why a class, an implementation or a proxy could not be made.
public enum NewTypeError: Error, Sendable {
  /// A name is no identifier, or not one with a module before it.
  case badName(String)
  /// A type of this name exists and is another one.
  case nameTaken(String)
  /// The class cannot have subclasses made at run time.
  case superclass(String, reason: String)
  /// The member of the superclass cannot be overridden.
  case member(String, of: String, reason: String)
  /// The method cannot be added.
  case method(String, reason: String)
  /// The stored property cannot be added.
  case field(String, reason: String)
  /// An instance was not made by this initialiser.
  case initialiser(String, of: String, reason: String)
  /// Nothing can be made to conform to the protocol at run time.
  case conformance(String, reason: String)
  /// The delegates in the property cannot be watched.
  case delegates(String, reason: String)
  /// The protocol has no such requirement; the text names the nearest.
  case requirement(String, of: String, reason: String)
  /// The runtime in this process lacks an entry point.
  case runtime(String)
  case noMemory
  /// Code cannot be made here.
  case noCode(String)
}

extension NewTypeError {
  static func code(_ refusal: InterceptRefusal) -> NewTypeError { .noCode(refusal.description) }
}

extension NewTypeError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .badName(let name): "'\(name)' is no name for a type; use letters, digits and '_', with 'Module.' before them if you like"
    case .nameTaken(let name): "type '\(name)' exists already and is another one; choose another name"
    case .superclass(let name, let reason): "cannot subclass '\(name)': \(reason)"
    case .member(let member, let type, let reason): "cannot override '\(member)' of '\(type)': \(reason)"
    case .method(let name, let reason): "cannot add the method '\(name)': \(reason)"
    case .field(let name, let reason): "cannot add the stored property '\(name)': \(reason)"
    case .initialiser(let name, let type, let reason): "cannot make a '\(type)' by '\(name)': \(reason)"
    case .conformance(let name, let reason): "cannot implement '\(name)': \(reason)"
    case .delegates(let name, let reason): "cannot watch the delegates in '\(name)': \(reason)"
    case .requirement(let name, let type, let reason): "'\(name)' of '\(type)': \(reason)"
    case .runtime(let name): "the Swift runtime of this process has no '\(name)'"
    case .noMemory: "out of memory"
    case .noCode(let reason): reason
    }
  }
}
