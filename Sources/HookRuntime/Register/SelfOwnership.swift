// SelfOwnership — which methods of classes consume their self, by their code: no name tells (docs/abi-notes.md).
internal import CHookTrampoline
internal import SwiftMangling

extension Flows {
  /// How far calls are followed.
  private static let deepest = 4

  /// What the method at `address` does with the object in a register.
  func ownership(at address: UInt64, size: Int, of object: Places, results: OwnedResults?) -> HKTOwnership {
    let name = functionName(at: address)
    if isDeclaredToKeepSelf(name, at: address) { return HKT_OWNERSHIP_KEPT }
    return ownership(at: address, size: size, of: FollowedSelf(reference: object), results: results, named: name, depth: 0).use
  }

  func functionName(at address: UInt64) -> String {
    symbols.symbols(at: address).first { $0.isFunction && $0.size > 0 }.map(\.nameText) ?? ""
  }

  func ownership(
    at address: UInt64, size: Int, of followed: FollowedSelf, results: OwnedResults?, besides: OtherWords = OtherWords(),
    named name: String, depth: Int
  ) -> OwnershipFound {
    guard let results else { return .unread }
    let question = OwnershipQuestion(address: address, followed: followed, results: results, besides: besides)
    guard var code = code(address, size) else { return .unread }
    return remembered(\.ownerships, question, at: depth, meanwhile: .unread) {
      var found = OwnershipFound.unread
      found.use = withHost(of: name, followed, besides, depth) {
        hkt_read_ownership(&code, HKTSelf(followed), HKTOwnedResults(results), $0, &found.words)
      }
      return found
    }
  }

  /// What was found out, now or before. What came of a reading that was cut short is good for those alone who could read no further.
  /// - Parameter meanwhile: the answer where calls lead back here, and where they are not followed.
  private func remembered<Question, Answer>(
    _ table: ReferenceWritableKeyPath<Flows, [Question: Remembered<Answer>]>, _ question: Question, at depth: Int, meanwhile: Answer,
    _ find: () -> Answer
  ) -> Answer {
    if let known = self[keyPath: table][question], known.depth <= depth {
      isCut = isCut || known.isCut
      return known.answer
    }
    guard depth < Self.deepest else {
      isCut = true
      return meanwhile
    }
    let wasCut = isCut
    isCut = false
    self[keyPath: table][question] = Remembered(answer: meanwhile, depth: 0, isCut: true)
    let found = find()
    self[keyPath: table][question] = Remembered(answer: found, depth: isCut ? depth : 0, isCut: isCut)
    isCut = isCut || wasCut
    return found
  }

  /// An answer, and from which depth on it holds.
  struct Remembered<Answer> {
    let answer: Answer
    let depth: Int
    let isCut: Bool
  }

  /// Gives `body` what the C analysis asks of Swift: names, callees and types. Valid only inside.
  private func withHost<T>(
    of name: String, _ followed: FollowedSelf, _ besides: OtherWords, _ depth: Int, _ body: (UnsafePointer<HKTOwnershipHost>) -> T
  ) -> T {
    let asked = Asked(flows: self, method: name, followed: followed, besides: besides, depth: depth)
    var host = HKTOwnershipHost(
      context: Unmanaged.passUnretained(asked).toOpaque(),
      // The context is the object above, which outlives the call that hands it over.
      callee: { Unmanaged<Asked>.fromOpaque($0!).takeUnretainedValue().callee($1) },
      method: { Unmanaged<Asked>.fromOpaque($0!).takeUnretainedValue().method($1) },
      passed: { Unmanaged<Asked>.fromOpaque($0!).takeUnretainedValue().passed($1, FollowedSelf($2)) },
      data: { Unmanaged<Asked>.fromOpaque($0!).takeUnretainedValue().flows.data(at: $1, count: Int($2)) },
      whole: { Unmanaged<Asked>.fromOpaque($0!).takeUnretainedValue().besides.whole[$1]?.word() ?? 0 },
      called: { context, offset, callee in
        guard let found = Unmanaged<Asked>.fromOpaque(context!).takeUnretainedValue().called(at: offset) else { return false }
        callee!.pointee = found
        return true
      },
      is_of_protocol: parser.declaration(name)?.contextKind == .protocolType)
    return withExtendedLifetime(asked) { body(&host) }
  }

