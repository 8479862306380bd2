// Containable — whether a trap below a function may be answered at its boundary, or why not.
//
// What the frames between a trap and the boundary are in the middle of is known at the trap alone
// (CHookTrampoline/Containment/contain_judge.c). What a function's own code calls tells before where nothing will be contained:
// `limitsOfContaining`.
private import CHookTrampoline
private import Glibc
private import SwiftMangling

package enum NotContained {
  static let cFunction = "is a C function, which may hold locks when it faults"
  static let consumesSelf = "consumes its self, which a trap leaves neither alive nor ended"
  static let neverReturns = "never returns, and its callers are compiled for that"
  static let once = "gives out a global or static variable, which its first call initialises: after a trap others would wait for it for ever"
}

extension ImageCatalog {
  /// Why calls of the function must not be contained, in words behind "it"; nil: nothing speaks against it.
  package func whyNotContained(_ family: Family) -> String? {
    if family.imported != nil { return NotContained.cFunction }
    let declaration = family.declaration
    if family.hasAsyncBodies { return "is async: its calls end on another stack than they begin, where nothing can be landed at" }
    if declaration.isCoroutine { return "is a coroutine accessor, whose access its caller ends; contain the function around the access" }
    switch declaration.kind {
    case .`deinit`, .deallocatingDeinit, .isolatedDeinit: return "ends an object, which a trap leaves neither alive nor ended"
    case .`init`, .allocatingInit:
      if declaration.contextKind == .classType { return "is an initialiser of a class: its object would be there in part" }
    case .unsafeAddressor, .unsafeMutableAddressor, .globalGetter, .variableInitializer: return NotContained.once
    default: break
    }
    if isLoaded, let signal = signalHandled(by: family) {
      return "is the handler of signal \(signal): what it interrupted may hold locks, and would never go on"
    }
    if declaration.functionType.result.isNever { return NotContained.neverReturns }
    for body in family.bodies {
      // Whatever its type says: callers that were compiled with it may have nothing behind the call.
      if !mayReturn(body) { return NotContained.neverReturns }
      let plan = plan(of: body, in: family)
      if let reason = whyNotContained(plan, selfPlan(of: body, by: plan)) { return reason }
    }
    return nil
  }

  /// - Parameter selfPlan: with what the body's code says of the end of its self.
  private func whyNotContained(_ plan: CallPlan, _ selfPlan: SelfPlan) -> String? {
    if plan.selfUse == .consumed { return NotContained.consumesSelf }
    if case .value(let value) = selfPlan {
      if value.access == .owned, value.info?.isTrivial != true { return NotContained.consumesSelf }
      if value.access == .inPlace { return "changes its self in place: a trap may leave it moved out, and the next use would be of nothing" }
      if value.info?.isCopyable == false { return "is a method of a type that cannot be copied: a trap may leave the value moved out" }
    }
    for (index, argument) in plan.arguments.enumerated() {
      let name = argumentName(index, argument.label)
      if argument.isInout { return "changes argument \(name) in place: a trap may leave it moved out, and the next use would be of nothing" }
      if argument.info?.isCopyable == false { return "takes argument \(name), whose type cannot be copied" }
    }
    if !plan.result.type.isVoid, !plan.result.isReplaceable {
      return "returns '\(plan.result.type.description(qualified: true))', which cannot be put in the place of a result here"
    }
    return nil
  }

  private func mayReturn(_ body: Body) -> Bool {
    code(of: body).map { CodeExits.mayReturn($0, size: UInt64(body.size), address: body.address) } ?? true
  }

  /// The code of a body returns nowhere, and a caller in the image was compiled with that: it has no code behind its call.
  func isKnownNotToReturn(_ family: Family) -> Bool {
    family.bodies.contains { body in
      !mayReturn(body) && lock.withLock { flows.hasCallerWithNothingBehind(body.address - bias) }
    }
  }

