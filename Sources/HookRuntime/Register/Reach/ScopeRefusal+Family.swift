// ScopeRefusal+Family — what a declaration tells of scopes before any class is looked at.
private import SwiftMangling

extension ScopeRefusal {
  /// Why no object at all can be hooked.
  static func ofObjects(_ family: Family) -> ScopeRefusal? {
    let declaration = family.declaration
    if declaration.kind == .allocatingInit || declaration.kind == .`init` { return .madeByCall }
    if declaration.isStatic { return .isStatic }
    return nil
  }
}