  /// The calls that tell of the other words of the value whose word is followed.
  func tellingCalls(
    at address: UInt64, size: Int, of followed: FollowedSelf, results: OwnedResults?, named name: String, depth: Int
  ) -> [HKTTellingCall] {
    guard let results, var code = code(address, size) else { return [] }
    var calls: [HKTTellingCall] = []
    withHost(of: name, followed, OtherWords(), depth) { host in
      withUnsafeMutablePointer(to: &calls) { calls in
        // The context is the array above, which outlives the call.
        hkt_find_telling(&code, HKTSelf(followed), HKTOwnedResults(results), host, calls) {
          $0!.assumingMemoryBound(to: [HKTTellingCall].self).pointee.append($1)
        }
      }
    }
    return calls
  }

  /// What the other words of a value tell of calls, by their offsets in the code.
  struct OtherWords: Hashable {
    /// Outlined copies and ends of words that take nothing but self's, and the register in which they take the word that is followed.
    var whole: [UInt64: Places] = [:]
    /// The places in classes' metadata whose methods are called.
    var methods: [UInt64: UInt64] = [:]
  }

  /// Where the code first leaves open what becomes of the object, in words for a report.
  func doubt(
    at address: UInt64, size: Int, of followed: FollowedSelf, results: OwnedResults?, besides: OtherWords = OtherWords()
  ) -> String {
    guard let results else { return "results are not known" }
    guard var code = code(address, size) else { return "no code" }
    let found = withHost(of: functionName(at: address), followed, besides, 0) {
      hkt_find_doubt(&code, HKTSelf(followed), HKTOwnedResults(results), $0)
    }
    guard found.is_found else { return "no single step" }
    let place = "+\(String(found.offset, radix: 16)) "
    guard found.calls else { return place + (found.name.map { String(cString: $0) } ?? "instruction") }
    guard found.target != 0 else { return place + "indirect" }
    if let callee = symbols.symbols(at: found.target).first(where: \.isFunction) { return place + callee.nameText }
    return place + (reader.importStub(at: found.target).map { String(decoding: $0, as: UTF8.self) } ?? "unnamed")
  }

  /// What is asked of a function.
  struct OwnershipQuestion: Hashable {
    let address: UInt64
    let followed: FollowedSelf
    let results: OwnedResults
    let besides: OtherWords
  }

  /// What the code says, and which words it takes out of a self that is passed by address.
  struct OwnershipFound {
    var use: HKTOwnership
    var words: UInt64
    static let unread = OwnershipFound(use: HKT_OWNERSHIP_UNREAD, words: .max)
  }

  /// One reading's questions.
  private final class Asked {
    let flows: Flows
    let depth: Int
    /// Where the class's metadata is whose method is read.
    private lazy var metadata = followed.metadata ?? flows.classMetadata(aroundMember: mangledName)
    private let mangledName: String
    private let followed: FollowedSelf
    let besides: OtherWords

    init(flows: Flows, method: String, followed: FollowedSelf, besides: OtherWords, depth: Int) {
      (self.flows, self.mangledName, self.followed, self.besides, self.depth) = (flows, method, followed, besides, depth)
    }

    func callee(_ target: UInt64) -> HKTCallee { flows.callee(target, depth: depth) }

    func passed(_ target: UInt64, _ passed: FollowedSelf) -> HKTOwnership {
      var passed = passed
      passed.metadata = followed.metadata
      return flows.use(ofPassed: passed, to: target, depth: depth)
    }

    func method(_ offset: Int64) -> HKTCallee { method(at: metadata.flatMap { flows.methodPlace(of: $0, at: offset) }) }

    func called(at offset: UInt64) -> HKTCallee? { besides.methods[offset].map { method(at: $0) } }

    private func method(at place: UInt64?) -> HKTCallee {
      switch place.flatMap({ flows.reader.pointer(at: $0) }) {
      case .address(let target): flows.callee(target, depth: depth)
      case .symbol(let name): flows.callee(named: String(decoding: name, as: UTF8.self), at: nil, size: 0, depth: depth)
      case nil: Flows.unknown
      }
    }
  }

  /// The word so far behind the address of a class's metadata; nil behind its end, where a subclass has methods of its own.
  func methodPlace(of metadata: UInt64, at offset: Int64) -> UInt64? {
    // {kind, superclass, flags, address point, instance size, alignment, size, address point}
    guard let sizes = data(at: metadata &+ 32, count: 8) else { return nil }
    let size = sizes.loadUnaligned(as: UInt32.self), point = sizes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
    guard offset >= 0, size >= point, offset + 8 <= Int64(size - point) else { return nil }
    return metadata &+ UInt64(offset)
  }

