// DelegateCenter — all that is done about one property: its hooks and proxies, for as many as record its calls.
internal import CHookTrampoline
internal import SwiftMangling
private import Synchronization

final class DelegateCenter: @unchecked Sendable {
  // Set in init, but for what is behind `lock` or atomic.
  let way: DelegateWatch.Way
  private(set) var explanation = ""
  private let property: DelegateProperty
  private var proxies: DelegateProxies!
  private var methods: DelegateMethods?
  private let place: CallerPlace
  private let lock = RecursiveLock()
  /// Behind `lock`; calls read `recorders`, which is replaced whole.
  private var tokens: [HookToken] = []
  private let recorders = Mutex<[DelegateRecorder]>([])

  // MARK: Finding one

  private static let lock = RecursiveLock()
  nonisolated(unsafe) private static var known: [String: DelegateCenter] = [:]  // behind `lock`

  /// One for each property and way, so that nothing is wrapped twice.
  static func of(_ selector: String, way: DelegateWatch.Way?) throws(NewTypeError) -> DelegateCenter {
    try lock.withLock { () throws(NewTypeError) in
      let key = selector + (way == .methods ? "/methods" : "")
      if let center = known[key] { return center }
      let made: DelegateCenter
      do throws(DelegateProblem) { made = try DelegateCenter(selector, way) } catch {
        throw .delegates(selector, reason: error.description)
      }
      known[key] = made
      return made
    }
  }

  private init(_ selector: String, _ wanted: DelegateWatch.Way?) throws(DelegateProblem) {
    property = try DelegateProperty(selector)
    place = CallerPlace(property)
    let problem = wanted == .methods ? nil : property.problem() ?? Self.problem(of: property.protocols)
    if let problem, wanted == .proxy { throw problem }
    way = wanted == .methods || problem != nil ? .methods : .proxy
    proxies = DelegateProxies(property) { [unowned self] call, entry, behaviour in record(call, entry, behaviour) }
    explanation = DelegateExplanation.text(property, way: way, problem: problem)
  }

  /// Why no class can be made that stands for values of these protocols.
  private static func problem(of protocols: [ProtocolDescriptor]) -> DelegateProblem? {
    do throws(NewTypeError) {
      _ = try ConformingClass.forwarding(protocols, besides: [])
      return nil
    } catch { return .other(error.description) }
  }

  var proxyCount: Int { proxies.count }
  var refusedCycles: Int { proxies.cycles }

  // MARK: Recorders

  func add(_ requirements: [String]?, _ record: @escaping DelegateRecorder.Record) throws(NewTypeError) -> DelegateRecorder {
    try lock.withLock { () throws(NewTypeError) in
      for name in requirements ?? [] { try check(name) }
      let recorder = DelegateRecorder(requirements, record)
      try install(for: recorder)
      recorders.withLock { $0.append(recorder) }
      return recorder
    }
  }

  func remove(_ recorder: DelegateRecorder) {
    lock.withLock {
      let isLast = recorders.withLock { recorders in
        recorders.removeAll { $0 === recorder }
        return recorders.isEmpty
      }
      methods?.remove(recorder)
      if isLast { giveBack() }
    }
  }

  func family(_ requirement: String) throws(NewTypeError) -> Family {
    try check(requirement)
    for proto in property.protocols.flatMap({ DelegateExplanation.closure(of: $0) }) {
      for known in ProtocolLayout.of(proto, name: proto.qualifiedName).requirements {
        if let declaration = known.declaration, declaration.memberName == requirement { return .standing(for: declaration) }
      }
    }
    throw .requirement(requirement, of: property.selector, reason: "its protocols have no such requirement")
  }

  private func check(_ requirement: String) throws(NewTypeError) {
    let known = DelegateExplanation.requirements(of: property.protocols)
    if known.contains(requirement) { return }
    let near = EditDistance.closest(known, to: requirement, most: 1)
    throw .requirement(
      requirement, of: property.selector,
      reason: "its protocols have no such requirement"
        + (near.isEmpty ? "; they have \(known.joined(separator: ", "))" : "; did you mean '\(near[0])'?"))
  }

  /// Shows a call on a proxy to all who record its requirement.
  private func record(_ call: UnsafeMutablePointer<HKTCall>, _ entry: RequirementEntry, _ behaviour: Behaviour) {
    let all = recorders.withLock { $0 }.filter { $0.requirements?.contains(entry.name) ?? true }
    if all.isEmpty { return }
    // Who records is shown the delegate, not what stands before it.
    let frame = call.pointee.frame!
    let proxy = frame.pointee.self_register
    let target = behaviour.target
    if let target { frame.pointee.self_register = UInt64(UInt(bitPattern: Unmanaged.passUnretained(target).toOpaque())) }
    for recorder in all { recorder.record(DelegateCall(call, entry, behaviour, target: target)) }
    frame.pointee.self_register = proxy
  }

