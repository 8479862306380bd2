// CallersActor — whether an async function takes the actor of its caller before its arguments.
//
// `nonisolated(nonsending)`, which a module may make the default (upcoming feature NonisolatedNonsendingByDefault), puts two
// words in front of all arguments. No name tells but a specialisation's, which counts what the function is passed, nor does
// `@concurrent` or a global actor leave a mark. So both plans are made, and a place decides that only one of them has: the code takes it,
// or some caller sets it. Where neither is seen, other signs tell that there is no such actor, at last that no function of the module takes
// one. What stays undecided has a result, an object for self, and no arguments.
//
// Rules checked against `swiftc -emit-irgen`; the programs of Tests/Programs/isolation say what holds for whole modules.
private import CHookTrampoline
internal import SwiftMangling

/// What a function takes before its arguments.
enum CallersActor: Sendable { case taken, notTaken, undecided }

/// How functions of one module take their callers' actors, of those whose code shows it.
struct ActorHabit {
  var taken = 0
  var notTaken = 0
  /// Of these functions on no actor at all: where the upcoming feature is on, `@concurrent` alone makes such.
  var apart = 0

  /// A function that shows nothing takes none: no other does, or so few that the module writes `nonisolated(nonsending)` out.
  var isPlain: Bool { taken == 0 ? notTaken > 0 : apart >= 4 * max(taken, 1) }
}

/// The executor that a function goes to.
private struct TaskSwitch {
  var isToNone: Bool
  /// The second word is zero: to none, or to a default actor.
  var isKnown: Bool
}

extension ImageCatalog {
  /// The plan by the convention that the body's code shows. To be asked under the lock.
  func decidedPlan(
    _ declaration: Declaration, at body: Body, sharing conflict: String? = nil, _ evidence: any BodyEvidence
  ) -> CallPlan {
    let plain = planner.plan(declaration, sharing: conflict, evidence: evidence)
    guard plain.isAsync, plain.opaqueBecause == nil else { return plain }
    let decision = callersActor(declaration, at: body, plain, evidence)
    if decision == .notTaken { return plain }
    var other = declaration
    other.takesCallersActor = true
    let shifted = planner.plan(other, sharing: conflict, evidence: evidence)
    if decision == .taken { return shifted }
    other.takesCallersActor = false
    other.callersActorIsUndecided = true
    let undecided = planner.plan(other, sharing: conflict, evidence: evidence)
    guard plain.stack.isKnown, shifted.stack.isKnown else { return undecided }
    // What is on the stack may still be known.
    let bytes = max(plain.stack.bytes, shifted.stack.bytes)
    return undecided.changed(stack: StackArguments(bytes: bytes, isKnown: plain.stack.bytes == shifted.stack.bytes))
  }

  /// Whether a call has to bring an actor, as far as that is known.
  func callersActor(_ body: Body) -> CallersActor {
    lock.withLock {
      let shown = evidence(body)
      return callersActor(body.declaration, at: body, planner.plan(body.declaration, evidence: shown), shown)
    }
  }

  private func callersActor(_ declaration: Declaration, at body: Body, _ plain: CallPlan, _ evidence: any BodyEvidence) -> CallersActor {
    if let known = actorsKnown[body.address] { return known }
    // While the module is asked for its habit its functions are not asked for it again.
    var found = shownActor(declaration, at: body, plain, evidence)
    if found == .undecided { found = namedActor(declaration, at: body) }
    if found == .undecided {
      let habit = actorHabit(of: declaration.module)
      if habit.isPlain {
        found = .notTaken
      } else if habit.taken > 0 {
        // A witness of a type that is not generic has no use for the metadata and the table that would lie there.
        if case .witness = body.form, !evidence.taken(plain.metadataPlaces).isEmpty { found = .taken }
      }
    }
    actorsKnown[body.address] = found
    return found
  }

  /// What the names of the function's specialisations show: each says of all that the function is passed what became of it.
  private func namedActor(_ declaration: Declaration, at body: Body) -> CallersActor {
    let names = declaration.specialization.isEmpty ? asyncParts.specialised[body.mangledName] ?? [] : [body.mangledName]
    let answers = Set(names.map { nameParser.declaration($0).flatMap(planner.countsCallersActor) })
    // Those that do not agree are not understood.
    guard answers.count == 1, let takes = answers.first! else { return .undecided }
    return takes ? .taken : .notTaken
  }

