// PlanCheck — holds a plan made from a type against the body's machine code.
//
// Two things can be wrong with a plan that follows the type. The optimiser may have taken registers out of the
// signature, so that the ones behind them moved up: then nothing is known unless the last register of each kind is
// shown to be there, for registers are only ever taken out, never put in. And it may have kept the signature while close
// callers leave unset what the body does not read: then that one value is gone.
internal import SwiftMangling

struct PlanCheck {
  private let plan: CallPlan
  private let declaration: Declaration
  private let evidence: any BodyEvidence

  init(_ plan: CallPlan, _ declaration: Declaration, _ evidence: any BodyEvidence) {
    self.plan = plan
    self.declaration = declaration
    self.evidence = evidence
  }

  /// The plan as far as the code bears it out; opaque when its places are not certain.
  func checked() -> CallPlan {
    let isKept = evidence.keptBecause != nil || !declaration.isEffectivelyPrivate
    // A function that cannot fail leaves its caller's value in the error register. (Async functions report elsewhere.)
    let thrown = isKept || plan.isAsync || plan.thrown != .any || evidence.error == .reported ? plan.thrown : .never
    if !isKept, let reason = uncertainty() {
      return .opaque(declaration, reason: reason, isEnterOnly: plan.isEnterOnly, thrown: thrown)
    }
    var result = plan.result
    if !isKept {
      if !resultIsUsed(result.location) { result.location = .unknown("private, and no caller shows that it still returns its result") }
    }
    let arguments = plan.arguments.map { argument in
      var argument = argument
      if !isPassed(argument.location) { argument.location = .optimizedOut }
      return argument
    }
    return plan.changed(arguments, selfPlan(), result, thrown, declaration)
  }

  // MARK: Values nobody passes

  private func isPassed(_ location: Location) -> Bool {
    guard let places = location.argumentPlaces else { return !evidence.hasCloseCallers }
    return evidence.arePassed(places)
  }

  private func selfPlan() -> SelfPlan {
    switch plan.selfPlan {
    case .object(let place), .metatype(let place):
      isPassed(.address(place)) ? plan.selfPlan : .unknown(CallPlan.gone)
    case .value(var value) where !isPassed(value.location):
      {
        value.location = .optimizedOut
        return .value(value)
      }()
    case .value, .none, .unknown: plan.selfPlan
    }
  }

  // MARK: Registers taken out of the signature

  /// Why registers may be missing from the signature; nil when none is.
  private func uncertainty() -> String? {
    if plan.isAsync { return "a private async function: what it passes to its caller's resume function cannot be followed" }
    if !declaration.localContext.isEmpty { return "a local function of one object file: what it captures is not in its name" }
    if declaration.isGeneric || !declaration.genericParameterCounts.isEmpty {
      return "a private generic function of one object file: the optimiser may have changed its convention"
    }
    if case .typed = plan.thrown { return "a private function of one object file with a typed error" }
    if case .unknown(let why) = plan.selfPlan, why != CallPlan.gone { return "private, known to one object file only, and self is not located: \(why)" }
    guard plan.isExact else { return "private, known to one object file only, and of unknown layout" }
    guard let last = lastPlaces() else { return "private, known to one object file only, with stack arguments of 16 bytes" }
    let missing = last.subtracting(evidence.taken(last))
    if !missing.isEmpty { return "private, and the optimiser may have dropped an argument: its code does not show that it takes the last one" }
    if plan.thrown == .any, evidence.error == .unknown { return "private, and its code does not show whether it still throws" }
    return nil
  }

  /// The last place of each kind that the signature uses. Nil where alignment may hide a missing one.
  private func lastPlaces() -> Places? {
    var integers = -1
    var floats = -1
    var slots = -1
    func note(_ place: Place) {
      switch place {
      case .integer(let i): integers = max(integers, i)
      case .float(let i): floats = max(floats, i)
      case .stack(let i): slots = max(slots, i)
      case .selfRegister, .indirectResult: break
      }
    }
    for argument in plan.arguments {
      switch argument.location {
      case .pieces(let pieces):
        pieces.forEach { note($0.place) }
        // Wide values are aligned on the stack, and skip a register.
        if pieces.contains(where: { if case .stack = $0.place { $0.size > 8 } else { false } }) { return nil }
        if argument.info.map({ $0.alignment > 8 }) ?? false { return nil }
      case .address(let place): note(place)
      case .parts: argument.location.places.forEach(note)
      case .optimizedOut, .unknown: break
      }
    }
    switch plan.selfPlan {
    case .object(let place), .metatype(let place): note(place)
    case .value(let value): value.location.places.forEach(note)
    default: break
    }
    var last: Places = []
    func need(_ place: Place) -> Bool {
      guard let bit = Places(argument: place) else { return false }
      last.formUnion(bit)
      return true
    }
    if slots >= 0, !need(.stack(slots)) { return nil }
    if integers >= 0, integers < 5 || slots < 0, !need(.integer(integers)) { return nil }
    if floats >= 0, floats < 7 || slots < 0, !need(.float(floats)) { return nil }
    // With arguments on the stack it is not told here whose they are: both kinds show their last register as well.
    if slots >= 0 {
      if integers >= 0, !need(.integer(integers)) { return nil }
      if floats >= 0, !need(.float(floats)) { return nil }
    }
    if plan.result.location == .address(.indirectResult) { _ = need(.indirectResult) }
    return last
  }

  /// Some caller uses the last register of each kind that the result comes in.
  private func resultIsUsed(_ location: Location) -> Bool {
    guard case .pieces(let pieces) = location else { return true }
    var last: Places = []
    var integers = -1
    var floats = -1
    for piece in pieces {
      switch piece.place {
      case .integer(let i): integers = max(integers, i)
      case .float(let i): floats = max(floats, i)
      default: return false
      }
    }
    if integers >= 0, let place = Places(result: .integer(integers)) { last.formUnion(place) }
    if floats >= 0, let place = Places(result: .float(floats)) { last.formUnion(place) }
    return evidence.used(last) == last
  }
}

extension Location {
  /// The places at entry of an argument; nil when one cannot be followed.
  fileprivate var argumentPlaces: Places? {
    switch self {
    case .pieces(let pieces):
      var all: Places = []
      for piece in pieces {
        guard let place = Places(argument: piece.place) else { return nil }
        all.formUnion(place)
      }
      return all
    case .address(let place): return Places(argument: place)
    case .parts(let parts):
      var all: Places = []
      for part in parts {
        guard let places = part.location.argumentPlaces else { return nil }
        all.formUnion(places)
      }
      return all
    case .optimizedOut, .unknown: return .nothing
    }
  }
}

extension CallPlan {
  /// What stands for a value that the optimiser removed.
  static let gone = "<optimized out>"

  /// The places of all arguments that are known and can be followed.
  package var argumentPlaces: Places { arguments.reduce(into: .nothing) { $0.formUnion($1.location.argumentPlaces ?? .nothing) } }

  fileprivate func changed(
    _ arguments: [ArgumentPlan], _ selfPlan: SelfPlan, _ result: ResultPlan, _ thrown: Thrown, _ declaration: Declaration
  ) -> CallPlan {
    CallPlan(
      arguments: arguments, selfPlan: selfPlan, result: result, thrown: thrown, isEnterOnly: isEnterOnly, stack: stack,
      isExact: isExact, of: declaration)
  }
}