  // MARK: Hooks

  private func install(for recorder: DelegateRecorder) throws(NewTypeError) {
    switch way {
    case .methods:
      let methods = methods ?? DelegateMethods(property)
      self.methods = methods
      try methods.install(recorder)
    case .proxy where tokens.isEmpty: try installAccessors()
    case .proxy: break
    }
  }

  /// The setter puts proxies in, the getter takes them off: both, or none.
  private func installAccessors() throws(NewTypeError) {
    Behaviour.proxiesStand()
    // The center is kept for ever, and so is what its layers are given.
    let context = Unmanaged.passUnretained(self).toOpaque()
    func layers(_ function: @escaping HKTLayerFunction, _ phases: Int) -> (Family) -> LayerSpec {
      { _ in LayerSpec(function: function, context: context, phases: UInt32(phases), priority: .max, isHostWork: true, owner: "delegates") }
    }
    let set = HookEngine.shared.install(
      property.setter.map { HookRequest(image: $0, family: $1) }, atomically: true, layer: layers(setterLayer, HKT_ON_AROUND))
    if let (name, reason) = set.refused.first {
      throw .delegates(property.selector, reason: "its setter '\(name)' cannot be hooked: \(reason)")
    }
    tokens = set.tokens.map(\.token)
    // A getter that is nowhere called needs no hook.
    let get = HookEngine.shared.install(
      property.getter.map { HookRequest(image: $0, family: $1) }, atomically: true, layer: layers(getterLayer, HKT_ON_EXIT))
    tokens += get.tokens.map(\.token)
    // An override that cannot be hooked goes on to these.
    for (kind, function, phases) in [(EntityKind.setter, setterLayer, HKT_ON_AROUND), (.getter, getterLayer, HKT_ON_EXIT)] {
      let subclasses = property.subclasses.filter { $0.family.declaration.kind == kind }
      let report = HookEngine.shared.install(
        subclasses.map { HookRequest(image: $0.image, family: $0.family) }, layer: layers(function, phases))
      tokens += report.tokens.map(\.token)
    }
    if let (name, reason) = get.refused.first, !property.getter.allSatisfy({ $0.1.bodies.isEmpty }) {
      for token in tokens { HookEngine.shared.remove(token) }
      tokens = []
      throw .delegates(property.selector, reason: "its getter '\(name)' cannot be hooked, so it would show the proxy: \(reason)")
    }
  }

  /// Nobody records any more: weak slots get their targets back. Where some cannot, the getter goes on taking proxies off.
  private func giveBack() {
    proxies.silence()
    guard way == .proxy, property.isWeak, property.field != nil else { return }
    for (owner, proxy, target) in proxies.owners() { replace(proxy, by: target, in: owner) }
    for token in tokens { HookEngine.shared.remove(token) }
    tokens = []
  }

  // MARK: Slots in memory

  /// Puts `object` into the owner's weak slot, if `former` is there.
  private func replace(_ former: AnyObject, by object: AnyObject?, in owner: UInt) {
    guard let field = property.field, let memory = UnsafeMutableRawPointer(bitPattern: owner) else { return }
    let slot = memory + field.offset
    guard let held = RuntimeReferences.loadWeak(slot) else { return }
    let isThere = held == Unmanaged.passUnretained(former).toOpaque()
    ProgramCall.release(UInt(bitPattern: held))
    guard isThere else { return }
    let object = object.map { Unmanaged.passUnretained($0).toOpaque() }
    if let object, let tables = tables(of: object) {
      for (index, table) in tables.enumerated() { slot.storeBytes(of: table, toByteOffset: 8 + 8 * index, as: UnsafeRawPointer.self) }
    }
    RuntimeReferences.assignWeak(slot, object)
    // Held until the slot has the other one.
    proxies.forget(Unmanaged<AnyObject>.fromOpaque(memory).takeUnretainedValue())
  }

