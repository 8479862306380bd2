/// How one value (a parameter or the result) differs in a signature specialisation.
package enum SpecializedValue: Hashable, Sendable {
  case unchanged
  /// The argument is gone, or the result is never returned.
  case dead
  case ownedToGuaranteed
  case guaranteedToOwned
  /// Passed as its parts instead of whole.
  case exploded
  /// Several of the above for one value.
  case combined([SpecializedValue])
  /// The clone knows the value; the string names it (a function's mangled name, a literal).
  case constant(String)
  /// The clone knows the closure; `function` is its mangled name.
  case closure(function: String, captures: [TypeSyntax])
  case boxToValue, boxToStack, inOutToOut
  /// The value equals that of an earlier parameter.
  case sameClosureAsParameter(Int)
  case existentialToGeneric
  case other(String)
}

/// The generic arguments a body was compiled for.
package struct GenericSpecialization: Hashable, Sendable {
  /// In the order of the generic signature, without parameters that its requirements make another type; nil where a
  /// partial specialisation leaves one open.
  package var types: [TypeSyntax?]
  package var isPartial = false
  /// Not `TG`: what went by address for being generic alone goes in registers where its type allows.
  package var isReabstracted = true
  /// `TB`: made where the layout of the module's own types is known to everybody who calls it.
  package var isInResilienceDomain = false
  /// `m`: metatype parameters are gone.
  package var dropsMetatypes = false
  /// SIL parameters (indirect results count, first) that are gone.
  package var droppedParameters: [Int] = []

  package init(types: [TypeSyntax?]) { self.types = types }
}

/// One step the compiler took from the declaration to this body.
package enum Specialization: Hashable, Sendable {
  /// `Tf`: changes per SIL parameter (indirect results first, `self` last) and the result's; the number of the pass.
  case signature(parameters: [SpecializedValue], result: SpecializedValue, pass: Int)
  /// `Tg`, `TG`, `Ts`, …
  case generic(GenericSpecialization)
  /// `Tm`: several equal bodies became one that takes extra arguments.
  case merged
}

/// What one function-like symbol declares.
package struct Declaration: Sendable {
  package var kind: EntityKind
  /// For a compiler-made symbol about a function or accessor: what that one is.
  package var wrappedKind: EntityKind?
  /// Of a protocol witness: the type that conforms. The declaration itself is the requirement's.
  package var conformer: TypeSyntax?
  /// The enclosing nominal type (for an extension the extended one); nil for free functions.
  package var context: NominalName?
  package var contextKind: NominalKind?
  /// The module that defines the declaration: the extension's for members of extensions.
  package var module: String
  /// The extension's module, when the declaration is a member of an extension.
  package var extensionModule: String?
  /// The base name: `add`, `init`, `deinit`, `subscript`, `title`, `==`.
  package var name: String
  /// The argument labels, nil for `_`, parallel to the parameters.
  package var labels: [String?]
  package var isStatic = false
  /// A getter that is `async`, which its name does not tell: set by who knows the image.
  package var isAsyncAccessor = false
  /// An async function that runs where its caller does, `nonisolated(nonsending)`: nor is that in its name.
  package var takesCallersActor = false
  /// The requirement as a conforming type's table has it: called with what conforms and the table behind all other arguments.
  package var isWitness = false
  /// Whether it is one is not known: where its arguments are is not, then.
  package var callersActorIsUndecided = false
  package static let callersActorIsUnknown =
    "whether it takes its caller's actor (nonisolated(nonsending)) is not in its name, and its code does not show it"
  /// A subscript or one of its accessors. (A property may be called `subscript` too.)
  package var isSubscript = false
  /// The file discriminator of a private declaration.
  package var privateDiscriminator: String?
  package var isPrivate: Bool { privateDiscriminator != nil }
  /// Names of the functions around a local function, outermost first.
  package var localContext: [String] = []
  /// Which of several equally named local declarations this is, from 1; nil for all others.
  package var localIndex: Int?
  /// `.function` for functions, initialisers and subscript accessors (the index parameters and the element);
  /// the property's type for accessors of variables.
  package var type: TypeSyntax?
  /// The declaration or one of its contexts has generic parameters, as far as the name tells.
  package var isGeneric = false
  /// The number of generic parameters the declaration itself adds, per depth. A declaration that adds none but requires
  /// something of the only parameter of its type may spell that parameter here instead.
  package var genericParameterCounts: [Int] = []
  /// What the declaration, and the extension around it, require of generic parameters beyond what its type does.
  package var requirements: [GenericRequirement] = []
  /// From the declaration outwards: the outermost step is last.
  package var specialization: [Specialization] = []
  package var isMerged: Bool { specialization.contains(.merged) }
  /// Byte length of the prefix of the mangled name that spells the unspecialised declaration.
  /// All clones of one declaration share those bytes, except that `fC` and `fc` differ in the last one.
  package var familyLength: Int
  /// A key equal for every body of one declaration: the prefix, with `fc` spelled `fC` and `fD` spelled `fd`.
  package var familyName: String

  package init(kind: EntityKind, module: String, name: String, labels: [String?] = [], familyLength: Int = 0, familyName: String = "") {
    self.kind = kind
    self.module = module
    self.name = name
    self.labels = labels
    self.familyLength = familyLength
    self.familyName = familyName
  }

  /// Turns the declaration of an entity into that of a symbol the compiler made for it.
  mutating func becomeCompilerMade(_ words: String) {
    if !kind.isCompilerMade { wrappedKind = kind }
    kind = .compilerMade(words)
  }
}
