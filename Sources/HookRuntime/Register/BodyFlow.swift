// BodyFlow — asks a body's code, and its callers', what the optimiser made of its convention.
//
// One per image; answers are remembered. Reads the file, never memory that may hold our own diversions.
internal import CHookTrampoline
internal import SwiftMangling

/// A function, and the first of the stack slots that are asked about.
private struct SlotQuestion: Hashable {
  let address: UInt64
  let first: Int
}

/// The addresses of all functions of an image, ascending.
func functionAddresses(_ symbols: SymbolTable) -> [UInt64] {
  var addresses: [UInt64] = []
  for symbol in symbols where symbol.isFunction && symbol.address != addresses.last { addresses.append(symbol.address) }
  return addresses
}

/// The functions of one image and who calls them. Confined to its catalog's lock.
final class Flows {
  private let file: ELFFile
  let symbols: SymbolTable
  var parser = SymbolParser()
  lazy var reader = MetadataReader(file: file)
  /// What each function takes, as far as it was asked; its own calls count as taking nothing while it is being read.
  private var taken: [SlotQuestion: (asked: UInt64, found: UInt64)] = [:]
  /// What imported functions take, by name.
  private var imported: [String: UInt64] = [:]
  let planner = CallPlanner()
  private lazy var pointedTo = findPointedTo()
  /// What methods do with their self; unknown while they are being read. For SelfOwnership.
  var ownerships: [OwnershipQuestion: Remembered<OwnershipFound>] = [:]
  var callees: [UInt64: Remembered<HKTCallee>] = [:]
  /// Something was not followed to its end since somebody asked.
  var isCut = false
  /// What the toolchain's libraries declare of their methods counts: see ToolchainMethods.
  var believesInterfaces = true
  private var depth = 0

  /// What names the image's functions, and its records, under the same lock.
  private let references: () -> CodeReferences
  let records: () -> MetadataSymbols

  /// Where the image lies in memory, from where its file says.
  private let bias: UInt64

  init(_ file: ELFFile, _ symbols: SymbolTable, bias: UInt64, references: @escaping () -> CodeReferences, records: @escaping () -> MetadataSymbols) {
    self.bias = bias
    self.file = file
    self.symbols = symbols
    self.references = references
    self.records = records
  }

  // MARK: What a function takes

  /// How far the values are followed through functions that only hand them on.
  private static let deepest = 4

  func code(_ address: UInt64, _ size: Int, slotsFrom first: Int = 0) -> HKTCode? {
    guard size > 0, let bytes = file.bytes(at: address, count: size)?.baseAddress else { return nil }
    return HKTCode(bytes: bytes.assumingMemoryBound(to: UInt8.self), size: UInt64(size), address: address, first_slot: UInt32(first))
  }

  /// Where the file has a class's metadata; nil where it is another image's, or made at run time.
  func fileAddress(ofClass metadata: Metadata) -> UInt64? {
    let address = UInt64(UInt(bitPattern: metadata.pointer)) &- bias
    return records().names(at: address).contains { $0.hasSuffix("CN") } ? address : nil
  }

  /// Constant bytes of the image.
  func data(at address: UInt64, count: Int) -> UnsafeRawPointer? { file.bytes(at: address, count: count)?.baseAddress }

  func taken(_ places: Places, at address: UInt64, size: Int) -> Places {
    Places.firstSlots.reduce(.nothing) { found, first in
      let wanted = places.word(from: first)
      // Registers are the same in each question.
      guard first == 0 || wanted >> 32 != 0 else { return found }
      return found.union(Places(word: taken(wanted, at: address, size: size, slotsFrom: first), from: first))
    }
  }

  private func taken(_ wanted: UInt64, at address: UInt64, size: Int, slotsFrom first: Int = 0) -> UInt64 {
    let question = SlotQuestion(address: address, first: first)
    let known = taken[question] ?? (0, 0)
    let new = wanted & ~known.asked
    guard new != 0, var code = code(address, size, slotsFrom: first) else { return known.found & wanted }
    taken[question] = (known.asked | new, known.found)
    var flow = HKTFlow()
    depth += 1
    _ = withHost { host in hkt_read_flow(&code, new, host, &flow) }
    depth -= 1
    let found = known.found | flow.reads
    taken[question] = (known.asked | new, found)
    return found & wanted
  }

