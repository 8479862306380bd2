// Behaviour — what one object of a conforming class does for its protocols: handlers, and who answers everything else.
internal import CHookTrampoline
private import Synchronization

/// The class that implementations inherit from. It has no properties: the subclass's first one, `behaviour`, is the object's.
package class ImplementationObject {
  // Instances are allocated by `Behaviour.object` alone, which makes their only property.
  private init() {}
}

package final class Behaviour: @unchecked Sendable {
  // Set in init, but for `isSilent` and `depth`, which are atomic, and `weakTarget`, which the runtime makes safe.
  package let type: ConformingClass
  private let strongTarget: AnyObject?
  private weak var weakTarget: AnyObject?
  package let holdsTargetWeakly: Bool
  package let isProxy: Bool
  /// The key is the position in the class's entries.
  private let handlers: [Int: LayerLifetime]
  /// Sees every call before anybody answers it; may be nil.
  private let observer: Observer?
  /// The target's tables, in the order of the class's protocols.
  let targetTables: [UnsafeRawPointer]
  private let silent = Atomic<Bool>(false)

  /// Sees a call. Runs on the caller's thread.
  typealias Observer = @Sendable (UnsafeMutablePointer<HKTCall>, RequirementEntry, Behaviour) -> Void

  /// - Parameters:
  ///   - handlers: `around` layers by requirement.
  ///   - target: answers what has no handler. Its class conforms to all protocols.
  ///   - isProxy: the object stands before its target, and nobody is to know.
  init(
    _ type: ConformingClass, handlers: [(requirement: String, spec: LayerSpec)] = [], target: AnyObject? = nil, weakly: Bool = false,
    isProxy: Bool = false, observer: Observer? = nil
  ) throws(NewTypeError) {
    self.type = type
    self.isProxy = isProxy
    self.observer = observer
    holdsTargetWeakly = weakly
    strongTarget = weakly ? nil : target
    var table: [Int: LayerLifetime] = [:]
    var problem: NewTypeError?
    for (name, spec) in handlers {
      let lifetime = LayerLifetime(spec, countsCalls: false)
      switch type.entry(name) {
      case .success(let entry): table[entry.position] = lifetime
      case .failure(let error): problem = problem ?? error
      }
    }
    self.handlers = table
    var tables: [UnsafeRawPointer] = []
    if let target, problem == nil {
      let metadata = Metadata(Unmanaged.passUnretained(target).toOpaque().load(as: UnsafeRawPointer.self))
      for layout in type.layouts {
        guard let found = metadata.conformance(to: layout.descriptor) else {
          problem = .conformance(layout.name, reason: "the target, a '\(metadata.name)', does not conform to it")
          break
        }
        tables.append(found)
      }
    }
    targetTables = tables
    weakTarget = weakly ? target : nil
    if let problem { throw problem }
    if target == nil, let missing = unanswered.first {
      throw .conformance(
        missing.layout.name,
        reason: "'\(missing.name)' returns a value, so it needs a handler: nothing else can answer it")
    }
  }

  /// Requirements that nobody answers, and whose callers expect a value.
  private var unanswered: [RequirementEntry] {
    type.entries.enumerated().filter { index, entry in
      handlers[index] == nil && entry.defaultBody == 0 && !entry.hasNeutralAnswer
    }.map(\.element)
  }

  /// A new object of the class that behaves so: see `init`.
  package static func object(
    _ type: ConformingClass, handlers: [(requirement: String, spec: LayerSpec)], target: AnyObject?, weakly: Bool
  ) throws(NewTypeError) -> AnyObject {
    try Behaviour(type, handlers: handlers, target: target, weakly: weakly).object()
  }

  /// A new object that behaves so. It owns this, and is the caller's.
  package func object() -> AnyObject {
    let memory = InstanceMaker.allocate(type.runtimeClass.metadata)
    memory.storeBytes(of: UInt(bitPattern: Unmanaged.passRetained(self).toOpaque()), toByteOffset: Self.offset, as: UInt.self)
    // A new native object with one reference.
    return Unmanaged<AnyObject>.fromOpaque(memory).takeRetainedValue()
  }

  /// Where objects keep their behaviour: behind the two words that every object begins with.
  static let offset = 16

  /// Nil for an object that was not made here.
  package static func of(_ object: UnsafeRawPointer) -> Behaviour? {
    let metadata = Metadata(object.load(as: UnsafeRawPointer.self))
    guard metadata.superclass == Metadata(ImplementationObject.self),
      let word = UnsafeRawPointer(bitPattern: object.load(fromByteOffset: offset, as: UInt.self))
    else { return nil }
    // Only `object` makes instances of subclasses of that class.
    return Unmanaged<Behaviour>.fromOpaque(word).takeUnretainedValue()
  }

  /// Who answers what has no handler, while it lives.
  package var target: AnyObject? { strongTarget ?? weakTarget }
  package var hasTarget: Bool { !targetTables.isEmpty }

  // MARK: What is shown of proxies

  /// From now on objects that are shown may be proxies.
  static func proxiesStand() { hkt_note_proxies() }

  /// The object that is meant by the one at `address`: what a proxy stands before, nil when that is gone.
  package static func behindProxy(_ address: UInt) -> UInt {
    guard let object = UnsafeRawPointer(bitPattern: address), let behaviour = of(object), behaviour.isProxy else { return address }
    // Alive as who refers to the proxy expects it to be; the proxy itself keeps no more.
    return behaviour.target.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
  }

  /// Puts the object that is meant in the place of a proxy, in a value of class-bound protocol type or an Optional of one.
  package static func showTarget(in value: OwnedValue) {
    guard hkt_has_proxies() else { return }
    var payload = value.info
    if case .optional(let wrapped) = payload.kind {
      guard value.info.metadata.enumTag(value.memory) == 0 else { return }
      payload = wrapped
    }
    guard case .existential = payload.kind, payload.metadata.existentialForm == .reference else { return }
    let proxy = value.memory.load(as: UInt.self)
    let target = behindProxy(proxy)
    guard target != proxy, let object = UnsafeRawPointer(bitPattern: target) else { return }
    let type = Metadata(object.load(as: UnsafeRawPointer.self))
    let protocols = payload.metadata.protocols
    let tables = protocols.compactMap { type.conformance(to: $0) }
    guard tables.count == protocols.count, payload.size == 8 * (1 + tables.count) else { return }
    _ = Unmanaged<AnyObject>.fromOpaque(object).retain()
    value.memory.storeBytes(of: target, as: UInt.self)
    for (index, table) in tables.enumerated() { value.memory.storeBytes(of: table, toByteOffset: 8 + 8 * index, as: UnsafeRawPointer.self) }
    ProgramCall.release(proxy)
  }

  /// Calls go on unobserved from now on.
  package func silence() { silent.store(true, ordering: .relaxed) }
  package var isSilent: Bool { silent.load(ordering: .relaxed) }

  /// The target's own implementation stands in its table; nil when that does not show, and where there is no target.
  func targetImplements(_ entry: RequirementEntry) -> Bool? {
    guard hasTarget, let target else { return nil }
    let type = Metadata(Unmanaged.passUnretained(target).toOpaque().load(as: UnsafeRawPointer.self))
    return entry.isImplemented(in: targetTables[entry.protocolIndex], by: type)
  }

  // MARK: A call

  /// Answers a call of a requirement by the handler it has, or lets it go on to the target.
  fileprivate func run(_ call: UnsafeMutablePointer<HKTCall>, _ entry: RequirementEntry) -> HKTOutcome {
    if let observer, !isSilent { observer(call, entry, self) }
    guard let handler = handlers[entry.position] else {
      hkt_call_proceed(call)
      return HKT_HANDLED
    }
    guard handler.spec.isHostWork, let thread = call.pointee.thread else {
      return handler.spec.function(call, handler.spec.context, HKT_AROUND)
    }
    hkt_host_begin(thread)
    defer { hkt_host_end(thread) }
    return handler.spec.function(call, handler.spec.context, HKT_AROUND)
  }

  /// The getter or setter of the property that the entry modifies has a handler.
  func handles(aPropertyOf entry: RequirementEntry) -> Bool {
    entry.accessors.contains { handlers[$0] != nil }
  }
}

/// The layer of every requirement; its context is the entry.
let requirementLayer: HKTLayerFunction = { call, context, _ in
  // The entry was retained for its synthesized method, which is never freed.
  let entry = Unmanaged<RequirementEntry>.fromOpaque(context!).takeUnretainedValue()
  let object = UnsafeRawPointer(bitPattern: UInt(call!.pointee.frame.pointee.self_register))!
  // Only objects that `Behaviour.object` made have this table.
  let behaviour = Unmanaged<Behaviour>.fromOpaque(object.load(fromByteOffset: Behaviour.offset, as: UnsafeRawPointer.self))
    .takeUnretainedValue()
  return behaviour.run(call!, entry)
}