  /// The metadata of the class that a method is of, as the file has it: its virtual table says which conventions its subclasses keep, too.
  private func classMetadata(aroundMember name: String) -> UInt64? {
    // A merged function may be several classes'.
    if name.hasSuffix("Tm") { return nil }
    guard let descriptor = records().typeDescriptor(aroundMember: name) else { return nil }
    return records().names(at: descriptor).lazy.compactMap { $0.hasSuffix("Mn") ? self.records().address($0.dropLast(2) + "N") : nil }.first
  }

  private func callee(_ target: UInt64, depth: Int) -> HKTCallee {
    remembered(\.callees, target, at: depth, meanwhile: Self.unknown) { findCallee(target, depth: depth) }
  }

  private func findCallee(_ target: UInt64, depth: Int) -> HKTCallee {
    if let symbol = symbols.symbols(at: target).first(where: { $0.isFunction && $0.size > 0 }) {
      return callee(named: symbol.nameText, at: target, size: Int(symbol.size), depth: depth)
    } else if let name = reader.importStub(at: target) {
      return callee(named: String(decoding: name, as: UTF8.self), at: nil, size: 0, depth: depth)
    } else if let own = reader.stubTarget(at: target), own != target {
      return callee(own, depth: depth)
    }
    // Of no name, as stubs of functions of this very image are: it may be C.
    return Self.unrelated
  }

  private func callee(named name: String, at address: UInt64?, size: Int, depth: Int) -> HKTCallee {
    if let kind = Self.counting(name) { return HKTCallee(kind) }
    if Self.neverReturn.contains(name) { return HKTCallee(HKT_CALLEE_KNOWN, neverReturns: true) }
    // The object comes back, and may be let go as what came back.
    if name.hasPrefix("swift_dynamicCast") { return Self.unknown }
    // A closure's context may be the object itself.
    if name.hasPrefix("swift_task") || name.hasPrefix("swift_asyncLet") { return Self.unknown }
    if name.hasPrefix("swift_willThrow") { return HKTCallee(HKT_CALLEE_KNOWN, mayFail: true) }
    if name.hasPrefix("swift_") || name.hasPrefix("__swift_") { return runtime(name) }
    if name == "memset" { return HKTCallee(HKT_CALLEE_CLEARS) }
    if name == "memcpy" || name == "memmove" { return HKTCallee(HKT_CALLEE_COPIES_BITS, mayFail: false) }
    // C keeps objects by hand: Foundation's OperationQueue._schedule(_:) releases what _CFThreadSpecificSet retained.
    guard name.hasPrefix("$s") else { return Self.unrelated.keepingSelf }
    guard var declaration = parser.declaration(name) else { return Self.unknown }
    if let kind = Self.outlined(name) { return HKTCallee(kind, mayFail: false, size: outlinedType(name)?.size ?? 0) }
    // Whoever the call is forwarded to has the convention that is declared.
    if name.hasSuffix("Tj") { return callee(named: String(name.dropLast(2)), at: nil, size: 0, depth: depth) }
    if Self.findsMetadata(name) { return HKTCallee(HKT_CALLEE_KNOWN) }
    // Among them are copies of values, which retain.
    if case .compilerMade = declaration.kind { return HKTCallee(HKT_CALLEE_FOREIGN, mayFail: true) }
    let isMerged = declaration.isMerged
    // What functions that were merged return is what each of them returned.
    declaration.specialization.removeAll { $0 == .merged }
    var callee = HKTCallee(HKT_CALLEE_KNOWN)
    // What is private may throw otherwise than it declares.
    callee.may_fail = declaration.functionType.thrown != .never || declaration.kind == .getter || declaration.isEffectivelyPrivate
    callee.never_returns = declaration.functionType.result.isNever
    let plan = planner.plan(declaration)
    if plan.opaqueBecause != nil || plan.isAsync || declaration.isEffectivelyPrivate || isMerged { callee.kind = HKT_CALLEE_UNKNOWN }
    for argument in plan.arguments where argument.isEnded {
      let isBare = argument.info?.hasBareCases ?? false
      for place in argument.location.places {
        let word = Places(argument: place)?.word() ?? 0
        if isBare { callee.may_take |= word } else { callee.takes |= word }
      }
    }
    // The self of these is nobody's to take.
    if isDeclaredToKeepSelf(name, at: address) { return callee.keepingSelf }
    // A struct's or enum's own 'deinit' takes what is left of self.
    if declaration.mayConsumeSelf || declaration.kind.isDeinit, declaration.hasInstance, declaration.contextKind != .classType {
      addSelf(of: named(declaration, name, at: address, size: size) ?? plan, name, at: address, size, to: &callee, depth)
    }
    if declaration.isOnValue || declaration.hasNoSelf {
      // Answered above, where it is a method.
    } else if !declaration.kind.keepsSelf {
      switch address.map({
        ownership(at: $0, size: size, of: FollowedSelf(reference: .selfRegister), results: plan.ownedResults, named: name, depth: depth + 1)
          .use
      }) {
      case HKT_OWNERSHIP_CONSUMED: callee.takes |= Places.selfRegister.word()
      // A getter whose code does not tell keeps self: few are declared `consuming get`.
      case _ where declaration.kind == .getter: break
      case HKT_OWNERSHIP_UNKNOWN: callee.may_take |= Places.selfRegister.word()
      // It is this method's own code, and may go where a register says.
      case HKT_OWNERSHIP_UNREAD where isMerged: callee.may_take |= Places.selfRegister.word()
      case HKT_OWNERSHIP_KEPT: break
      default: callee.unread |= Places.selfRegister.word()
      }
    }
    return callee
  }

