// Catalog — finds the selectors a pattern means, in the images of this process or in a file on disk.
package import SwiftMangling
private import CHookTrampoline
private import Glibc

/// The selectors of one image. Names are demangled only when a pattern can match.
package final class ImageCatalog: @unchecked Sendable {
  // Immutable after init but for `parser` and `metadata`, which `lock` guards.
  package let path: String
  package let file: ELFFile
  package let symbols: SymbolTable
  /// Added to the file's addresses.
  package let bias: UInt64
  package let isMainProgram: Bool
  /// The image's name when its functions are never hooked; judged once, not once per function.
  let forbiddenName: String?
  package var isForbidden: Bool { forbiddenName != nil }
  /// False when only the file is read and nothing runs.
  package let isLoaded: Bool
  /// Inlined copies, from the debug information; read at first use. Any thread: other images ask for copies of their functions, too.
  package var inlineTable: InlineTable { lock.withLock { inlines } }
  private lazy var inlines = InlineTable(symbols)
  private(set) lazy var asyncEntries = AsyncEntries(file, symbols)
  private(set) lazy var asyncParts = AsyncParts(symbols)
  private(set) lazy var sharedCode = SharedCode(file, symbols, bias: bias)
  private lazy var deleted = DeletedMethods(file)
  /// What names the image's functions in its code; behind `lock`.
  private lazy var references = CodeReferences(.functions, of: { functionAddresses(symbols) }, in: file, symbols)
  private(set) lazy var merges = Merges(file, symbols, bias: bias, isLoaded: isLoaded, references: { [unowned self] in references })
  lazy var flows = Flows(file, symbols, bias: bias, references: { [unowned self] in references }, records: { [unowned self] in metadataSymbols })
  private(set) lazy var entrances = Entrances(file, references)
  /// What was found out of families, by their keys, with the number of bodies they had; modules that the debug information describes.
  /// `lock` guards it.
  var doubtsKnown: [String: (bodies: Int, doubts: [Doubt])] = [:]
  var describedModules: [String: Bool] = [:]
  /// Which families override a method of a superclass. Behind `lock`.
  var overridesKnown: [String: Bool] = [:]
  /// Which async functions take their callers' actors, by the bodies' addresses, and what modules do. Behind `lock`.
  var actorsKnown: [UInt64: CallersActor] = [:]
  var actorHabits: [String: ActorHabit] = [:]
  var nameParser = SymbolParser()
  private let options: SymbolTable.Options
  let planner = CallPlanner()
  let lock = RecursiveLock()
  /// What the image's metadata say; asked through the catalog.
  private(set) lazy var metadata = ImageMetadata(self)
  private var parser = SymbolParser()

  package init(
    path: String, file: ELFFile, bias: UInt64, isMainProgram: Bool, isLoaded: Bool = true, options: SymbolTable.Options = .init()
  ) {
    self.path = path
    forbiddenName = ProcessCatalog.isForbidden(path)
    self.file = file
    self.bias = bias
    self.isMainProgram = isMainProgram
    self.isLoaded = isLoaded
    self.options = options
    symbols = SymbolTable(file, options: options)
  }

  /// What `visit` learns of one symbol that matches.
  package struct Match {
    package let symbol: ImageSymbol
    package let declaration: Declaration
  }

  /// Families whose selector matches, in address order of their first bodies.
  /// - Parameter limited: given up with `LimitedWork.isOver`; nothing may be kept of the answer then.
  package func families(matching pattern: SelectorPattern, limited: Bool = false) -> [Family] {
    families(words: pattern.requiredWords, pattern.meansClosures ? .closures : .functions, limited: limited) { name, declaration in
      // `Secret#Cart.swift` needs the file names, a pattern without files matches whatever the file.
      func spell(_ text: String) -> String {
        pattern.namesFiles ? PrivateNames.resolved(text, module: declaration.module, inlineTable) : PrivateNames.stripped(text)
      }
      return pattern.matches(
        spell(name), isStatic: declaration.isStatic,
        typed: {
          [spell(declaration.typedName(qualified: false)), spell(declaration.typedName(qualified: true))]
        })
    }
  }

  /// Families whose selector name satisfies `predicate`: reads all names.
  package func families(_ kinds: Kinds = .functions, where predicate: (String) -> Bool) -> [Family] {
    families(words: [], kinds) { name, _ in predicate(PrivateNames.stripped(name)) }
  }

  /// What is looked for. Closures have names of their own (`closure #1 in Shop.total(of:)`) and are never meant by others.
  package enum Kinds: Sendable {
    /// Source functions, initialisers, deinitialisers and accessors.
    case functions
    case closures

    fileprivate func include(_ kind: QuickKind) -> Bool {
      switch kind {
      case .source, .accessor: self == .functions
      case .closure: self == .closures
      case .compilerMade, .notSwift: false
      }
    }

    fileprivate func include(_ kind: EntityKind) -> Bool {
      self == .closures ? kind.isClosure : kind.isSourceFunction || kind.isHookableAccessor
    }
  }

  /// The family's name with the files of private types, where the debug information knows them. Reads that at first use.
  package func fullName(_ family: Family, typed: Bool = false) -> String {
    // A method of which nothing is left but a witness: that is named after the protocol.
    if case .witness? = family.bodies.first?.form { return family.selector }
    if family.imported != nil { return typed ? family.typedSelector : family.selector }
    return PrivateNames.resolved(
      typed ? family.declaration.typedName(qualified: false) : family.declaration.selectorName,
      module: family.declaration.module, inlineTable)
  }

  /// Families of functions and accessors whose names hold the words and whose declaration is wanted.
  func families(words: [[UInt8]], where isWanted: (Declaration) -> Bool) -> [Family] {
    families(words: words, .functions, where: isWanted) { _, _ in true }
  }

  /// - Parameter mayBeWanted: asked first, since a name takes longer than many a declaration.
  private func families(
    words: [[UInt8]], _ kinds: Kinds, limited: Bool = false, where mayBeWanted: (Declaration) -> Bool = { _ in true },
    _ isWanted: (String, Declaration) -> Bool
  ) -> [Family] {
    lock.withLock {
      var order: [String] = []
      var found: [String: Family] = [:]
      var steps = LimitedWork.Steps()
      for symbol in symbols.candidates(words: words) {
        if limited, steps.areOver() { return [] }
        guard let match = parse(symbol, kinds) else { continue }
        let declaration = match.declaration
        guard mayBeWanted(declaration) else { continue }
        let name = declaration.selectorName
        guard isWanted(name, declaration) else { continue }
        let body = body(match)
        if found[declaration.familyName]?.bodies.append(body) == nil {
          order.append(declaration.familyName)
          found[declaration.familyName] = Family(
            selector: PrivateNames.stripped(name), declaration: declaration, key: declaration.familyName, imagePath: path, bodies: [body])
        }
      }
      // Each reads code.
      var settling = LimitedWork.Steps(each: 16)
      return order.compactMap { limited && settling.areOver() ? nil : settled(found[$0]!) }
    }
  }

  /// Calls `visit` with every selector name of hookable kind; stops when it answers false.
  package func eachSelector(_ visit: (String, Declaration, ImageSymbol) -> Bool) {
    lock.withLock {
      var steps = LimitedWork.Steps()
      for symbol in symbols.candidates(words: []) {
        if steps.areOver() { return }
        guard let match = parse(symbol, .functions) else { continue }
        if !visit(match.declaration.selectorName, match.declaration, match.symbol) { return }
      }
    }
  }

  /// The symbol's declaration when it is of these kinds.
  private func parse(_ symbol: ImageSymbol, _ kinds: Kinds) -> Match? {
    guard let declaration = parser.declaration(symbol.name, where: kinds.include), kinds.include(declaration.kind) else { return nil }
    return Match(symbol: symbol, declaration: declaration)
  }

  func body(_ match: Match) -> Body {
    let symbol = match.symbol
    let next = symbols.nextSymbolAddress(after: symbol.address) ?? symbol.address + UInt64(symbol.size)
    var declaration = match.declaration
    // Effects of accessors are not in their names.
    declaration.isAsyncAccessor = declaration.kind == .getter && asyncEntries.record(at: symbol.address) != nil
    return Body(
      form: Self.form(declaration), declaration: declaration,
      mangledName: String(decoding: symbol.name, as: UTF8.self), address: symbol.address + bias, size: Int(symbol.size),
      available: Int(next - symbol.address))
  }

  private static func form(_ declaration: Declaration) -> Body.Form {
    if declaration.isMerged { return .merged }
    for step in declaration.specialization.reversed() {
      switch step {
      case .generic: return .genericClone
      case .signature: return .signatureClone
      case .merged: return .merged
      }
    }
    if declaration.kind == .`init` { return .initialising }
    return .base
  }

  /// One body per address, the base first; a family is named after its base where there is one.
  private func settled(_ family: Family) -> Family {
    var family = family
    family.bodies.sort { ($0.form.rank, $0.address) < ($1.form.rank, $1.address) }
    var seen: Set<UInt64> = []
    family.bodies = family.bodies.filter { seen.insert($0.address).inserted }
    if let first = family.bodies.first { family.declaration = first.declaration }
    family.bodies.removeAll { deleted.contains($0.address - bias, size: $0.size) }
    addMergedBodies(to: &family)
    addVtableThunks(to: &family)
    seeWays(of: &family)
    joinIsolatedDeinits(of: &family)
    return family
  }

  /// Why a body cannot be hooked; nil when it can. Nothing is installed.
  package func refusal(of body: Body, in family: Family) -> HookRefusal? {
    if let imported = family.imported, let place = body.place { return imported.refusal(at: place, safe: false) }
    if let forbidden = forbiddenName { return .runtimeMachinery(forbidden) }
    if body.form == .merged, body.isUnidentified { return .mergedBody }
    guard isLoaded else {
      guard let bytes = fileBytes(of: body, count: body.size) else { return .noBody }
      return CodePatcher.examine(bytes: bytes, size: body.size, available: body.available).map { .code($0) }
    }
    let made = CodePatcher.prepare(
      body: body.address, size: body.size, available: body.available, fileBytes: fileBytes(of: body, count: body.size))
    switch made {
    case .failure(let refusal): return .code(refusal)
    // What was diverted already is written.
    case .success(let site): return CodePatcher.isInstalled(site) ? nil : CodePatcher.whyNotWritable.map { .code($0) }
    }
  }

  /// Where the body's arguments and results are. A merged body is planned as the function its thunk stands for.
  package func plan(of body: Body, in family: Family, guardedBy thunk: MergeThunk? = nil) -> CallPlan {
    if let imported = family.imported, let place = body.place { return imported.plan(at: place) }
    guard let thunk = thunk ?? body.thunks.first else {
      if let source = body.unidentifiedSource,
        let plan = plan(of: body, in: family, as: source.mangledName, besides: source.places)
      {
        return plan
      }
      return lock.withLock {
        let shared = sharedCode.conflict(body, isCalled: isCalled)
        let conflict = shared?.reason
        let plan = decidedPlan(body.declaration, at: body, sharing: conflict, evidence(body))
        // What else is passed, calls still tell whose they are.
        return shared?.isOnObjects == true ? plan.changed(selfPlan: .object(.selfRegister)) : plan
      }
    }
    return plan(of: body, in: family, as: thunk.callers[0], besides: thunk.places) ?? planner.plan(body.declaration)
  }

  /// A merged body is entered with the arguments of the functions it was made of where they were; nil when the places
  /// that were added are among those of the arguments.
  private func plan(of body: Body, in family: Family, as name: String, besides added: UInt64) -> CallPlan? {
    guard let source = family.bodies.first(where: { $0.mangledName == name }) else { return nil }
    let plan = lock.withLock {
      decidedPlan(
        source.declaration, at: body, sharing: sharedCode.conflict(source, isCalled: isCalled)?.reason,
        evidence(body, as: source, besides: MergeThunk.places(added)))
    }
    return plan.leavesFree(added) ? plan.passing(added) : nil
  }

  /// The plan by which the body may be called, whoever else enters the same code: a call is made as this selector's own.
  package func planToCall(_ body: Body, in family: Family) -> CallPlan {
    guard body.thunks.isEmpty else { return plan(of: body, in: family) }
    return lock.withLock { decidedPlan(body.declaration, at: body, evidence(body)) }
  }

  /// The plan of a generic body; nil for one that is not generic.
  func genericPlanToCall(_ body: Body) throws(TypeProblem) -> GenericPlan? {
    // Whether a member of a struct or enum is mutating only the code tells.
    let isOnValue = body.declaration.hasInstance && [.structure, .enumeration].contains(body.declaration.contextKind)
    return try lock.withLock { () throws(TypeProblem) in try planner.generic(body.declaration, evidence: isOnValue ? evidence(body) : nil) }
  }

  /// What the body does with the object it runs on.
  func selfUse(of body: Body, by plan: CallPlan) -> SelfUse {
    guard let object = plan.selfObjectRegister else { return plan.selfUse }
    return lock.withLock { evidence(body).selfUse(of: object, results: plan.ownedResults) }
  }

  /// The self of a struct's or enum's method, with what its code says of a copy's end.
  /// - Parameter presuming: a getter whose code does not tell keeps self, as all but those few do that are declared `consuming get`; those of types
  ///   that cannot be copied are such more often.
  package func selfPlan(of body: Body, by plan: CallPlan, presuming: Bool = true) -> SelfPlan {
    guard case .value(var value) = plan.selfPlan, !plan.isAsync else { return plan.selfPlan }
    guard value.access == .unknown, value.info?.isTrivial != true else { return plan.selfPlan }
    let use = lock.withLock {
      let address = body.address - bias
      return flows.use(of: value, at: address, size: body.size, results: plan.ownedResults, named: body.mangledName, depth: 0)
    }
    switch use {
    case .kept: value.access = .borrowed
    case .consumed: value.access = .owned
    case .unknown:
      if presuming, body.declaration.kind == .getter, value.info?.isCopyable != false { value.access = .borrowed }
    }
    return .value(value)
  }

  /// Why a private body is believed to be called as its type says; nil for all others.
  func whyTrusted(_ body: Body) -> String? {
    guard body.declaration.isEffectivelyPrivate else { return nil }
    return lock.withLock { evidence(body).keptBecause.map { "private, with its declared convention: \($0)" } }
      ?? "private to its object file; its code shows that no argument was dropped"
  }

  /// What the body's code shows of its convention. To be asked under the lock.
  /// - Parameters:
  ///   - source: the body whose convention it has, where that is another one: a merged body has its thunks'.
  ///   - extra: the places that hold what is no argument of that function.
  func evidence(_ body: Body, as source: Body? = nil, besides extra: Places = .nothing) -> any BodyEvidence {
    let source = source ?? body
    return BodyFlow(
      flows, address: body.address - bias, size: body.size, module: body.declaration.module,
      keptBecause: flows.whyKept(source.mangledName, at: source.address - bias), besides: extra,
      next: { [unowned self] in body.isAsync ? awaited(by: body) : nil })
  }

  /// Inlined copies of the family's functions that the debug information knows; nil where it does not tell.
  package func inlinedCopies(of family: Family) -> Int? {
    if case .known(let count) = inlined(family) { count } else { nil }
  }

  /// Calls of other selectors may enter the family's bodies.
  func sharesCode(_ family: Family) -> Bool {
    if family.imported != nil { return false }
    return lock.withLock {
      !sharedCode.selectors(atAddressesOf: family).isEmpty || !sharedCode.selectors(jumpingTo: family).isEmpty
        || !sharedCode.selectors(onlyCalling: family).isEmpty
    }
  }

  /// Functions of this image that call the body, or jump to it, directly; nil when some call lies in no known function.
  func directCallers(of body: Body) -> [ImageSymbol]? { lock.withLock { flows.callers(of: body.address - bias) } }

  /// Nothing calls the body but these: no other code of the image does, and nobody else has its address.
  func isEntered(_ body: Body, onlyFrom sources: [Body]) -> Bool {
    let addresses = Set(sources.map { $0.address - bias })
    return lock.withLock {
      guard flows.whyKept(body.mangledName, at: body.address - bias) == nil, let callers = flows.callers(of: body.address - bias) else {
        return false
      }
      return !callers.isEmpty && callers.allSatisfy { addresses.contains($0.address) }
    }
  }

  /// The body does nothing but report that the method was deleted.
  func isDeleted(_ address: UInt64) -> Bool {
    lock.withLock {
      symbols.symbols(at: address &- bias).contains { $0.isFunction && deleted.contains($0.address, size: Int($0.size)) }
    }
  }

  /// The first bytes of the body as the file has them, whatever was written over them in memory; nil where there are fewer.
  package func fileBytes(of body: Body, count: Int) -> UnsafeRawPointer? {
    file.bytes(at: body.address - bias, count: count)?.baseAddress
  }
}

