// NeutralValue — what a message that nobody answers comes back with, when that is to be harmless.

enum NeutralValue {
  /// false, 0, "", an empty collection, an empty Optional, nothing; nil for types without such a value.
  static func make<T>() -> T? {
    if let nothing = () as? T { return nothing }
    if T.self == Bool.self { return false as? T }
    if let type = T.self as? any ExpressibleByNilLiteral.Type { return empty(type) as? T }
    if let type = T.self as? any Numeric.Type { return zero(type) as? T }
    if let type = T.self as? any RangeReplaceableCollection.Type { return empty(type) as? T }
    if let type = T.self as? any SetAlgebra.Type { return empty(type) as? T }
    if let type = T.self as? any ExpressibleByDictionaryLiteral.Type { return empty(type) as? T }
    return nil
  }

  private static func empty<T: ExpressibleByNilLiteral>(_: T.Type) -> T { nil }
  private static func zero<T: Numeric>(_: T.Type) -> T { .zero }
  private static func empty<T: RangeReplaceableCollection>(_: T.Type) -> T { T() }
  private static func empty<T: SetAlgebra>(_: T.Type) -> T { T() }
  private static func empty<T: ExpressibleByDictionaryLiteral>(_: T.Type) -> T { [:] }
}
