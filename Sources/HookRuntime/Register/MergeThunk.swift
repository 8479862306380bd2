// MergeThunk — tells whose call a merged body runs.
//
// The compiler merges functions that differ in constants: one body with extra arguments, named after one of them, and a
// thunk per function that passes its constants and jumps on. Callers in the module may go to the merged body directly,
// with the same constants. So a call is a selector's exactly when the registers its thunk sets hold the thunk's
// constants. A thunk without constants tells nothing: the functions were equal.
internal import CHookTrampoline
private import SwiftMangling

/// What a selector's thunk passes to its merged body.
package struct MergeThunk: Sendable, Equatable {
  /// One of the constants, and where the body finds it.
  struct Constant: Sendable, Equatable {
    /// As HKTThunk numbers places: argument registers, stack slots, vector registers.
    var place: Int
    var value: UInt64
    /// The bits that every caller passes alike.
    var mask: UInt64
  }
  let constants: [Constant]
  /// The thunk, and the bodies that forward to it: the compiler may have written its jump into them.
  var callers: [String]

  /// Bit i: HKTThunk's place i.
  var places: UInt64 { constants.reduce(0) { $0 | 1 << UInt64($1.place) } }

  /// The argument registers and stack slots of a set of HKTThunk's places.
  static func places(_ mask: UInt64) -> Places {
    (0..<Int(HKT_THUNK_PLACES)).reduce(into: .nothing) { all, i in
      if mask >> UInt64(i) & 1 != 0 { all.formUnion(Places(argument: place(i)) ?? .nothing) }
    }
  }

  private static func place(_ i: Int) -> Place {
    let slot = i - Int(HKT_THUNK_REGISTERS)
    if slot < 0 { return .integer(i) }
    return slot < Int(HKT_THUNK_SLOTS) ? .stack(slot) : .float(slot - Int(HKT_THUNK_SLOTS))
  }

  /// The body whose calls it forwards.
  func source(in family: Family) -> Body? { family.bodies.first { $0.mangledName == callers[0] } }

  func passes(_ value: UInt64) -> Bool { constants.contains { $0.value == value } }
}

/// A merged body that only thunks enter, as one of them goes through it: what it calls of the thunk's constants is that
/// thunk's own call.
package struct MergePassage: Sendable {
  /// Addresses as of the bodies.
  let code: Range<UInt64>
  let thunk: MergeThunk
}

extension ImageCatalog {
  /// The merged body through which the witness goes to what it runs; nil where its code tells no such one, or others enter that body, too.
  func passage(of witness: Body) -> MergePassage? {
    lock.withLock {
      guard let found = merges.thunk(witness), !found.isTwin, let symbol = merges.mergedSymbol(at: found.code.target - bias),
        !merges.hasOtherCallers(symbol.address),
        let thunk = MergeThunk(found.code, callers: [witness.mangledName], isAsync: witness.declaration.functionType.isAsync)
      else { return nil }
      return passage(thunk, through: symbol)
    }
  }

  private func passage(_ thunk: MergeThunk, through merged: ImageSymbol) -> MergePassage {
    let start = merged.address + bias
    return MergePassage(code: start..<start + UInt64(merged.size), thunk: thunk)
  }

  /// Gives `family` the merged bodies its thunks go to, which may bear another selector's name.
  func addMergedBodies(to family: inout Family) {
    var unidentified: [UInt64: UnidentifiedSource] = [:]
    for source in family.bodies where source.form != .merged {
      if let symbol = merges.unreadTarget(source), !family.hasBody(at: symbol.address + bias) {
        family.bodies.append(merged(source, symbol))
      }
      guard let found = merges.thunk(source), let symbol = merges.mergedSymbol(at: found.code.target - bias) else { continue }
      let read = found.code
      addRelatives(of: symbol, source, to: &family)
      let callers = [source.mangledName] + family.bodies.filter { $0.forwards(to: source) }.map(\.mangledName)
      let thunk = found.isTwin ? nil : MergeThunk(read, callers: callers, isAsync: source.declaration.functionType.isAsync)
      let known = family.bodies.firstIndex { $0.address == read.target }
      if !merges.hasOtherCallers(symbol.address) {
        // Nobody else goes there: every call enters through a thunk.
        if let known, family.bodies[known].thunks.isEmpty { family.bodies.remove(at: known) }
        if let thunk, let index = family.bodies.firstIndex(where: { $0.address == source.address }) {
          family.bodies[index].passage = passage(thunk, through: symbol)
        }
        continue
      }
      if known == nil { family.bodies.append(merged(source, symbol)) }
      if let thunk {
        family.bodies[known ?? family.bodies.count - 1].thunks.append(thunk)
      } else {
        unidentified[read.target] = UnidentifiedSource(mangledName: source.mangledName, places: read.written)
      }
    }
    // Where only thunks enter, or nobody does, the merged body has no calls that a thunk did not see.
    family.bodies.removeAll { $0.form == .merged && $0.thunks.isEmpty && !merges.hasOtherCallers($0.address - bias) }
    addForwarders(to: &family)
    for index in family.bodies.indices where family.bodies[index].form == .merged {
      let source = unidentified[family.bodies[index].address]
      family.bodies[index].isUnidentified = family.bodies[index].thunks.isEmpty || source != nil
      family.bodies[index].unidentifiedSource = source
    }
  }

