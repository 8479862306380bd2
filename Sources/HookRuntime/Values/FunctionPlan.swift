// FunctionPlan — how a function value is called: where its arguments and results are, from the metadata of its type.
//
// One function type has two forms. The natural one is that of a function declared with the type: arguments in
// registers, tuples taken apart. The most general one is used wherever the value is of generic type (in an array, in
// `Any`): each argument by address, a tuple too, the result through rax, even `Void`; closures among the arguments and
// results are of the general form themselves; typed errors go through a trailing pointer. Shown by
// `swiftc -emit-irgen` (Tests/Programs/closures compares both). The context travels in r13, borrowed by the callee.
package import CHookTrampoline
private import Glibc
private import SwiftMangling

/// The calls of one function type in one form. Made once, never freed.
package final class FunctionPlan: @unchecked Sendable {
  // Immutable but for `record`, which is filled in here and only read afterwards.
  package let type: TypeInfo
  package let shape: FunctionShape
  package let call: CallPlan
  /// What a frame of such a call stands for, as if a hook had delivered it.
  package let record: UnsafeMutablePointer<HKTBodyRecord>
  /// The error of a function that states its type: r12 is 1 then, and the value lies here. An address is an argument.
  package let error: (info: TypeInfo, location: Location)?

  fileprivate init(type: TypeInfo, shape: FunctionShape, call: CallPlan, error: (info: TypeInfo, location: Location)?) {
    self.type = type
    self.shape = shape
    self.call = call
    self.error = error
    record = .allocate(capacity: 1)
    memset(record, 0, MemoryLayout<HKTBodyRecord>.size)
    record.pointee.plan = Unmanaged.passRetained(call).toOpaque()
    record.pointee.facts = call.facts
    record.pointee.stack_bytes = UInt32(call.stack.bytes)
  }

  package var isGeneral: Bool { type.isGeneral }
  /// Two words, code and context; the others are one.
  package var hasContext: Bool { shape.convention == .swift }
}

/// Why values of a function type can be passed on, but not called or made here.
package struct FunctionProblem: Error, Sendable, CustomStringConvertible {
  package var description: String
}

/// All plans so far. Any thread.
package final class FunctionPlans: @unchecked Sendable {
  // All state is behind `lock`.
  package static let shared = FunctionPlans()
  private let lock = RecursiveLock()
  private var plans: [Key: Result<FunctionPlan, FunctionProblem>] = [:]

  private struct Key: Hashable {
    var metadata: Metadata
    var form: ClosureForm
  }

  /// - Parameter type: a function type, in the form the value has.
  package func plan(_ type: TypeInfo) -> Result<FunctionPlan, FunctionProblem> {
    lock.withLock {
      let key = Key(metadata: type.metadata, form: type.form)
      if let known = plans[key] { return known }
      let made = FunctionPlanner.plan(type)
      plans[key] = made
      return made
    }
  }
}

private struct FunctionPlanner {
  private var places = PlaceAllocator()
  private let form: ClosureForm
  private let convention: FunctionShape.Convention

  static func plan(_ type: TypeInfo) -> Result<FunctionPlan, FunctionProblem> {
    guard let shape = type.metadata.function else { return .failure(FunctionProblem(description: "'\(type.name)' is no function type")) }
    do throws(FunctionProblem) {
      if shape.isAsync { throw FunctionProblem(description: "it is async") }
      if shape.isDifferentiable { throw FunctionProblem(description: "it is differentiable") }
      guard let convention = shape.convention else { throw FunctionProblem(description: "its convention is not known") }
      if type.form == .declared, convention == .swift {
        throw FunctionProblem(
          description: "how it takes its arguments is settled by the generic declaration it belongs to, in a way not known here")
      }
      if convention == .block { throw FunctionProblem(description: "it is a block, whose layout belongs to another runtime") }
      var planner = FunctionPlanner(form: convention == .swift ? type.form : .natural, convention: convention)
      return .success(try planner.make(type, shape))
    } catch { return .failure(error) }
  }

  private init(form: ClosureForm, convention: FunctionShape.Convention) {
    self.form = form
    self.convention = convention
  }

  /// - Parameter index: of a parameter; the result's is their number.
  private func isByAddress(_ index: Int) -> Bool {
    switch form {
    case .natural, .declared: false
    case .general: true
    case .mixed(let flags): flags[index]
    }
  }

  private mutating func make(_ type: TypeInfo, _ shape: FunctionShape) throws(FunctionProblem) -> FunctionPlan {
    let result = try result(shape)
    var arguments: [ArgumentPlan] = []
    for (index, parameter) in shape.parameters.enumerated() { arguments.append(try argument(parameter, isByAddress: isByAddress(index))) }
    let error = try typedError(shape, result)
    let plan = CallPlan(
      arguments: arguments, selfPlan: .none, result: result,
      thrown: !shape.isThrowing ? .never : shape.thrown.map { .typed(.unknown(_typeName($0.type, qualified: true))) } ?? .any,
      stack: StackArguments(bytes: 8 * places.slots, isKnown: true), isExact: true,
      of: Declaration(kind: .function, module: "", name: "closure"))
    return FunctionPlan(type: type, shape: shape, call: plan, error: error)
  }

  // MARK: Arguments

  private mutating func argument(_ parameter: FunctionShape.Parameter, isByAddress: Bool) throws(FunctionProblem) -> ArgumentPlan {
    let info = try info(parameter.type, isGeneral: isByAddress)
    var plan = ArgumentPlan(label: nil, type: .unknown(info.name), info: info, location: .unknown(""))
    plan.isInout = parameter.ownership == .inout
    plan.isOwned = parameter.ownership == .owned
    if isByAddress || plan.isInout {
      let place = places.takeInteger()
      // Nobody gives a value without bytes an address: the register holds anything.
      plan.location = info.size == 0 ? .pieces([]) : .address(place)
    } else if convention == .c {
      plan.location = .pieces(try cPieces(info))
    } else {
      plan.location = try natural(info)
    }
    return plan
  }

