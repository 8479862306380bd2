// SelectorPattern+Lists — what people type who look for something and do not know its whole name.

extension SelectorPattern {
  /// Patterns for lists where `text` itself matches no type, narrowest first: `Cart` is `Shop.Cart`, then whatever holds the word.
  /// None for a glob.
  package static func ofTypes(named text: String) -> [SelectorPattern] {
    let name = text.trimmed()
    guard !name.isEmpty, !SelectorPattern(text).isGlob else { return [] }
    return [SelectorPattern("**.\(name)"), SelectorPattern("**\(name)**")]
  }

  /// Patterns for lists where `text` itself matches no selector, narrowest first: the name of a type stands for its members, a bare name for
  /// what is called so anywhere. None for a glob, for what spells arguments, and for closures. A hook takes none of them: it is on what its
  /// selector says.
  package static func ofMembers(named text: String) -> [SelectorPattern] {
    let name = text.trimmed()
    let pattern = SelectorPattern(text)
    guard !name.isEmpty, !pattern.isGlob, !pattern.meansClosures, !name.contains(where: { "( :".contains($0) }) else { return [] }
    return [
      SelectorPattern("\(name).**"), SelectorPattern("\(name)(**)"), SelectorPattern("**.\(name).**"), SelectorPattern("**.\(name)(**)"),
      SelectorPattern("**.\(name)"),
    ]
  }
}
