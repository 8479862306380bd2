/// A type as a mangled name spells it.
package indirect enum TypeSyntax: Hashable, Sendable {
  /// `arguments` holds the generic arguments of every level, outermost first.
  case nominal(NominalName, kind: NominalKind, arguments: [TypeSyntax])
  case tuple([TupleElement])
  case function(FunctionType)
  /// `Any` has no protocols, `AnyObject` none and is class bound.
  case existential(protocols: [NominalName], superclass: TypeSyntax?, isClassBound: Bool)
  /// `any Sequence<Int>`: the base existential and what its associated types are.
  case constrainedExistential(TypeSyntax, requirements: [GenericRequirement])
  case metatype(TypeSyntax)
  case existentialMetatype(TypeSyntax)
  case genericParameter(depth: Int, index: Int)
  /// An associated type; `of` is the protocol that declares it, where the name tells.
  case dependentMember(base: TypeSyntax, name: String, of: NominalName?)
  case dynamicSelf(TypeSyntax)
  case builtin(String)
  case weak(TypeSyntax)
  case unowned(TypeSyntax)
  case unmanaged(TypeSyntax)
  case opaqueResult(String)
  case pack([TypeSyntax])
  case packExpansion(TypeSyntax)
  /// The argument of a value generic, as in `InlineArray<4, Int>`.
  case integer(Int)
  /// A type of this process, by the address of its metadata: what a generic parameter stands for in one call.
  case known(UInt)
  /// `Self` in the requirements of a constrained existential.
  case constrainedSelf
  /// A construct the model has no case for, named by its node kind.
  case unknown(String)
}

/// One element of a tuple type.
package struct TupleElement: Hashable, Sendable {
  package var label: String?
  package var type: TypeSyntax
  package var isVariadic: Bool

  package init(label: String? = nil, type: TypeSyntax, isVariadic: Bool = false) {
    self.label = label
    self.type = type
    self.isVariadic = isVariadic
  }
}

/// Who owns a parameter's value during the call, as far as the name tells.
package enum Ownership: UInt8, Sendable {
  case `default`
  /// `__shared`, `borrowing`
  case borrowed
  /// `__owned`, `consuming`
  case owned
}

/// One parameter of a function type.
package struct Parameter: Hashable, Sendable {
  /// nil for `_`
  package var label: String?
  package var type: TypeSyntax
  package var isInout = false
  package var isVariadic = false
  package var isAutoclosure = false
  package var isIsolated = false
  package var isSending = false
  package var ownership = Ownership.default

  package init(label: String? = nil, type: TypeSyntax) {
    self.label = label
    self.type = type
  }
}

/// What a function may throw.
package enum Thrown: Hashable, Sendable {
  case never
  case any
  case typed(TypeSyntax)
}

/// How a function value is represented.
package enum Convention: UInt8, Sendable {
  case swift, noescape, escapingAutoclosure, noescapeAutoclosure, thin, c, block, escapingBlock, other
}

/// Where a function type runs.
package enum Isolation: Hashable, Sendable {
  case unspecified
  case globalActor(TypeSyntax)
  case erased
  case caller
}

/// A function type with everything its mangling says.
package struct FunctionType: Hashable, Sendable {
  package var parameters: [Parameter]
  package var result: TypeSyntax
  package var isAsync = false
  package var thrown = Thrown.never
  package var convention = Convention.swift
  package var isSendable = false
  package var isDifferentiable = false
  package var hasSendingResult = false
  package var isolation = Isolation.unspecified

  package init(parameters: [Parameter] = [], result: TypeSyntax = .tuple([])) {
    self.parameters = parameters
    self.result = result
  }
}
