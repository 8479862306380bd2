// CPrototype+Plan — where the arguments and the result of a C function are: System V's rules for x86-64, for scalars.
//
// Integers and pointers take rdi rsi rdx rcx r8 r9, floating point xmm0-7, the others a stack slot of 8 bytes each in order;
// results are in rax or xmm0. rax says at most how many vector registers a call with variadic arguments uses: it is in the
// frame, and goes on to the original as it came.
private import CHookTrampoline
package import SwiftMangling

extension CType {
  /// As an argument. Narrow integers are passed widened to 32 bits, and compiled callees rely on it.
  fileprivate var asArgument: CType {
    switch self {
    case .int8, .int16, .uint8, .uint16: .int32
    default: self
    }
  }

  fileprivate var isFloatingPoint: Bool { self == .float || self == .double }

  private var swiftName: String {
    switch self {
    case .void: "Void"
    case .bool: "Bool"
    case .int8: "Int8"
    case .int16: "Int16"
    case .int32: "Int32"
    case .int64: "Int64"
    case .uint8: "UInt8"
    case .uint16: "UInt16"
    case .uint32: "UInt32"
    case .uint64: "UInt64"
    case .float: "Float"
    case .double: "Double"
    case .cstring: "UnsafePointer"
    case .pointer: "UnsafeMutableRawPointer"
    }
  }

  /// The type as Swift imports it.
  fileprivate var syntax: TypeSyntax {
    func swift(_ name: String, _ arguments: [TypeSyntax] = [], _ kind: NominalKind = .structure) -> TypeSyntax {
      .nominal(NominalName(module: "Swift", steps: [.init(name: name, kind: kind)]), kind: kind, arguments: arguments)
    }
    switch self {
    case .void: return .tuple([])
    case .cstring: return swift("Optional", [swift(swiftName, [swift("Int8")])], .enumeration)
    case .pointer: return swift("Optional", [swift(swiftName)], .enumeration)
    default: return swift(swiftName)
    }
  }

  fileprivate var info: TypeInfo? {
    func known<T>(_ type: T.Type) -> TypeInfo? { try? TypeResolver.shared.type(of: Metadata(type)).get() }
    return switch self {
    case .void: known(Void.self)
    case .bool: known(Bool.self)
    case .int8: known(Int8.self)
    case .int16: known(Int16.self)
    case .int32: known(Int32.self)
    case .int64: known(Int64.self)
    case .uint8: known(UInt8.self)
    case .uint16: known(UInt16.self)
    case .uint32: known(UInt32.self)
    case .uint64: known(UInt64.self)
    case .float: known(Float.self)
    case .double: known(Double.self)
    case .pointer: known(UnsafeMutableRawPointer?.self)
    case .cstring: Self.text
    }
  }

  private static let text = TypeInfo(
    metadata: Metadata(UnsafePointer<CChar>?.self), kind: .cString, scalars: [Scalar(offset: 0, size: 8, kind: .integer)])
}

extension CPrototype {
  /// The function as a declaration of the module `C`.
  package var declaration: Declaration {
    var made = Self.declaration(named: name)
    made.labels = parameters.map(\.label)
    var function = FunctionType(
      parameters: parameters.map { SwiftMangling.Parameter(label: $0.label, type: $0.type.asArgument.syntax) }, result: result.syntax)
    function.convention = .c
    made.type = .function(function)
    return made
  }

  /// A function of which nothing but the name is known.
  package static func declaration(named name: String) -> Declaration {
    Declaration(kind: .importedFunction, module: "C", name: name, familyName: name)
  }

  /// The plan of a symbol that is this function, or another form of it whose arguments have the same labels.
  package func plan(calledAs form: CPrototype) -> CallPlan {
    let (places, slots) = form.places
    var arguments: [ArgumentPlan] = []
    for (index, parameter) in parameters.enumerated() {
      let type = parameter.type.asArgument
      let position = form == self ? index : form.parameters.firstIndex { $0.label == parameter.label }
      let location: Location =
        position.map { .pieces([Piece(place: places[$0], offset: 0, size: type.size)]) }
        ?? .unknown("'\(form.name)' has no such argument")
      arguments.append(ArgumentPlan(label: parameter.label, type: type.syntax, info: type.info, location: location))
    }
    let place: Place = result.isFloatingPoint ? .float(0) : .integer(0)
    let location: Location = result == .void ? .pieces([]) : .pieces([Piece(place: place, offset: 0, size: result.size)])
    return CallPlan(
      arguments: arguments, selfPlan: .none, result: ResultPlan(type: result.syntax, info: result.info, location: location),
      thrown: .never, stack: StackArguments(bytes: 8 * slots, isKnown: !form.isVariadic), isExact: true,
      of: declaration)
  }

  /// The place of each parameter, and how many stack slots they take.
  private var places: ([Place], slots: Int) {
    var (integers, floats, slots) = (0, 0, 0)
    let places = parameters.map { parameter -> Place in
      if parameter.type.isFloatingPoint, floats < 8 { floats += 1; return .float(floats - 1) }
      if !parameter.type.isFloatingPoint, integers < 6 { integers += 1; return .integer(integers - 1) }
      slots += 1
      return .stack(slots - 1)
    }
    return (places, slots)
  }
}

extension CType {
  fileprivate var size: Int {
    switch self {
    case .void: 0
    case .bool, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .int64, .uint64, .double, .cstring, .pointer: 8
    }
  }
}

extension CallPlan {
  /// A C function whose prototype nobody told.
  package static func unknownFunction(_ declaration: Declaration) -> CallPlan {
    .opaque(
      declaration, reason: "its prototype is not known; spell it, such as C.\(declaration.name)(int32, cstring) -> int32")
  }
}
