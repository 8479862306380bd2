// OwnedResults — which result registers hold references that the caller then owns.

/// The result registers that hold references of the caller's.
package struct OwnedResults: Hashable {
  package var certain = Places.nothing
  /// Those that hold a number, or what was left in them, on some ways out: where a case has no payload.
  package var possible = Places.nothing
  /// Beside an error none of them means anything: kept26P of Tests/Programs/consuming, seed 1183377844, leaves its self there.
  package var mayFail = false

  /// Nothing but that results come in registers is known.
  var open: OwnedResults {
    let registers = Places.resultRegisters.reduce(into: Places.nothing) { $0.formUnion(Places(rawValue: 1 << UInt128($1))) }
    return OwnedResults(possible: registers, mayFail: mayFail)
  }
}