  /// What code alone shows, the function's own and its callers'.
  private func shownActor(
    _ declaration: Declaration, at body: Body, _ plain: CallPlan, _ evidence: any BodyEvidence
  ) -> CallersActor {
    if declaration.functionType.parameters.contains(where: \.isIsolated) { return .notTaken }
    var other = declaration
    other.takesCallersActor = true
    let shifted = planner.plan(other, evidence: evidence)
    let atEntry = switches(at: body.address - bias, body.size)
    guard plain.stack.isKnown, shifted.stack.isKnown, let own = plain.stack.integers, let all = shifted.stack.integers else {
      if case .witness = body.form { return .undecided }
      return atEntry.contains(where: \.isToNone) ? .notTaken : .undecided
    }
    let ownSlots = plain.stack.bytes / 8, allSlots = shifted.stack.bytes / 8
    // Nothing has another place.
    if own + ownSlots == plain.resultAddresses { return .notTaken }
    // What lies behind the one and before the other is asked for: where the body was compiled without an argument, nothing does.
    guard own <= all, ownSlots <= allSlots else { return .undecided }
    let beyond = Places(integers: own..<all, slots: ownSlots..<allSlots)
    // A caller may have had one of the registers for something else.
    if !evidence.taken(beyond).isEmpty || evidence.areGivenTogether(Places(integers: own..<all)) { return .taken }
    let first = plain.resultAddresses
    let actor = Places(integers: min(first, 6)..<min(first + 2, 6))
    let taken = evidence.taken(Places(integers: 0..<own)).intersection(actor)
    // Both words are an actor or none is.
    if !taken.isEmpty, taken != actor { return .notTaken }
    // A function that begins on no actor or on its own goes there first; one on its caller's is there. (What a witness does not
    // forward is a copy of a method that may begin elsewhere.)
    if case .witness = body.form {} else if !atEntry.isEmpty { return .notTaken }
    let parts = parts(of: body)
    // Without a part to be resumed in, nobody wants to know the actor.
    if !taken.isEmpty, parts?.isEmpty == true { return .notTaken }
    // After each wait it goes back to where it ran: with both words of an actor, if that is its caller's.
    let every = (parts ?? []).reduce(atEntry) { $0 + switches(at: $1.address, Int($1.size)) }
    return !every.isEmpty && every.allSatisfy(\.isKnown) ? .notTaken : .undecided
  }

  /// The jumps to `swift_task_switch` in the function at the file's address.
  private func switches(at address: UInt64, _ size: Int) -> [TaskSwitch] {
    guard size > 0, let code = file.bytes(at: address, count: size)?.baseAddress else { return [] }
    let reader = MetadataReader(file: file)
    return withUnsafeTemporaryAllocation(of: HKTExitJump.self, capacity: 64) { jumps in
      let count = hkt_find_exit_jumps(
        code.assumingMemoryBound(to: UInt8.self), UInt64(size), address, jumps.baseAddress, jumps.count)
      return jumps.prefix(min(count, jumps.count)).filter { jump in
        reader.importStub(at: jump.target)?.elementsEqual("swift_task_switch".utf8) ?? false
      }.map { TaskSwitch(isToNone: $0.rsi_is_zero && $0.rdx_is_zero, isKnown: $0.rdx_is_zero) }
    }
  }

  /// The parts in which the function is resumed; nil where symbols do not tell.
  private func parts(of body: Body) -> [ImageSymbol]? {
    guard symbols.hasLocalSymbols, !symbols.symbols(at: body.address - bias).isEmpty else { return nil }
    return asyncParts.parts[body.mangledName] ?? []
  }

  // MARK: The module

  /// So many functions are asked at most.
  private static let mostAsked = 48