  /// Places that a function may take; all while it is being read.
  private var possible: [SlotQuestion: UInt64] = [:]

  func possible(at address: UInt64, size: Int, slotsFrom first: Int = 0) -> UInt64 {
    let question = SlotQuestion(address: address, first: first)
    if let known = possible[question] { return known }
    guard var code = code(address, size, slotsFrom: first) else { return .max }
    possible[question] = .max
    depth += 1
    let found = withHost { hkt_read_possible(&code, $0) }
    depth -= 1
    possible[question] = found
    return found
  }

  /// What imported functions may take, by their names.
  private var possibleByName: [String: UInt64] = [:]

  /// What a callee may take. C functions know nothing of Swift's `self` register.
  private func possibleInCallee(_ target: UInt64) -> UInt64 {
    if let symbol = symbols.symbols(at: target).first(where: { $0.isFunction && $0.size > 0 }) {
      return depth < Self.deepest ? possible(at: target, size: Int(symbol.size)) : .max
    }
    guard let name = reader.importStub(at: target) else { return .max }
    if name.starts(with: "$s".utf8) { return possibleInImport(String(decoding: name, as: UTF8.self)) }
    // Those of the runtime that are Swift's take an error, too.
    if name.starts(with: "swift_willThrow".utf8) { return .max }
    let text = String(decoding: name, as: UTF8.self)
    let takesMore = text == "swift_beginAccess" || !Self.takeOneObject.contains(text)
    return takesMore ? Self.cArguments : Places(argument: .integer(0))!.word()
  }

  /// What a Swift function of another image may take, by its name.
  private func possibleInImport(_ name: String) -> UInt64 {
    if let known = possibleByName[name] { return known }
    let isThunk = name.hasSuffix("Tj")
    var found = UInt64.max
    if let declaration = parser.declaration(isThunk ? String(name.dropLast(2)) : name), !declaration.isEffectivelyPrivate {
      let plan = planner.plan(declaration)
      // A requirement's getter takes its self's type and witness table.
      let isRequirement = isThunk && declaration.kind == .getter && plan.arguments.isEmpty
      if let integers = isRequirement ? 2 : plan.stack.integers, integers < Places.argumentRegisters.count {
        for register in Places.argumentRegisters.dropFirst(integers) { found &= ~(1 << register) }
      }
      if case .pieces = plan.result.location { found &= ~1 }
      if plan.result.type.isVoid { found &= ~1 }
      if !Self.mayTakeSelfRegister(plan.selfPlan) { found &= ~Places.selfRegister.word() }
    }
    possibleByName[name] = found
    return found
  }

  /// What functions do with a variable by its address in a register; nothing while they are being read.
  private var entryMemory: [SlotQuestion: HKTEntryMemory] = [:]

  /// Which bytes of a variable the function reads as they came; nil when its address goes where it is not followed.
  fileprivate func entryBytes(at address: UInt64, size: Int, ofVariableAt register: Places) -> EntryBytes? {
    guard register.areRegisters, register.word().nonzeroBitCount == 1 else { return nil }
    let found = entryMemory(at: address, size: size, register: register.word().trailingZeroBitCount)
    return found.is_given_away ? nil : EntryBytes([found.read.0, found.read.1, found.read.2, found.read.3], isWritten: found.is_written)
  }

  private func entryMemory(at address: UInt64, size: Int, register: Int) -> HKTEntryMemory {
    let question = SlotQuestion(address: address, first: register)
    if let known = entryMemory[question] { return known }
    var found = HKTEntryMemory()
    guard var code = code(address, size), variableDepth < Self.deepestVariable else {
      found.is_given_away = true
      return found
    }
    entryMemory[question] = found
    // The context is this object, which outlives the call that hands it over; the last argument is one of the reader's.
    var host = HKTMemoryHost(context: Unmanaged.passUnretained(self).toOpaque()) { context, target, register, found in
      Unmanaged<Flows>.fromOpaque(context!).takeUnretainedValue().variable(in: target, Int(register), found!)
    }
    variableDepth += 1
    hkt_read_entry_memory(&code, Int32(register), &host, &found)
    variableDepth -= 1
    entryMemory[question] = found
    return found
  }

