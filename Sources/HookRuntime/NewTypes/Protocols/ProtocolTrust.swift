// ProtocolTrust — whether calls through a protocol are calls through witness tables.
//
// Where an optimised module sees that one type alone conforms to a protocol nobody else can know, it calls that type's
// methods directly: another object there would be taken for one of that type (docs/abi-notes.md; ABI 2). A protocol that is
// public, or has several conforming types, is called through tables.

enum ProtocolProblem: Error, Equatable {
  case notFound(String)
  case notClassBound
  case superclass
  case associatedTypes
  /// The module may call its one conforming type directly.
  case oneConformer(String?)
  case requirement(String, reason: String)
  case unnamed(Int, known: Int)
  case inherited(String, reason: String)
  case noImage
}

extension ProtocolProblem: CustomStringConvertible {
  var description: String {
    switch self {
    case .notFound(let text): text
    case .notClassBound: "values conform to it, too; only protocols of classes can be implemented ('protocol P: AnyObject')"
    case .superclass: "only subclasses of a certain class conform to it"
    case .associatedTypes: "it has associated types, which are chosen when a type is compiled"
    case .oneConformer(let type?):
      "it is not public and '\(type)' alone conforms to it: the compiler may have made its calls direct; hook the methods of '\(type)'"
    case .oneConformer(nil): "it is not public and nothing conforms to it: the compiler may have left its calls out"
    case .requirement(let name, let reason): "its requirement '\(name)': \(reason)"
    case .unnamed(let count, let known):
      "\(count) of its \(count + known) requirements cannot be told apart: no type of the program with symbols conforms to it, and the "
        + "protocol is not built for evolution"
    case .inherited(let name, let reason): "it inherits from '\(name)': \(reason)"
    case .noImage: "it is in no image of this process"
    }
  }
}

enum ProtocolTrust {
  /// Why calls may not go through tables; nil when they do.
  static func problem(_ proto: ProtocolDescriptor) -> ProtocolProblem? {
    guard let image = ConformanceScan.image(containing: proto.pointer) else { return .noImage }
    let address = UInt64(UInt(bitPattern: proto.pointer)) - image.bias
    if image.metadataSymbols.isVisible(address) { return nil }
    let types = Set(ConformanceScan.all(in: image).filter { $0.proto == proto.pointer }.compactMap(\.type))
    guard types.count < 2 else { return nil }
    return .oneConformer(types.first.flatMap { TypeCatalog.shared.name(of: TypeDescriptor($0)) })
  }
}
