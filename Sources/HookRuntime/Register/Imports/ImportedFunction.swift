// ImportedFunction — a C function that images import: what is known of it, and the words its calls go through.
package import SwiftMangling

package struct ImportedFunction: Sendable {
  /// `connect`
  package let name: String
  /// As people wrote it, or as it is known here; nil when neither.
  package let prototype: CPrototype?
  /// The prototype was spelled by whoever asks.
  package let isSpelled: Bool
  /// The images that were asked for, nil for all, also those that appear later.
  package let importer: String?
  /// The images whose words were looked for, as `Importer.place`.
  package let lookedAt: Set<String>
}

/// The word of one image that a `Body` of such a function stands for.
package struct ImportPlace: Sendable {
  package let importer: Importer
  package let slot: ImportSlot
  package let binding: ImportBinding
  /// The function as this symbol is called: another form of it has other arguments.
  package let form: CPrototype?
  /// Where the word is, in this process or in the file.
  package var word: UInt64 { slot.word &+ importer.bias }
}

/// What an import slot leads to.
package enum ImportBinding: Sendable, Equatable {
  /// The function's address.
  case bound(UInt64)
  /// Looked up at the first call; what will be found.
  case lazy(UInt64)
  /// By the program's own import table, in a program at a fixed address; the function's address.
  case relayed(UInt64)
  /// Nothing runs, so nothing is bound.
  case onDisk
}

extension ImportedFunction {
  package var declaration: Declaration { prototype?.declaration ?? CPrototype.declaration(named: name) }

  /// Where the arguments and the result are at one of the words.
  func plan(at place: ImportPlace) -> CallPlan {
    guard let prototype, let form = place.form else { return .unknownFunction(declaration) }
    return prototype.plan(calledAs: form)
  }

  /// Why calls through this word are not hooked; nil when they are.
  func refusal(at place: ImportPlace, safe: Bool) -> HookRefusal? {
    if case .never(let reason) = CFunctions.trait(place.slot.symbol) { return .notHookable(reason) }
    if case .allocation = CFunctions.trait(place.slot.symbol), !safe { return .allocation }
    return place.importer.refusal(of: place.slot.symbol, safe: safe).map { .notHookable($0) }
  }

  /// The calls are left by a jump, so that only `before` can be hooked; the reason.
  static func beforeOnly(_ symbol: String) -> String? {
    if case .beforeOnly(let reason) = CFunctions.trait(symbol) { reason } else { nil }
  }
}
