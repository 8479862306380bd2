// Merges — the merged bodies of an image, and who goes to them.
//
// Owns the question whose call an entry of such a body can be: a thunk's, a partial application's, or anybody's. Leaves to
// MergeThunk what a family makes of the answers.
internal import CHookTrampoline
internal import SwiftMangling

/// Confined to its catalog's lock.
final class Merges {
  private let file: ELFFile
  private let symbols: SymbolTable
  private let bias: UInt64
  private let isLoaded: Bool
  /// What names the image's functions, under the same lock.
  private let references: () -> CodeReferences
  private var parser = SymbolParser()
  private let planner = CallPlanner()
  private lazy var reader = MetadataReader(file: file)
  /// File addresses of the merged bodies.
  private lazy var merged = Set(symbols.lazy.filter { Self.isMerged($0) }.map(\.address))
  /// File addresses of the functions that name merged bodies.
  private lazy var mergesNamed = findMergesNamed()
  /// Merged bodies whose addresses are in the image's data.
  private lazy var pointedTo = findPointedTo()
  /// What was asked for, by the file addresses of merged bodies; nil where nothing goes there.
  private var uses: [UInt64: Use?] = [:]
  private var relativesByName: [String: [ImageSymbol]]?

  init(_ file: ELFFile, _ symbols: SymbolTable, bias: UInt64, isLoaded: Bool, references: @escaping () -> CodeReferences) {
    self.file = file
    self.symbols = symbols
    self.bias = bias
    self.isLoaded = isLoaded
    self.references = references
  }

  /// Who goes to a merged body.
  private struct Use {
    /// All that thunks fill: what merging added.
    var places = UInt64.max
    var thunks: [UInt64: HKTThunk] = [:]
    /// Functions that read as thunks, and call it with their own thunk's constants: the jump was written into them.
    var callers: Set<UInt64> = []
    /// Thunks that pass the same constants: one may be of a function that only calls the other's.
    var twins: Set<UInt64> = []
    /// There are functions that may be thunks of it.
    var hasUnread = false
    /// Partial applications, by their addresses, with the closures they are of.
    var forwarders: [UInt64: (symbol: ImageSymbol, closure: Declaration)] = [:]
    var isEntered = false

    /// A function that fills more is a caller that has constants for the arguments, too.
    var hasOtherCallers: Bool { isEntered || !forwarders.isEmpty || thunks.values.contains { $0.written != places } }
  }

  /// What the body does if it was merged and all it does is pass constants on; addresses are those of the process.
  ///
  /// Of equal thunks one is left, to which the others jump: calls through the merged body are that one's.
  func thunk(_ body: Body) -> Thunk? {
    let address = body.address - bias
    guard let thunk = thunk(at: address, size: body.size).read, mergedSymbol(at: thunk.target - bias) != nil,
      let use = use(of: thunk.target - bias), thunk.written == use.places || use.thunks.isEmpty, !use.callers.contains(address)
    else { return nil }
    return Thunk(code: thunk, isTwin: use.twins.contains(address))
  }

  struct Thunk {
    let code: HKTThunk
    /// Calls with its constants may be another function's.
    let isTwin: Bool
  }

  func mergedSymbol(at address: UInt64) -> ImageSymbol? {
    symbols.symbols(at: address).first { Self.isMerged($0) }
  }

  /// Others than thunks enter the body, or may.
  func hasOtherCallers(_ merged: UInt64) -> Bool { use(of: merged)?.hasOtherCallers ?? false }

  /// What a function and those that it may be merged with have alike.
  struct Shape: Hashable {
    let parameterCount: Int
    let result: String

    init(_ function: FunctionType) {
      parameterCount = function.parameters.count
      result = function.result.description(qualified: true)
    }
  }

  /// The families that gave merged bodies their names, where others than thunks enter these: such a call may be of a function of which
  /// nothing else is left.
  private(set) lazy var enteredDirectly: [Shape: Set<String>] = {
    var found: [Shape: Set<String>] = [:]
    for address in merged where hasOtherCallers(address) {
      guard let declaration = mergedSymbol(at: address).flatMap({ parser.declaration($0.nameText) }) else { continue }
      found[Shape(declaration.functionType), default: []].insert(declaration.familyName)
    }
    return found
  }()

  /// The partial applications that enter the body; nil when others do, too.
  func forwarders(to address: UInt64) -> [(symbol: ImageSymbol, closure: Declaration)]? {
    guard let use = use(of: address), !use.isEntered, !use.hasUnread, use.thunks.isEmpty else { return nil }
    return use.forwarders.values.sorted { $0.symbol.address < $1.symbol.address }
  }

  static func isMerged(_ symbol: ImageSymbol) -> Bool { symbol.name.suffix(2).elementsEqual("Tm".utf8) }