  /// What a function of Swift whose convention no name tells does with a word that it is passed: private ones, merged ones, methods whose
  /// self was taken apart. Where it returns something is not known either.
  private func use(ofPassed followed: FollowedSelf, to target: UInt64, depth: Int) -> HKTOwnership {
    guard let symbol = symbols.symbols(at: target).first(where: { $0.isFunction && $0.size > 0 }), symbol.nameText.hasPrefix("$s"),
      let declaration = parser.declaration(symbol.nameText), !declaration.isCoroutine, !declaration.functionType.isAsync
    else { return HKT_OWNERSHIP_UNREAD }
    let results = OwnedResults(mayFail: true).open
    return ownership(at: target, size: Int(symbol.size), of: followed, results: results, named: symbol.nameText, depth: depth + 1).use
  }

  /// The plan that the code of a method of this image bears out; nil for one of another image.
  private func named(_ declaration: Declaration, _ name: String, at address: UInt64?, size: Int) -> CallPlan? {
    address.map {
      let kept = whyKept(name, at: $0)
      return planner.plan(
        declaration,
        evidence: BodyFlow(self, address: $0, size: size, module: declaration.module, keptBecause: kept, besides: .nothing, next: { nil }))
    }
  }

  /// Adds what a method of a struct or enum does with the references in its self, which no name tells either.
  private func addSelf(of plan: CallPlan, _ name: String, at address: UInt64?, _ size: Int, to callee: inout HKTCallee, _ depth: Int) {
    guard case .value(let value) = plan.selfPlan, !value.location.places.isEmpty || value.location == .optimizedOut else {
      // Self is in some of the places, or is none of them.
      if case .none = plan.selfPlan { return }
      if plan.isGetter { return }
      callee.kind = HKT_CALLEE_UNKNOWN
      return
    }
    let all = value.location.places.reduce(into: Places.nothing) { $0.formUnion(Places(argument: $1) ?? .nothing) }
    switch value.access {
    case .borrowed, .inPlace: return
    case .owned where value.info?.hasBareCases ?? false: callee.may_take |= all.word()
    case .owned: callee.takes |= all.word()
    case .unknown:
      let use =
        address.map { self.use(of: value, at: $0, size: size, results: plan.ownedResults, named: name, depth: depth + 1) } ?? .unknown
      if use == .kept || use == .unknown && plan.isGetter && value.info?.isCopyable != false { return }
      let isCertain = use == .consumed && !(value.info?.hasBareCases ?? false)
      if isCertain { callee.takes |= all.word() } else { callee.may_take |= all.word() }
    }
  }

  /// A function of the runtime that counts no strong references, as far as it is known. Some end or move what lies at an address, or
  /// end an unowned reference.
  private func runtime(_ name: String) -> HKTCallee {
    var callee = HKTCallee(HKT_CALLEE_KNOWN)
    if ["estroy", "ake", "ssign", "ove", "tore"].contains(where: name.contains) {
      callee.may_take = Places(argument: .integer(0))!.union(Places(argument: .integer(1))!).word()
    } else if name.contains("elease") {
      callee.may_take = Places(argument: .integer(0))!.word()
    }
    callee.projects = name.contains("project")
    // The access's own record.
    callee.notes = name == "swift_beginAccess" ? 0b10 : name == "swift_endAccess" ? 0b01 : 0
    return callee
  }

