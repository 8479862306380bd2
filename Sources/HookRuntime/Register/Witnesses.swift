// Witnesses — what carries out a protocol's requirement: the functions in the conformances' tables.
//
// A witness is a thunk (`…TW`) with the requirement's convention. Some only hand the call on: to the conforming type's own
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
  let address: UInt64
  let size: Int
  let available: Int
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

  fileprivate func witnesses(words: [[UInt8]], _ isWanted: (Declaration) -> Bool) -> [Witness] {
    var parser = SymbolParser()
    return symbols.candidates(words: words).compactMap { symbol in
      guard symbol.nameText.hasSuffix("TW"), var declaration = parser.declaration(symbol.name), let kind = declaration.wrappedKind,
        case .nominal(let conformer, _, _)? = declaration.conformer
      else { return nil }
      declaration.kind = kind
      declaration.wrappedKind = nil
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
    /// To the code at these addresses, and nowhere else.
    case bodies([UInt64])
    /// Through one of these words of the class's metadata, by their distance in bytes.
    case virtualTable(offset: Int)
    /// It carries the requirement out itself.
    case here
  }

  /// What its code shows.
  /// - Parameters:
  ///   - entries: of functions that may carry the requirement out.
  ///   - offsets: where such functions stand in class metadata.
  func destination(_ code: UnsafeRawPointer, among entries: Set<UInt64>, orAt offsets: [Int]) -> Destination {
    let bytes = code.assumingMemoryBound(to: UInt8.self)
    let targets = exits(code)
    let bodies = targets.filter(entries.contains)
    if !bodies.isEmpty { return .bodies(bodies) }
    guard targets.count <= Self.callsOfThunk, targets.contains(0) else { return .here }
    return offsets.first { hkt_reads_word_at(bytes, UInt64(size), Int64($0)) }.map { .virtualTable(offset: $0) } ?? .here
  }

  /// Where its code calls and jumps to, 0 for what is not known; none where these are too many.
  func exits(_ code: UnsafeRawPointer) -> [UInt64] {
    var exits = [HKTExit](repeating: HKTExit(), count: Self.mostExits)
    let count = hkt_find_exits(code.assumingMemoryBound(to: UInt8.self), UInt64(size), address, &exits, exits.count)
    return count <= exits.count ? exits[..<count].map(\.target) : []
  }

  /// Thunks of accessors and async thunks call the allocator besides.
  private static let callsOfThunk = 4
  private static let mostExits = 64
}
