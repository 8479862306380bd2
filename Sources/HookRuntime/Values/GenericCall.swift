// GenericCall — the plan of a generic body with the types of one call.
//
// Where the values are follows from the declaration alone; what they are, the call's metadata says. Plans are made once
// for each combination of types and kept, so that a repeated call costs reading a few words and a table lookup.
package import CHookTrampoline
internal import SwiftMangling
private import Synchronization

package final class GenericCall: Sendable {
  private let keys: [GenericParameterKey]
  private let sources: [GenericSource]
  private let replan: @Sendable ([GenericParameterKey: TypeSyntax]) -> CallPlan
  private let known = Mutex<[[UInt]: CallPlan]>([:])
  /// Beyond it a plan is made for each call: a program that makes types without end must not fill memory.
  private static let mostPlans = 4096

  /// Parameters that every call tells, and those it still tells when it is over.
  private let knownBefore: Set<GenericParameterKey>
  private let knownAfter: Set<GenericParameterKey>

  /// - Parameter fixed: parameters that the signature makes another type.
  init(
    _ sources: [GenericParameterKey: GenericSource], fixed: [GenericParameterKey: TypeSyntax] = [:],
    replan: @escaping @Sendable ([GenericParameterKey: TypeSyntax]) -> CallPlan
  ) {
    let sorted = sources.sorted { ($0.key.depth, $0.key.index) < ($1.key.depth, $1.key.index) }
    keys = sorted.map(\.key)
    self.sources = sorted.map(\.value)
    self.replan = replan
    knownBefore = Set(sources.keys).adding(fixed)
    knownAfter = Set(sources.filter { !$0.value.mayBeGone }.keys).adding(fixed)
  }

  /// A call tells what every generic parameter of the type stands for, so that its values can be read.
  func tells(_ type: TypeSyntax, isOver: Bool) -> Bool {
    type.deepestParameter >= 0 && type.mentionsOnly(isOver ? knownAfter : knownBefore)
  }

  /// - Parameter isOver: the original ran, and may have let go of objects it was given.
  func plan(for frame: UnsafeMutablePointer<HKTFrame>, isOver: Bool) -> CallPlan? {
    let reader = ValueReader(frame)
    var words: [UInt] = []
    words.reserveCapacity(sources.count)
    for source in sources { words.append(source.metadata(reader, isOver: isOver).map { UInt(bitPattern: $0.pointer) } ?? 0) }
    if let plan = known.withLock({ $0[words] }) { return plan }
    var table: [GenericParameterKey: TypeSyntax] = [:]
    for (key, word) in zip(keys, words) where word != 0 { table[key] = .known(word) }
    if table.isEmpty { return nil }
    let made = replan(table)
    return known.withLock {
      if let other = $0[words] { return other }
      if $0.count < Self.mostPlans { $0[words] = made }
      return made
    }
  }
}

extension Set<GenericParameterKey> {
  /// With the parameters that are other types, of which only these parameters are part.
  fileprivate func adding(_ fixed: [GenericParameterKey: TypeSyntax]) -> Set {
    union(fixed.filter { $0.value.mentionsOnly(self) }.keys)
  }
}

extension TypeSyntax {
  /// Of generic parameters none but these; and nothing whose metadata cannot be made of theirs.
  fileprivate func mentionsOnly(_ known: Set<GenericParameterKey>) -> Bool {
    !mentions {
      switch $0 {
      case .genericParameter(let depth, let index): !known.contains(GenericParameterKey(depth: depth, index: index))
      case .packExpansion, .pack, .opaqueResult, .constrainedSelf, .constrainedExistential, .unknown: true
      default: false
      }
    }
  }
}

extension GenericSource {
  /// The object that tells may be gone when the call is over.
  fileprivate var mayBeGone: Bool { if case .object(_, _, _, let mayBeGone) = self { mayBeGone } else { false } }

  /// Where the metadata, or what leads to it, is.
  var place: Places {
    switch self {
    case .metadata(let place), .argument(let place, _), .object(let place, _, _, _), .metatype(let place, _, _):
      // What cannot be followed is never said to be taken.
      Places(argument: place) ?? .unknown
    }
  }
  /// What the parameter stands for in the call; nil where it cannot be known any more.
  fileprivate func metadata(_ reader: ValueReader, isOver: Bool) -> Metadata? {
    func pointer(_ place: Place) -> UnsafeRawPointer? { UnsafeRawPointer(bitPattern: UInt(reader.argumentWord(place))) }
    switch self {
    case .metadata(let place): return pointer(place).map(Metadata.init)
    case .argument(let place, let path): return pointer(place).flatMap { Metadata($0).argument(path) }
    case .object(let place, let descriptor, let path, let mayBeGone):
      if isOver && mayBeGone { return nil }
      guard let object = pointer(place) else { return nil }
      // A native object's first word is its class.
      return Metadata(object.load(as: UnsafeRawPointer.self)).ancestor(descriptor)?.argument(path)
    case .metatype(let place, let descriptor, let path): return pointer(place).flatMap { Metadata($0).ancestor(descriptor)?.argument(path) }
    }
  }
}

extension Metadata {
  /// This class, or the one it inherits from, that the descriptor describes.
  func ancestor(_ wanted: TypeDescriptor) -> Metadata? {
    var each: Metadata? = self
    while let metadata = each {
      if metadata.descriptor == wanted { return metadata }
      each = metadata.superclass
    }
    return nil
  }

  /// A generic argument, of a generic argument in turn.
  fileprivate func argument(_ path: [Int]) -> Metadata? {
    var metadata = self
    for index in path {
      let arguments = metadata.genericArgumentMetadata
      guard arguments.indices.contains(index), let next = arguments[index] else { return nil }
      metadata = next
    }
    return metadata
  }
}

extension CallPlan {
  /// The plan with the types of the call in `frame`: this one where nothing is generic, or nothing can be known.
  /// - Parameter isOver: the original ran.
  @inline(__always)
  package func concrete(in frame: UnsafeMutablePointer<HKTFrame>, isOver: Bool) -> CallPlan {
    guard let generics else { return self }
    return generics.plan(for: frame, isOver: isOver) ?? self
  }
}