  /// A signal whose handler is one of the bodies now, or calls one: what C has of a Swift function only goes on to it.
  private func signalHandled(by family: Family) -> Int32? {
    let entries = Set(family.bodies.map(\.address))
    return (1..<32).first { signal in
      var action = sigaction()
      guard sigaction(signal, nil, &action) == 0 else { return false }
      // A function of C, or one of the two small numbers that stand for none.
      let handler = UInt64(UInt(bitPattern: unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)))
      if entries.contains(handler) { return true }
      guard handler > bias, let symbol = symbols.symbols(at: handler - bias).first(where: { $0.isFunction && $0.size > 0 }),
        let code = file.bytes(at: symbol.address, count: Int(symbol.size))?.baseAddress
      else { return false }
      return CodeExits.find(code, size: UInt64(symbol.size), address: handler, most: Self.mostExits)?.contains {
        entries.contains($0.target)
      } ?? false
    }
  }

  // MARK: What is not contained below it

  /// Calls that end the program where a trap comes below them, or while what they began goes on.
  private static let limits: [(names: Set<String>, what: String)] = [
    (["pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_rwlock_wrlock", "pthread_rwlock_trywrlock",
      "$s10Foundation6NSLockC4lockyyF", "$s10Foundation15NSRecursiveLockC4lockyyF", "$s10Foundation11NSConditionC4lockyyF"],
      "while the lock is held that it takes itself"),
    (
      ["pthread_rwlock_rdlock", "pthread_spin_lock"],
      "with its lock given back: one that is held for reading and a spin lock are not seen, and stay taken"),
    (["swift_once"], "while a global or static variable is initialised that it uses"),
    (
      ["qsort", "qsort_r", "bsearch", "ftw", "nftw", "scandir", "pthread_once", "dl_iterate_phdr", "atexit"],
      "in a function that it hands to the C library"),
    (["swift_task_create", "swift_asyncLet_begin", "swift_task_switch", "swift_taskGroup_initialize"], "in the tasks that it begins"),
  ]

  /// Where a trap below the function ends the program all the same, as far as its own code tells: each a phrase behind "not".
  package func limitsOfContaining(_ family: Family) -> [String] {
    let called = family.bodies.reduce(into: Set<String>()) { $0.formUnion(importsCalled(by: $1)) }
    var found = Self.limits.filter { !$0.names.isDisjoint(with: called) }.map(\.what)
    if family.bodies.contains(where: takesArrayApart) {
      found.append("while the elements of an array are out of their places that it sorts or inserts into")
    }
    if family.bodies.contains(where: takesWordLock) { found.append("while a 'Mutex' is held that it takes itself") }
    if called.contains(where: { $0.hasPrefix("$s8Dispatch0A5QueueC4sync") || $0.hasPrefix("dispatch_sync") || $0.hasPrefix("dispatch_apply") }) {
      found.append("in work that it hands to a dispatch queue")
    }
    // Names of C++ begin so.
    if let name = called.filter({ $0.hasPrefix("_Z") }).min() { found.append("in C++ code that it calls, such as '\(name)'") }
    return found
  }

  private static let mostExits = 4096

  private func code(of body: Body) -> UnsafeRawPointer? {
    // A word of an import table is no code.
    body.form == .importSlot || body.size == 0 ? nil : file.bytes(at: body.address - bias, count: body.size)?.baseAddress
  }

  /// Names of other images' functions that its code calls.
  private func importsCalled(by body: Body) -> Set<String> {
    guard let code = code(of: body), let exits = CodeExits.find(code, size: UInt64(body.size), address: body.address, most: Self.mostExits)
    else { return [] }
    let reader = MetadataReader(file: file)
    return Set(exits.compactMap { reader.importStub(at: $0.target &- bias).map { String(decoding: $0, as: UTF8.self) } })
  }

  /// Whether its code calls the library's functions, or copies of them, that change an array in place and call the program meanwhile.
  private func takesArrayApart(_ body: Body) -> Bool {
    guard let code = code(of: body), let exits = CodeExits.find(code, size: UInt64(body.size), address: body.address, most: Self.mostExits)
    else { return false }
    let own = exits.lazy.flatMap { self.symbols.symbols(at: $0.target &- self.bias) }.map(\.nameText)
    let parts = ["4sort2by", "4sortyy", "_stableSortImpl", "15replaceSubrange", "6insert10contentsOf"]
    return (Array(own) + importsCalled(by: body)).contains { name in
      name.hasPrefix("$sS") || name.hasPrefix("$ss") ? parts.contains { name.contains($0) } : false
    }
  }

  /// Whether its code has an exchange of 32 bits by which a `Mutex` of Synchronization is taken; it is inlined where it is used.
  private func takesWordLock(_ body: Body) -> Bool {
    guard let code = code(of: body) else { return false }
    let bytes = UnsafeRawBufferPointer(start: code, count: body.size)
    return bytes.indices.dropLast(4).contains { at in
      // lock cmpxchg, with or without a prefix for the upper registers; one of 64 bits has bit 3 of the prefix.
      guard bytes[at] == 0xf0 else { return false }
      let next = at + (bytes[at + 1] & 0xf8 == 0x40 ? 2 : 1)
      return bytes[next] == 0x0f && bytes[next + 1] == 0xb1
    }
  }
}

extension Declaration {
  /// Its type says that calls do not return, nor throw: their callers may have no code behind them.
  var neverReturns: Bool { functionType.result.isNever && functionType.thrown == .never }
}
