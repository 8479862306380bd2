// Family — a selector and every body the compiler made of it.
package import SwiftMangling

/// One machine-code body of a selector.
package struct Body: Sendable {
  package enum Form: Hashable, Sendable {
    case base
    /// `Tf…`: arguments dropped, exploded, or owned differently
    case signatureClone
    /// `Tg…`, `TG…`, `Ts…`: generic arguments filled in
    case genericClone
    /// `Tm`: several equal bodies became one with extra arguments
    case merged
    /// The initialising form (`fc`) beside the allocating one
    case initialising
    /// Only jumps to a body of another selector, with which it shares the code
    case sharesCodeOf(String)
  }
  package var form: Form
  package var declaration: Declaration
  package var mangledName: String
  /// In this process (biased); the file's virtual address when nothing is running.
  package var address: UInt64
  package var size: Int
  /// Bytes from the body's start to the next symbol.
  package var available: Int
}

/// A selector: what a name means, and the bodies that carry it out.
package struct Family: Sendable {
  /// `Shop.Cart.add(_:price:quantity:)`
  package var selector: String
  package var declaration: Declaration
  /// Equal for all bodies; unique in the image.
  package var key: String
  package var imagePath: String
  package var bodies: [Body]

  package var typedSelector: String { declaration.typedName(qualified: false) }
}

/// Why a selector or one body of it is not hooked.
package enum HookRefusal: Error, Hashable, Sendable {
  case compilerMade(String)
  case runtimeMachinery(String)
  case tooShort(size: Int)
  case jumpIntoWindow
  case foreignBytes
  case undecodable
  case unreachable(String)
  case codeNotWritable(String)
  case sharedBody(with: String)
  case conventionChanged(String)
  case resultNotObservable(String)
  case policy(String)
  case other(String)

  /// A stable word for tables and filters.
  package var code: String {
    switch self {
    case .compilerMade: "compiler-made"
    case .runtimeMachinery: "runtime"
    case .tooShort: "too-short"
    case .jumpIntoWindow: "jump-into-window"
    case .foreignBytes: "foreign-bytes"
    case .undecodable: "undecodable"
    case .unreachable: "unreachable"
    case .codeNotWritable: "code-not-writable"
    case .sharedBody: "shared-body"
    case .conventionChanged: "convention-changed"
    case .resultNotObservable: "result-not-observable"
    case .policy: "policy"
    case .other: "other"
    }
  }
}

extension HookRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .compilerMade(let what): "it is a compiler-made function (\(what))"
    case .runtimeMachinery(let what): "it belongs to the runtime's own machinery (\(what))"
    case .tooShort(let size): "the function is \(size) bytes long and has no padding, a jump needs 5"
    case .jumpIntoWindow: "a jump in the function leads into the bytes that a hook would replace"
    case .foreignBytes: "its code was changed by someone else (a debugger or another hook engine)"
    case .undecodable: "its first instructions cannot be decoded"
    case .unreachable(let why): why
    case .codeNotWritable(let why): "code cannot be written here: \(why)"
    case .sharedBody(let other): "its code is shared with '\(other)'"
    case .conventionChanged(let why): "its calling convention is not certain: \(why)"
    case .resultNotObservable(let why): "only 'before' can be hooked: \(why)"
    case .policy(let why): why
    case .other(let why): why
    }
  }
}
