// TypeResolver — from the types a signature names to their metadata and layout.
package import SwiftMangling

/// Resolves and remembers types. Any thread; one lock, never held while program code runs except metadata accessors.
package final class TypeResolver: @unchecked Sendable {
  // All mutable state is behind `lock`.
  package static let shared = TypeResolver()

  private let lock = RecursiveLock()
  private var bySyntax: [TypeSyntax: Result<TypeInfo, TypeProblem>] = [:]
  private var byMetadata: [Metadata: Result<TypeInfo, TypeProblem>] = [:]
  private var otherForms: [FormKey: TypeInfo] = [:]
  private var byField: [FieldKey: Result<TypeInfo, TypeProblem>] = [:]
  /// Finds a non-generic type the runtime cannot find by name (private types): set by the registry.
  package var findDescriptor: (@Sendable (NominalName) -> TypeDescriptor?)?

  package func type(_ syntax: TypeSyntax) -> Result<TypeInfo, TypeProblem> {
    lock.withLock {
      if let known = bySyntax[syntax], isCurrent(known) { return known }
      let found = constrained(syntax) ?? metadata(for: syntax).flatMap { info(for: $0) }
      bySyntax[syntax] = found
      return found
    }
  }

  private var failuresAt: UInt64 = 0
  /// What was not found may have come with an image since: then all that failed is forgotten.
  private func isCurrent(_ known: Result<TypeInfo, TypeProblem>) -> Bool {
    guard case .failure = known else { return true }
    let change = LoadedImages.changeCount
    if change == failuresAt { return true }
    failuresAt = change
    func failed(_ result: Result<TypeInfo, TypeProblem>) -> Bool { if case .failure = result { true } else { false } }
    bySyntax = bySyntax.filter { !failed($0.value) }
    byField = byField.filter { !failed($0.value) }
    byMetadata = byMetadata.filter { !failed($0.value) }
    return false
  }

  /// `any Collection<Int>`: the runtime does not find it by name, but its values are those of `any Collection`.
  private func constrained(_ syntax: TypeSyntax) -> Result<TypeInfo, TypeProblem>? {
    guard case .constrainedExistential(let base, _) = syntax, syntax.deepestParameter < 0 else { return nil }
    return type(base).map { TypeInfo(constraining: $0, name: syntax.description(qualified: true)) }
  }

  package func type(of metadata: Metadata) -> Result<TypeInfo, TypeProblem> {
    lock.withLock { info(for: metadata) }
  }

  /// The type as it lies where a generic type is expected: an element of an array, a payload of `Any`. The compiler
  /// keeps closures there in their most general form; a type that holds none is the same everywhere.
  package func general(_ info: TypeInfo) -> TypeInfo { type(info, in: .general) }

  /// The type of a value where a generic type is expected. Metatypes have their word there, inside Optionals and tuples too.
  package func general(of metadata: Metadata) -> Result<TypeInfo, TypeProblem> {
    lock.withLock {
      let key = FormKey(metadata: metadata, form: .general)
      if let known = otherForms[key] { return .success(known) }
      if !metadata.mentionsOneMetatype || metadata.isMetatype {
        let found = info(for: metadata).map(general)
        guard case .failure(.evolving) = found, let made = inMemory(metadata) else { return found }
        otherForms[key] = made
        return .success(made)
      }
      do throws(TypeProblem) {
        let layout = try generalLayout(metadata)
        let made = TypeInfo(metadata: metadata, kind: layout.kind, scalars: layout.scalars, form: .general)
        otherForms[key] = made
        return .success(made)
      } catch { return .failure(error) }
    }
  }

  /// Of types of modules built for evolution only how functions pass them is not known: a generic place is memory, where the type's own
  /// metadata tells all.
  private func inMemory(_ metadata: Metadata) -> TypeInfo? {
    switch metadata.kind {
    case .structure: return TypeInfo(metadata: metadata, kind: .structure, scalars: nil, form: .general)
    case .enumeration: return TypeInfo(metadata: metadata, kind: .enumeration, scalars: nil, form: .general)
    case .optional:
      guard let payload = metadata.genericArgumentMetadata.first ?? nil, case .success(let info) = general(of: payload) else { return nil }
      return TypeInfo(metadata: metadata, kind: .optional(info), scalars: nil, form: .general)
    default: return nil
    }
  }

  /// The layout that Optionals and tuples with metatypes have in generic code.
  private func generalLayout(_ metadata: Metadata) throws(TypeProblem) -> Layout {
    guard case .optional = metadata.kind else {
      var scalars: [Scalar]? = []
      for element in metadata.tupleElements {
        let part = try general(of: element.metadata).get().scalars
        scalars = part.flatMap { part in scalars.map { $0 + part.map { $0.moved(by: element.offset) } } }
      }
      return Layout(kind: .tuple, scalars: scalars)
    }
    guard let argument = metadata.genericArgumentMetadata.first ?? nil else { throw .layout(metadata.name) }
    let payload = try general(of: argument).get()
    return Layout(kind: .optional(payload), scalars: payload.scalars.map { _ in Self.enumeration(payload.size, metadata.size) })
  }

  /// The type with the closures of its values in this form; the same where there are none.
  package func type(_ info: TypeInfo, in form: ClosureForm) -> TypeInfo {
    lock.withLock {
      if info.form == form { return info }
      let key = FormKey(metadata: info.metadata, form: form)
      if let known = otherForms[key] { return known }
      guard let kind = kind(of: info, in: form) else { return info }
      let made = TypeInfo(metadata: info.metadata, kind: kind, scalars: info.scalars, form: form)
      otherForms[key] = made
      return made
    }
  }

  /// nil when no closure lies in the value itself.
  private func kind(of info: TypeInfo, in form: ClosureForm) -> ValueKind? {
    switch info.kind {
    case .closure: return .closure
    case .optional(let payload):
      let other = type(payload, in: form)
      return other === payload ? nil : .optional(other)
    case .tuple:
      let holds = info.metadata.tupleElements.contains { element in
        guard case .success(let part) = type(of: element.metadata) else { return false }
        return type(part, in: form) !== part
      }
      return holds ? .tuple : nil
    default: return nil
    }
  }

  private struct FormKey: Hashable {
    var metadata: Metadata
    var form: ClosureForm
  }

  /// The type of a stored property or payload of `owner`, as it lies there: a metatype that needs no bits has none.
  package func type(ofField name: MangledBytes, in owner: Metadata) -> Result<TypeInfo, TypeProblem> {
    lock.withLock {
      let key = FieldKey(name: name, owner: owner)
      if let known = byField[key], isCurrent(known) { return known }
      let found = fieldType(name, in: owner)
      byField[key] = found
      return found
    }
  }

  /// The type of a stored property whose value is looked at where it lies: how functions would pass it may be unknown.
  package func type(lyingInField name: MangledBytes, of owner: Metadata) -> Result<TypeInfo, TypeProblem> {
    let found = type(ofField: name, in: owner)
    guard case .failure(.evolving) = found, let metadata = name.resolve(in: owner) else { return found }
    return general(of: metadata)
  }

  private func fieldType(_ name: MangledBytes, in owner: Metadata) -> Result<TypeInfo, TypeProblem> {
    guard let metadata = name.resolve(in: owner) else { return .failure(.unresolved(name.text)) }
    // Of a non-copyable type, fields record a function that knows it, which tells nobody but newer runtimes.
    if name.isAccessorReference, metadata == Metadata(Void.self) { return .failure(.layout(owner.name)) }
    if metadata.mentionsOneMetatype {
      guard let syntax = syntax(name) else { return .failure(.layout(metadata.name)) }
      // Of a generic parameter alone, or its metatype, it is a word; spelled out it has no bits.
      var isWord = false
      if case .genericParameter = syntax { isWord = true }
      if case .metatype(let instance) = syntax, instance.deepestParameter >= 0 { isWord = true }
      guard isWord || { if case .metatype = syntax { true } else { false } }() else { return .failure(.layout(metadata.name)) }
      if !isWord { return .success(TypeInfo(metadata: metadata, kind: .metatype, scalars: [], size: 0)) }
      return general(of: metadata)
    }
    let found = info(for: metadata)
    // Closures lie in the form the declaration asks for, which for a generic type's is not that of their own type.
    // Optionals keep the form of what is around them.
    guard case .success(let type) = found, owner.descriptor?.isGeneric == true, general(type) !== type else { return found }
    if case .optional = owner.kind { return found }
    let environment = owner.descriptor.flatMap { try? GenericEnvironment(fieldsOf: $0, types: self) }
    return .success(self.type(type, in: syntax(name)?.closureForm(environment: environment) ?? .declared))
  }

  private struct FieldKey: Hashable {
    var name: MangledBytes
    var owner: Metadata
  }

  // MARK: Names to metadata

  private func metadata(for syntax: TypeSyntax) -> Result<Metadata, TypeProblem> {
    if case .known(let address) = syntax, let pointer = UnsafeRawPointer(bitPattern: address) { return .success(Metadata(pointer)) }
    if syntax.deepestParameter >= 0 || syntax.isGeneric && !syntax.isMemberOfKnown { return .failure(.generic) }
    if case .tuple(let elements) = syntax, elements.isEmpty { return .success(Metadata(Void.self)) }
    if case .dynamicSelf(let type) = syntax { return metadata(for: type) }
    if let found = named(syntax) { return .success(found) }
    // The runtime does not find private types by name: their descriptors tell.
    if case .nominal(let name, _, let arguments) = syntax, arguments.isEmpty, let found = findDescriptor?(name)?.metadata() {
      return .success(found)
    }
    if let built = MetadataBuilder(types: self).metadata(syntax) { return .success(built) }
    return .failure(.unresolved(syntax.description(qualified: true)))
  }

  /// What the runtime finds by the type's name alone.
  func named(_ syntax: TypeSyntax) -> Metadata? {
    mangled(syntax)?.withUnsafeBytes { Metadata.named($0.baseAddress!, $0.count) }
  }

  private var withoutBits: [Metadata: TypeInfo] = [:]
  /// A metatype as code passes it where the declaration spells it: its only value needs no bits, whatever metadata says.
  func metatypeWithoutBits(_ syntax: TypeSyntax) -> TypeInfo? {
    lock.withLock {
      guard let metadata = try? metadata(for: syntax).get() else { return nil }
      if let known = withoutBits[metadata] { return known }
      let made = TypeInfo(metadata: metadata, kind: .metatype, scalars: [], size: 0)
      withoutBits[metadata] = made
      return made
    }
  }

  /// The metadata alone, where the layout may be unknown.
  func metadata(_ syntax: TypeSyntax) -> Metadata? { lock.withLock { try? metadata(for: syntax).get() } }

  // MARK: Metadata to layout

  private func info(for metadata: Metadata) -> Result<TypeInfo, TypeProblem> {
    if let known = byMetadata[metadata] { return known }
    // A value type cannot contain itself directly, so the recursion ends; the mark guards against damaged metadata.
    byMetadata[metadata] = .failure(.layout("recursive type"))
    let made = make(metadata)
    byMetadata[metadata] = made
    return made
  }

  private func make(_ metadata: Metadata) -> Result<TypeInfo, TypeProblem> {
    if let kind = Self.scalarKinds[metadata] {
      let scalar = Scalar(offset: 0, size: metadata.size, kind: kind.isFloat ? .float : .integer)
      return .success(TypeInfo(metadata: metadata, kind: kind, scalars: [scalar]))
    }
    do throws(TypeProblem) {
      let layout = try layout(of: metadata)
      return .success(TypeInfo(metadata: metadata, kind: layout.kind, scalars: layout.scalars))
    } catch { return .failure(error) }
  }

  private struct Layout {
    var kind: ValueKind
    var scalars: [Scalar]?
  }

  private static let pointer = Scalar(offset: 0, size: 8, kind: .integer)

  private func layout(of metadata: Metadata) throws(TypeProblem) -> Layout {
    switch metadata.kind {
    // An object of another language: a reference, but neither its class nor its count are where ours look.
    case .foreignClass: return Layout(kind: .opaque, scalars: [Self.pointer])
    case .classType: return Layout(kind: .object, scalars: [Self.pointer])
    case .structure: return try structLayout(metadata)
    case .enumeration, .optional: return try enumLayout(metadata)
    case .tuple:
      let elements = metadata.tupleElements
      return Layout(
        kind: elements.isEmpty ? .void : .tuple,
        scalars: try combine(elements.map { ($0.metadata, $0.offset) }))
    case .function:
      let words = metadata.functionConvention == 0 ? 2 : 1
      return Layout(kind: .closure, scalars: (0..<words).map { Self.pointer.moved(by: 8 * $0) })
    case .extendedExistential:
      return Layout(kind: .existential, scalars: try extendedExistential(metadata))
    case .existential:
      let form = metadata.existential
      if form.isError { return Layout(kind: .existential, scalars: [Self.pointer]) }
      guard form.isClassBound else { return Layout(kind: .existential, scalars: nil) }
      return Layout(kind: .existential, scalars: (0...form.witnessTables).map { Self.pointer.moved(by: 8 * $0) })
    case .metatype:
      // A metatype in memory is one pointer when thick; a thin one has no bits, and its metadata says so.
      return Layout(kind: .metatype, scalars: metadata.size == 0 ? [] : [Self.pointer])
    case .existentialMetatype:
      return Layout(kind: .metatype, scalars: (0..<max(1, metadata.size / 8)).map { Self.pointer.moved(by: 8 * $0) })
    case .opaque, .other:
      throw .layout(metadata.name)
    }
  }

  /// `any Collection<Int>`: the witness tables lie behind the value, as in plain existentials.
  private func extendedExistential(_ metadata: Metadata) throws(TypeProblem) -> [Scalar]? {
    switch metadata.existentialForm {
    case .opaque: return nil
    case .reference: return (0..<metadata.size / 8).map { Self.pointer.moved(by: 8 * $0) }
    case .error, nil: throw .layout(metadata.name)
    }
  }

  private func combine(_ parts: [(Metadata, Int)]) throws(TypeProblem) -> [Scalar]? {
    var all: [Scalar] = []
    var isAddressOnly = false
    for (part, offset) in parts {
      guard let scalars = try self.part(part).scalars else { isAddressOnly = true; continue }
      all += scalars.map { $0.moved(by: offset) }
    }
    return isAddressOnly ? nil : all
  }

  /// A type inside another. The metatype of a struct or enum has no bits there unless the type is generic, which
  /// neither metadata nor field records tell.
  private func part(_ metadata: Metadata) throws(TypeProblem) -> TypeInfo {
    if case .metatype = metadata.kind, metadata.instanceType.hasOneMetatype {
      throw .layout(metadata.name)
    }
    return try info(for: metadata).get()
  }

  private func structLayout(_ metadata: Metadata) throws(TypeProblem) -> Layout {
    let name = { metadata.name }
    guard let descriptor = metadata.descriptor else { throw .layout(name()) }
    if try isResilient(name(), descriptor) { return Layout(kind: .structure, scalars: nil) }
    if metadata.pointer == Metadata(String.self).pointer {
      return Layout(kind: .string, scalars: [Self.pointer, Self.pointer.moved(by: 8)])
    }
    // A type with a non-copyable or address-only body is passed by address; its fields cannot tell (raw layouts).
    if metadata.isAddressOnly { return Layout(kind: .structure, scalars: nil) }
    let isImported = name().hasPrefix("__C.")
    // More words than registers, whatever they are: an imported type without vectors goes by address.
    if isImported, metadata.size > 8 * AggregateLowering.mostRegisters, metadata.alignment <= 8 {
      return Layout(kind: .structure, scalars: TypeShape.integers(metadata.size))
    }
    let fields = descriptor.fields
    guard let vector = descriptor.fieldOffsetVector, !fields.isEmpty else {
      if metadata.size == 0 { return Layout(kind: .structure, scalars: []) }
      throw isImported ? .hidden(name()) : .layout(name())
    }
    guard metadata.hasSoundFields else { throw .layout(name()) }
    if metadata.isInlineArray { return Layout(kind: .structure, scalars: try inlineArray(metadata)) }
    var all: [Scalar] = []
    for (index, field) in fields.enumerated() {
      let offset = Int((metadata.pointer + 8 * vector).load(fromByteOffset: 4 * index, as: UInt32.self))
      guard let typeName = field.typeName else { throw .layout(name()) }
      if let builtin = typeName.builtin {
        switch builtin {
        case .pointer: all.append(Self.pointer.moved(by: offset))
        case .integer(let bits): all.append(Self.integer(offset: offset, size: (bits + 7) / 8))
        case .float(let bits):
          all.append(Scalar(offset: offset, size: (bits + 7) / 8, kind: bits <= 64 ? .float : .extended))
        case .vector(let size, let count, let isFloat): all += Scalar.vector(at: offset, elementSize: size, count: count, isFloat: isFloat)
        case .executor: all += [Self.pointer.moved(by: offset), Self.pointer.moved(by: offset + 8)]
        }
        continue
      }
      if typeName.hasSuffix("Xw") { return Layout(kind: .structure, scalars: nil) }
      if typeName.hasSuffix("Xo") || typeName.hasSuffix("Xu") {
        all.append(Self.pointer.moved(by: offset))
        continue
      }
      guard let scalars = try fieldScalars(typeName, in: metadata) else { return Layout(kind: .structure, scalars: nil) }
      all += scalars.map { $0.moved(by: offset) }
    }
    // A C struct may have parts Swift has no name for, such as bit-fields and unions.
    if isImported, !AggregateLowering.hidesNothing(all, size: metadata.size) { throw .hidden(name()) }
    return Layout(kind: .structure, scalars: all)
  }

  /// An integer scalar, or opaque bytes where no integer register has that width or alignment.
  private static func integer(offset: Int, size: Int) -> Scalar {
    let isWhole = size & (size - 1) == 0 && size <= 16 && offset % max(size, 1) == 0
    return Scalar(offset: offset, size: size, kind: isWhole ? .integer : .opaque)
  }

  private func fieldScalars(_ name: MangledBytes, in owner: Metadata) throws(TypeProblem) -> [Scalar]? {
    if let spelled = syntax(name), spelled.deepestParameter < 0, spelled.holdsMetatype {
      var reader = ShapeReader(types: self, environment: nil)
      return try reader.shape(spelled)?.scalars
    }
    return try type(ofField: name, in: owner).get().scalars
  }

  /// Its elements one after the other.
  private func inlineArray(_ metadata: Metadata) throws(TypeProblem) -> [Scalar]? {
    guard let arguments = metadata.genericArguments else { throw .layout(metadata.name) }
    let count = arguments.load(as: Int.self)
    let element = try part(Metadata(arguments.load(fromByteOffset: 8, as: UnsafeRawPointer.self)))
    guard count >= 0, let scalars = element.scalars else { return nil }
    // Many elements need more registers than there are, whatever they are.
    if count > 64, !scalars.isEmpty { return TypeShape.integers(metadata.size) }
    return (0..<count).flatMap { index in scalars.map { $0.moved(by: index * element.metadata.stride) } }
  }

  private func enumLayout(_ metadata: Metadata) throws(TypeProblem) -> Layout {
    let name = { metadata.name }
    guard let descriptor = metadata.descriptor else { throw .layout(name()) }
    if try isResilient(name(), descriptor) { return Layout(kind: .enumeration, scalars: nil) }
    let payloads = descriptor.payloadCases
    let cases = descriptor.fields
    let size = metadata.size
    if payloads == 0 {
      // IRGen keeps a case number of 1, 2 or 4 bytes; one case alone has no bits.
      return Layout(kind: .enumeration, scalars: size == 0 ? [] : [Self.integer(offset: 0, size: size)])
    }
    guard cases.count == payloads + descriptor.emptyCases, metadata.hasSoundFields else { throw .layout(name()) }
    var payloadSize = 0
    var addressOnly = false
    var only: TypeInfo?
    for field in cases.prefix(payloads) {
      if field.isIndirectCase { payloadSize = max(payloadSize, 8); continue }
      guard let typeName = field.typeName else { throw .layout(name()) }
      let info = try type(ofField: typeName, in: metadata).get()
      if case .optional = metadata.kind { _ = try part(info.metadata) }
      if info.scalars == nil { addressOnly = true }
      payloadSize = max(payloadSize, info.size)
      only = info
    }
    var kind = ValueKind.enumeration
    if case .optional = metadata.kind, let only { kind = .optional(only) }
    if addressOnly || metadata.isAddressOnly { return Layout(kind: kind, scalars: nil) }
    if payloads == 1, descriptor.emptyCases == 0, let only, !cases[0].isIndirectCase {
      return Layout(kind: kind, scalars: only.scalars)  // a single case is laid out as its payload
    }
    return Layout(kind: kind, scalars: Self.enumeration(payloadSize, size))
  }

  /// The payload's bytes as integers, and what is behind them.
  private static func enumeration(_ payloadSize: Int, _ size: Int) -> [Scalar] {
    var scalars: [Scalar] = []
    var offset = 0
    while offset < payloadSize {
      let width = min(8, payloadSize - offset)
      scalars.append(integer(offset: offset, size: width))
      offset += width
    }
    if size > payloadSize { scalars.append(integer(offset: payloadSize, size: size - payloadSize)) }
    return scalars
  }

  private var parser = SymbolParser()
  private var bySpelling: [MangledBytes: TypeSyntax?] = [:]
  /// The type that a name in metadata spells.
  func syntax(_ bytes: MangledBytes) -> TypeSyntax? {
    lock.withLock {
      if let known = bySpelling[bytes] { return known }
      let found = bytes.syntax(&parser)
      bySpelling[bytes] = found
      return found
    }
  }

  /// The declared type goes by address everywhere, whatever its arguments.
  func isAddressOnlyOutside(_ descriptor: TypeDescriptor, _ name: NominalName) throws(TypeProblem) -> Bool {
    try isResilient(name.reference == nil ? name.description : TypeCatalog.shared.name(of: descriptor) ?? name.description, descriptor)
  }

  /// The type is public in a library that may change its layout, so everybody passes it by address.
  private func isResilient(_ name: String, _ descriptor: TypeDescriptor) throws(TypeProblem) -> Bool {
    // A type that one module nests in another's is spelled "(extension in B):A.Outer.Inner".
    if name.hasPrefix("(extension in "), let colon = name.firstIndex(of: ":") {
      let extending = String(name[..<colon].dropFirst("(extension in ".count).dropLast())
      if ResilientTypes.otherModules.contains(extending) { throw .layout(name) }
      if ResilientTypes.frozenElsewhere[extending] != nil { return try isPublic(name, descriptor, in: extending) }
      return try isResilient(String(name[name.index(after: colon)...]), descriptor)
    }
    let module = String(name.prefix { $0 != "." })
    if ResilientTypes.listedModules.contains(module) {
      // The arguments of an outer type lie in the middle of the name.
      let bare = name.withoutGenericArguments
      // Types of the concurrency library with a short mangling read as the standard library's.
      return ResilientTypes.names.contains(bare)
        || module == "Swift" && ResilientTypes.names.contains("_Concurrency." + bare.dropFirst("Swift.".count))
    }
    if ResilientTypes.otherModules.contains(module) { throw .layout(name) }
    if let frozen = ResilientTypes.frozenElsewhere[module] {
      return frozen.contains(name.withoutGenericArguments) ? false : try isPublic(name, descriptor, in: module)
    }
    switch EvolvingModules.shared.evolution(of: descriptor) {
    case .fixed: return false
    case .changes: return true
    case .unknown: throw .evolving(name)
    }
  }

  private func isPublic(_ name: String, _ descriptor: TypeDescriptor, in module: String) throws(TypeProblem) -> Bool {
    guard let isPublic = EvolvingModules.shared.isPublic(descriptor, in: module) else { throw .layout(name) }
    return isPublic
  }

  // MARK: Standard library scalars

  private static let scalarKinds: [Metadata: ValueKind] = {
    var table: [Metadata: ValueKind] = [:]
    table[Metadata(Bool.self)] = .bool
    table[Metadata(Int.self)] = .integer(bits: 64, signed: true)
    table[Metadata(Int8.self)] = .integer(bits: 8, signed: true)
    table[Metadata(Int16.self)] = .integer(bits: 16, signed: true)
    table[Metadata(Int32.self)] = .integer(bits: 32, signed: true)
    table[Metadata(Int64.self)] = .integer(bits: 64, signed: true)
    table[Metadata(UInt.self)] = .integer(bits: 64, signed: false)
    table[Metadata(UInt8.self)] = .integer(bits: 8, signed: false)
    table[Metadata(UInt16.self)] = .integer(bits: 16, signed: false)
    table[Metadata(UInt32.self)] = .integer(bits: 32, signed: false)
    table[Metadata(UInt64.self)] = .integer(bits: 64, signed: false)
    table[Metadata(Float.self)] = .float(bits: 32)
    table[Metadata(Double.self)] = .float(bits: 64)
    return table
  }()
}

