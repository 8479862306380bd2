// DynamicReplacements — the variables of functions compiled `dynamic` (or with -enable-implicit-dynamic).
//
// Such a function begins with a question to the runtime: what does my variable (`…TX`) hold? Itself, and it runs its own
// body; another function, and it jumps there. So our stub in the variable sees every call of the function: it is never
// inlined. A replacement that is there already stays below ours: calls go on to it, and it reaches the function as ever. One
// that comes later either keeps our stub as what it replaced, or drops it; both show as a word that is not ours any more.
private import SwiftMangling

enum DynamicReplacements {
  static func plan(_ family: Family, in image: ImageCatalog) -> Result<SlotPlan, BackEndRefusal> {
    guard let (variable, body) = image.dynamicVariable(of: family) else { return .failure(.notDynamic) }
    let isAsync = family.declaration.functionType.isAsync
    // Async functions stand in their variable by their pointer.
    let own = isAsync ? image.asyncEntries.record(at: body.address - image.bias).map { $0.address + image.bias } : body.address
    guard let own, let word = UnsafePointer<UInt64>(bitPattern: UInt(variable + image.bias)) else { return .failure(.notDynamic) }
    var plan = SlotPlan(backEnd: .dynamic)
    var slot = SlotWord(address: variable + image.bias, former: SlotPatcher.former(of: word.pointee), isAsync: isAsync)
    if slot.former == own {
      switch SlotPatcher.armed(body.address) {
      case .success(let code): slot.original = code
      case .failure(let reason): return .failure(.code(reason))
      }
    }
    plan.entries.append(.init(word: slot, body: body))
    return .success(plan)
  }
}
