// Way — where a body's code takes the calls that enter it, as far as its exits tell.
//
// Owns what is read of a body's code so that one call of the program is one call of the selector: bodies that only jump to
// another one, through functions of other selectors too, generic functions that choose one of their specialisations, and deinits that run
// on an executor.
private import CHookTrampoline
internal import SwiftMangling

/// Of one body. Addresses are those of the bodies.
struct Way: Sendable {
  /// What it hands all or some of its calls on to.
  var forwardsTo: [UInt64] = []
  /// The function of another selector that it only jumps to: what that calls of the family is the same call.
  var through: Range<UInt64>?
  /// Functions that the runtime runs in the end to carry out its call, on another thread perhaps: what they call of the family is the same call.
  var continuesIn: [Range<UInt64>] = []
}

extension ImageCatalog {
  /// Reads the ways of the family's bodies. To be asked under the lock.
  func seeWays(of family: inout Family) {
    for index in family.bodies.indices where family.bodies[index].size <= Int(SharedCode.longestJump) {
      if let way = wayOfJump(family.bodies[index]) { family.bodies[index].way = way }
    }
    seeSpecialisations(of: &family)
  }

  /// The body's way, where all that it does is to jump, perhaps to one that jumps on.
  func wayOfJump(_ body: Body) -> Way? {
    var way = Way()
    var at = body.address - bias
    var size = body.size
    for _ in 0..<Self.mostJumps {
      guard size <= Int(SharedCode.longestJump), let code = file.bytes(at: at, count: size), let target = SharedCode.jumpTarget(code, at: at)
      else { break }
      at = target
      size = functionSize(at: target)
      way.forwardsTo.append(target + bias)
    }
    if way.forwardsTo.isEmpty { return nil }
    if size > 0 { way.through = at + bias..<at + bias + UInt64(size) }
    return way
  }

  /// Bytes from the start of a function, which may have no name, to its end or the next symbol.
  func functionSize(at address: UInt64) -> Int {
    if let symbol = symbols.symbols(at: address).first(where: { $0.isFunction && $0.size > 0 }) { return Int(symbol.size) }
    return symbols.nextSymbolAddress(after: address).map { Int($0 - address) } ?? 0
  }

  /// The entry of a function with `@_specialize` compares types and jumps to a specialisation. (A function that calls a specialisation
  /// of its own does so as anybody would.)
  private func seeSpecialisations(of family: inout Family) {
    guard family.bodies.count > 1, family.bodies[0].form == .base, family.bodies.contains(where: { $0.form == .genericClone }) else { return }
    let base = family.bodies[0]
    let clones = Set(family.bodies.lazy.filter { $0.form == .genericClone }.map(\.address))
    guard let code = file.bytes(at: base.address - bias, count: base.size)?.baseAddress else { return }
    guard let exits = CodeExits.find(code, size: UInt64(base.size), address: base.address, most: Self.mostExits) else { return }
    family.bodies[0].way.forwardsTo += exits.lazy.filter { $0.is_jump && clones.contains($0.target) }.map(\.target)
  }

  /// An `isolated deinit` has two functions that free the object. The one that metadata names always runs, with the object as its self; all
  /// that it does is to hand the other one to `swift_task_deinitOnExecutor`. So that other one is no body: it carries on the call of the first.
  func joinIsolatedDeinits(of family: inout Family) {
    guard family.declaration.kind.isDeinit else { return }
    let isolated = family.bodies.filter { $0.declaration.kind == .isolatedDeinit }
    guard !isolated.isEmpty, family.bodies.contains(where: { $0.declaration.kind == .deallocatingDeinit }) else { return }
    let code = isolated.flatMap { body in [body.address..<body.address + UInt64(body.size)] + (body.passage.map { [$0.code] } ?? []) }
    family.bodies.removeAll { $0.declaration.kind == .isolatedDeinit }
    for index in family.bodies.indices where family.bodies[index].declaration.kind == .deallocatingDeinit {
      family.bodies[index].way.continuesIn = code
    }
  }

  private static let mostJumps = 4
  private static let mostExits = 256
}