  private func actorHabit(of module: String) -> ActorHabit {
    if let known = actorHabits[module] { return known }
    actorHabits[module] = ActorHabit()
    var habit = ActorHabit()
    var asked = 0
    for symbol in symbols.candidates(words: [Array(module.utf8)]) where asked < Self.mostAsked {
      guard let record = asyncEntries.record(at: symbol.address), record.address != 0,
        let declaration = nameParser.declaration(symbol.nameText), declaration.module == module, declaration.kind == .function,
        declaration.specialization.isEmpty, declaration.localContext.isEmpty
      else { continue }
      asked += 1
      let body = body(Match(symbol: symbol, declaration: declaration))
      let shown = evidence(body)
      let plain = planner.plan(declaration, evidence: shown)
      guard plain.isAsync, plain.opaqueBecause == nil else { continue }
      switch shownActor(declaration, at: body, plain, shown) {
      case .taken: habit.taken += 1
      case .notTaken where !declaration.functionType.parameters.isEmpty:
        habit.notTaken += 1
        let all = ([(body.address - bias, body.size)] + (parts(of: body) ?? []).map { ($0.address, Int($0.size)) })
          .flatMap { switches(at: $0, $1) }
        if !all.isEmpty, all.allSatisfy(\.isToNone) { habit.apart += 1 }
      // A function without arguments tells nothing.
      case .notTaken, .undecided: break
      }
    }
    actorHabits[module] = habit
    return habit
  }
}

extension CallPlan {
  /// Where metadata and witness tables are.
  fileprivate var metadataPlaces: Places {
    hiddenArguments.reduce(into: .nothing) { found, hidden in
      for place in hidden.location.places { found.formUnion(Places(argument: place) ?? .nothing) }
    }
  }

  /// Words before all others: addresses of results.
  fileprivate var resultAddresses: Int {
    switch result.location {
    case .address: 1
    case .parts(let parts): parts.count { if case .address = $0.location { true } else { false } }
    default: 0
    }
  }
}

extension Places {
  fileprivate init(integers: Range<Int>, slots: Range<Int> = 0..<0) {
    self = .nothing
    for register in integers { formUnion(Places(argument: .integer(register)) ?? .nothing) }
    for slot in slots { formUnion(Places(argument: .stack(slot)) ?? .nothing) }
  }
}

/// What else there is of async functions, by their names: the parts in which they are resumed (`…TQ0_`, `…TY1_`), and the names of what the
/// optimiser made of them for what they are passed (`…Tf4dn_n`).
struct AsyncParts {
  private(set) var parts: [String: [ImageSymbol]] = [:]
  private(set) var specialised: [String: [String]] = [:]

  init(_ symbols: SymbolTable) {
    symbols.forEachFunction { symbol in
      if let whole = Self.wholeName(symbol.name) {
        parts[whole, default: []].append(symbol)
      } else if let declared = Self.declaredName(symbol.name) {
        specialised[declared, default: []].append(symbol.nameText)
      }
    }
  }

  /// The name of the function that one is a specialisation of, for what it is passed; nil for other names.
  private static func declaredName(_ name: UnsafeBufferPointer<UInt8>) -> String? {
    // What became of the result comes last, behind a line.
    guard name.count > 6, name[name.count - 2] == UInt8(ascii: "_") else { return nil }
    for at in (2..<(name.count - 4)).reversed() where name[at] == UInt8(ascii: "T") && name[at + 1] == UInt8(ascii: "f") {
      if name[at + 2] >= UInt8(ascii: "0"), name[at + 2] <= UInt8(ascii: "9") { return String(decoding: name[..<at], as: UTF8.self) }
    }
    return nil
  }

  /// The name of the function that a part of an async one (`…TQ1_`, `…TY2_`) belongs to; nil for other names.
  private static func wholeName(_ name: UnsafeBufferPointer<UInt8>) -> String? {
    guard name.last == UInt8(ascii: "_") else { return nil }
    var end = name.count - 1
    while end > 0, name[end - 1] >= UInt8(ascii: "0"), name[end - 1] <= UInt8(ascii: "9") { end -= 1 }
    guard end > 2, end < name.count - 1, name[end - 2] == UInt8(ascii: "T"),
      name[end - 1] == UInt8(ascii: "Q") || name[end - 1] == UInt8(ascii: "Y")
    else { return nil }
    return String(decoding: name[..<(end - 2)], as: UTF8.self)
  }
}
