// DelegateExplanation — how the calls on a property's delegates are seen, and which are not.
internal import SwiftMangling

enum DelegateExplanation {
  static func text(_ property: DelegateProperty, way: DelegateWatch.Way, problem: DelegateProblem?) -> String {
    var lines = [property.selector]
    switch way {
    case .proxy:
      lines.append("  seen by    a proxy in the property: calls that its owner makes on what it holds")
      lines.append("  set        by calls of its setter; \(writes(property))")
      lines.append(
        "  read       \(inside(property)) sees the proxy, all others the object that was set; comparing identities there tells the two apart"
      )
      if !property.isWeak, property.field != nil {
        lines.append("  life       the property keeps the proxy, the proxy the delegate")
      } else if property.isWeak {
        lines.append("  life       the proxy ends with the delegate, so that the property is nil when it would be")
      } else {
        lines.append("  life       what the computed property stores keeps the proxy, the proxy the delegate")
      }
    case .methods:
      lines.append("  seen by    hooks on the methods of every type that conforms" + (problem.map { "; no proxy: \($0)" } ?? ""))
      lines.append(
        "  not seen   requirements that a delegate leaves to a default implementation which was inlined, and types that come later")
    }
    return lines.joined(separator: "\n")
  }

  private static func writes(_ property: DelegateProperty) -> String {
    "writes that the compiler put in line inside \(property.module), "
      + "and changes in place (`&x.\(property.setter[0].1.declaration.name)`), are not seen"
  }

  private static func inside(_ property: DelegateProperty) -> String {
    property.image.isMainProgram ? "code of \(property.owner.name)" : "code of \(property.module)"
  }

  // MARK: Requirements

  /// The protocol and all it inherits from.
  static func closure(of proto: ProtocolDescriptor) -> [ProtocolDescriptor] {
    var all: [ProtocolDescriptor] = []
    var queue = [proto]
    while !queue.isEmpty {
      let next = queue.removeFirst()
      if all.contains(next) { continue }
      all.append(next)
      queue += ProtocolLayout.of(next, name: next.qualifiedName).bases.map(\.proto)
    }
    return all
  }

  /// The names of its own requirements, as far as they are known.
  static func members(of proto: ProtocolDescriptor) -> [String] {
    ProtocolLayout.of(proto, name: proto.qualifiedName).requirements.compactMap { requirement in
      requirement.kind == .modify ? nil : requirement.declaration?.memberName
    }.uniqued()
  }

  static func requirements(of protocols: [ProtocolDescriptor]) -> [String] {
    protocols.flatMap { closure(of: $0) }.flatMap { members(of: $0) }.uniqued()
  }
}
