/// Reads mangled names. Keeps its memory between names: make one and reuse it.
///
/// One thread at a time; copies are independent.
package struct SymbolParser {
  package init() {}

  /// The declaration behind a symbol (`$s…`, `_$s…`, `$S…`), or nil when the name is not a function-like Swift symbol.
  package mutating func declaration(_ mangled: UnsafeBufferPointer<UInt8>) -> Declaration? { nil }

  /// The type behind a bare type mangling (`Si`, `4Shop4CartC`) or a `$s…D` symbol.
  package mutating func type(_ mangled: UnsafeBufferPointer<UInt8>) -> TypeSyntax? { nil }

  /// The symbol's class without building the model.
  package mutating func quickKind(_ mangled: UnsafeBufferPointer<UInt8>) -> QuickKind { .notSwift }
}

extension SymbolParser {
  /// `declaration(_:)` for a Swift string.
  package mutating func declaration(_ mangled: String) -> Declaration? {
    var mangled = mangled
    return mangled.withUTF8 { declaration($0) }
  }

  /// `type(_:)` for a Swift string.
  package mutating func type(_ mangled: String) -> TypeSyntax? {
    var mangled = mangled
    return mangled.withUTF8 { type($0) }
  }

  /// `quickKind(_:)` for a Swift string.
  package mutating func quickKind(_ mangled: String) -> QuickKind {
    var mangled = mangled
    return mangled.withUTF8 { quickKind($0) }
  }
}
