// ValueOwnership — which methods of structs and enums consume the copy of self they are passed, by their code.
//
// Self ends whole, or not at all: what becomes of one reference that every value holds becomes of self. Where no such reference is
// known (an enum's, an Optional's, a generic type's), self is kept for certain when no word of it is given up on any path.
internal import CHookTrampoline
internal import SwiftMangling

extension Flows {
  /// More words than these are not asked about.
  private static let mostWords = 16

  /// What the method at `address` does with its self.
  func use(
    of value: ValueSelfPlan, at address: UInt64, size: Int, results: OwnedResults?, named name: String, depth: Int
  ) -> SelfUse {
    if isDeclaredToKeepSelf(name, at: address) { return .kept }
    let references = value.references
    var others: ValueCalls?
    /// First without what only a look at all words tells.
    func ask(_ followed: FollowedSelf) -> OwnershipFound {
      let followed = followed.ofClass(in: value, self)
      let found = ownership(at: address, size: size, of: followed, results: results, named: name, depth: depth)
      guard found.use == HKT_OWNERSHIP_UNKNOWN, followed.word != Int(HKT_NO_WORD), let results else { return found }
      let calls = others ?? tellingCalls(of: value, at: address, size: size, results: results, named: name, depth: depth)
      others = calls
      let besides = calls.telling(of: followed)
      return besides == OtherWords()
        ? found : ownership(at: address, size: size, of: followed, results: results, besides: besides, named: name, depth: depth)
    }
    let certain = value.followed(references?.certain ?? [], isCertain: true)
    let answers = Set(certain.map { ask($0).use }).intersection([HKT_OWNERSHIP_KEPT, HKT_OWNERSHIP_CONSUMED])
    // What contradicts itself is not understood.
    if answers.count > 1 { return .unknown }
    if let only = answers.first { return only == HKT_OWNERSHIP_KEPT ? .kept : .consumed }
    switch value.location {
    case .pieces:
      guard let words = value.words(besides: references) else { return .unknown }
      let uses = Set(words.map { ask($0).use })
      if uses == [HKT_OWNERSHIP_KEPT] { return .kept }
      // A strong reference that is made of an unowned one ends within the method, and looks like a part of self.
      return uses == [HKT_OWNERSHIP_CONSUMED] && value.info?.holdsOnlyStrong ?? false ? .consumed : .unknown
    case .address(let place):
      guard let register = Places(argument: place), register.areRegisters else { return .unknown }
      let whole = ask(FollowedSelf(reference: register, word: Int(HKT_NO_WORD), isCertain: false))
      let offsets = (0..<64).filter { whole.words >> UInt64($0) & 1 != 0 }.map { 8 * $0 }
      let open = offsets.filter { references?.possible?.contains($0) ?? true }
      guard whole.words != .max, open.count <= Self.mostWords else { return .unknown }
      let all = [whole] + open.map { ask(FollowedSelf(reference: register, word: $0, isCertain: false)) }
      return all.allSatisfy { $0.use == HKT_OWNERSHIP_KEPT }
        ? .kept : all.allSatisfy { $0.use == HKT_OWNERSHIP_CONSUMED } ? .consumed : .unknown
    case .parts, .optimizedOut, .unknown: return .unknown
    }
  }

  /// The calls of which only all words of self together tell something.
  private func tellingCalls(
    of value: ValueSelfPlan, at address: UInt64, size: Int, results: OwnedResults, named name: String, depth: Int
  ) -> ValueCalls {
    var offsets: Set<Int> = []
    switch value.location {
    case .pieces(let pieces): offsets = Set(pieces.map(\.offset))
    case .address(let place):
      guard let register = Places(argument: place), register.areRegisters else { break }
      let whole = FollowedSelf(reference: register, word: Int(HKT_NO_WORD), isCertain: false)
      let words = ownership(at: address, size: size, of: whole, results: results, named: name, depth: depth).words
      if words != .max { offsets = Set((0..<64).filter { words >> UInt64($0) & 1 != 0 }.map { 8 * $0 }) }
    case .parts, .optimizedOut, .unknown: break
    }
    var found = ValueCalls()
    guard offsets.count <= Self.mostWords else { return found }
    var held: [UInt64: (target: UInt64, words: [Int: Places])] = [:]
    for followed in value.followed(offsets, isCertain: false) {
      let followed = followed.ofClass(in: value, self)
      for call in tellingCalls(at: address, size: size, of: followed, results: results, named: name, depth: depth) {
        if call.target != 0 {
          held[call.offset, default: (call.target, [:])].words[followed.offset] = Places(word: call.places)
        } else if let metadata = followed.metadata, let place = methodPlace(of: metadata, at: call.method) {
          found.methods[call.offset] = place
        }
      }
    }
    for (offset, call) in held {
      guard let symbol = symbols.symbols(at: call.target).first(where: { $0.isFunction && $0.size > 0 }),
        let type = outlinedType(symbol.nameText), let scalars = type.scalars
      else { continue }
      found.whole[offset] = ValueCalls.registers(scalars, held: call.words) { value.holds(type, at: $0) }
    }
    return found
  }