extension Metadata {
  fileprivate var isInlineArray: Bool { name.hasPrefix("Swift.InlineArray<") }

  fileprivate var isMetatype: Bool { if case .metatype = kind { true } else { false } }

  /// A metatype that may need no bits is part of the layout of this type, unless the type came from a generic parameter.
  var mentionsOneMetatype: Bool {
    switch kind {
    case .metatype: instanceType.hasOneMetatype
    case .optional: genericArgumentMetadata.contains { $0?.mentionsOneMetatype ?? false }
    case .tuple: tupleElements.contains { $0.metadata.mentionsOneMetatype }
    default: false
    }
  }

  /// A struct, enum, tuple, function or existential has one metatype, which needs no bits.
  fileprivate var hasOneMetatype: Bool {
    switch kind {
    case .structure, .enumeration, .optional, .tuple, .function, .existential, .extendedExistential: true
    case .metatype: instanceType.hasOneMetatype
    default: false
    }
  }
}

extension String {
  /// `Swift.Unicode.Scalar` of `Swift.Unicode<A>.Scalar<B>`.
  fileprivate var withoutGenericArguments: String {
    var depth = 0
    var text = ""
    for character in self {
      if character == "<" { depth += 1 }
      if depth == 0 { text.append(character) }
      if character == ">" { depth -= 1 }
    }
    return text
  }
}

