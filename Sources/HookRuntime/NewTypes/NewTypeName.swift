// NewTypeName — what a type made at run time is called: `Module.Name`.

struct NewTypeName: Hashable, Sendable {
  let module: String
  let name: String
  /// The module of types whose names do not say one.
  static let defaultModule = "Script"

  init(module: String = defaultModule, made name: String) {
    self.module = module
    self.name = name
  }

  /// - Throws: when it is no identifier, or two with a dot between them.
  init(_ text: String) throws(NewTypeError) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2, parts.allSatisfy(Self.isIdentifier) else { throw .badName(text) }
    module = parts.count == 2 ? parts[0] : Self.defaultModule
    name = parts[parts.count - 1]
  }

  var description: String { "\(module).\(name)" }
  /// What users write for it.
  var spellings: [String] { module == Self.defaultModule ? [description, name] : [description] }

  /// Letters, digits and underscores: what needs no encoding in mangled names.
  static func isIdentifier(_ text: String) -> Bool {
    guard let first = text.utf8.first, !(48...57).contains(first) else { return false }
    return text.utf8.allSatisfy { $0 == 95 || (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) }
  }
}
