// DelegateMethods — records the calls on delegates at the methods that carry the requirements out, of every conforming type.
//
// No object stands between: this also serves protocols that nothing can be made to conform to. A delegate that hands a call
// on to another one of the same kind is one call.
internal import CHookTrampoline
internal import SwiftMangling
private import Synchronization

final class DelegateMethods: @unchecked Sendable {
  // `lock` guards what changes.
  private let lock = RecursiveLock()
  private let property: DelegateProperty
  private var tokens: [ObjectIdentifier: [HookToken]] = [:]

  init(_ property: DelegateProperty) { self.property = property }

  func install(_ recorder: DelegateRecorder) throws(NewTypeError) {
    var requests: [(HookRequest, requirement: String)] = []
    for proto in property.protocols.flatMap({ DelegateExplanation.closure(of: $0) }) {
      for name in DelegateExplanation.members(of: proto) where recorder.requirements?.contains(name) ?? true {
        guard case .success(let found) = SelectorLookup.resolve("\(proto.qualifiedName).\(name)", suggesting: false) else { continue }
        requests += found.map { (HookRequest(image: $0, family: $1), name) }
      }
    }
    let names = Dictionary(
      requests.map { ($0.0.family.imagePath + "\0" + $0.0.family.key, $0.requirement) }, uniquingKeysWith: { first, _ in first })
    let report = HookEngine.shared.install(requests.map(\.0)) { family in
      let requirement = names[family.imagePath + "\0" + family.key] ?? family.declaration.memberName
      let context = MethodContext(recorder, requirement, of: family.declaration.context)
      return LayerSpec(
        methodLayer, keeping: context,
        // Until its end a call is seen by those inside it.
        phases: UInt32(HKT_ON_ENTER | HKT_ON_EXIT), isHostWork: false, owner: "delegates")
    }
    if report.tokens.isEmpty {
      throw .delegates(
        property.selector,
        reason: report.refused.first.map { "'\($0.selector)': \($0.reason)" } ?? "no type of the program conforms to its protocols")
    }
    lock.withLock { tokens[ObjectIdentifier(recorder)] = report.tokens.map(\.token) }
  }

  func remove(_ recorder: DelegateRecorder) {
    let all = lock.withLock { tokens.removeValue(forKey: ObjectIdentifier(recorder)) } ?? []
    for token in all { HookEngine.shared.remove(token) }
  }
}

private final class MethodContext: Sendable {
  let recorder: DelegateRecorder
  let requirement: String
  private let callers: Callers

  init(_ recorder: DelegateRecorder, _ requirement: String, of type: NominalName?) {
    self.recorder = recorder
    self.requirement = requirement
    callers = Callers(of: type)
  }

  /// A method of a type that conforms runs: it is recorded, unless the type calls it itself or a call around it is recorded for it.
  func run(_ call: UnsafeMutablePointer<HKTCall>) {
    let caller = callers.kind(of: UInt(hkt_caller_stack(call)[-1]))
    if caller == .own || caller == .witness && isCarriedOut(call) || isHandedOn(call) { return }
    let target = CallView(call).selfObject.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
    recorder.record(DelegateCall(call, requirement, target: target))
  }

  /// Whether another delegate carries out this requirement around this call, with the same first argument.
  private func isHandedOn(_ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    var each = call.pointee.up
    for _ in 0..<Self.longestChain {
      guard let outer = each else { return false }
      if outer.pointee.frame.pointee.integer.0 == call.pointee.frame.pointee.integer.0,
        outer.pointee.frame.pointee.self_register != call.pointee.frame.pointee.self_register, isSameRequirement(outer)
      {
        return true
      }
      each = outer.pointee.up
    }
    return false
  }

  /// A witness that is hooked itself calls the method for it, on the same object: one that is no plain jump, as sanitizers make them.
  private func isCarriedOut(_ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    guard let outer = call.pointee.up else { return false }
    return outer.pointee.frame.pointee.integer.0 == call.pointee.frame.pointee.integer.0 && isSameRequirement(outer)
  }

  /// The call is one of those that are recorded here.
  private func isSameRequirement(_ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    call.pointee.layers.map { DelegateMethods.isRecorded($0, by: self) } ?? false
  }
  private static let longestChain = 32
}

private let methodLayer: HKTLayerFunction = { call, context, phase in
  // Retained for the layer.
  if phase == HKT_ENTER { Unmanaged<MethodContext>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.run(call!) } }
  return HKT_HANDLED
}

/// Who calls the members of a type.
private final class Callers: Sendable {
  enum Kind {
    /// Code of the type's own members: what those call on themselves, nobody else asked for.
    case own
    /// What the compiler made: witnesses.
    case witness
    case other
  }
  private let type: NominalName?
  private let known = Mutex<[UInt: Kind]>([:])

  init(of type: NominalName?) { self.type = type }

  /// - Parameter address: where a call returns to.
  func kind(of address: UInt) -> Kind {
    if let known = known.withLock({ $0[address] }) { return known }
    let function = CallerPlace.function(at: address)
    let found: Kind =
      switch function {
      case let function? where function.kind.isCompilerMade: .witness
      case let function? where function.context == type: .own
      default: .other
      }
    known.withLock { $0[address] = found }
    return found
  }
}

extension DelegateMethods {
  /// One of the layers records the requirement for the same one.
  fileprivate static func isRecorded(_ layers: UnsafeMutablePointer<HKTLayers>, by context: MethodContext) -> Bool {
    for index in 0..<layers.pointee.count {
      guard let other = hkt_layers_context(layers, index, methodLayer) else { continue }
      // The call in flight keeps its layers, and they their contexts.
      let found = Unmanaged<MethodContext>.fromOpaque(other).takeUnretainedValue()
      if found.recorder === context.recorder, found.requirement == context.requirement { return true }
    }
    return false
  }
}
