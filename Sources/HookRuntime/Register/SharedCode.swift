// SharedCode — bodies that serve several selectors.
//
// Two selectors can lie at one address, and a function can be no more than a jump to another one's body: the compiler
// merges equal machine code even where the Swift types differ. Such a body is entered with the values of either, so they
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

  init(_ file: ELFFile, _ symbols: SymbolTable, bias: UInt64) {
    self.file = file
    self.symbols = symbols
    self.bias = bias
    var jumpers: [UInt64: [ImageSymbol]] = [:]
    for symbol in symbols.candidates(words: []) where symbol.size >= 2 && symbol.size <= Self.longestJump {
      guard let code = file.bytes(at: symbol.address, count: Int(symbol.size)),
        let target = Self.jumpTarget(code, at: symbol.address)
      else { continue }
      jumpers[target, default: []].append(symbol)
    }
    self.jumpers = jumpers
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

  /// The selector to whose code all calls of a body go that is but a jump there: nothing calls that body any more. (A function that does no
  /// more than to call another one has callers.)
  func elsewhere(_ family: Family, isCalled: (UInt64) -> Bool) -> String? {
    for body in family.bodies where body.size <= Int(Self.longestJump) && body.form != .merged {
      let address = body.address - bias
      guard let code = file.bytes(at: address, count: body.size), let target = Self.jumpTarget(code, at: address),
        !family.hasBody(at: target + bias), !isCalled(address), let other = names(namesAt(target), except: family).first
      else { continue }
      return other
    }
    return nil
  }

  /// Other selectors whose calls enter the family's bodies: they lie there, or are but jumps there that nothing calls.
  func others(in family: Family, isCalled: (UInt64) -> Bool) -> [String] {
    let jumps = family.bodies.flatMap { jumpers[$0.address - bias] ?? [] }.filter { !isCalled($0.address) }.map(\.nameText)
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
  func conflict(_ body: Body) -> (reason: String, isOnObjects: Bool)? {
    let address = body.address - bias
    let others = jumping(to: address) + namesAt(address).filter { $0 != body.mangledName }
    guard !others.isEmpty else { return nil }
    var parser = SymbolParser()
    var reason: String?
    var isOnObjects = runsOnObject(body.declaration)
    for name in others {
      guard let other = parser.declaration(name), other.kind.isSourceFunction || other.kind.isHookableAccessor else { continue }
      if other.familyName == body.declaration.familyName { continue }
      isOnObjects = isOnObjects && runsOnObject(other)
      if reason == nil, !passesAlike(other, body.declaration) {
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

  /// The two are called with values of the same types in the same places, and with the same kind of self.
  private func passesAlike(_ a: Declaration, _ b: Declaration) -> Bool {
    let first = a.functionType
    let second = b.functionType
    return first.parameters.count == second.parameters.count
      && zip(first.parameters, second.parameters).allSatisfy { $0.isInout == $1.isInout && readsAlike($0.type, $1.type) }
      && readsAlike(first.result, second.result) && first.thrown == second.thrown && first.isAsync == second.isAsync
      && a.isStatic == b.isStatic && (a.contextKind == .classType) == (b.contextKind == .classType)
      && (a.kind == .allocatingInit) == (b.kind == .allocatingInit) && a.isCoroutine == b.isCoroutine
  }

  /// Equal types, or two classes: a reference is read by what it refers to.
  private func readsAlike(_ a: TypeSyntax, _ b: TypeSyntax) -> Bool {
    if case .nominal(_, .classType, _) = a, case .nominal(_, .classType, _) = b { return true }
    return a == b
  }
}
