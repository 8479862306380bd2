// Kind — the kinds of values that bench-kinds passes, as in the module Kinds: what handlers do with them, and their rows.

/// A kind of value: how a handler reads argument `@`, and what it puts in its place.
struct Kind {
  let name: String
  /// What the row says.
  let title: String
  var read = "@"
  let new: String
  /// What a handler does before it can make a value.
  var once: String?

  static let all = [
    Kind(name: "int", title: "Int", new: "5"),
    Kind(name: "double", title: "Double", new: "5.5"),
    Kind(name: "bool", title: "Bool", new: "true"),
    Kind(name: "text", title: "String", new: "\"a text of 25 characters..\""),
    Kind(name: "optional", title: "Optional", new: "5"),
    Kind(name: "object", title: "object", new: "kept", once: "kept = kept or swift.keep(a)"),
    Kind(name: "structure", title: "struct, a field", read: "@.x", new: "{ x = 5, y = 6 }"),
    Kind(name: "enumeration", title: "enum, its case", read: "@.case", new: "{ circle = 6 }"),
    Kind(name: "array", title: "Array, an element", read: "@[2]", new: "{ 4, 5, 6 }"),
    Kind(name: "dictionary", title: "Dictionary, a value", read: "@.two", new: "{ three = 3, four = 4 }"),
    Kind(name: "tuple", title: "tuple, an element", read: "@[2]", new: "{ 5, 6 }"),
    Kind(name: "existential", title: "any P", new: "kept", once: "kept = kept or swift.keep(a)"),
    Kind(name: "closure", title: "closure", new: "swift.closure(replacement, { default = 0 })"),
  ]
}
