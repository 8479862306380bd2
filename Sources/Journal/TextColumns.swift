// TextColumns — texts in columns, for people.

extension String {
  /// The text with blanks behind it, up to the width, and as many as `least` at least.
  package func padded(to width: Int, least: Int = 0) -> String { self + String(repeating: " ", count: max(least, width - count)) }

  /// The text at the right end of a column of that width, with as many blanks before it as `least` at least.
  package func aligned(to width: Int, least: Int = 0) -> String { String(repeating: " ", count: max(least, width - count)) + self }
}
