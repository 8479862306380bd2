// Witnesses — what carries out a protocol's requirement: the functions in the conformances' tables.
//
// A witness is a thunk (`…TW`) with the requirement's convention. Some only forward the call: to the conforming type's own
// method, by a jump, a call, or through the class's virtual table. Others hold a copy of that method, and run nothing else.
private import CHookTrampoline
internal import SwiftMangling

/// One function in a conformance's table.
struct Witness: Sendable {
  /// The requirement, as a member of its protocol.
  let requirement: Declaration
  /// The type that conforms, without its generic arguments.
  let conformer: NominalName
  let mangledName: String
  /// In this process (biased); the file's virtual address when nothing is running.
  private(set) var address: UInt64
  private(set) var size: Int
  let available: Int

  /// The code at another place, which it only jumps to.
  func moved(to code: Range<UInt64>) -> Witness {
    var moved = self
    (moved.address, moved.size) = (code.lowerBound, code.count)
    return moved
  }
}

extension ImageCatalog {
  /// The witnesses of requirements whose selector matches, in address order.
  func witnesses(matching pattern: SelectorPattern) -> [Witness] {
    guard !pattern.meansClosures else { return [] }
    return witnesses(words: pattern.requiredWords) { declaration in
      pattern.matches(
        PrivateNames.stripped(declaration.selectorName), isStatic: declaration.isStatic,
        typed: {
          [PrivateNames.stripped(declaration.typedName(qualified: false)), PrivateNames.stripped(declaration.typedName(qualified: true))]
        })
    }
  }

  func witnesses(words: [[UInt8]], _ isWanted: (Declaration) -> Bool) -> [Witness] {
    var parser = SymbolParser()
    return symbols.candidates(words: words).compactMap { symbol in
      guard symbol.nameText.hasSuffix("TW"), var declaration = parser.declaration(symbol.name), let kind = declaration.wrappedKind,
        case .nominal(let conformer, _, _)? = declaration.conformer
      else { return nil }
      declaration.kind = kind
      declaration.wrappedKind = nil
      // The method that carries an async requirement out may not be async itself: the record is the witness's own.
      declaration.isAsyncAccessor = kind == .getter && asyncEntries.record(at: symbol.address) != nil
      guard kind.isSourceFunction || kind.isHookableAccessor, isWanted(declaration) else { return nil }
      let next = symbols.nextSymbolAddress(after: symbol.address) ?? symbol.address + UInt64(symbol.size)
      return Witness(
        requirement: declaration, conformer: conformer, mangledName: symbol.nameText, address: symbol.address + bias,
        size: Int(symbol.size),
        available: Int(next - symbol.address))
    }
  }
}

extension ImageCatalog {
  func allWitnesses() -> [Witness] { witnesses(words: []) { _ in true } }
}

extension Witness {
  /// Where its calls go on to.
  enum Destination {
    /// They go to the code at these addresses, and nowhere else.
    case bodies([UInt64])
    /// They go by the virtual table, to the method of these that has this position.
    case virtualTable(method: Int)
    /// It carries the requirement out itself.
    case here
  }

  /// What its code shows.
  /// - Parameters:
  ///   - entries: of functions that may carry the requirement out.
  ///   - places: where such functions stand in class metadata, those of one method together.
  ///   - name: of the function that is called at an address.
  func destination(
    _ code: UnsafeRawPointer, among entries: Set<UInt64>, orAt places: [[VirtualPlace]], _ name: (UInt64) -> String?
  ) -> Destination {
    let targets = exits(code)
    let bodies = targets.filter(entries.contains)
    if !bodies.isEmpty { return .bodies(bodies) }
    if places.allSatisfy(\.isEmpty) { return .here }
    let names = targets.compactMap { target in target == 0 ? nil : name(target).map { (target, $0) } }
    return places.firstIndex { $0.contains { goes(code, by: $0, names) } }.map { .virtualTable(method: $0) } ?? .here
  }

  /// The witness calls what is in that place of the self it is called on, and nothing else of the program before.
  private func goes(_ code: UnsafeRawPointer, by place: VirtualPlace, _ names: [(address: UInt64, name: String)]) -> Bool {
    let dispatchers = names.filter { place.dispatchers.contains($0.name) }.map(\.address)
    let reports = names.filter { $0.name.hasPrefix("__asan_report_") }.map(\.address)
    return dispatchers.withUnsafeBufferPointer { dispatchers in
      reports.withUnsafeBufferPointer { reports in
        var slot = HKTVirtualSlot(
          offset: place.offset.map(Int64.init) ?? .min, bounds: place.bounds ?? 0, dispatchers: dispatchers.baseAddress,
          dispatcher_count: dispatchers.count, reports: reports.baseAddress, report_count: reports.count,
          is_static: requirement.isStatic || requirement.kind == .allocatingInit)
        return hkt_goes_by_slot(code.assumingMemoryBound(to: UInt8.self), UInt64(size), address, &slot)
      }
    }
  }

  /// Where its code calls and jumps to, 0 for what is not known; none where these are too many, and where its bytes are no code.
  func exits(_ code: UnsafeRawPointer) -> [UInt64] {
    CodeExits.find(code, size: UInt64(size), address: address, most: Self.mostExits)?.map(\.target) ?? []
  }

  private static let mostExits = 64
}

/// Where calls find a method by the class of the object they are on.
struct VirtualPlace {
  /// Its slot, in bytes from the start of the class's metadata, or from what the word at `bounds` says (biased); nil where the table is
  /// laid out by another image.
  var offset: Int?
  var bounds: UInt64?
  /// Functions that only go on by the slot: what callers in other modules have of it.
  var dispatchers: Set<String>
}
