// ScopeRefusal — why a hook cannot be for one subclass or one object: facts first, one sentence each below.

/// Why a hook cannot be for one class or object.
package enum ScopeRefusal: Error, Equatable, Sendable {
  /// Functions, and members of structs and enums.
  case noObject
  /// The object is made by what is hooked.
  case madeByCall
  case isStatic
  case notASubclass(String, of: String)
  case notAClass(String)
  /// `implementer` is the class itself, or one between it and the selector's.
  case overridden(class: String, by: String, selector: String)
  case selfRemoved
  case objectEnding
}

extension ScopeRefusal {
  /// A stable word for tables and filters.
  package var code: String {
    switch self {
    case .noObject: "no-object"
    case .madeByCall: "initialiser"
    case .isStatic: "static"
    case .notASubclass: "not-a-subclass"
    case .notAClass: "not-a-class"
    case .overridden: "overridden"
    case .selfRemoved: "self-removed"
    case .objectEnding: "object-ending"
    }
  }
}

extension ScopeRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noObject: "a hook for one subclass or object needs a method of a class: here no call is on an object"
    case .madeByCall: "an initialiser runs before there is an object to hook; hook the type or a subclass"
    case .isStatic: "a hook for one object needs an instance method; static ones are hooked for the type or a subclass"
    case .notASubclass(let name, let parent): "'\(name)' does not inherit from '\(parent)'"
    case .notAClass(let name): "'\(name)' is no class"
    case .overridden(let name, let by, let selector) where name == by:
      "'\(name)' has its own implementation, which does not come here; hook '\(selector)'"
    case .overridden(let name, let by, let selector):
      "'\(name)' inherits it from '\(by)', which has its own implementation; hook '\(selector)'"
    case .selfRemoved: "the compiler removed 'self' from its code, so that no call tells whose it is"
    case .objectEnding: "the object is being deinitialised"
    }
  }
}
