// SharedCode — bodies that serve several selectors.
//
// Two selectors can lie at one address, and a function can be no more than a jump to another one's body, or a call of it where calls may throw:
// the compiler merges equal machine code even where the Swift types differ. Such a body is entered with the values of either, so they
// are decoded only where all of them are passed alike.
private import SwiftMangling

/// What one image's selectors share. Immutable after init but for what is found at the first question about code without a name: that is
/// asked under the catalog's lock.
final class SharedCode {
  private let symbols: SymbolTable
  private let bias: UInt64
  private let file: ELFFile
  /// Functions that only jump to an address, by that address.
  private let jumpers: [UInt64: [ImageSymbol]]
  /// Functions that only call what is at an address, and return what that does, by that address: merged ones if they throw, and others.
  private let callers: [UInt64: [ImageSymbol]]

  init(_ file: ELFFile, _ symbols: SymbolTable, bias: UInt64) {
    self.file = file
    self.symbols = symbols
    self.bias = bias
    var jumpers: [UInt64: [ImageSymbol]] = [:], callers: [UInt64: [ImageSymbol]] = [:]
    for symbol in symbols.candidates(words: []) where symbol.size >= 2 && symbol.size <= Self.longestJump {
      guard let code = file.bytes(at: symbol.address, count: Int(symbol.size)) else { continue }
      if let target = Self.jumpTarget(code, at: symbol.address) {
        jumpers[target, default: []].append(symbol)
      } else if let target = Self.callTarget(code, at: symbol.address) {
        callers[target, default: []].append(symbol)
      }
    }
    self.jumpers = jumpers
    self.callers = callers
  }

  /// Where a function goes that does nothing but jump: a direct jump, perhaps with a frame set up and taken down before it.
  static func jumpTarget(_ code: UnsafeRawBufferPointer, at address: UInt64) -> UInt64? {
    var at = 0
    // endbr64
    if code.count >= 4, code.loadUnaligned(as: UInt32.self) == 0xFA1E_0FF3 { at = 4 }
    // push rbp, mov rbp rsp, pop rbp
    if at + 5 <= code.count, code.loadUnaligned(fromByteOffset: at, as: UInt32.self) == 0xE589_4855, code[at + 4] == 0x5D { at += 5 }
    if at + 2 <= code.count, code[at] == 0xEB {
      return address &+ UInt64(at) &+ 2 &+ UInt64(bitPattern: Int64(code.loadUnaligned(fromByteOffset: at + 1, as: Int8.self)))
    }
    guard at + 5 <= code.count, code[at] == 0xE9 else { return nil }
    let distance = code.loadUnaligned(fromByteOffset: at + 1, as: Int32.self)
    return address &+ UInt64(at) &+ 5 &+ UInt64(bitPattern: Int64(distance))
  }

  /// What a function calls that does nothing but to call it and to return what it does: LLVM makes no jump of a call that may throw
  /// (swifterror), so that this is what is left of a function that throws and that was merged with an equal one.
  static func callTarget(_ code: UnsafeRawBufferPointer, at address: UInt64) -> UInt64? {
    var at = 0
    // endbr64
    if code.count >= 4, code.loadUnaligned(as: UInt32.self) == 0xFA1E_0FF3 { at = 4 }
    // What keeps the stack aligned before the call, and what takes it back and returns.
    for (before, behind) in [([0x55, 0x48, 0x89, 0xE5], [0x5D, 0xC3]), ([0x50], [0x59, 0xC3]), ([0x50], [0x58, 0xC3])] as [([UInt8], [UInt8])] {
      let call = at + before.count, end = call + 5
      guard code.count >= end + behind.count, code[call] == 0xE8, code[at..<call].elementsEqual(before),
        code[end..<end + behind.count].elementsEqual(behind)
      else { continue }
      let distance = code.loadUnaligned(fromByteOffset: call + 1, as: Int32.self)
      return address &+ UInt64(end) &+ UInt64(bitPattern: Int64(distance))
    }
    return nil
  }

  /// A frame set up and taken down around a jump.
  static let longestJump: UInt32 = 24

  // MARK: Who shares

