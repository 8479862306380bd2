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

  /// Where everything is that the body is passed.
  private let places: Result<[Place], UnknownPlaces>

  init(_ plan: CallPlan, _ declaration: Declaration, _ evidence: any BodyEvidence, places: Result<[Place], UnknownPlaces>) {
    self.places = places
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
      return .opaque(declaration, reason: reason, thrown: thrown)
    }
    var result = plan.result
    if !isKept {
      if !resultIsUsed(result.location) {
        result.location = .unknown("private to its object file, and no caller shows that it still returns its result")
      }
    }
    let arguments = plan.arguments.map { argument in
      var argument = argument
      let places = argument.location.argumentPlaces
      argument.location = passed(argument.location)
      // The address of what the body does not read is passed, but nothing need be there.
      if case .address = argument.location, !argument.isInout, let places, evidence.isCertainlyUnused(places) {
        argument.location = .optimizedOut
      }
      if !argument.isInout, argument.info.map({ Self.holdsArray($0) }) == true, isUnstored(argument.location, places) {
        argument.location = .optimizedOut
      }
      if argument.isInout { argument.location = atEntry(argument.location, argument.info) }
      // What the body certainly does not take it cannot end; what is only not shown to be passed it may.
      if argument.location == .optimizedOut, let places, evidence.isCertainlyUnused(places) {
        argument.isOwned = false
      }
      return argument
    }
    return plan.changed(
      arguments: arguments, selfPlan: selfPlan(), result: result, thrown: thrown,
      selfUse: plan.selfObjectRegister.map { evidence.selfUse(of: $0, results: plan.ownedResults) })
  }

  // MARK: Values nobody passes

  /// The value's words are passed, and yet what they refer to may be empty memory: of an array that is made for a call whose callee does not look
  /// at it nothing need be stored, its count among that.
  private func isUnstored(_ location: Location, _ places: Places?) -> Bool {
    guard let places, location != .optimizedOut else { return false }
    // Callers by tables know all bodies that they may come to, where these are the module's own; those of async functions are not seen.
    guard !evidence.isExported || evidence.mayHaveCloseCallers || plan.isAsync else { return false }
    return evidence.isCertainlyUnused(places)
  }

  private static func holdsArray(_ info: TypeInfo, depth: Int = 1) -> Bool {
    switch info.kind {
    case .structure where info.name.hasPrefix("Swift.Array<") || info.name.hasPrefix("Swift.ContiguousArray<"): true
    case .structure, .tuple: depth > 0 && info.fields.contains { field in (try? field.type.get()).map { holdsArray($0, depth: depth - 1) } ?? false }
    case .optional(let payload): depth > 0 && holdsArray(payload, depth: depth - 1)
    default: false
    }
  }

  private func isPassed(_ location: Location) -> Bool {
    evidence.arePassed(location.argumentPlaces ?? .unknown)
  }

  /// What is left of a value: its words are passed by themselves.
  private func passed(_ location: Location) -> Location {
    if isPassed(location) { return location }
    guard case .pieces(let pieces) = location, pieces.count > 1 else { return .optimizedOut }
    let parts = pieces.map { piece in
      let own = Location.pieces([piece])
      return ValuePart(offset: piece.offset, size: piece.size, location: isPassed(own) ? own : .optimizedOut)
    }
    return parts.allSatisfy { $0.location == .optimizedOut } ? .optimizedOut : .parts(parts)
  }

  /// What is there at the entry of a variable that the body may change: callers compiled together with it store only what it
  /// reads. (Swift's dead store elimination knows of each function what it reads of its arguments, LLVM's by its attributes
  /// `writeonly` and `initializes`.)
  /// - Parameter mayBeBorrowed: what is borrowed for reading is stored whole; a body that writes there was given it to change.
  private func atEntry(_ location: Location, _ info: TypeInfo?, mayBeBorrowed: Bool = false) -> Location {
    guard case .address(let place) = location, let register = Places(argument: place),
      let there = evidence.entryBytes(ofVariableAt: register), there.isWritten || !mayBeBorrowed
    else { return location }
    let parts = info.map { Self.parts(of: $0, at: location, where: there) }
    let isWhole = parts?.allSatisfy { $0.location == location } ?? !there.isEmpty
    if isWhole || !evidence.mayHaveCloseCallers { return location }
    guard let parts, parts.contains(where: { $0.location == location }) else { return .optimizedOut }
    return .parts(parts)
  }

  /// Runs of scalars that are there, and of scalars that are not.
  private static func parts(of info: TypeInfo, at location: Location, where there: EntryBytes) -> [ValuePart] {
    // Without scalars the layout has gaps that nobody reads, so a word counts as the smallest part.
    let words = stride(from: 0, to: info.size, by: 8).map { Scalar(offset: $0, size: min(8, info.size - $0), kind: .opaque) }
    var parts: [ValuePart] = []
    for scalar in info.scalars ?? words {
      let found = there.overlaps(offset: scalar.offset, size: scalar.size) ? location : .optimizedOut
      if let last = parts.last, last.location == found {
        parts[parts.count - 1].size = scalar.offset + scalar.size - last.offset
      } else {
        parts.append(ValuePart(offset: scalar.offset, size: scalar.size, location: found, skip: scalar.offset))
      }
    }
    return parts
  }

  private func selfPlan() -> SelfPlan {
    switch plan.selfPlan {
    case .object(let place), .metatype(let place):
      return isPassed(.address(place)) ? plan.selfPlan : .unknown(CallPlan.gone)
    case .value(var value):
      value.location = passed(value.location)
      if value.access == .inPlace || value.access == .unknown {
        let found = atEntry(value.location, value.info, mayBeBorrowed: value.access == .unknown)
        value.atEntry = found == value.location ? nil : found
      }
      return .value(value)
    case .none, .unknown: return plan.selfPlan
    }
  }

  // MARK: Registers taken out of the signature

  /// Why registers may be missing from the signature; nil when none is.
  private func uncertainty() -> String? {
    let privately = "private to its object file, and"
    if plan.isAsync { return "\(privately) what an async function passes to its caller's resume function cannot be followed" }
    if !declaration.localContext.isEmpty { return "\(privately) what the local function captures is not in its name" }
    switch places {
    case .failure(let unknown): return "\(privately) not everything it is passed has a known place: \(unknown.reason)"
    case .success(let places):
      guard let last = last(of: places) else { return "\(privately) its stack arguments are too many to follow" }
      guard evidence.taken(last) == last else { return "\(privately) its code does not show that no argument was dropped" }
    }
    // Result and typed error share registers: without the error register nothing tells them apart.
    if case .typed = plan.thrown, !plan.isAsync, evidence.error != .reported {
      return "\(privately) its code does not show whether it still throws its error"
    }
    if plan.thrown == .any, evidence.error == .unknown { return "\(privately) its code does not show whether it still throws" }
    return nil
  }

  /// The last place of each kind; all of them taken, none is missing. Nil when one cannot be followed.
  private func last(of places: [Place]) -> Places? {
    var last: [Place] = []
    if let register = places.compactMap({ if case .integer(let i) = $0 { i } else { nil } }).max() { last.append(.integer(register)) }
    if let register = places.compactMap({ if case .float(let i) = $0 { i } else { nil } }).max() { last.append(.float(register)) }
    if let slot = places.compactMap({ if case .stack(let i) = $0 { i } else { nil } }).max() { last.append(.stack(slot)) }
    if places.contains(.indirectResult) { last.append(.indirectResult) }
    var found: Places = []
    for place in last {
      guard let bit = Places(argument: place) else { return nil }
      found.formUnion(bit)
    }
    return found
  }

  /// Some caller uses the last register of each kind that the result comes in.
  private func resultIsUsed(_ location: Location) -> Bool {
    if case .address(.yielded(let i)) = location { return Places(result: .yielded(i)).map { evidence.used($0) == $0 } ?? false }
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
    var all: Places = []
    for place in places {
      guard let place = Places(argument: place) else { return nil }
      all.formUnion(place)
    }
    return all
  }
}

extension CallPlan {
  /// What stands for a value that the optimiser removed.
  static let gone = "<optimized out>"

  /// The places of all arguments that are known and can be followed.
  package var argumentPlaces: Places { arguments.reduce(into: .nothing) { $0.formUnion($1.location.argumentPlaces ?? .nothing) } }
}