  /// The merged body that the function may have been merged into, which its code does not tell: it is a thunk that cannot be
  /// read, or what it forwards its calls to is a specialisation that was merged under another name.
  func unreadTarget(_ body: Body) -> ImageSymbol? {
    let address = body.address - bias
    guard mergesNamed.contains(address) else { return nil }
    switch thunk(at: address, size: body.size) {
    case .thunk(let thunk): return thunkOfLostFunction(thunk, at: address)
    case .unread(let target):
      // Where all that enter are thunks, read or not, a call goes through its own.
      return mergedSymbol(at: target - bias).flatMap { hasOtherCallers($0.address) ? $0 : nil }
    case .none: break
    }
    guard let target = onlyTarget(address, size: body.size), let symbol = mergedSymbol(at: target),
      let merged = parser.declaration(symbol.nameText),
      merged.isSpecialisedBySignature || merged.kind == .`init` || body.size <= Self.longestRest && merged.familyName != body.declaration.familyName
    else { return nil }
    return symbol
  }

  /// What calls a merged body with constants that no thunk passes calls a function of which nothing else is left: all that call that
  /// one pass them. It may be a clone of the caller's, or any other.
  private func thunkOfLostFunction(_ thunk: HKTThunk, at address: UInt64) -> ImageSymbol? {
    let merged = thunk.target - bias
    guard let use = use(of: merged), use.callers.contains(address), !use.thunks.values.contains(where: { $0.constants == thunk.constants })
    else { return nil }
    return mergedSymbol(at: merged)
  }

  /// Merged bodies under the name of the function that gave its name to this one, or of its specialisations, which others enter than
  /// thunks: what was merged with it once may have been so again, and its thunk there is gone.
  func relatives(of merged: ImageSymbol) -> [ImageSymbol] {
    guard let name = parser.declaration(merged.nameText)?.familyName else { return [] }
    if relativesByName == nil {
      relativesByName = Dictionary(grouping: self.merged.sorted().compactMap { mergedSymbol(at: $0) }) {
        parser.declaration($0.nameText)?.familyName ?? ""
      }
    }
    return relativesByName?[name]?.filter { $0.address != merged.address && hasOtherCallers($0.address) } ?? []
  }

  /// What is left of a function whose clone was merged under another's name: it moves arguments, and goes on.
  private static let longestRest = 48

  /// The one function that it calls or jumps to, those aside that count references.
  private func onlyTarget(_ address: UInt64, size: Int) -> UInt64? {
    guard let bytes = file.bytes(at: address, count: size)?.baseAddress else { return nil }
    guard let exits = CodeExits.find(bytes, size: UInt64(size), address: address, most: 16) else { return nil }
    let others = exits.map(\.target).filter { target in
      guard let name = reader.importStub(at: target) else { return true }
      return !Flows.takeOneObject.contains(String(decoding: name, as: UTF8.self)) && !name.elementsEqual("__stack_chk_fail".utf8)
    }
    return others.count == 1 ? others[0] : nil
  }

  private enum Reading {
    case none
    case unread(target: UInt64)
    case thunk(HKTThunk)
    var read: HKTThunk? { if case .thunk(let thunk) = self { thunk } else { nil } }
  }

  private func thunk(at address: UInt64, size: Int) -> Reading {
    guard let bytes = file.bytes(at: address, count: size)?.baseAddress else { return .none }
    var thunk = HKTThunk()
    switch hkt_read_thunk(bytes.assumingMemoryBound(to: UInt8.self), UInt64(size), address + bias, &thunk) {
    case HKT_THUNK: break
    case HKT_UNREAD_THUNK: return .unread(target: thunk.target)
    default: return .none
    }
    for place in HKTThunk.places(in: thunk.loaded) {
      let isHalf = thunk.halves >> UInt64(place) & 1 != 0
      guard let constant = word(at: thunk.constant(at: place), size: isHalf ? 4 : 8) else { return .none }
      thunk.setConstant(constant, at: place)
    }
    return .thunk(thunk)
  }

  /// What a thunk loads: from the linker's table of addresses, which nobody writes once the image is there, or a constant.
  private func word(at address: UInt64, size: UInt64) -> UInt64? {
    let inFile = address - bias
    func holds(_ section: ELFFile.Section) -> Bool { inFile >= section.address && inFile + size <= section.address + section.size }
    if file.section(named: ".got").map(holds) ?? false {
      // Where nothing runs its place stands for it.
      return isLoaded ? UnsafePointer<UInt64>(bitPattern: UInt(address))?.pointee : address
    }
    guard file.sections.contains(where: { $0.name.hasPrefix(".rodata") && holds($0) }) else { return nil }
    guard let bytes = file.bytes(at: inFile, count: Int(size)) else { return nil }
    return size == 4 ? UInt64(bytes.loadUnaligned(as: UInt32.self)) : bytes.loadUnaligned(as: UInt64.self)
  }

  // MARK: Who goes there

  private func use(of target: UInt64) -> Use? {
    if let known = uses[target] { return known }
    let found = findUse(of: target)
    uses[target] = .some(found)
    return found
  }