  /// The compiler knows of a chain of functions of any length what they read.
  private static let deepestVariable = 12
  private var variableDepth = 0

  /// What a callee does with a variable whose address is in the register: false when that is not known.
  private func variable(in target: UInt64, _ register: Int, _ found: UnsafeMutablePointer<HKTEntryMemory>) -> Bool {
    if let symbol = symbols.symbols(at: target).first(where: { $0.isFunction && $0.size > 0 }) {
      found.pointee = entryMemory(at: target, size: Int(symbol.size), register: register)
      return true
    }
    let all = (UInt64.max, UInt64.max, UInt64.max, UInt64.max)
    switch (reader.importStub(at: target).map { String(decoding: $0, as: UTF8.self) }, register) {
    // How much of it is not followed: what it writes may be all.
    case ("memset", 7), ("memcpy", 7), ("memmove", 7):
      found.pointee.written = all
      found.pointee.is_written = true
    case ("memcpy", 6), ("memmove", 6): found.pointee.read = all
    // A call leaves r13 as it is: where it may be an argument of a mutating method, or what was there before, it counts as the latter.
    case (let name, 13): return name.map { !certainlyTakesSelfByAddress($0) } ?? false
    default: return possibleInCallee(target) >> UInt64(register) & 1 == 0
    }
    return true
  }

  private func certainlyTakesSelfByAddress(_ name: String) -> Bool {
    guard let declaration = parser.declaration(name), case .value(let value) = planner.plan(declaration).selfPlan else { return false }
    return value.location == .address(.selfRegister)
  }

  private static func mayTakeSelfRegister(_ plan: SelfPlan) -> Bool {
    switch plan {
    case .none: false
    case .object(let place), .metatype(let place): place == .selfRegister
    case .value(let value): value.location.places.contains(.selfRegister) || !value.location.isWhole
    case .unknown: true
    }
  }

  fileprivate func errorRegister(at address: UInt64, size: Int) -> ErrorEvidence {
    guard var code = code(address, size) else { return .unknown }
    var flow = HKTFlow()
    guard hkt_read_flow(&code, Places.errorRegister.word(), nil, &flow) else { return .unknown }
    return flow.saves_r12 ? .never : flow.uses_r12 ? .reported : .unknown
  }

  /// Nothing but a return, perhaps with a frame set up and taken down before it.
  fileprivate func onlyReturns(at address: UInt64, size: Int) -> Bool {
    guard size > 0, let code = file.bytes(at: address, count: size) else { return false }
    var at = 0
    // endbr64; push rbp, mov rbp rsp, pop rbp
    for prologue in [[0xF3, 0x0F, 0x1E, 0xFA], [0x55, 0x48, 0x89, 0xE5, 0x5D]] as [[UInt8]]
    where code[at...].starts(with: prologue) { at += prologue.count }
    return at < code.count && code[at] == 0xC3
  }

  /// Gives `body` what the C analysis asks of Swift. Valid only inside.
  func withHost<T>(_ body: (UnsafePointer<HKTFlowHost>) -> T) -> T {
    var host = HKTFlowHost(
      context: Unmanaged.passUnretained(self).toOpaque(),
      // The context is this object, which outlives the call that hands it over.
      taken: { Unmanaged<Flows>.fromOpaque($0!).takeUnretainedValue().takenByCallee($1) },
      data: { Unmanaged<Flows>.fromOpaque($0!).takeUnretainedValue().data(at: $1, count: Int($2)) },
      possible: { Unmanaged<Flows>.fromOpaque($0!).takeUnretainedValue().possibleInCallee($1) },
      only_ends: { Unmanaged<Flows>.fromOpaque($0!).takeUnretainedValue().onlyEnds($1) })
    return body(&host)
  }

