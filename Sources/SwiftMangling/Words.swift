/// The words that must occur literally in any mangled name that contains the identifier.
///
/// Empty for operators, standard names the mangling abbreviates, and non-ASCII identifiers:
/// nothing can be concluded from such a name's absence.
package func requiredWords(ofIdentifier identifier: String) -> [String] { [] }
