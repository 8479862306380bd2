// MergeThunk — tells whose call a merged body runs.
//
// The compiler merges functions that differ in constants: one body with extra arguments, named after one of them, and a
// thunk per function that passes its constants and jumps on. Callers in the module may go to the merged body directly,
// with the same constants. So a call is a selector's exactly when the registers its thunk sets hold the thunk's
// constants. A thunk without constants tells nothing: the functions were equal.
private import CHookTrampoline
private import SwiftMangling

/// What a selector's thunk passes to its merged body.
package struct MergeThunk: Sendable, Equatable {
  /// One of the constants, and where the body finds it.
  struct Constant: Sendable, Equatable {
    /// As HKTThunk numbers places: argument registers, stack slots, vector registers.
    var place: Int
    var value: UInt64
    /// The bits that every caller passes alike.
    var mask: UInt64
  }
  let constants: [Constant]
  /// The thunk, and the bodies that hand on to it: the compiler may have written its jump into them.
  var callers: [String]
  /// File addresses of other selectors' equal thunks that it goes through: calls of theirs pass the same constants.
  var hops: [UInt64] = []

  /// Bit i: HKTThunk's place i.
  var places: UInt64 { constants.reduce(0) { $0 | 1 << UInt64($1.place) } }

  /// The argument registers and stack slots of a set of HKTThunk's places.
  static func places(_ mask: UInt64) -> Places {
    (0..<Int(HKT_THUNK_PLACES)).reduce(into: .nothing) { all, i in
      if mask >> UInt64(i) & 1 != 0 { all.formUnion(Places(argument: place(i)) ?? .nothing) }
    }
  }

  private static func place(_ i: Int) -> Place {
    let slot = i - Int(HKT_THUNK_REGISTERS)
    if slot < 0 { return .integer(i) }
    return slot < Int(HKT_THUNK_SLOTS) ? .stack(slot) : .float(slot - Int(HKT_THUNK_SLOTS))
  }

  /// The body whose calls it hands on.
  func source(in family: Family) -> Body? { family.bodies.first { $0.mangledName == callers[0] } }

  func passes(_ value: UInt64) -> Bool { constants.contains { $0.value == value } }
}

extension ImageCatalog {
  /// Gives `family` the merged bodies its thunks go to, which may bear another selector's name.
  func addMergedBodies(to family: inout Family) {
    var untold: [UInt64: UntoldSource] = [:]
    for source in family.bodies where source.form != .merged {
      if let symbol = merges.unreadTarget(source), !family.bodies.contains(where: { $0.address == symbol.address + bias }) {
        family.bodies.append(merged(source, symbol))
      }
      guard let (read, hops) = merges.thunk(source), let symbol = merges.mergedSymbol(at: read.target - bias) else { continue }
      let thunk = MergeThunk(
        read, callers: [source.mangledName] + family.bodies.filter { $0.handsOn(to: source) }.map(\.mangledName), hops: hops,
        isAsync: source.declaration.functionType.isAsync)
      let known = family.bodies.firstIndex { $0.address == read.target }
      if thunk == nil || !hops.isEmpty, !merges.hasOtherCallers(symbol) {
        // Nobody else goes there: every call enters through a thunk.
        if let known, family.bodies[known].thunks.isEmpty { family.bodies.remove(at: known) }
        continue
      }
      if known == nil { family.bodies.append(merged(source, symbol)) }
      if let thunk {
        family.bodies[known ?? family.bodies.count - 1].thunks.append(thunk)
      } else {
        untold[read.target] = UntoldSource(mangledName: source.mangledName, places: read.written, hops: hops)
      }
    }
    family.bodies.removeAll { $0.form == .merged && $0.thunks.isEmpty && !merges.isUsed($0.address - bias) }
    addForwarders(to: &family)
    for index in family.bodies.indices where family.bodies[index].form == .merged {
      let source = untold[family.bodies[index].address]
      family.bodies[index].isUntold = family.bodies[index].thunks.isEmpty || source != nil
      family.bodies[index].untoldSource = source
    }
  }

  /// A merged body of closures that only partial applications enter: each of those names its closure, so that one stands for
  /// the body here. Closures without one left are not called any more.
  private func addForwarders(to family: inout Family) {
    guard family.declaration.kind.isClosure, !family.declaration.functionType.isAsync else { return }
    for body in family.bodies where body.form == .merged && body.thunks.isEmpty {
      guard let forwarders = merges.forwarders(to: body.address - bias) else { continue }
      family.bodies.removeAll { $0.address == body.address }
      for (symbol, closure) in forwarders where closure.familyName == family.key {
        var forwarder = placed(body, symbol)
        forwarder.form = .forwarder
        forwarder.declaration = closure
        family.bodies.append(forwarder)
      }
    }
  }

  private func merged(_ source: Body, _ symbol: ImageSymbol) -> Body {
    var body = placed(source, symbol)
    body.form = .merged
    body.declaration.specialization.append(.merged)
    return body
  }