  /// What a callee takes: a function of this image, or one of the runtime's that take one object.
  private func takenByCallee(_ target: UInt64) -> UInt64 {
    if let symbol = symbols.symbols(at: target).first(where: { $0.isFunction && $0.size > 0 }) {
      guard depth < Self.deepest else { return 0 }
      let all = taken(Self.registers | Self.slots, at: target, size: Int(symbol.size))
      let certain = all & Self.ofMetadataAccessors
      return all != certain && Self.isMetadataAccessor(symbol.nameText) ? certain : all
    }
    guard let name = reader.importStub(at: target).map({ String(decoding: $0, as: UTF8.self) }) else { return 0 }
    if let known = imported[name] { return known }
    let found = takenByImport(name)
    imported[name] = found
    return found
  }

  /// An accessor of metadata passes registers on for three generic arguments, however many its type has: a request and the first one are certain.
  private static let ofMetadataAccessors = Places(argument: .integer(0))!.union(Places(argument: .integer(1))!).word()

  private static func isMetadataAccessor(_ name: String) -> Bool {
    name.hasPrefix("__swift_instantiate") || name.hasPrefix("$s") && findsMetadata(name)
  }

  /// What a function of another image takes, by its name: its callers here know no more of it.
  private func takenByImport(_ name: String) -> UInt64 {
    if Self.takeOneObject.contains(name) { return Places(argument: .integer(0))!.word() }
    guard let declaration = parser.declaration(name), !declaration.isEffectivelyPrivate else { return 0 }
    return planner.plan(declaration).argumentPlaces.word() & Self.registers
  }

  /// The callee does nothing with a value but end it, or leaves the part of an async function that calls it.
  private func onlyEnds(_ target: UInt64) -> Bool {
    if let symbol = symbols.symbols(at: target).first(where: { $0.isFunction && $0.size > 0 }) { return Self.isOutlinedEnd(symbol.nameText) }
    return reader.importStub(at: target).map { Self.onlyEnd.contains(String(decoding: $0, as: UTF8.self)) } ?? false
  }

  /// Functions of the runtime that only end an object, or leave the part.
  private static let onlyEnd: Set<String> = [
    "swift_release", "swift_bridgeObjectRelease", "swift_unknownObjectRelease", "swift_errorRelease", "swift_task_switch",
  ]

  /// What the compiler puts beside the code that needs it: the ends of values, and what tells the executor of an actor.
  private static func isOutlinedEnd(_ name: String) -> Bool {
    if name.hasPrefix("__swift_destroy_boxed_opaque_existential_") || name == "_swift_implicitisolationactor_to_executor_cast" { return true }
    let kind = name.hasPrefix("$s") ? outlined(name) : nil
    return kind == HKT_CALLEE_ENDS || kind == HKT_CALLEE_ENDS_WORDS
  }

  private static let registers: UInt64 =
    Places.argumentRegisters.reduce(0) { $0 | 1 << $1 } | 0xff_0000 | 1 | Places.selfRegister.word()

  /// What C functions may take: Swift calls none that are variadic, to which rax matters.
  private static let cArguments: UInt64 = Places.argumentRegisters.reduce(0) { $0 | 1 << $1 } | 0xff_0000 | slots

  private static let slots: UInt64 = 0xFFFF_FFFF << 32

  /// Functions of the runtime that take an object and no more.
  static let takeOneObject: Set<String> = [
    "swift_retain", "swift_release", "swift_bridgeObjectRetain", "swift_bridgeObjectRelease", "swift_unknownObjectRetain",
    "swift_unknownObjectRelease", "swift_errorRetain", "swift_errorRelease", "swift_isUniquelyReferenced_native",
    "swift_isUniquelyReferenced_nonNull_native", "swift_weakLoadStrong", "swift_getObjectType", "swift_beginAccess",
    "swift_unownedRetain", "swift_unownedRelease", "swift_unownedRetainStrong",
  ]

  // MARK: Who calls

  /// Direct calls and jumps to the function, with the functions they are in; nil when one of them lies in no known function.
  func sites(to address: UInt64) -> [(function: ImageSymbol, at: UInt64)]? {
    var found: [(ImageSymbol, UInt64)] = []
    for site in references().branches(to: address) {
      guard let function = symbols.symbol(containing: site), function.size > 0 else { return nil }
      found.append((function, site))
    }
    return found
  }

