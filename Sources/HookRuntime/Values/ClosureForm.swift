// ClosureForm — how the code of the closures in a value takes and returns values.
//
// The compiler compiles a closure for the type of the place it is put into. Shown by `swiftc -emit-irgen`
// (Tests/Programs/closures, Tests/Programs/types).
internal import SwiftMangling

package enum ClosureForm: Hashable, Sendable {
  /// As a function of that type is called.
  case natural
  /// Everything by address: the place is of generic type.
  case general
  /// The place is declared as `(Int, T) -> Bool` in a generic context: for each parameter, and behind them the result, whether
  /// it goes by address.
  case mixed([Bool])
  /// The declaration asks for something that is not worked out here: such closures are read and passed on, not called.
  case declared

  /// Code of the one form can be called as the other. Two declared ones may come from different declarations.
  func isSame(as other: ClosureForm) -> Bool { self == other && self != .declared }
}

extension TypeSyntax {
  /// The form of closures in a place declared with this type, in a generic context.
  /// - Parameter environment: tells which parameters are classes or fixed; without one, that is not known.
  func closureForm(environment: GenericEnvironment?) -> ClosureForm {
    switch self {
    case .genericParameter, .dependentMember: return .general
    case .function(let function): return function.form(environment)
    case .nominal(let name, _, let arguments) where name.isOptional && arguments.count == 1:
      return arguments[0].closureForm(environment: environment)
    case .tuple(let elements):
      let forms = Set(elements.filter { $0.type.mayHoldClosure }.map { $0.type.closureForm(environment: environment) })
      return forms.count > 1 ? .declared : forms.first ?? .natural
    default: return .natural
    }
  }

  /// A closure may lie in the value itself.
  private var mayHoldClosure: Bool {
    switch self {
    case .genericParameter, .dependentMember, .function: true
    case .nominal(let name, _, let arguments) where name.isOptional && arguments.count == 1: arguments[0].mayHoldClosure
    case .tuple(let elements): elements.contains { $0.type.mayHoldClosure }
    default: false
    }
  }

  /// Goes by address whatever it stands for (true), or as the type it stands for would elsewhere (false); nil where it is
  /// neither, or not known.
  fileprivate func isByAddress(_ environment: GenericEnvironment) -> Bool? {
    if deepestParameter < 0 { return false }
    let isTakenApart = mentions {
      switch $0 {
      // Elements go by themselves; functions and metatypes are others than those of the type that is meant.
      case .tuple, .function, .metatype: true
      default: false
      }
    }
    var reader = ShapeReader(types: environment.types, environment: environment)
    guard !isTakenApart, let shape = try? reader.shape(self) as TypeShape?? else { return nil }
    return shape == nil
  }
}

extension FunctionType {
  fileprivate func form(_ environment: GenericEnvironment?) -> ClosureForm {
    let type = TypeSyntax.function(self)
    if type.deepestParameter < 0 { return .natural }
    guard let environment else { return .declared }
    if case .typed = thrown { return .declared }
    var flags: [Bool] = []
    for part in parameters.map(\.type) + [result] {
      guard let flag = part.isByAddress(environment) else { return .declared }
      flags.append(flag)
    }
    return flags.allSatisfy(\.self) ? .general : .mixed(flags)
  }
}