  /// The body, where another symbol is.
  private func placed(_ body: Body, _ symbol: ImageSymbol) -> Body {
    var body = body
    body.mangledName = String(decoding: symbol.name, as: UTF8.self)
    body.address = symbol.address + bias
    body.size = Int(symbol.size)
    body.available = Int((symbols.nextSymbolAddress(after: symbol.address) ?? symbol.address + UInt64(symbol.size)) - symbol.address)
    return body
  }
}

extension HKTThunk {
  fileprivate func constant(at place: Int) -> UInt64 {
    withUnsafeBytes(of: value) { $0.load(fromByteOffset: 8 * place, as: UInt64.self) }
  }

  fileprivate mutating func setConstant(_ constant: UInt64, at place: Int) {
    withUnsafeMutableBytes(of: &value) { $0.storeBytes(of: constant, toByteOffset: 8 * place, as: UInt64.self) }
  }

  fileprivate static func places(in mask: UInt64) -> [Int] {
    (0..<Int(HKT_THUNK_PLACES)).filter { mask >> UInt64($0) & 1 != 0 }
  }
}

extension MergeThunk {
  /// Nil when the thunk passes nothing that tells its selector apart.
  fileprivate init?(_ read: HKTThunk, callers: [String], hops: [UInt64], isAsync: Bool) {
    guard read.written != 0 else { return nil }
    // Async functions take their stack arguments off: what comes behind them would be another function's.
    if isAsync, read.written >> UInt64(HKT_THUNK_REGISTERS) & (1 << UInt64(HKT_THUNK_SLOTS) - 1) != 0 { return nil }
    let constants = HKTThunk.places(in: read.known).map { place in
      let value = read.constant(at: place)
      // What fits 32 bits may be an argument of no more.
      let isNarrow = value >> 32 == 0 || Int64(bitPattern: value) >> 31 == -1
      let isFloat = place >= Int(HKT_THUNK_REGISTERS + HKT_THUNK_SLOTS)
      let isHalf = isFloat ? read.halves >> UInt64(place) & 1 != 0 : isNarrow
      return Constant(place: place, value: value, mask: isHalf ? 0xffff_ffff : .max)
    }
    self.init(constants: constants, callers: callers, hops: hops)
  }
}

/// The merged bodies of an image and who goes to them. Confined to its catalog's lock.
final class Merges {
  private let file: ELFFile
  private let symbols: SymbolTable
  private let bias: UInt64
  private let isLoaded: Bool
  private var parser = SymbolParser()
  private lazy var reader = MetadataReader(file: file)
  /// By the file addresses of the merged bodies.
  private lazy var uses = findUses()
  /// File addresses of the functions that name merged bodies. Filled with `uses`.
  private var mergesNamed: Set<UInt64> = []

  init(_ file: ELFFile, _ symbols: SymbolTable, bias: UInt64, isLoaded: Bool) {
    self.file = file
    self.symbols = symbols
    self.bias = bias
    self.isLoaded = isLoaded
  }

  /// Who goes to a merged body.
  private struct Use {
    /// All that thunks fill: what merging added.
    var places = UInt64.max
    var thunks: [UInt64: UInt64] = [:]
    /// There are functions that may be thunks of it.
    var hasUnread = false
    /// Partial applications, by their addresses, with the closures they are of.
    var forwarders: [UInt64: (symbol: ImageSymbol, closure: Declaration)] = [:]
    var isEntered = false

    /// A function that fills more is a caller that has constants for the arguments, too.
    var hasOtherCallers: Bool { isEntered || !forwarders.isEmpty || thunks.values.contains { $0 != places } }
  }

  /// What the body does if it was merged and all it does is pass constants on; addresses are those of the process.
  ///
  /// Equal thunks are one, to which the others jump: they are followed to the merged body.
  fileprivate func thunk(_ body: Body) -> (HKTThunk, hops: [UInt64])? {
    guard var thunk = thunk(at: body.address - bias, size: body.size).told else { return nil }
    var hops: [UInt64] = []
    for _ in 0..<Self.longestChain {
      let target = thunk.target - bias
      if mergedSymbol(at: target) != nil { break }
      guard thunk.written == 0, let symbol = symbols.symbols(at: target).first(where: \.isFunction),
        let next = self.thunk(at: target, size: Int(symbol.size)).told
      else { return nil }
      hops.append(target)
      thunk = next
    }
    guard let use = uses[thunk.target - bias], thunk.written == use.places || use.thunks.isEmpty else { return nil }
    return (thunk, hops)
  }

  private static let longestChain = 4

  func mergedSymbol(at address: UInt64) -> ImageSymbol? {
    symbols.symbols(at: address).first { Self.isMerged($0) }
  }

  /// Others than thunks enter the body, or may.
  func hasOtherCallers(_ merged: ImageSymbol) -> Bool { uses[merged.address]?.hasOtherCallers ?? false }

