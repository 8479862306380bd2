// CallPlan+SelfObject — what the plan of a method says of the object it runs on: its register, and the registers of results that may hold one.

extension CallPlan {
  /// The register that has the object which a method or a getter runs on, that may consume it.
  package var selfObjectRegister: Places? {
    guard mayConsumeSelf, !isAsync, case .object(let place) = selfPlan, let found = Places(argument: place), found.areRegisters else {
      return nil
    }
    return found
  }

  /// Where that is not known, any register of results may hold one.
  package var ownedResults: OwnedResults {
    var found = OwnedResults(mayFail: mayReturnError)
    // Result registers hold a typed error on some ways out only.
    if let error = thrownValue, !(error.info?.isTrivial ?? false), error.location.registers?.isEmpty != true { return found.open }
    if !result.isOwned || resultIsVoid || result.info?.isTrivial ?? false { return found }
    guard let registers = result.location.registers else { return found.open }
    let objects = result.info?.returnedObjects ?? []
    for register in registers {
      if register.size == 8, objects.contains(register.offset) { found.certain.formUnion(register.place) }
      found.possible.formUnion(register.place)
    }
    return found
  }
}

extension Location {
  fileprivate typealias Register = (place: Places, offset: Int, size: Int)

  /// The registers of a result, with the parts of the value in them; nil where they are not known.
  fileprivate var registers: [Register]? {
    switch self {
    case .pieces(let pieces): return pieces.compactMap { piece in Places(result: piece.place).map { ($0, piece.offset, piece.size) } }
    case .address: return []
    case .parts(let parts):
      var all: [Register] = []
      for part in parts {
        guard let own = part.location.registers else { return nil }
        all += own
      }
      return all
    case .optimizedOut, .unknown: return nil
    }
  }
}

extension TypeInfo {
  /// The words of a result that hold objects; `nil` is known by the reference's own word.
  fileprivate var returnedObjects: [Int] {
    if case .optional(let payload) = kind, case .object = payload.kind { [0] } else { references.certain.sorted() }
  }
}
