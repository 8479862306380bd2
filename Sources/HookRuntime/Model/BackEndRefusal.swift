// BackEndRefusal — why a back end cannot divert a selector's calls: facts first, one sentence each below.

/// Why a back end is not possible for a selector. Nothing was changed.
package enum BackEndRefusal: Error, Equatable, Sendable {
  /// No virtual table has the method.
  case noSlot(NoSlot)
  /// The table lies in metadata that the runtime makes, one for each set of generic arguments.
  case genericClass(String)
  /// The class is not in use yet, or its metadata cannot be found.
  case metadataNotKnown(String)
  /// The class has a method of its own there.
  case notInherited(by: String, from: String)
  case noSubclass(String, of: String)
  /// The word holds neither the method nor a hook of ours.
  case foreignWord(address: UInt64, found: UInt64, expected: UInt64)
  /// What the back end changes is not what the scope asks for.
  case scope(String)
  /// The entries are records that are not handled here: those of coroutine accessors of the newer form.
  case coroutineRecord
  /// Code may compare objects' classes with this one.
  case mayBeFinal(String)
  case actor(String)
  /// No conformance's table leads to it.
  case noWitness
  /// The table is made at run time, one for each set of generic arguments.
  case genericConformance(String, to: String)
  /// The function is not compiled `dynamic`.
  case notDynamic
  case code(InterceptRefusal)
  case notBuilt

  /// A stable word for tables and filters.
  package var code: String {
    switch self {
    case .noSlot(.deleted): "deleted-slot"
    case .noSlot: "not-virtual"
    case .genericClass: "generic-class"
    case .metadataNotKnown: "no-metadata"
    case .notInherited: "not-inherited"
    case .noSubclass: "no-subclass"
    case .foreignWord: "foreign-bytes"
    case .scope: "scope"
    case .coroutineRecord: "coroutine-record"
    case .mayBeFinal: "final-class"
    case .actor: "actor"
    case .noWitness: "no-witness"
    case .genericConformance: "generic-conformance"
    case .notDynamic: "not-dynamic"
    case .code(let reason): reason.code
    case .notBuilt: "back-end"
    }
  }
}

extension BackEndRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noSlot(.noClass): "it is not a method of a class, so no virtual table has it"
    case .noSlot(.inExtension): "it is declared in an extension, so no virtual table has it"
    case .noSlot(.notVirtual): "it is final or private, or nothing calls it virtually: no virtual table has it"
    case .noSlot(.deleted): "its slot in the virtual table was deleted: the compiler found that no call goes through it"
    case .noSlot(.ambiguous): "its code is that of several methods of its class, and no symbol tells their slots apart"
    case .genericClass(let name): "'\(name)' is generic: each use of it has a virtual table of its own, made while the program runs"
    case .metadataNotKnown(let name): "the metadata of '\(name)' is not known: the class was not used yet, or its symbol was stripped"
    case .notInherited(let subclass, let base): "'\(subclass)' does not inherit it from '\(base)': hook its own"
    case .noSubclass(let name, let base): "'\(name)' is not a subclass of '\(base)'"
    case .foreignWord(let address, let found, let expected):
      "the table's word at 0x\(String(address, radix: 16)) was changed by someone else (expected 0x\(String(expected, radix: 16)), "
        + "found 0x\(String(found, radix: 16))); left as it is"
    case .scope(let advice): "it \(advice)"
    case .coroutineRecord: "tables have a record of it and not its code, as of all coroutine accessors of the newer form; hook it by entry"
    case .mayBeFinal(let name):
      "'\(name)' may be final, and code compares objects' classes with a final one: casts of a switched object would fail; hook it by entry"
    case .actor(let name): "'\(name)' is an actor, whose class the runtime looks at; hook it by entry"
    case .noWitness: "no protocol's requirement is carried out by it alone, so no conformance's table has it"
    case .genericConformance(let type, let name):
      "'\(type)' conforms to '\(name)' with a table for each set of generic arguments, made while the program runs"
    case .notDynamic: "it is not compiled 'dynamic'"
    case .code(let reason): reason.description
    case .notBuilt: "it is not available for this function"
    }
  }
}