  /// A tuple is one argument for each element, nested ones too.
  private mutating func natural(_ info: TypeInfo) throws(FunctionProblem) -> Location {
    if case .metatype = info.metadata.kind { throw FunctionProblem(description: "it takes a metatype") }
    guard case .tuple = info.metadata.kind else {
      return places.take(info.passing)
    }
    var parts: [ValuePart] = []
    for (offset, part) in try leaves(of: info, at: 0) {
      parts.append(ValuePart(offset: offset, size: part.size, location: try natural(part).moved(by: offset)))
    }
    return Location(joining: parts)
  }

  /// A C function takes what both conventions put in the same place: one integer, pointer or floating point number.
  private mutating func cPieces(_ info: TypeInfo) throws(FunctionProblem) -> [Piece] {
    guard case .direct(let scalars) = info.passing, scalars.count <= 1, scalars.allSatisfy({ $0.size <= 8 && $0.kind != .extended }) else {
      throw FunctionProblem(description: "it is a C function that takes or returns '\(info.name)'")
    }
    guard case .pieces(let pieces) = places.take(info.passing) else { return [] }
    return pieces
  }

  private func info(_ metadata: Metadata, isGeneral: Bool = false) throws(FunctionProblem) -> TypeInfo {
    switch TypeResolver.shared.type(of: metadata) {
    case .success(let info): return isGeneral ? TypeResolver.shared.general(info) : info
    case .failure(let problem): throw FunctionProblem(description: problem.description)
    }
  }

  // MARK: Error and result

  /// In the integer result registers, where both the result and the error leave it at that; through a pointer behind
  /// all arguments where a part of the result is in memory, or the error has floating point parts or over four words.
  private mutating func typedError(_ shape: FunctionShape, _ result: ResultPlan) throws(FunctionProblem) -> (TypeInfo, Location)? {
    guard let thrown = shape.thrown else { return nil }
    let info = try info(thrown, isGeneral: form == .general)
    if form != .general, case .pieces = result.location, case .direct(let scalars) = info.passing,
      scalars.allSatisfy({ $0.kind == .integer || $0.kind == .opaque })
    {
      return (info, PlaceAllocator.returned(info.passing))
    }
    return (info, .address(places.takeInteger()))
  }

  private mutating func result(_ shape: FunctionShape) throws(FunctionProblem) -> ResultPlan {
    let isGeneral = isByAddress(shape.parameters.count)
    let info = try info(shape.result, isGeneral: isGeneral)
    let isVoid = if case .void = info.kind { true } else { false }
    var plan = ResultPlan(type: isVoid ? .tuple([]) : .unknown(info.name), info: info, location: .address(.indirectResult))
    if isGeneral { return plan }
    if convention == .c {
      var results = FunctionPlanner(form: .natural, convention: .c)
      _ = try results.cPieces(info)
    } else if case .metatype = info.metadata.kind {
      throw FunctionProblem(description: "it returns a metatype")
    } else if case .tuple = info.metadata.kind, info.scalars == nil {
      plan.location = try tupleResult(info)
      return plan
    }
    plan.location = PlaceAllocator.returned(info.passing)
    if plan.location.isOnX87 { throw FunctionProblem(description: Self.onX87) }
    if case .unknown(let reason) = plan.location { throw FunctionProblem(description: "its result is \(reason)") }
    return plan
  }

  private static let onX87 = "its result is returned on the x87 stack"

  /// The elements are results of their own: address-only ones go through pointers that come before all arguments (in rax
  /// when there is no other result), the rest is returned as one tuple.
  private mutating func tupleResult(_ tuple: TypeInfo) throws(FunctionProblem) -> Location {
    let leaves = try leaves(of: tuple, at: 0)
    if leaves.count == 1 { return .address(.indirectResult) }
    var parts: [ValuePart] = []
    var scalars: [Scalar] = []
    var sources: [(span: Range<Int>, leaf: Int)] = []
    var end = 0
    for (index, leaf) in leaves.enumerated() {
      guard let own = leaf.info.scalars else {
        parts.append(ValuePart(offset: leaf.offset, size: leaf.info.size, location: .address(places.takeInteger())))
        continue
      }
      let begin = (end + leaf.info.alignment - 1) / leaf.info.alignment * leaf.info.alignment
      end = begin + leaf.info.size
      scalars += own.map { $0.moved(by: begin) }
      sources.append((begin..<end, index))
    }
    let packed = PlaceAllocator.returned(AggregateLowering.lower(scalars))
    if packed.isOnX87 { throw FunctionProblem(description: Self.onX87) }
    if case .unknown(let reason) = packed { throw FunctionProblem(description: "its result is \(reason)") }
    for source in sources where !source.span.isEmpty { parts.append(packed.part(source.span, movedTo: leaves[source.leaf].offset)) }
    return .parts(parts)
  }

  private func leaves(of tuple: TypeInfo, at offset: Int) throws(FunctionProblem) -> [(offset: Int, info: TypeInfo)] {
    var all: [(offset: Int, info: TypeInfo)] = []
    for element in tuple.metadata.tupleElements {
      let part = try info(element.metadata)
      if case .tuple = element.metadata.kind {
        all += try leaves(of: part, at: offset + element.offset)
      } else {
        all.append((offset + element.offset, part))
      }
    }
    return all
  }
}
