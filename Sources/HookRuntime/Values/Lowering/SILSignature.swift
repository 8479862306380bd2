// SILSignature — a function's parameters and results as the optimiser sees them.
//
// A source parameter that is a tuple is several parameters here, an indirect result is one, and `self` is the last.
// Specialisations (`Tf…`, `Tg…`) speak of these parameters, in this order; SILSpecialization.swift applies them.
// Source of the rules: TypeLowering and SILFunctionType.cpp; checked against `swiftc -emit-sil` and `-emit-irgen`.
package import SwiftMangling

/// What of a call a SIL parameter carries.
package enum SILRole: Hashable, Sendable {
  /// The address a result, or an element of one, is written to.
  case result
  /// The address a typed error is written to.
  case error
  /// (Part of) the declaration's parameter with this index.
  case argument(Int)
  case selfValue
  /// What no source parameter names: an implicit actor, a closure's captures.
  case hidden
}

/// Who ends the value.
package enum SILConvention: Hashable, Sendable { case borrowed, owned, address }

/// A type as it is declared, and as it is in this body.
package struct SILType: Hashable, Sendable {
  /// The type as it is declared: what decides representations. A metatype or a function inside a generic type is spelled differently.
  package var pattern: TypeSyntax
  /// The type with the generic arguments of this body.
  package var type: TypeSyntax
  /// It goes by address only because the declaration does not know the type.
  package var isAbstract: Bool

  package init(_ type: TypeSyntax) {
    pattern = type
    self.type = type
    isAbstract = type.isOpaquePattern
  }
}

/// One SIL parameter.
package struct SILParameter: Sendable {
  package var role: SILRole
  /// Which tuple element of the role's value this is, outermost first; empty for the whole value.
  package var path: [Int] = []
  /// The stored properties of the element that remain, when a specialisation took it apart.
  package var part: SILPart?
  package var type: SILType
  package var convention = SILConvention.borrowed
}

/// A stored property, of any depth, that is passed by itself.
package struct SILPart: Sendable {
  /// Bytes into the value that was taken apart.
  package var offset: Int
  package var info: TypeInfo
}

/// One SIL result, direct or through an address.
package struct SILResult: Sendable {
  package var path: [Int] = []
  package var type: SILType
  /// The body writes it through a parameter of role `.result`.
  package var isIndirect = false
  /// The caller releases it.
  package var isOwned = true
  /// This body does not return it.
  package var isGone = false
}

package struct SILSignature: Sendable {
  /// Those that are still there, in order: indirect results, an indirect error, arguments, self, captures.
  package var parameters: [SILParameter] = []
  /// What specialisations removed.
  package var gone: [SILParameter] = []
  package var results: [SILResult] = []
  /// `self` (the last parameter before captures) goes where methods have it.
  package var isMethod = false
  /// `self` is a struct or enum and may be passed by value or by address: no name tells whether a member is mutating.
  package var selfIsUndecided = false
  /// Why places are not known, and the number of parameters that still are.
  package var broken: (reason: String, from: Int)?
  /// Why it is not known how results and a typed error come back.
  package var resultProblem: String?
  /// Generic parameters this body was compiled for.
  package var substitutions: [GenericParameterKey: TypeSyntax] = [:]

  /// Results that went by address may be returned directly, or not; those that did not still are.
  mutating func loseResults(_ reason: String) {
    if results.contains(where: \.isIndirect) { resultProblem = resultProblem ?? reason }
  }

  /// From here on nothing is known of the places.
  mutating func breakOff(at index: Int, _ reason: String) {
    if let broken, broken.from <= index { return }
    broken = (reason, index)
  }
}

extension SILSignature {
  /// Metadata of generic parameters comes behind all parameters.
  func takesMetadata(_ declaration: Declaration) -> Bool {
    guard substitutions.isEmpty else { return false }
    return declaration.isGeneric || parameters.contains { $0.type.type.isGeneric }
  }
}

extension SILType {
  /// The type that a metatype is of, or the type itself.
  var instance: TypeSyntax { if case .metatype(let instance) = type { instance } else { type } }
}

extension TypeSyntax {
  /// A generic parameter or a member of one: whatever it stands for goes by address.
  var isOpaquePattern: Bool {
    switch self {
    case .genericParameter, .dependentMember: true
    default: false
    }
  }
}