  /// Where the code first leaves open what becomes of self, in words for a report.
  func doubts(of value: ValueSelfPlan, at address: UInt64, size: Int, results: OwnedResults?) -> String {
    let references = value.references
    var all = value.followed(references?.certain ?? [], isCertain: true)
    if all.isEmpty { all = value.words(besides: references) ?? [] }
    if case .address(let place) = value.location, all.isEmpty, let register = Places(argument: place) {
      let whole = FollowedSelf(reference: register, word: Int(HKT_NO_WORD), isCertain: false)
      let words = ownership(at: address, size: size, of: whole, results: results, named: functionName(at: address), depth: 0).words
      all =
        [whole] + (0..<64).filter { words >> UInt64($0) & 1 != 0 }.map { FollowedSelf(reference: register, word: 8 * $0, isCertain: false) }
    }
    if all.isEmpty { return "none of its words is followed" }
    guard let results else { return "results are not known" }
    let calls = tellingCalls(of: value, at: address, size: size, results: results, named: functionName(at: address), depth: 0)
    return all.map { followed in
      let followed = followed.ofClass(in: value, self)
      let found = doubt(at: address, size: size, of: followed, results: results, besides: calls.telling(of: followed))
      return "\(followed.word ?? -1): " + found
    }.joined(separator: "; ")
  }
}

/// Calls of which all words of self together tell something.
private struct ValueCalls {
  /// Outlined copies and ends of words, all of which are self's: the register of each word, by its offset in self.
  var whole: [UInt64: [Int: Places]] = [:]
  /// Methods of objects in self: where they are in the metadata.
  var methods: [UInt64: UInt64] = [:]

  /// Which registers have which words; nil where one that is passed may not be self's: a word alone may be left in a register by
  /// something else, and the call be about another value.
  /// - Parameters:
  ///   - scalars: those of the value that the function is for; it takes one after the other in the argument registers.
  ///   - held: the argument registers that have self's words.
  ///   - holds: whether self has a value of that type there: the same bits as another type may have nothing to end.
  static func registers(_ scalars: [Scalar], held: [Int: Places], where holds: (Int) -> Bool) -> [Int: Places]? {
    guard scalars.count <= Places.argumentRegisters.count, scalars.allSatisfy({ $0.kind == .integer && $0.size <= 8 }) else { return nil }
    let words = zip(scalars, Places.argumentRegisters).filter { $0.0.size == 8 }.map { ($0.0.offset, Places(rawValue: 1 << UInt128($0.1))) }
    guard let first = words.first else { return nil }
    // Where in self the value lies.
    for (start, places) in held where places.isSuperset(of: first.1) {
      let base = start - first.0
      guard holds(base), words.allSatisfy({ held[base + $0.0]?.isSuperset(of: $0.1) ?? false }) else { continue }
      return Dictionary(uniqueKeysWithValues: words.map { (base + $0.0, $0.1) })
    }
    return nil
  }

  func telling(of followed: FollowedSelf) -> Flows.OtherWords {
    Flows.OtherWords(whole: whole.compactMapValues { $0[followed.offset] }, methods: methods)
  }
}

/// What is followed through a method: a reference in a register, or the word so far behind the address in one.
struct FollowedSelf: Hashable {
  let reference: Places
  var word: Int?
  /// Every value has a reference there.
  var isCertain = true
  /// Words of the same value that may come before the one in a register.
  var before = 0
  /// Where the file has the metadata of the class that the object is of, where it can be no other's.
  var metadata: UInt64?

  /// Where in the value it is.
  fileprivate var offset: Int { word ?? 8 * before }

  /// With the class that the value's type tells.
  fileprivate func ofClass(in value: ValueSelfPlan, _ flows: Flows) -> FollowedSelf {
    var found = self
    found.metadata = value.onlyClass(at: offset).flatMap(flows.fileAddress)
    return found
  }