  /// Places of the results of the call at `site` that the calling function takes, or returns as its own.
  fileprivate func results(of site: UInt64, in function: ImageSymbol) -> HKTFlow? {
    guard var code = code(function.address, Int(function.size)) else { return nil }
    var flow = HKTFlow()
    return withHost { hkt_read_results(&code, site, $0, &flow) } ? flow : nil
  }

  /// Places that the calling function certainly sets for the call at `site`; nil when that is no call after all.
  fileprivate func written(for site: UInt64, in function: ImageSymbol) -> UInt64? {
    guard var code = code(function.address, Int(function.size)) else { return 0 }
    var written: UInt64 = 0
    return withHost { hkt_read_call_site(&code, site, $0, &written) } ? written : nil
  }

  /// The caller cannot have been compiled together with functions of `module`: it is another module's, and no copy that a
  /// third one made of it.
  fileprivate func isStranger(_ caller: ImageSymbol, to module: String) -> Bool {
    guard let declaration = parser.declaration(Self.wholeFunction(caller.nameText)) else { return false }
    // Of what the compiler makes, partial applications are compiled with what they are of, as the parts of async functions are.
    if case .compilerMade(let words) = declaration.kind, words != "partial apply forwarder" { return false }
    return declaration.module != module && declaration.specialization.isEmpty
  }

  /// The name of the async function that a part of one belongs to (`…TY0_`, `…TQ1_`); any other name as it is.
  static func wholeFunction(_ name: String) -> String {
    guard name.hasSuffix("_") else { return name }
    var rest = name.utf8.dropLast()
    while let last = rest.last, last >= UInt8(ascii: "0"), last <= UInt8(ascii: "9") { rest = rest.dropLast() }
    return rest.count > 2 && (rest.suffix(2).elementsEqual("TY".utf8) || rest.suffix(2).elementsEqual("TQ".utf8))
      ? String(decoding: rest.dropLast(2), as: UTF8.self) : name
  }

  private var handedOver: [UInt64: Bool] = [:]

  /// A function hands the address of the one at `address` to what it was merged into, which calls it as the function did: with nothing set that
  /// the callee does not look at.
  fileprivate func isHandedToMerged(_ address: UInt64) -> Bool {
    if let known = handedOver[address] { return known }
    let references = references()
    let found = references.sites(to: address).contains { site in
      guard references.takesAddress(site), let function = symbols.symbol(containing: site), function.size > 0,
        let code = file.bytes(at: function.address, count: Int(function.size))?.baseAddress,
        let exits = CodeExits.find(code, size: UInt64(function.size), address: function.address, most: Self.mostExits)
      else { return false }
      return exits.contains { exit in symbols.symbols(at: exit.target).contains(where: Merges.isMerged) }
    }
    handedOver[address] = found
    return found
  }
  private static let mostExits = 64

  /// Functions with direct calls of, or jumps to, the function at the file's address; nil when some lie in no known function.
  func callers(of address: UInt64) -> [ImageSymbol]? { sites(to: address)?.map(\.function) }

  // MARK: Whose address is known

  /// Why the function at `address`, called `name`, must have kept the convention it was declared with; nil when nothing shows that.
  func whyKept(_ name: String, at address: UInt64) -> String? {
    // Another name of the same code may be known elsewhere; that says nothing of this one.
    if symbols.symbols(at: address).contains(where: { !$0.isObjectLocal && $0.nameText == name }) {
      return "other object files could call it"
    }
    return pointedTo.contains(address) ? "its address is in the program's data" : nil
  }

  private func findPointedTo() -> Set<UInt64> {
    let code = file.sections.filter(\.isExecutable).map { $0.address..<$0.address + $0.size }
    var found: Set<UInt64> = []
    file.relocations.forEachAddress { address in
      if code.contains(where: { $0.contains(address) }) { found.insert(address) }
    }
    return found
  }
}

/// The evidence about one body of an image. Addresses are the file's.
final class BodyFlow: BodyEvidence {
  private let flows: Flows
  private let address: UInt64
  private let size: Int
  private let module: String
  let keptBecause: String?

