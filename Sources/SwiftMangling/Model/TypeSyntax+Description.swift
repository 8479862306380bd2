extension TypeSyntax {
  /// Swift's own spelling: `[T]`, `[K: V]`, `T?`, `(A, B) -> C`, `any P`.
  /// - Parameter qualified: Nominal types carry their module and outer types.
  package func description(qualified: Bool) -> String { "" }
}