  func adopt(_ owner: AnyObject) -> Bool {
    lock.withLock {
      let memory = Unmanaged.passUnretained(owner).toOpaque()
      guard way == .proxy, property.isWeak, let field = property.field,
        Metadata(memory.load(as: UnsafeRawPointer.self)).isSubclass(of: property.owner),
        let held = RuntimeReferences.loadWeak(memory + field.offset)
      else { return false }
      let target = Unmanaged<AnyObject>.fromOpaque(held).takeRetainedValue()
      if proxies.wasRefused(target, for: owner) { return false }
      guard let proxy = proxies.proxy(for: target, of: owner) else { return false }
      let pointer = Unmanaged.passUnretained(proxy).toOpaque()
      guard let tables = tables(of: pointer) else { return false }
      let slot = memory + field.offset
      for (index, table) in tables.enumerated() { slot.storeBytes(of: table, toByteOffset: 8 + 8 * index, as: UnsafeRawPointer.self) }
      RuntimeReferences.assignWeak(slot, pointer)
      return true
    }
  }

  /// The object's witness tables for the property's protocols; nil where it lacks one.
  private func tables(of object: UnsafeRawPointer) -> [UnsafeRawPointer]? {
    let type = Metadata(object.load(as: UnsafeRawPointer.self))
    let tables = property.protocols.compactMap { type.conformance(to: $0) }
    return tables.count == property.protocols.count ? tables : nil
  }

  // MARK: Calls of the accessors

  /// The property's setter runs: what is set is put behind a proxy.
  fileprivate func set(_ call: UnsafeMutablePointer<HKTCall>) {
    let owner = CallView(call).selfObject
    replaceValue(call)
    hkt_call_proceed(call)
    // An observer of the property may have put another object there, which goes past the setter.
    guard property.isWeak, let owner, !recorders.withLock({ $0.isEmpty }) else { return }
    _ = adopt(Unmanaged<AnyObject>.fromOpaque(owner).takeUnretainedValue())
  }

  /// Puts a proxy in the place of the value that is set.
  private func replaceValue(_ call: UnsafeMutablePointer<HKTCall>) {
    let view = CallView(call)
    let plan = view.plan
    guard let argument = plan.arguments.first, let owner = view.selfObject, argument.isReplaceable, let info = argument.info,
      let object = view.reader.withMemory(argument.location, info, isResult: false, { DelegateProperty.object($0) })
    else { return }
    // The caller keeps its object for the call.
    let ownerObject = Unmanaged<AnyObject>.fromOpaque(owner).takeUnretainedValue()
    guard let pointer = UnsafeRawPointer(bitPattern: object) else { return proxies.forget(ownerObject) }
    if recorders.withLock({ $0.isEmpty }) { return proxies.forget(ownerObject) }
    let value = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
    guard let proxy = proxies.proxy(for: value, of: ownerObject) else { return }
    let proxyPointer = Unmanaged.passUnretained(proxy).toOpaque()
    guard let tables = tables(of: proxyPointer) else { return }
    // The value in the frame ends with the replacement: what it was lives until the setter is over, as it would have.
    let kept = OwnedValue(uninitialized: info)
    _ = view.reader.withMemory(argument.location, info, isResult: false) { info.metadata.initialize(kept.memory, copying: $0) }
    let writer = ValueWriter(call)
    writer.keepUntilEnd(kept)
    writer.replace(argument, with: property.value(UInt(bitPattern: proxyPointer), tables: tables))
  }

  /// The property's getter runs: a proxy that it returns is replaced by what was set.
  fileprivate func get(_ call: UnsafeMutablePointer<HKTCall>) {
    let view = CallView(call)
    let result = view.plan.result
    guard view.thrownError == 0, let info = result.info, result.isReplaceable,
      let object = view.reader.withMemory(result.location, info, isResult: true, { DelegateProperty.object($0) }),
      let pointer = UnsafeRawPointer(bitPattern: object), let behaviour = Behaviour.of(pointer), behaviour.isProxy
    else { return }
    let target = behaviour.target
    // A proxy whose target is gone is nobody's delegate.
    if target != nil, place.isInside(UInt(hkt_caller_stack(call)[-1])) { return }
    let replacement: OwnedValue
    if let target {
      let pointer = Unmanaged.passUnretained(target).toOpaque()
      guard let tables = tables(of: pointer) else { return }
      replacement = property.value(UInt(bitPattern: pointer), tables: tables)
    } else {
      guard property.isOptional else { return }
      replacement = property.value(0, tables: [])
    }
    let writer = ValueWriter(call)
    writer.retireResult(result)
    writer.setResult(result, to: replacement)
  }
}

private let setterLayer: HKTLayerFunction = { call, context, _ in
  // Centers are kept for ever.
  Unmanaged<DelegateCenter>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.set(call!) }
  return HKT_HANDLED
}

private let getterLayer: HKTLayerFunction = { call, context, _ in
  // Centers are kept for ever.
  Unmanaged<DelegateCenter>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.get(call!) }
  return HKT_HANDLED
}
