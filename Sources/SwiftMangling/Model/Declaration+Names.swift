extension Declaration {
  /// The name people write: `Shop.Cart.add(_:price:)`, `static Shop.Cart.make()`, `Shop.Cart.title.get`.
  package var selectorName: String { name }

  /// The selector with its types: `Shop.Tree.visit(_: FunctionDeclSyntax) async throws -> R`.
  /// - Parameter qualified: Types carry their module and outer types.
  package func typedName(qualified: Bool) -> String { name }
}