  private func findUse(of target: UInt64) -> Use? {
    guard merged.contains(target) else { return nil }
    let sites = references().sites(to: target)
    guard !sites.isEmpty || pointedTo.contains(target) else { return nil }
    var use = Use()
    for site in sites { note(site, target, &use) }
    if !sites.isEmpty { tellCallers(&use, of: target) }
    if pointedTo.contains(target) { use.isEntered = true }
    return use
  }

  private func findMergesNamed() -> Set<UInt64> {
    var found: Set<UInt64> = []
    let references = references()
    for site in merged.lazy.flatMap({ references.sites(to: $0) }) {
      if let function = symbols.symbol(containing: site) { found.insert(function.address) }
    }
    return found
  }

  private func findPointedTo() -> Set<UInt64> {
    var found: Set<UInt64> = []
    file.relocations.forEachAddress { if merged.contains($0) { found.insert($0) } }
    return found
  }

  /// A function names the merged body at `to` at the address `site`.
  private func note(_ site: UInt64, _ to: UInt64, _ use: inout Use) {
    guard let from = symbols.symbol(containing: site) else { return use.isEntered = true }
    // What the compiler makes is not merged under a selector's name: it calls as anybody would. Witnesses are merged with each other.
    let isMergedHere = !Self.isMerged(from) && (parser.quickKind(from.name).isDeclared || isWitness(from) && isOfWitnesses(to))
    switch isMergedHere ? thunk(at: from.address, size: Int(from.size)) : .none {
    case .thunk(let thunk) where thunk.target == to + bias:
      use.thunks[from.address] = thunk
      use.places &= thunk.written
    case .unread(let target) where target == to + bias: use.hasUnread = true
    default:
      if let closure = appliedClosure(from) { use.forwarders[from.address] = (from, closure) } else { use.isEntered = true }
    }
  }

  private func isWitness(_ symbol: ImageSymbol) -> Bool { symbol.name.suffix(2).elementsEqual("TW".utf8) }
  private func isOfWitnesses(_ merged: UInt64) -> Bool { mergedSymbol(at: merged)?.name.suffix(4).elementsEqual("TWTm".utf8) ?? false }

  /// A function that only calls another, which was merged, reads as that one's thunk does once its call was changed into one of the
  /// merged body. LLVM marks the call of a thunk to be a jump, and that of a caller not (SwiftMergeFunctions): where thunks jump,
  /// what calls is a caller. They do not where the result goes by address, or constants on the stack.
  private func tellCallers(_ use: inout Use, of merged: UInt64) {
    if use.thunks.contains(where: { !$0.value.calls }) {
      use.callers = Set(use.thunks.lazy.filter { $0.value.calls }.map(\.key))
    } else {
      tellTwins(&use, of: merged)
    }
    for caller in use.callers { use.thunks[caller] = nil }
    if !use.callers.isEmpty { use.places = use.thunks.values.reduce(.max) { $0 & $1.written } }
    use.isEntered = use.isEntered || !use.callers.isEmpty || !use.twins.isEmpty
  }

  /// Merged functions take the same arguments, so that of several that pass the same constants one that takes others is a caller.
  private func tellTwins(_ use: inout Use, of merged: UInt64) {
    let alike = Dictionary(grouping: use.thunks.filter { $0.value.known != 0 }, by: { $0.value.constants }).values.filter { $0.count > 1 }
    guard !alike.isEmpty, let symbol = mergedSymbol(at: merged) else { return }
    let arguments = arguments(of: symbol)
    for (address, _) in alike.joined() {
      let isThunk = symbols.symbols(at: address).contains { $0.isFunction && self.arguments(of: $0) == arguments }
      if isThunk { use.twins.insert(address) } else { use.callers.insert(address) }
    }
    for each in alike where each.count(where: { use.twins.contains($0.key) }) == 1 { use.twins.subtract(each.map(\.key)) }
  }

  /// Where the function takes what, whatever was added when it was merged.
  private func arguments(of symbol: ImageSymbol) -> [[Place]]? {
    guard var declaration = parser.declaration(symbol.nameText) else { return nil }
    declaration.specialization.removeAll { $0 == .merged }
    return planner.plan(declaration).arguments.map(\.location.places)
  }

  /// The closure that a partial application (`…TA`, `…TA.7`) calls.
  private func appliedClosure(_ symbol: ImageSymbol) -> Declaration? {
    var name = symbol.name[...]
    if let dot = name.lastIndex(of: UInt8(ascii: ".")), name[(dot + 1)...].allSatisfy({ (0x30...0x39).contains($0) }) { name = name[..<dot] }
    guard name.suffix(2).elementsEqual("TA".utf8), let closure = parser.declaration(String(decoding: name.dropLast(2), as: UTF8.self)),
      closure.kind.isClosure
    else { return nil }
    return closure
  }
}

extension Declaration {
  /// The last thing that was made of it before it was merged.
  fileprivate var isSpecialisedBySignature: Bool {
    if case .signature? = specialization.dropLast().last { true } else { false }
  }
}

extension QuickKind {
  /// Somebody wrote it.
  fileprivate var isDeclared: Bool {
    switch self {
    case .source, .accessor, .closure: true
    case .compilerMade, .notSwift: false
    }
  }
}