  /// Other selectors whose bodies lie at the same addresses.
  func selectors(atAddressesOf family: Family) -> [String] {
    names(family.bodies.flatMap { namesAt($0.address - bias) }, except: family)
  }

  /// Other selectors whose code is only a jump to one of these bodies.
  func selectors(jumpingTo family: Family) -> [String] {
    names(family.bodies.flatMap { jumping(to: $0.address - bias) }, except: family)
  }

  /// Other selectors whose code only calls one of these bodies.
  func selectors(onlyCalling family: Family) -> [String] {
    names(family.bodies.flatMap { merged(into: $0.address - bias) }.map(\.nameText), except: family)
  }

  /// The selector whose body this family's code only jumps to.
  func target(of family: Family) -> String? {
    guard let base = family.bodies.first(where: { $0.form == .base }), base.size <= Int(Self.longestJump),
      let code = file.bytes(at: base.address - bias, count: base.size), let target = Self.jumpTarget(code, at: base.address - bias)
    else { return nil }
    let names = namesAt(target)
    guard let name = names.first, !family.bodies.contains(where: { names.contains($0.mangledName) }) else { return nil }
    var parser = SymbolParser()
    return parser.declaration(name).map { PrivateNames.stripped($0.selectorName) } ?? name
  }

  /// The selector to whose code all calls of a body go that is but a jump there, or a call: nothing calls that body any more. (A function that
  /// does no more than to call another one has callers.)
  func elsewhere(_ family: Family, isCalled: (UInt64) -> Bool) -> String? {
    for body in family.bodies where body.size <= Int(Self.longestJump) && body.form != .merged {
      let address = body.address - bias
      guard let code = file.bytes(at: address, count: body.size),
        let target = Self.jumpTarget(code, at: address) ?? (mayThrow(body.declaration) ? Self.callTarget(code, at: address) : nil),
        !family.hasBody(at: target + bias), !isCalled(address), let other = names(namesAt(target), except: family).first
      else { continue }
      return other
    }
    return nil
  }

  /// Other selectors whose calls enter the family's bodies: they lie there, or are but jumps there, or calls, that nothing calls.
  func others(in family: Family, isCalled: (UInt64) -> Bool) -> [String] {
    var jumps: [String] = []
    for body in family.bodies {
      let address = body.address - bias
      for symbol in jumpers[address] ?? [] where !isCalled(symbol.address) { jumps.append(symbol.nameText) }
      for symbol in merged(into: address) where !isCalled(symbol.address) { jumps.append(symbol.nameText) }
    }
    return (selectors(atAddressesOf: family) + names(jumps, except: family)).uniqued()
  }

  // MARK: Code without a name

  /// Code that functions do no more than jump to and that has no name: what LLVM keeps of several equal functions when it may keep none of
  /// them. Addresses of the file, ascending.
  private(set) lazy var nameless: [UInt64] = {
    let reader = MetadataReader(file: file)
    return jumpers.keys.filter { namesAt($0).isEmpty && reader.importStub(at: $0) == nil }.sorted()
  }()
  private lazy var namelessUses = CodeReferences(.nameless, of: { self.nameless }, in: file, symbols)

  /// Others than functions that only jump there name the code without a name that one of the bodies only jumps to.
  func isEnteredBehind(_ family: Family) -> Bool {
    family.bodies.contains { body in
      guard let target = jumpTarget(body), namesAt(target).isEmpty, nameless.contains(target) else { return false }
      let jumping = Set(jumpers[target]?.map(\.address) ?? [])
      return namelessUses.sites(to: target).contains { site in symbols.symbol(containing: site).map { !jumping.contains($0.address) } ?? true }
    }
  }

  /// Where the body goes, if it only jumps.
  private func jumpTarget(_ body: Body) -> UInt64? {
    guard body.size <= Int(Self.longestJump), let code = file.bytes(at: body.address - bias, count: body.size) else { return nil }
    return Self.jumpTarget(code, at: body.address - bias)
  }

  /// Functions that may throw and do no more than to call what is there.
  private func merged(into address: UInt64) -> [ImageSymbol] {
    guard let found = callers[address] else { return [] }
    var parser = SymbolParser()
    return found.filter { symbol in parser.declaration(symbol.nameText).map(mayThrow) ?? false }
  }