  /// How many words lie before it, those of memory included.
  fileprivate var wordsBefore: Int {
    guard let word else { return before }
    return word == Int(HKT_NO_WORD) ? 0 : word / 8
  }
}

extension FollowedSelf {
  init(_ passed: HKTSelf) {
    self.init(
      reference: Places(word: passed.place), word: passed.is_address ? Int(passed.word) : nil, isCertain: passed.is_certain,
      before: Int(passed.before))
  }
}

extension HKTSelf {
  init(_ followed: FollowedSelf) {
    self.init(
      place: followed.reference.word(), is_address: followed.word != nil, word: Int32(followed.word ?? 0), is_certain: followed.isCertain,
      before: UInt32(followed.wordsBefore))
  }
}

extension ValueSelfPlan {
  /// Where references are; nil where the type does not tell of all of them, and the fields do not tell of any.
  fileprivate var references: TypeInfo.References? {
    if let info { return info.references }
    let first = firstFields
    if first.isEmpty { return nil }
    var found = TypeInfo.References(possible: nil)
    for (offset, type) in first { found.certain.formUnion(type.references.certain.map { offset + $0 }) }
    return found
  }

  /// A value of that type begins so far behind the start of every value, or of each in one of its cases.
  fileprivate func holds(_ wanted: TypeInfo, at offset: Int) -> Bool {
    if let info { return info.holds(wanted.metadata, at: offset) }
    return firstFields.last { $0.offset <= offset }.map { $0.type.holds(wanted.metadata, at: offset - $0.offset) } ?? false
  }

  fileprivate func onlyClass(at offset: Int) -> Metadata? {
    if let info { return info.onlyClass(at: offset) }
    return firstFields.last { $0.offset <= offset }.flatMap { $0.type.onlyClass(at: offset - $0.offset) }
  }

  /// Of a generic struct, the fields before the first one whose type depends on what it is generic over: they lie where they always do.
  private var firstFields: [(offset: Int, type: TypeInfo)] {
    guard case .nominal(let name, _, _) = type, let descriptor = TypeResolver.shared.findDescriptor?(name), descriptor.isStruct else {
      return []
    }
    var found: [(Int, TypeInfo)] = []
    var end = 0
    for field in descriptor.fields {
      // What is weak or unowned is another thing than its type tells.
      guard let bytes = field.typeName, let syntax = TypeResolver.shared.syntax(bytes), syntax.isHeldAsItIs,
        let type = try? TypeResolver.shared.type(syntax).get()
      else { break }
      let offset = (end + type.alignment - 1) & -type.alignment
      found.append((offset, type))
      end = offset + type.size
    }
    return found
  }

  /// The words at these offsets, as far as they can be followed.
  fileprivate func followed(_ offsets: Set<Int>, isCertain: Bool) -> [FollowedSelf] {
    switch location {
    case .pieces(let pieces):
      return pieces.filter { $0.size == 8 && offsets.contains($0.offset) }.compactMap { piece in
        guard let place = Places(argument: piece.place), place.rawValue < 1 << 16 else { return nil }
        return FollowedSelf(reference: place, isCertain: isCertain, before: piece.offset / 8)
      }
    case .address(let place):
      guard let register = Places(argument: place), register.areRegisters else { return [] }
      return offsets.sorted().map { FollowedSelf(reference: register, word: $0, isCertain: isCertain) }
    case .parts, .optimizedOut, .unknown: return []
    }
  }

  /// All words that may be references; nil where not all of them can be followed.
  fileprivate func words(besides references: TypeInfo.References?) -> [FollowedSelf]? {
    guard case .pieces(let pieces) = location else { return nil }
    var found: [FollowedSelf] = []
    for piece in pieces where piece.size == 8 && references?.possible?.contains(piece.offset) ?? true {
      guard let place = Places(argument: piece.place) else { return nil }
      if place.rawValue >= 1 << 16 && place.areRegisters { continue }
      guard place.areRegisters else { return nil }
      found.append(FollowedSelf(reference: place, isCertain: false, before: piece.offset / 8))
    }
    return found
  }
}

extension TypeSyntax {
  /// The field's content is a value of the type.
  fileprivate var isHeldAsItIs: Bool {
    switch self {
    case .weak, .unowned, .unmanaged: false
    default: true
    }
  }
}

extension TypeInfo {
  /// Where in a value references are that the value holds.
  struct References {
    /// Every value has a reference at these offsets.
    var certain: Set<Int> = []
    /// Some value may have one at these offsets, the certain ones among them. nil: anywhere.
    var possible: Set<Int>? = []