  /// Of a generic function that was merged with another one, the specialisations may have been, too: where these are entered with what
  /// no thunk passes, the family's calls may be among theirs.
  private func addRelatives(of merged: ImageSymbol, _ source: Body, to family: inout Family) {
    guard family.declaration.isGeneric || family.declaration.genericParameterCounts.contains(where: { $0 > 0 }) else { return }
    for symbol in merges.relatives(of: merged) where !family.hasBody(at: symbol.address + bias) {
      family.bodies.append(self.merged(source, symbol))
    }
  }

  /// A merged body of closures that only partial applications enter: each of those names its closure, so that one stands for
  /// the body here. Closures without one left are not called any more.
  private func addForwarders(to family: inout Family) {
    guard family.declaration.kind.isClosure, !family.declaration.functionType.isAsync else { return }
    for body in family.bodies where body.form == .merged && body.thunks.isEmpty {
      guard let forwarders = merges.forwarders(to: body.address - bias) else { continue }
      family.bodies.removeAll { $0.address == body.address }
      for (symbol, closure) in forwarders where closure.familyName == family.key {
        var forwarder = placed(body, symbol)
        forwarder.form = .forwarder
        forwarder.declaration = closure
        family.bodies.append(forwarder)
      }
    }
  }

  private func merged(_ source: Body, _ symbol: ImageSymbol) -> Body {
    var body = placed(source, symbol)
    body.form = .merged
    body.declaration.specialization.append(.merged)
    return body
  }

  /// The body, where another symbol is.
  private func placed(_ body: Body, _ symbol: ImageSymbol) -> Body {
    var body = body
    body.mangledName = String(decoding: symbol.name, as: UTF8.self)
    body.address = symbol.address + bias
    body.size = Int(symbol.size)
    body.available = Int((symbols.nextSymbolAddress(after: symbol.address) ?? symbol.address + UInt64(symbol.size)) - symbol.address)
    return body
  }
}

extension HKTThunk {
  func constant(at place: Int) -> UInt64 {
    withUnsafeBytes(of: value) { $0.load(fromByteOffset: 8 * place, as: UInt64.self) }
  }

  mutating func setConstant(_ constant: UInt64, at place: Int) {
    withUnsafeMutableBytes(of: &value) { $0.storeBytes(of: constant, toByteOffset: 8 * place, as: UInt64.self) }
  }

  /// What it is known to pass, by place.
  var constants: [Int: UInt64] {
    Dictionary(uniqueKeysWithValues: Self.places(in: known).map { ($0, constant(at: $0)) })
  }

  static func places(in mask: UInt64) -> [Int] {
    (0..<Int(HKT_THUNK_PLACES)).filter { mask >> UInt64($0) & 1 != 0 }
  }
}

extension MergeThunk {
  /// Nil when the thunk passes nothing that tells its selector apart.
  init?(_ read: HKTThunk, callers: [String], isAsync: Bool) {
    guard read.written != 0 else { return nil }
    // Async functions take their stack arguments off: what comes behind them would be another function's.
    if isAsync, read.written >> UInt64(HKT_THUNK_REGISTERS) & (1 << UInt64(HKT_THUNK_SLOTS) - 1) != 0 { return nil }
    let constants = HKTThunk.places(in: read.known).map { place in
      let value = read.constant(at: place)
      // What fits 32 bits may be an argument of no more.
      let isNarrow = value >> 32 == 0 || Int64(bitPattern: value) >> 31 == -1
      let isFloat = place >= Int(HKT_THUNK_REGISTERS + HKT_THUNK_SLOTS)
      let isHalf = isFloat ? read.halves >> UInt64(place) & 1 != 0 : isNarrow
      return Constant(place: place, value: value, mask: isHalf ? 0xffff_ffff : .max)
    }
    self.init(constants: constants, callers: callers)
  }
}
