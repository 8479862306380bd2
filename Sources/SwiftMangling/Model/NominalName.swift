/// What sort of nominal type a name step stands for; `other` covers functions
/// that enclose a local type and nominal types imported without a kind.
package enum NominalKind: UInt8, Sendable { case structure, enumeration, classType, protocolType, other }

/// A nominal type's name: the module, then the nested names, outermost first.
package struct NominalName: Hashable, Sendable, CustomStringConvertible {
  /// One component of the path, for example `Cart` in `Shop.Cart.Line`.
  package struct Step: Hashable, Sendable {
    package var name: String
    package var kind: NominalKind
    /// The file discriminator of a private declaration, `_C0FFEE…`; nil for all others.
    package var privateDiscriminator: String?
    /// The module of the extension this step is declared in, when that is not the module of the type before it.
    package var extensionModule: String?
    /// The step is declared in an extension with requirements of its own.
    package var isInConstrainedExtension = false
    /// How many of the type's generic arguments belong to this step. Not part of the name's identity.
    package var argumentCount = 0

    package init(name: String, kind: NominalKind, privateDiscriminator: String? = nil) {
      self.name = name
      self.kind = kind
      self.privateDiscriminator = privateDiscriminator
    }

    package static func == (left: Step, right: Step) -> Bool {
      left.name == right.name && left.kind == right.kind
        && left.privateDiscriminator == right.privateDiscriminator
        && left.extensionModule == right.extensionModule
        && left.isInConstrainedExtension == right.isInConstrainedExtension
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(kind)
      hasher.combine(privateDiscriminator)
    }
  }

  package var module: String
  /// `Shop.Cart.Line` has `[Cart, Line]`; functions around a local type are steps of kind `other`.
  package var steps: [Step]

  package init(module: String, steps: [Step]) {
    self.module = module
    self.steps = steps
  }

  /// `Shop.Cart.Line`; a private step reads `Secret#<discriminator>`.
  package var description: String {
    var text = module
    for step in steps {
      text += "."
      text += step.name
      if let discriminator = step.privateDiscriminator { text += "#" + discriminator }
    }
    return text
  }

  /// `Builtin.FixedArray<count, Element>`, what InlineArray holds.
  package static let fixedArray: NominalName = {
    var step = Step(name: "FixedArray", kind: .structure)
    step.argumentCount = 2
    return NominalName(module: "Builtin", steps: [step])
  }()

  /// Stands for the module where metadata refers to a type by the addresses of descriptors: its own is the last step.
  static let referenceModule = "@"
  package init(reference address: UInt, kind: NominalKind) {
    self.init(module: Self.referenceModule, steps: [Step(name: String(address, radix: 16), kind: kind)])
  }
  /// The address of the descriptor, in a name that is one.
  package var reference: UInt? { module == Self.referenceModule ? steps.last.flatMap { UInt($0.name, radix: 16) } : nil }

  /// The last step's name, or the module when there is no step.
  package var shortName: String { steps.last?.name ?? module }
}