    fileprivate mutating func add(_ own: References, at offset: Int) {
      certain.formUnion(own.certain.map { offset + $0 })
      if let more = own.possible { possible?.formUnion(more.map { offset + $0 }) } else { possible = nil }
    }
  }

  fileprivate func holds(_ wanted: Metadata, at offset: Int) -> Bool {
    if offset == 0, metadata == wanted { return true }
    if offset < 0 || offset >= size { return false }
    switch kind {
    case .optional(let payload): return payload.holds(wanted, at: offset)
    case .structure, .tuple:
      guard let field = members.fields.last(where: { $0.offset <= offset }), field.reference == .value,
        let type = try? field.type.get()
      else { return false }
      return type.holds(wanted, at: offset - field.offset)
    case .enumeration:
      return members.cases.contains { $0.hasPayload && !$0.isIndirect && $0.payload?.holds(wanted, at: offset) ?? false }
    default: return false
    }
  }

  /// The class whose instances are so far behind the start of every value that has a reference there; nil where it may be another's.
  func onlyClass(at offset: Int) -> Metadata? {
    let found = objects(at: offset)
    return found.count == 1 ? found.first! : nil
  }

  /// The classes whose instances may be there; nil among them where it may be an instance of any class. Boxes and what texts and closures
  /// refer to have no methods.
  private func objects(at offset: Int) -> Set<Metadata?> {
    if isTrivial || offset < 0 || offset >= size { return [] }
    switch kind {
    case .object:
      if case .classType = metadata.kind { return [metadata] }
      return [nil]
    case .optional(let payload): return payload.objects(at: offset)
    case .structure, .tuple:
      guard let field = members.fields.last(where: { $0.offset <= offset }) else { return [nil] }
      guard field.reference == .value, let type = try? field.type.get() else { return [nil] }
      return type.objects(at: offset - field.offset)
    case .string, .closure: return []
    case .enumeration:
      return members.cases.reduce(into: []) { found, each in
        guard each.hasPayload else { return }
        if !each.isIndirect { found.formUnion(each.payload?.objects(at: offset) ?? [nil]) }
      }
    default: return [nil]
    }
  }

  /// No reference in a value is weak or unowned.
  fileprivate var holdsOnlyStrong: Bool {
    if isTrivial { return true }
    if hasBareCases { return false }
    switch kind {
    case .object, .string, .closure, .existential: return true
    case .optional(let payload): return payload.holdsOnlyStrong
    case .structure, .tuple:
      let fields = members.fields
      return !fields.isEmpty && fields.allSatisfy { $0.reference == .value && ((try? $0.type.get())?.holdsOnlyStrong ?? false) }
    case .enumeration: return members.cases.allSatisfy { !$0.hasPayload || $0.isIndirect || $0.payload?.holdsOnlyStrong ?? false }
    default: return false
    }
  }

  /// A case has a payload of eight bytes and more that are no reference: where a reference's bits are among them, nothing ends with them.
  var hasBareCases: Bool {
    if isTrivial { return false }
    switch kind {
    case .optional(let payload): return payload.hasBareCases
    case .structure, .tuple: return members.fields.contains { (try? $0.type.get())?.hasBareCases ?? true }
    case .enumeration:
      return members.cases.contains { each in
        guard each.hasPayload, !each.isIndirect else { return false }
        return each.payload.map { $0.isTrivial ? $0.size >= 8 : $0.hasBareCases } ?? true
      }
    default: return false
    }
  }

  var references: References {
    if isTrivial { return References() }
    switch kind {
    case .object: return References(certain: [0], possible: [0])
    // The second word refers to the text's storage, or to none.
    case .string: return References(certain: [8], possible: [8])
    // The words behind it are witness tables.
    case .existential where scalars != nil: return References(certain: [0], possible: [0])
    case .opaque where name == "Builtin.BridgeObject": return References(certain: [0], possible: [0])
    case .structure where !members.fields.isEmpty, .tuple:
      var found = References()
      for field in members.fields {
        guard field.reference == .value, let type = try? field.type.get() else {
          found.possible?.formUnion(Self.words(field.offset..<size)); continue
        }
        found.add(type.references, at: field.offset)
      }
      return found
    default: return References(possible: Self.words(0..<size))
    }
  }

  private static func words(_ bytes: Range<Int>) -> Set<Int> { Set(stride(from: bytes.lowerBound / 8 * 8, to: bytes.upperBound, by: 8)) }
}
