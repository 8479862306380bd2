// MergeThunk — tells whose call a merged body runs.
//
// The compiler merges functions that differ in constants: one body with extra arguments, named after one of them, and a
// thunk per function that passes its constants and jumps on. Callers in the module may go to the merged body directly,
// with the same constants. So a call is a selector's exactly when the registers its thunk sets hold the thunk's
// constants. A thunk without constants tells nothing: the functions were equal.
private import CHookTrampoline
private import SwiftMangling

/// What a selector's thunk passes to its merged body.
package struct MergeThunk: Sendable, Equatable {
  /// Bit i: argument register i holds values[i].
  let mask: UInt32
  let values: [UInt64]
  /// The thunk, and the bodies that hand on to it: the compiler may have written its jump into them.
  var callers: [String]
  /// File addresses of other selectors' equal thunks that it goes through: calls of theirs pass the same constants.
  var hops: [UInt64] = []

  /// The argument registers of a mask.
  static func places(_ mask: UInt32) -> Places {
    (0..<6).reduce(into: .nothing) { all, i in if mask & 1 << i != 0 { all.formUnion(Places(argument: .integer(i)) ?? .nothing) } }
  }

  /// The body whose calls it hands on.
  func source(in family: Family) -> Body? { family.bodies.first { $0.mangledName == callers[0] } }

  func passes(_ value: UInt64) -> Bool { values.indices.contains { mask & 1 << $0 != 0 && values[$0] == value } }
}

extension ImageCatalog {
  /// Gives `family` the merged bodies its thunks jump to, which may bear another selector's name.
  func addMergedBodies(to family: inout Family) {
    var untold: [UInt64: UntoldSource] = [:]
    for source in family.bodies where source.form != .merged {
      guard let (read, hops) = merges.thunk(source), let symbol = merges.mergedSymbol(at: read.target - bias) else { continue }
      let thunk = MergeThunk(
        read, callers: [source.mangledName] + family.bodies.filter { $0.handsOn(to: source) }.map(\.mangledName), hops: hops)
      let known = family.bodies.firstIndex { $0.address == read.target }
      if thunk == nil || !hops.isEmpty, !merges.hasOtherCallers(symbol) {
        // Nobody else goes there: every call enters through a thunk.
        if let known, family.bodies[known].thunks.isEmpty { family.bodies.remove(at: known) }
        continue
      }
      if known == nil { family.bodies.append(merged(source, symbol)) }
      if let thunk {
        family.bodies[known ?? family.bodies.count - 1].thunks.append(thunk)
      } else {
        untold[read.target] = UntoldSource(mangledName: source.mangledName, registers: read.written, hops: hops)
      }
    }
    for index in family.bodies.indices where family.bodies[index].form == .merged {
      let source = untold[family.bodies[index].address]
      family.bodies[index].isUntold = family.bodies[index].thunks.isEmpty || source != nil
      family.bodies[index].untoldSource = source
    }
  }

  private func merged(_ source: Body, _ symbol: ImageSymbol) -> Body {
    var body = source
    body.form = .merged
    body.declaration.specialization.append(.merged)
    body.mangledName = String(decoding: symbol.name, as: UTF8.self)
    body.address = symbol.address + bias
    body.size = Int(symbol.size)
    body.available = Int((symbols.nextSymbolAddress(after: symbol.address) ?? symbol.address + UInt64(symbol.size)) - symbol.address)
    return body
  }
}

extension HKTThunk {
  /// Goes on with the thunk that this one jumps to.
  fileprivate mutating func append(_ next: HKTThunk) {
    target = next.target
    written |= next.written
    known = known & ~next.written | next.known
    withUnsafeMutableBytes(of: &value) { values in
      withUnsafeBytes(of: next.value) { later in
        for index in 0..<Int(HKT_THUNK_REGISTERS) where next.written & 1 << index != 0 {
          values.storeBytes(of: later.load(fromByteOffset: 8 * index, as: UInt64.self), toByteOffset: 8 * index, as: UInt64.self)
        }
      }
    }
  }
}

extension MergeThunk {
  /// Nil when the thunk passes nothing that tells its selector apart.
  fileprivate init?(_ read: HKTThunk, callers: [String], hops: [UInt64]) {
    guard read.written != 0, read.written == read.known else { return nil }
    self.init(
      mask: read.known, values: withUnsafeBytes(of: read.value) { Array($0.bindMemory(to: UInt64.self)) }, callers: callers, hops: hops)
  }
}

/// The merged bodies of an image and who goes to them. Confined to its catalog's lock.
final class Merges {
  private let file: ELFFile
  private let symbols: SymbolTable
  private let bias: UInt64
  /// File addresses of merged bodies that are entered by others than thunks.
  private lazy var entered = findEntered()

  init(_ file: ELFFile, _ symbols: SymbolTable, bias: UInt64) {
    self.file = file
    self.symbols = symbols
    self.bias = bias
  }

  /// What the body does if all it does is pass constants on; addresses are those of the process.
  ///
  /// Equal thunks are one, to which the others jump: they are followed to the merged body.
  fileprivate func thunk(_ body: Body) -> (HKTThunk, hops: [UInt64])? {
    guard var whole = thunk(at: body.address - bias, size: body.size) else { return nil }
    var hops: [UInt64] = []
    for _ in 0..<Self.longestChain {
      let target = whole.target - bias
      if mergedSymbol(at: target) != nil { break }
      guard let symbol = symbols.symbols(at: target).first(where: \.isFunction),
        let next = thunk(at: target, size: Int(symbol.size))
      else { break }
      hops.append(target)
      whole.append(next)
    }
    return (whole, hops)
  }

  private static let longestChain = 4

  func mergedSymbol(at address: UInt64) -> ImageSymbol? {
    symbols.symbols(at: address).first { Self.isMerged($0) }
  }

  func hasOtherCallers(_ merged: ImageSymbol) -> Bool { entered.contains(merged.address) }

  private static func isMerged(_ symbol: ImageSymbol) -> Bool { symbol.name.suffix(2).elementsEqual("Tm".utf8) }

  private func thunk(at address: UInt64, size: Int) -> HKTThunk? {
    guard let bytes = file.bytes(at: address, count: size)?.baseAddress else { return nil }
    var thunk = HKTThunk()
    let isThunk = hkt_read_thunk(bytes.assumingMemoryBound(to: UInt8.self), UInt64(size), address + bias, &thunk)
    return isThunk ? thunk : nil
  }

  private func findEntered() -> Set<UInt64> {
    let targets = symbols.filter { Self.isMerged($0) }.map(\.address)
    var found: Set<UInt64> = []
    for section in file.sections where section.isExecutable {
      guard let code = file.bytes(of: section)?.bindMemory(to: UInt8.self), let start = code.baseAddress else { continue }
      var branches = [HKTBranch](repeating: HKTBranch(), count: 4096)
      let count = hkt_find_branches(start, UInt64(code.count), section.address, targets, targets.count, &branches, branches.count)
      if count > branches.count {
        branches = [HKTBranch](repeating: HKTBranch(), count: count)
        _ = hkt_find_branches(start, UInt64(code.count), section.address, targets, targets.count, &branches, count)
      }
      for branch in branches.prefix(count) where !found.contains(branch.to) {
        let from = symbols.symbol(containing: branch.from)
        if let from, thunk(at: from.address, size: Int(from.size))?.target == branch.to + bias { continue }
        found.insert(branch.to)
      }
    }
    return found
  }
}
