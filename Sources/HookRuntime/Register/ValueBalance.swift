// ValueBalance — which methods of structs and enums use up the copy of self they are passed, by their code.
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
    let references = value.info?.references
    func ask(_ followed: FollowedSelf) -> Balance {
      balance(at: address, size: size, of: followed, results: results, named: name, depth: depth)
    }
    let certain = value.followed(references?.certain ?? [], isCertain: true)
    let told = Set(certain.map { ask($0).use }).intersection([HKT_BALANCE_KEPT, HKT_BALANCE_CONSUMED])
    // What contradicts itself is not understood.
    if told.count > 1 { return .unknown }
    if let only = told.first { return only == HKT_BALANCE_KEPT ? .kept : .consumed }
    switch value.location {
    case .pieces:
      guard let words = value.words(besides: references) else { return .unknown }
      return !words.isEmpty && words.allSatisfy { ask($0).use == HKT_BALANCE_KEPT } ? .kept : .unknown
    case .address(let place):
      guard let register = Places(argument: place), register.areRegisters else { return .unknown }
      let whole = ask(FollowedSelf(reference: register, word: Int(HKT_NO_WORD), isCertain: false))
      let offsets = (0..<64).filter { whole.words >> UInt64($0) & 1 != 0 }.map { 8 * $0 }
      let open = offsets.filter { references?.possible.contains($0) ?? true }
      guard whole.words != .max, open.count <= Self.mostWords else { return .unknown }
      let all = [whole] + open.map { ask(FollowedSelf(reference: register, word: $0, isCertain: false)) }
      return all.allSatisfy { $0.use == HKT_BALANCE_KEPT }
        ? .kept : all.allSatisfy { $0.use == HKT_BALANCE_CONSUMED } ? .consumed : .unknown
    case .parts, .optimizedOut, .unknown: return .unknown
    }
  }

  /// Where the code first leaves open what becomes of self, in words for a report.
  func doubts(of value: ValueSelfPlan, at address: UInt64, size: Int, results: OwnedResults?) -> String {
    let references = value.info?.references
    var all = value.followed(references?.certain ?? [], isCertain: true)
    if all.isEmpty { all = value.words(besides: references) ?? [] }
    if case .address(let place) = value.location, all.isEmpty, let register = Places(argument: place) {
      let whole = FollowedSelf(reference: register, word: Int(HKT_NO_WORD), isCertain: false)
      let words = balance(at: address, size: size, of: whole, results: results, named: functionName(at: address), depth: 0).words
      all =
        [whole] + (0..<64).filter { words >> UInt64($0) & 1 != 0 }.map { FollowedSelf(reference: register, word: 8 * $0, isCertain: false) }
    }
    if all.isEmpty { return "none of its words is followed" }
    return all.map { "\($0.word ?? -1): " + doubt(at: address, size: size, of: $0, results: results) }.joined(separator: "; ")
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

  /// The same of a word in memory, too.
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
    for piece in pieces where piece.size == 8 && references?.possible.contains(piece.offset) ?? true {
      guard let place = Places(argument: piece.place) else { return nil }
      if place.rawValue >= 1 << 16 && place.areRegisters { continue }
      guard place.areRegisters else { return nil }
      found.append(FollowedSelf(reference: place, isCertain: false, before: piece.offset / 8))
    }
    return found
  }
}

extension TypeInfo {
  /// Where in a value references are that the value holds.
  struct References {
    /// In every value.
    var certain: Set<Int> = []
    /// In some, perhaps; the certain ones, too.
    var possible: Set<Int> = []
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
          found.possible.formUnion(Self.words(field.offset..<size)); continue
        }
        let own = type.references
        found.certain.formUnion(own.certain.map { field.offset + $0 })
        found.possible.formUnion(own.possible.map { field.offset + $0 })
      }
      return found
    default: return References(possible: Self.words(0..<size))
    }
  }

  private static func words(_ bytes: Range<Int>) -> Set<Int> { Set(stride(from: bytes.lowerBound / 8 * 8, to: bytes.upperBound, by: 8)) }
}
