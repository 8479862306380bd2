// MergeThunk — tells whose call a merged body runs.
//
// The compiler merges functions that differ in constants: one body with extra arguments, and a thunk per function that
// passes its constants and jumps on. Callers in the module may go to the merged body directly, with the same constants.
// So a call is a selector's exactly when the registers its thunk sets hold the thunk's constants.
private import CHookTrampoline

/// What a selector's thunk passes to its merged body.
struct MergeThunk: Sendable, Equatable {
  /// Bit i: argument register i holds values[i].
  let mask: UInt32
  let values: [UInt64]
}

extension ImageCatalog {
  /// The thunk of `family` to its merged body; nil when there is none, or when it does not tell the selector apart.
  func mergeThunk(to body: Body, of family: Family) -> MergeThunk? {
    guard let base = family.bodies.first(where: { $0.mangledName + "Tm" == body.mangledName }),
      let bytes = fileBytes(of: base, count: base.size)
    else { return nil }
    var thunk = HKTThunk()
    guard hkt_read_thunk(bytes.assumingMemoryBound(to: UInt8.self), UInt64(base.size), base.address, &thunk),
      thunk.target == body.address, thunk.written != 0, thunk.written == thunk.known
    else { return nil }
    return MergeThunk(mask: thunk.known, values: withUnsafeBytes(of: thunk.value) { Array($0.bindMemory(to: UInt64.self)) })
  }
}