  /// Something goes to the body at all.
  func isUsed(_ address: UInt64) -> Bool { uses[address] != nil }

  /// The partial applications that enter the body; nil when others do, too.
  fileprivate func forwarders(to address: UInt64) -> [(symbol: ImageSymbol, closure: Declaration)]? {
    guard let use = uses[address], !use.isEntered, !use.hasUnread, use.thunks.isEmpty else { return nil }
    return use.forwarders.values.sorted { $0.symbol.address < $1.symbol.address }
  }

  private static func isMerged(_ symbol: ImageSymbol) -> Bool { symbol.name.suffix(2).elementsEqual("Tm".utf8) }

  /// The merged body that the function may have been merged into, which its code does not tell: it is a thunk that cannot be
  /// read, or what it hands its calls on to is a specialisation that was merged under another name.
  fileprivate func unreadTarget(_ body: Body) -> ImageSymbol? {
    let address = body.address - bias
    _ = uses
    guard mergesNamed.contains(address) else { return nil }
    switch thunk(at: address, size: body.size) {
    case .thunk: return nil
    case .unread(let target):
      // Where all that enter are thunks, read or not, a call goes through its own.
      return mergedSymbol(at: target - bias).flatMap { hasOtherCallers($0) ? $0 : nil }
    case .none: break
    }
    guard let target = onlyTarget(address, size: body.size), let symbol = mergedSymbol(at: target),
      let merged = parser.declaration(symbol.nameText), merged.isSpecialisedBySignature || merged.kind == .`init`
    else { return nil }
    return symbol
  }

  /// The one function that it calls or jumps to, those aside that count references.
  private func onlyTarget(_ address: UInt64, size: Int) -> UInt64? {
    guard let bytes = file.bytes(at: address, count: size)?.baseAddress else { return nil }
    var exits = [HKTExit](repeating: HKTExit(), count: 16)
    let count = hkt_find_exits(bytes.assumingMemoryBound(to: UInt8.self), UInt64(size), address, &exits, exits.count)
    guard count <= exits.count else { return nil }
    let others = exits.prefix(count).map(\.target).filter { target in
      guard let name = reader.importStub(at: target) else { return true }
      return !Flows.takeOneObject.contains(String(decoding: name, as: UTF8.self)) && !name.elementsEqual("__stack_chk_fail".utf8)
    }
    return others.count == 1 ? others[0] : nil
  }

  private enum Reading {
    case none
    case unread(target: UInt64)
    case thunk(HKTThunk)
    var told: HKTThunk? { if case .thunk(let thunk) = self { thunk } else { nil } }
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

  private func findUses() -> [UInt64: Use] {
    let targets = symbols.filter { Self.isMerged($0) }.map(\.address)
    let known = Set(targets)
    var found: [UInt64: Use] = [:]
    for section in file.sections where section.isExecutable {
      guard let code = file.bytes(of: section)?.bindMemory(to: UInt8.self), let start = code.baseAddress else { continue }
      let size = UInt64(code.count)
      let count = hkt_find_uses(start, size, section.address, targets, targets.count, nil, 0)
      let branches = [HKTBranch](unsafeUninitializedCapacity: count) { buffer, made in
        made = hkt_find_uses(start, size, section.address, targets, targets.count, buffer.baseAddress, count)
      }
      for branch in branches { note(branch, &found[branch.to, default: Use()]) }
    }
    Relocations(file).forEachAddress { if known.contains($0) { found[$0, default: Use()].isEntered = true } }
    return found
  }

  private func note(_ branch: HKTBranch, _ use: inout Use) {
    guard let from = symbols.symbol(containing: branch.from) else { return use.isEntered = true }
    mergesNamed.insert(from.address)
    // What the compiler makes is not merged under a selector's name: it calls as anybody would.
    let isDeclared = parser.quickKind(from.name).isDeclared && !Self.isMerged(from)
    switch isDeclared ? thunk(at: from.address, size: Int(from.size)) : .none {
    case .thunk(let thunk) where thunk.target == branch.to + bias:
      use.thunks[from.address] = thunk.written
      use.places &= thunk.written
    case .unread(let target) where target == branch.to + bias: use.hasUnread = true
    default:
      if let closure = appliedClosure(from) { use.forwarders[from.address] = (from, closure) } else { use.isEntered = true }
    }
  }

  /// The closure that a partial application (`…TA`, `…TA.7`) calls.
  private func appliedClosure(_ symbol: ImageSymbol) -> Declaration? {
    var name = symbol.nameText[...]
    if let dot = name.lastIndex(of: "."), name[name.index(after: dot)...].allSatisfy(\.isNumber) { name = name[..<dot] }
    guard name.hasSuffix("TA"), let closure = parser.declaration(String(name.dropLast(2))), closure.kind.isClosure else { return nil }
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