  /// Functions that look for metadata and witness tables, and take nothing else.
  static func findsMetadata(_ name: String) -> Bool {
    ["Ma", "Wl", "WL", "Mr", "Mi"].contains { name.hasSuffix($0) || name.hasSuffix($0 + "Tm") }
  }

  /// What the compiler put into functions of their own: copies, moves and ends of values, of which the name's end tells.
  static func outlined(_ name: String) -> HKTCalleeKind? {
    let whole = name.hasSuffix("Tm") ? name.dropLast(2) : name[...]
    if whole.hasSuffix("WOc") { return HKT_CALLEE_COPIES }
    if whole.hasSuffix("WOb") { return HKT_CALLEE_MOVES }
    if whole.hasSuffix("WOh") { return HKT_CALLEE_ENDS }
    // Merged ones take more than the words.
    if whole.endIndex != name.endIndex { return nil }
    if whole.hasSuffix("WOy") { return HKT_CALLEE_COPIES_WORDS }
    return whole.hasSuffix("WOe") ? HKT_CALLEE_ENDS_WORDS : nil
  }

  /// The type that an outlined function is for; nil where that depends on what is generic, or what it takes is known otherwise.
  func outlinedType(_ name: String) -> TypeInfo? {
    guard name.hasPrefix("$s"), !name.hasSuffix("Tm"), let syntax = parser.type(String(name.dropFirst(2).dropLast(3))) else { return nil }
    return try? TypeResolver.shared.type(syntax).get()
  }

  /// Besides those whose type says so.
  private static let neverReturn: Set<String> = [
    "swift_unexpectedError", "swift_deletedMethodError", "swift_abortRetainUnowned", "__stack_chk_fail", "abort", "exit", "_exit",
  ]
  private static let unknown = HKTCallee(HKT_CALLEE_UNKNOWN)
  private static let unrelated = HKTCallee(HKT_CALLEE_FOREIGN)

  /// The runtime's functions that count strong references.
  private static func counting(_ name: String) -> HKTCalleeKind? {
    guard name.hasPrefix("swift_"), !name.hasPrefix("swift_unowned"), !name.hasPrefix("swift_weak") else { return nil }
    let word = name.hasSuffix("_n") ? name.dropLast(2) : name[...]
    let isSeveral = word.endIndex != name.endIndex
    if word.hasSuffix("etain") { return isSeveral ? HKT_CALLEE_RETAINS_SEVERAL : HKT_CALLEE_RETAINS }
    if word.hasSuffix("elease") || name == "swift_deallocClassInstance" {
      return isSeveral ? HKT_CALLEE_RELEASES_SEVERAL : HKT_CALLEE_RELEASES
    }
    return nil
  }
}

extension HKTCallee {
  /// A callee that keeps its self.
  fileprivate var keepingSelf: HKTCallee {
    var callee = self
    callee.unread = 0
    return callee
  }

  fileprivate init(_ kind: HKTCalleeKind, neverReturns: Bool = false, mayFail: Bool? = nil, size: Int = 0) {
    let unread = kind == HKT_CALLEE_UNKNOWN || kind == HKT_CALLEE_FOREIGN ? Places.selfRegister.word() : 0
    self.init(
      kind: kind, takes: 0, may_take: 0, unread: unread, size: UInt32(clamping: size), notes: 0, never_returns: neverReturns,
      projects: false,
      may_fail: mayFail ?? (kind == HKT_CALLEE_UNKNOWN))
  }
}

extension Declaration {
  fileprivate var isOnValue: Bool { hasInstance && (contextKind == .structure || contextKind == .enumeration) }

  /// What is in the self register when it is called is no instance.
  fileprivate var hasNoSelf: Bool {
    (kind == .function || kind == .allocatingInit) && localContext.isEmpty && (!hasInstance || context == nil)
  }
}

extension EntityKind {
  /// Its self is its caller's, in every class.
  fileprivate var keepsSelf: Bool {
    switch self {
    case .setter, .modify, .read, .modify2, .read2, .willSet, .didSet: true
    default: false
    }
  }
}

extension HKTOwnedResults {
  fileprivate init(_ results: OwnedResults) {
    self.init(certain: results.certain.word(), possible: results.possible.word(), may_fail: results.mayFail)
  }
}
