/// What a symbol is the body, or the record, of.
package enum EntityKind: Hashable, Sendable {
  case function
  /// `fC`: takes the metatype, returns a new value
  case allocatingInit
  /// `fc`: initialises an object that exists
  case `init`
  /// `fd`
  case `deinit`
  /// `fD`
  case deallocatingDeinit
  /// `fZ`: the deinit of an actor that must run on its executor
  case isolatedDeinit
  case getter, setter, modify, read, modify2, read2
  case willSet, didSet, initAccessor
  case globalGetter, materializeForSet
  case unsafeAddressor, unsafeMutableAddressor
  case owningAddressor, owningMutableAddressor
  case nativeOwningAddressor, nativeOwningMutableAddressor
  case nativePinningAddressor, nativePinningMutableAddressor
  case borrowAccessor, mutateAccessor
  /// The variable, subscript or type itself, not a body
  case variable, subscriptDeclaration, type
  case explicitClosure(index: Int), implicitClosure(index: Int)
  case defaultArgument(index: Int)
  /// The initial value of a stored property or of a property wrapper
  case variableInitializer
  case macro
  /// A C function that an image imports; its module is `C`
  case importedFunction
  /// Thunks, witnesses, records and copies: the string names the kind in words.
  case compilerMade(String)

  /// A function, initialiser or deinitialiser somebody wrote (or could have written).
  package var isSourceFunction: Bool {
    switch self {
    case .function, .allocatingInit, .`init`, .`deinit`, .deallocatingDeinit, .isolatedDeinit: true
    default: false
    }
  }

  /// A body that reads or writes a property or subscript.
  package var isAccessor: Bool { !accessorWord.isEmpty }

  private static let accessors: [EntityKind] = [
    .getter, .setter, .modify, .read, .modify2, .read2, .willSet, .didSet, .initAccessor,
    .globalGetter, .materializeForSet, .unsafeAddressor, .unsafeMutableAddressor,
    .owningAddressor, .owningMutableAddressor, .nativeOwningAddressor,
    .nativeOwningMutableAddressor, .nativePinningAddressor, .nativePinningMutableAddressor,
    .borrowAccessor, .mutateAccessor,
  ]

  /// What accessors are called behind their property: `get`, `modify`, … (`init` is an initialiser's name as well.)
  package static let accessorWords = Set(accessors.map(\.accessorWord))

  package var isClosure: Bool {
    switch self {
    case .explicitClosure, .implicitClosure: true
    default: false
    }
  }

  package var isCompilerMade: Bool {
    if case .compilerMade = self { true } else { false }
  }
}

/// A symbol's rough class, cheap to learn.
package enum QuickKind: UInt8, Sendable {
  /// a function, initialiser or deinitialiser, or a clone of one
  case source
  case accessor
  case closure
  case compilerMade
  case notSwift
}
