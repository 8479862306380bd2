// TypeInfo — what the runtime knows of one concrete type: how it is laid out, how it travels, how it is read.
package import Synchronization

/// How values of a type are shown and bridged.
package indirect enum ValueKind: Sendable {
  case void
  case bool
  case integer(bits: Int, signed: Bool)
  case float(bits: Int)
  case string
  /// A C string, or NULL: an address that nobody here owns.
  case cString
  /// A single-payload Optional; the payload's own layout tells how `nil` is spelled.
  case optional(TypeInfo)
  /// A native class instance, by reference.
  case object
  case closure
  case metatype
  case structure
  case enumeration
  case tuple
  case existential
  /// Passed on unchanged and printed by its type name.
  case opaque
}

/// A type whose metadata is known. Immutable; shared by all threads.
package final class TypeInfo: Sendable {
  package let metadata: Metadata
  package let kind: ValueKind
  /// The scalars of the in-memory layout, nil when values cannot be loaded into registers (address-only).
  package let scalars: [Scalar]?
  package let passing: Passing
  package let size: Int
  package let alignment: Int
  package let isTrivial: Bool
  /// Swift's spelling, qualified: `Shop.Cart`.
  package let name: String
  /// Two descriptions of one type differ in this only; see `TypeResolver.general`.
  package let form: ClosureForm
  package var isGeneral: Bool { form == .general }

  /// What the layer above found out about the type, as a word of its own; 0 before. Asking is to cost no look into a table.
  package let note = Atomic<UInt>(0)

  /// 0 before it was asked; 1: values can be copied, 2: they cannot.
  private let copyability = Atomic<UInt8>(0)
  /// Values can be copied: of a generic type what it is made with is asked, too, once.
  package var isCopyable: Bool {
    let known = copyability.load(ordering: .relaxed)
    if known != 0 { return known == 1 }
    let found = metadata.isCopyable
    copyability.store(found ? 1 : 2, ordering: .relaxed)
    return found
  }

  /// The first 64 cases whose payload was seen to lie in a box.
  let boxedCases = Atomic<UInt64>(0)

  /// Found when first asked for.
  private let lazyMembers = Mutex<Members?>(nil)
  struct Members: Sendable {
    var fields: [StoredField]
    var cases: [EnumCase]
  }
  var members: Members {
    lazyMembers.withLock {
      if let known = $0 { return known }
      var made = Members(fields: metadata.storedFields, cases: metadata.enumCases)
      // The elements of a tuple have the tuple's form.
      if form != .natural { made.fields = made.fields.map { $0.element(in: form) } }
      $0 = made
      return made
    }
  }

  /// A struct that cannot be copied has a `deinit`; nil where its layout does not tell.
  var hasDeinit: Bool? {
    guard case .structure = kind, !isCopyable, !isTrivial else { return false }
    // Ends of fields that need none are the struct's own.
    return members.fields.allSatisfy { (try? $0.type.get())?.isTrivial ?? false } ? true : nil
  }

  /// - Parameter size: where values lie otherwise than the metadata says (a metatype without bits).
  /// The type asks more of its values than `metadata` tells: only a value that was of this type before may become one.
  package let isConstrained: Bool

  /// A type with the values of `base` that meet requirements which no metadata here speaks of.
  init(constraining base: TypeInfo, name: String) {
    metadata = base.metadata
    kind = base.kind
    scalars = base.scalars
    passing = base.passing
    size = base.size
    alignment = base.alignment
    isTrivial = base.isTrivial
    self.name = name
    isConstrained = true
    form = base.form
  }

  init(metadata: Metadata, kind: ValueKind, scalars: [Scalar]?, size: Int? = nil, form: ClosureForm = .natural) {
    isConstrained = false
    self.form = form
    self.metadata = metadata
    self.kind = kind
    self.scalars = scalars
    self.size = size ?? metadata.size
    self.alignment = metadata.alignment
    self.isTrivial = metadata.isTrivial
    self.passing = scalars.map(AggregateLowering.lower) ?? .indirect
    self.name = metadata.name
  }
}

extension TypeInfo {
  /// A pointer of Swift's: one word, the address.
  package var isPointer: Bool {
    guard size == 8, name.hasPrefix("Swift."), case .structure = kind else { return false }
    let bare = name.dropFirst(6).prefix { $0 != "<" }
    return bare.hasSuffix("Pointer") && (bare.hasPrefix("Unsafe") || bare.hasPrefix("Opaque"))
  }
}

/// Why a type's values cannot be located.
package enum TypeProblem: Error, Hashable, Sendable {
  /// The type depends on generic parameters that only the caller knows.
  case generic
  /// The runtime does not find the type by its name.
  case unresolved(String)
  /// A stored field's type is not found, or the layout has a form we do not read.
  case layout(String)
  /// A C struct with a union or bit-fields: Swift has no fields for those, and how it travels depends on them.
  case hidden(String)
  /// A struct of a module built for evolution: whether it is frozen decides how it travels.
  case evolving(String)
}

extension TypeProblem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .generic: "its type depends on generic parameters"
    case .unresolved(let name): "type '\(name)' is not found in this process"
    case .evolving(let name): "'\(name)' is of a module built for evolution, and whether it is '@frozen' is not known"
    case .hidden(let name):
      "'\(name)' is a C type with parts that Swift has no names for, such as a union or bit-fields, and they decide how it is passed"
    case .layout(let name): "the layout of '\(name)' is not known"
    }
  }
}
