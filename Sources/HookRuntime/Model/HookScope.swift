// HookScope — whose calls a hook sees.

/// Whose calls a hook is for.
public enum HookScope: @unchecked Sendable {
  // The engine asks an object for its identity only, and never lets go of it last.
  /// Every call of the selector.
  case type
  /// Calls whose self is an instance of this class or of a subclass of it, which inherits the method: those on the parent and on its other
  /// subclasses are not seen.
  case subclass(Any.Type)
  /// Calls on this object. The hook does not keep it alive, and ends with it.
  case object(AnyObject)
}