extension Body.Form {
  var rank: Int {
    switch self {
    case .base, .sharesCodeOf, .importSlot, .forwarder: 0
    case .initialising: 1
    case .signatureClone: 2
    case .genericClone: 3
    case .merged: 4
    case .thunk, .witness: 5
    }
  }

  package var words: String {
    switch self {
    case .base: "base"
    case .forwarder: "partial application"
    case .initialising: "initialising form"
    case .signatureClone: "signature specialisation"
    case .genericClone: "generic specialisation"
    case .merged: "merged body"
    case .sharesCodeOf(let other): "shares the code of \(other)"
    case .importSlot: "import slot"
    case .thunk(let what): "thunk \(what)"
    case .witness(let what): "witness \(what)"
    }
  }
}

extension EntityKind {
  /// Accessors a person would hook; addressors and default getters of globals are the compiler's.
  package var isHookableAccessor: Bool {
    switch self {
    case .getter, .setter, .modify, .read, .modify2, .read2, .willSet, .didSet: true
    default: false
    }
  }
}

/// The catalogs of all Swift images of this process.
package final class ProcessCatalog: @unchecked Sendable {
  // `images` and `seen` are behind `lock`.
  package static let shared = ProcessCatalog()
  private let lock = RecursiveLock()
  private var images: [ImageCatalog] = []
  private var seen: UInt64 = .max
  /// What exact names were found to mean, for the images of change count `rememberedAt`.
  private var remembered: [SelectorPattern: [(ImageCatalog, Family)]] = [:]
  private var rememberedAt: UInt64 = .max
  private var imports: (read: Imports, at: UInt64)?
  package var options = SymbolTable.Options()

  /// Images whose functions are never hooked: the Swift runtime and our own.
  static func isForbidden(_ path: String) -> String? {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    if name.hasPrefix("libswiftCore.") || name.hasPrefix("libswift_Concurrency.") || name.hasPrefix("libswiftSynchronization.") {
      return name
    }
    return OurImages.hold(name) ? name : nil
  }

  /// Calls of other selectors may enter the family's bodies.
  package func sharesCode(_ family: Family) -> Bool {
    current().first { $0.path == family.imagePath }?.sharesCode(family) ?? false
  }

  package func current() -> [ImageCatalog] {
    lock.withLock {
      let change = LoadedImages.changeCount
      if change != seen {
        seen = change
        let known = Dictionary(images.map { ($0.path + String($0.bias), $0) }, uniquingKeysWith: { a, _ in a })
        images = LoadedImages.snapshot().images.compactMap { image in
          guard let file = image.file, file.isSwift else { return nil }
          if let old = known[image.path + String(UInt64(image.bias))] { return old }
          return ImageCatalog(
            path: image.path, file: file, bias: UInt64(image.bias), isMainProgram: image.isMainProgram, options: options)
        }
      }
      return images
    }
  }

  /// The images a pattern speaks of: the program alone when a wildcard decides the module.
  package func images(for pattern: SelectorPattern) -> [ImageCatalog] {
    let all = current()
    return pattern.module == nil ? all.filter(\.isMainProgram) : all
  }

  /// - Parameters:
  ///   - toCall: only what calls of the functions need.
  ///   - limited: given up with `LimitedWork.isOver`.
  package func families(
    matching pattern: SelectorPattern, toCall: Bool = false, limited: Bool = false, where isMeant: ((Family) -> Bool)? = nil
  ) -> [(ImageCatalog, Family)] {
    // What C functions lead to the loader is asked, which may wait for a thread that waits for `lock`.
    if let selector = CSelector(pattern.text) { return imports(matching: selector) + current().families(matching: pattern, limited: limited) }
    guard !pattern.isGlob else { return current().families(matching: pattern, limited: limited, where: isMeant) }
    // Many patches may hook one selector: names are looked up once for each set of images.
    return lock.withLock {
      _ = current()
      if rememberedAt != seen {
        remembered = [:]
        rememberedAt = seen
      }
      if let known = remembered[pattern] { return known }
      // Who calls remembers what was found, and hooks need more.
      if toCall { return current().families(matching: pattern, toCall: true, limited: limited) }
      let found = current().families(matching: pattern, limited: limited)
      if !limited || !LimitedWork.isOver { remembered[pattern] = found }
      return found
    }
  }

  /// Who imports C functions now.
  package func currentImports() -> Imports {
    lock.withLock {
      let change = LoadedImages.changeCount
      if let imports, imports.at == change { return imports.read }
      let read = Imports.ofProcess()
      imports = (read, change)
      return read
    }
  }

  /// C functions are no image's own; the program's catalog stands for all of them.
  private func imports(matching selector: CSelector) -> [(ImageCatalog, Family)] {
    guard let program = current().first(where: \.isMainProgram) else { return [] }
    return currentImports().families(matching: selector).map { (program, $0) }
  }
}