  /// What merging put in: it says nothing of the function's own arguments.
  private let extra: Places

  private let findNext: () -> ImageSymbol?
  private lazy var next = findNext()

  /// - Parameter next: the function that an async body goes on to and does nothing else.
  init(
    _ flows: Flows, address: UInt64, size: Int, module: String, keptBecause: String?, besides extra: Places, next: @escaping () -> ImageSymbol?
  ) {
    findNext = next
    self.keptBecause = keptBecause
    self.extra = extra
    self.flows = flows
    self.address = address
    self.size = size
    self.module = module
  }

  func taken(_ places: Places) -> Places {
    flows.taken(places.subtracting(extra), at: address, size: size).subtracting(extra)
  }

  func isCertainlyUnused(_ places: Places) -> Bool {
    if isUnused(places, at: address, size: size) { return true }
    // Where it goes by a record the flow does not follow it. Its code has no branch: what it takes it takes for certain.
    guard let next, flows.taken(places, at: address, size: size).isEmpty else { return false }
    return isUnused(places, at: next.address, size: Int(next.size))
  }

  private func isUnused(_ places: Places, at address: UInt64, size: Int) -> Bool {
    Places.firstSlots.allSatisfy { first in
      let asked = places.word(from: first)
      // Registers are the same in each question.
      return first > 0 && asked >> 32 == 0 || flows.possible(at: address, size: size, slotsFrom: first) & asked == 0
    }
  }

  private lazy var sites = flows.sites(to: address)

  /// Calls from functions that may have been compiled together with this one; nil when some cannot be known.
  private lazy var closeSites = sites?.filter { !flows.isStranger($0.function, to: module) }

  func given(_ places: Places) -> Places {
    var found: Places = []
    for site in sites ?? [] where !found.isSuperset(of: places) {
      guard let written = flows.written(for: site.at, in: site.function) else { continue }
      found.formUnion(Places(word: written).intersection(places))
    }
    return found.subtracting(extra)
  }

  func areGivenTogether(_ places: Places) -> Bool {
    let places = places.subtracting(extra)
    return !places.isEmpty
      && (sites ?? []).contains { site in flows.written(for: site.at, in: site.function).map { places.isSubset(of: Places(word: $0)) } ?? false }
  }

  func arePassed(_ places: Places) -> Bool {
    if taken(places) == places { return true }
    guard let closeSites, !flows.isHandedToMerged(address) else { return false }
    return closeSites.allSatisfy { site in
      flows.written(for: site.at, in: site.function).map { places.isSubset(of: Places(word: $0).union(taken(places))) } ?? true
    }
  }

  func entryBytes(ofVariableAt register: Places) -> EntryBytes? {
    flows.entryBytes(at: address, size: size, ofVariableAt: register)
  }

  var mayHaveCloseCallers: Bool { closeSites?.isEmpty != true || flows.isHandedToMerged(address) }

  var isExported: Bool { flows.symbols.isExported(address) }

  var onlyReturns: Bool { flows.onlyReturns(at: address, size: size) }

  func used(_ places: Places) -> Places {
    var found: Places = []
    for site in sites ?? [] where !found.isSuperset(of: places) {
      guard let flow = flows.results(of: site.at, in: site.function) else { continue }
      found.formUnion(Places(word: flow.reads).intersection(places))
    }
    return found
  }

  func selfUse(of object: Places, results: OwnedResults?) -> SelfUse {
    switch flows.ownership(at: address, size: size, of: object, results: results) {
    case HKT_OWNERSHIP_KEPT: .kept
    case HKT_OWNERSHIP_CONSUMED: .consumed
    default: .unknown
    }
  }

  private static let mostSites = 64

  private(set) lazy var error: ErrorEvidence = {
    let own = flows.errorRegister(at: address, size: size)
    if own != .unknown { return own }
    // Whoever calls what reports errors looks for one: of a function that thousands call, the first calls tell.
    for site in (sites ?? []).prefix(Self.mostSites) where flows.results(of: site.at, in: site.function)?.tests_error == true {
      return .reported
    }
    return .unknown
  }()
}
