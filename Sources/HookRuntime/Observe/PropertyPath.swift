// PropertyPath — `user.address.city`: from an object through objects and values to one value.
//
// A path is cut into segments, one for each object on the way: a property of that object, and stored fields of the value
// it has. The types on the way are the declared ones; which class an object really is of, is seen when it is reached.

struct PropertyPath: Sendable {
  struct Segment: Sendable {
    /// A property of the object.
    var property: String
    /// Stored fields of its value, of those of that, …
    var fields: [String] = []
  }

  let text: String
  let segments: [Segment]
  /// What is at its end.
  let leaf: TypeInfo

  /// Each step is looked up and watched; nobody writes more by hand.
  private static let mostSteps = 32

  /// - Parameter type: the class of the first object.
  init(_ text: String, of type: Metadata, isStatic: Bool = false) throws(ObserveError) {
    self.text = text
    var names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    guard names.count <= Self.mostSteps else {
      throw .badPath("\(text.prefix(60))…", reason: "it has \(names.count) steps; a path has \(Self.mostSteps) at most")
    }
    guard !names.contains("") else { throw .badPath(text, reason: "a step has no name; write 'user.name'") }
    var segments: [Segment] = []
    var (owner, isStatic) = (type, isStatic)
    while true {
      let property = try ObservedProperty.named(names.removeFirst(), of: owner, isStatic: isStatic)
      isStatic = false
      var segment = Segment(property: property.name)
      var info = property.info
      while !names.isEmpty {
        info = info.unwrapped
        if case .object = info.kind { break }
        let name = names.removeFirst()
        guard let field = info.fields.first(where: { $0.name == name }), field.reference == .value, let type = try? field.type.get() else {
          throw .badPath(
            text, reason: "\(info.name) has no stored field '\(name)'; a path goes on through objects and stored fields of values")
        }
        segment.fields.append(name)
        info = type
      }
      segments.append(segment)
      guard !names.isEmpty else {
        (self.segments, leaf) = (segments, info)
        return
      }
      owner = info.metadata
    }
  }

  /// What `value`, the property of a segment, leads to: the value behind its fields; nil where there is a nil on the way.
  static func follow<R>(
    _ fields: ArraySlice<String>, _ memory: UnsafeRawPointer, _ info: TypeInfo, _ body: (UnsafeRawPointer, TypeInfo) -> R
  ) -> R? {
    guard let name = fields.first else { return body(memory, info) }
    if case .optional(let payload) = info.kind {
      guard info.metadata.enumTag(memory) == 0 else { return nil }
      // An Optional's payload is where the Optional is.
      return follow(fields, memory, payload, body)
    }
    guard let field = info.fields.first(where: { $0.name == name }), let type = try? field.type.get() else { return nil }
    return follow(fields.dropFirst(), memory + field.offset, type, body)
  }

  /// The object that the value at `memory` refers to; 0 for nil.
  static func object(_ memory: UnsafeRawPointer, _ info: TypeInfo) -> UInt {
    if case .optional(let payload) = info.kind { return info.metadata.enumTag(memory) == 0 ? object(memory, payload) : 0 }
    switch info.kind {
    case .object: return memory.load(as: UInt.self)
    // A class-bound protocol's value begins with the reference.
    case .existential where info.metadata.existentialForm == .reference: return memory.load(as: UInt.self)
    default: return 0
    }
  }
}

extension TypeInfo {
  /// The type that is left when all Optionals around it are taken away.
  var unwrapped: TypeInfo { if case .optional(let payload) = kind { payload.unwrapped } else { self } }
}
