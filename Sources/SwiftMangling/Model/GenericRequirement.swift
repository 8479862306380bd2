/// One requirement of a generic signature.
package struct GenericRequirement: Hashable, Sendable {
  package indirect enum Kind: Hashable, Sendable {
    case conformance(NominalName)
    case superclass(TypeSyntax)
    case sameType(TypeSyntax)
    case sameShape(TypeSyntax)
    /// `T: AnyObject` and its native form.
    case classLayout
    /// `T: _Trivial` and others that say something of size or of bits.
    case layout(String)
    /// `each T`
    case pack
    /// `let N: Int`
    case value(TypeSyntax)
    /// `~Copyable` (0), `~Escapable` (1)
    case inverse(Int)
    case other
  }
  package var subject: TypeSyntax
  package var kind: Kind
  /// As a person reads it: `A: Swift.Equatable`.
  package var description: String

  package init(subject: TypeSyntax, kind: Kind, description: String = "") {
    self.subject = subject
    self.kind = kind
    self.description = description
  }
}