  /// Of a getter its name does not tell.
  private func mayThrow(_ declaration: Declaration) -> Bool { declaration.functionType.thrown != .never || declaration.kind == .getter }

  private func jumping(to address: UInt64) -> [String] { jumpers[address]?.map(\.nameText) ?? [] }
  private func namesAt(_ address: UInt64) -> [String] { symbols.symbols(at: address).map(\.nameText) }

  private func names(_ mangled: [String], except family: Family) -> [String] {
    let others = mangled.filter { name in !family.bodies.contains { $0.mangledName == name } }
    if others.isEmpty { return [] }
    var parser = SymbolParser()
    return others.compactMap { parser.declaration($0) }
      .filter { $0.kind.isSourceFunction || $0.kind.isHookableAccessor }
      .map { PrivateNames.stripped($0.selectorName) }
      .filter { $0 != family.selector }
      .uniqued()
  }

  /// The body only jumps to code that has no name, as merged functions of a stripped image have none: nothing tells where its object is.
  func leadsToNamelessCode(_ body: Body) -> Bool {
    jumpTarget(body).map { namesAt($0).isEmpty } ?? false
  }

  // MARK: What may be decoded

  /// Why calls that enter the body may carry other values than its name says, and whether all of them are on objects; nil when all who
  /// share it pass the same.
  func conflict(_ body: Body, isCalled: (UInt64) -> Bool) -> (reason: String, isOnObjects: Bool)? {
    let address = body.address - bias
    let merged = Set(merged(into: address).filter { !isCalled($0.address) }.map(\.nameText))
    let others = jumping(to: address) + merged.sorted() + namesAt(address).filter { $0 != body.mangledName }
    guard !others.isEmpty else { return nil }
    var parser = SymbolParser()
    var reason: String?
    var isOnObjects = runsOnObject(body.declaration)
    for name in others {
      guard let other = parser.declaration(name), other.kind.isSourceFunction || other.kind.isHookableAccessor else { continue }
      if other.familyName == body.declaration.familyName { continue }
      isOnObjects = isOnObjects && runsOnObject(other)
      // What does no more than to call it may be a function that was written so, on another self: only where arguments differ it is none.
      if merged.contains(name) ? !readsAlike(other, body.declaration) : !passesAlike(other, body.declaration), reason == nil {
        reason = "its code is shared with \(PrivateNames.stripped(other.selectorName)), which is called with other values"
      }
    }
    return reason.map { ($0, isOnObjects) }
  }

  /// Its self is an object of a class, in the register that is for it.
  private func runsOnObject(_ declaration: Declaration) -> Bool {
    declaration.contextKind == .classType && declaration.hasInstance && !declaration.functionType.isAsync && declaration.kind != .allocatingInit
      && !declaration.isEffectivelyPrivate && declaration.specialization.isEmpty
  }

  /// Their arguments and results are values of the same types.
  private func readsAlike(_ a: Declaration, _ b: Declaration) -> Bool {
    let first = a.functionType
    let second = b.functionType
    return first.parameters.count == second.parameters.count
      && zip(first.parameters, second.parameters).allSatisfy { $0.isInout == $1.isInout && readsAlike($0.type, $1.type) }
      && readsAlike(first.result, second.result) && first.isAsync == second.isAsync
  }

  /// The two are called with values of the same types in the same places, and with the same kind of self.
  private func passesAlike(_ a: Declaration, _ b: Declaration) -> Bool {
    readsAlike(a, b) && a.functionType.thrown == b.functionType.thrown && a.isStatic == b.isStatic && (a.contextKind == .classType) == (b.contextKind == .classType)
      && (a.kind == .allocatingInit) == (b.kind == .allocatingInit) && a.isCoroutine == b.isCoroutine
  }

  /// Equal types, or two classes: a reference is read by what it refers to.
  private func readsAlike(_ a: TypeSyntax, _ b: TypeSyntax) -> Bool {
    if case .nominal(_, .classType, _) = a, case .nominal(_, .classType, _) = b { return true }
    return a == b
  }
}