extension ValueKind {
  var isFloat: Bool { if case .float = self { true } else { false } }
}

extension TypeSyntax {
  /// The only generic part is an associated type of a type that is known.
  fileprivate var isMemberOfKnown: Bool {
    deepestParameter < 0
      && !mentions {
        if case .packExpansion = $0 { true } else if case .pack = $0 { true } else if case .opaqueResult = $0 { true } else { false }
      }
  }

  /// Some part of the type is such a one.
  func mentions(_ wanted: (TypeSyntax) -> Bool) -> Bool {
    if wanted(self) { return true }
    switch self {
    case .dependentMember(let base, _, _): return base.mentions(wanted)
    case .nominal(_, _, let arguments): return arguments.contains { $0.mentions(wanted) }
    case .tuple(let elements): return elements.contains { $0.type.mentions(wanted) }
    case .function(let function):
      return function.result.mentions(wanted) || function.parameters.contains { $0.type.mentions(wanted) }
    case .existential(_, let superclass, _): return superclass?.mentions(wanted) ?? false
    case .constrainedExistential(let base, _): return base.mentions(wanted)
    case .metatype(let type), .existentialMetatype(let type), .dynamicSelf(let type), .weak(let type), .unowned(let type),
      .unmanaged(let type), .packExpansion(let type):
      return type.mentions(wanted)
    case .pack(let types): return types.contains { $0.mentions(wanted) }
    case .genericParameter, .builtin, .opaqueResult, .integer, .known, .constrainedSelf, .unknown: return false
    }
  }

  /// The type mentions generic parameters, so only a caller knows its layout.
  package var isGeneric: Bool {
    switch self {
    case .genericParameter, .dependentMember, .pack, .packExpansion, .opaqueResult: true
    case .nominal(_, _, let arguments): arguments.contains(where: \.isGeneric)
    case .tuple(let elements): elements.contains { $0.type.isGeneric }
    case .function(let function): function.parameters.contains { $0.type.isGeneric } || function.result.isGeneric
    case .existential(_, let superclass, _): superclass?.isGeneric ?? false
    case .constrainedExistential(_, let requirements):
      requirements.contains { if case .sameType(let type) = $0.kind { type.isGeneric } else { false } }
    case .metatype(let type), .existentialMetatype(let type), .dynamicSelf(let type), .weak(let type), .unowned(let type),
      .unmanaged(let type):
      type.isGeneric
    case .builtin, .integer, .known, .constrainedSelf, .unknown: false
    }
  }
}
