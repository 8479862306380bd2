// ZombieGuard — objects of chosen types that have ended stay in quarantine, where calls on them are seen.
//
// The runtime frees an object's memory when its last unowned reference is gone. One that is taken as its `deinit` begins keeps the
// memory, and with it the class and the counters, while everything else goes as ever: fields are released, weak references are nil,
// unowned ones trap. Calls on such an object come by the entries of the methods, where its state tells that it has ended.
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import SwiftMangling
private import Synchronization

enum ZombieGuard {
  static func begin(_ run: GuardRun) throws(GuardProblem) {
    guard !run.settings.types.isEmpty else {
      throw GuardProblem("guard 'zombies' needs 'types', such as { \"Shop.*Session\" }")
    }
    let found = Quarantine(run.settings) { [weak run] type, count in
      run?.hit(
        "\(type).deinit", "the object was released \(count) \(count == 1 ? "time" : "times") after its end", outcome: "the releases did nothing")
    }
    guard let quarantine = found else {
      throw GuardProblem("guard 'zombies': this Swift runtime has no unowned references")
    }
    run.add { quarantine.empty() }
    for pattern in run.settings.types {
      guard case .success(let endings) = SelectorLookup.resolve("\(pattern).deinit", suggesting: false) else {
        throw GuardProblem(
          "guard 'zombies': " + (SelectorLookup.typeProblem(pattern) ?? "no class that matches '\(pattern)' has a deinit that can be watched"))
      }
      tellOfLarge(endings, run)
      try watch(endings.filter { $0.1.declaration.contextKind == .classType }, pattern, quarantine, run)
    }
  }

  /// An object that is larger than the whole quarantine is freed as it ends.
  private static func tellOfLarge(_ endings: [(ImageCatalog, Family)], _ run: GuardRun) {
    var reported: Set<String> = []
    for (_, family) in endings {
      guard let context = family.declaration.context, reported.insert("\(context)").inserted,
        case .success(let type) = TypeResolver.shared.type(.nominal(context, kind: .classType, arguments: []))
      else { continue }
      let size = type.metadata.instanceSize
      if size > run.settings.byteLimit {
        run.tell("no object of '\(context)' is kept: it has \(size) bytes, and 'bytes' is \(run.settings.byteLimit)")
      }
    }
  }

  private static func watch(
    _ endings: [(ImageCatalog, Family)], _ pattern: String, _ quarantine: Quarantine, _ run: GuardRun
  ) throws(GuardProblem) {
    let hooked = run.install(endings.map { HookRequest(image: $0, family: $1) }) { _ in
      EndingLayer(run, quarantine).spec()
    }
    guard hooked > 0 else {
      throw GuardProblem("guard 'zombies': the end of '\(pattern)' cannot be watched; \(run.notes.last ?? "it is no class")")
    }
    guard case .success(let members) = SelectorLookup.resolve("\(pattern).**", suggesting: false, where: isMethod) else { return }
    var layers: [FamilyName: ZombieLayer] = [:]
    var requests: [HookRequest] = []
    for (image, family) in members {
      layers[FamilyName(family)] = ZombieLayer(run, quarantine, image, family)
      requests.append(HookRequest(image: image, family: family))
    }
    let made = layers
    run.watches(run.install(requests) { made[FamilyName($0)]!.spec() })
  }

  private static func isMethod(_ family: Family) -> Bool {
    let declaration = family.declaration
    guard declaration.contextKind == .classType, declaration.hasInstance else { return false }
    switch declaration.kind {
    case .`init`, .allocatingInit, .`deinit`, .deallocatingDeinit, .isolatedDeinit: return false
    default: return true
    }
  }
}

/// Objects that have ended, oldest first. Any thread.
final class Quarantine: Sendable {
  private struct Entry {
    let bytes: Int
    /// Its name is made where somebody is told.
    let type: Metadata
    let number: UInt64
    /// It has references that stand for releases too many.
    let hasSpares: Bool
  }
  /// So many releases of an object that has ended do nothing.
  private static let spareReferences: UInt32 = 1000
  private struct State {
    /// By address, with how deep in the chain of their classes' ends they are.
    var ending: [UInt: Int] = [:]
    var ended: [UInt: Entry] = [:]
    /// What was put in, in order; some are gone.
    var order: [(address: UInt, number: UInt64)] = []
    var head = 0
    var bytes = 0
    var number: UInt64 = 0
  }
  private typealias Count = @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
  private typealias Discount = @convention(c) (UnsafeMutableRawPointer) -> Void
  private typealias CountMany = @convention(c) (UnsafeMutableRawPointer, UInt32) -> UnsafeMutableRawPointer?

  private let state = Mutex(State())
  private let objectLimit: Int
  private let byteLimit: Int
  private let retain: Count
  private let release: Discount
  private let retainMany: CountMany
  /// Notified of an object that was released after its end: its type, and how often.
  private let overReleased: @Sendable (String, Int) -> Void

  /// Nil where the runtime's functions are not found.
  init?(_ settings: GuardSettings, overReleased: @escaping @Sendable (String, Int) -> Void) {
    guard let retain = dlsym(nil, "swift_unownedRetain"), let release = dlsym(nil, "swift_unownedRelease"),
      let retainMany = dlsym(nil, "swift_retain_n")
    else { return nil }
    // As the runtime's headers declare them.
    (self.retain, self.release) = (unsafeBitCast(retain, to: Count.self), unsafeBitCast(release, to: Discount.self))
    self.retainMany = unsafeBitCast(retainMany, to: CountMany.self)
    self.overReleased = overReleased
    // The newest one is never freed for the others' sake.
    objectLimit = max(1, settings.objectLimit / 10 * 9 + settings.objectLimit % 10 * 9 / 10)
    byteLimit = settings.byteLimit
  }

  /// An object's `deinit` begins, or that of a superclass of its.
  func begins(_ object: UnsafeMutableRawPointer) {
    let address = UInt(bitPattern: object)
    state.withLock { state in
      guard state.ended[address] == nil else { return }
      if state.ending[address] == nil { _ = retain(object) }
      state.ending[address, default: 0] += 1
    }
  }

  /// It is over. The object is held by the reference that `begins` took.
  /// - Parameter isFreed: its memory was given back. Where the caller does that, the runtime looks for references first.
  func ends(_ object: UnsafeMutableRawPointer, isFreed: Bool) {
    let address = UInt(bitPattern: object)
    let old = state.withLock { state -> [Old] in
      guard let depth = state.ending[address] else { return [] }
      if depth > 1 {
        state.ending[address] = depth - 1
        return []
      }
      state.ending[address] = nil
      // Its memory is there, and its class is what it was.
      let type = Metadata(object.load(as: UnsafeRawPointer.self))
      // Without these, a release too many would have the runtime end it a second time.
      if isFreed { _ = retainMany(object, Self.spareReferences) }
      state.number += 1
      state.ended[address] = Entry(bytes: type.instanceSize, type: type, number: state.number, hasSpares: isFreed)
      state.order.append((address, state.number))
      state.bytes += type.instanceSize
      return Self.surplus(&state, objectLimit, byteLimit)
    }
    free(old)
  }

  private typealias Old = (address: UInt, type: Metadata, hasSpares: Bool)

  /// Takes out the oldest ones until the rest is within the limits; they are the caller's to free.
  private static func surplus(_ state: inout State, _ objects: Int, _ bytes: Int) -> [Old] {
    var out: [Old] = []
    while state.head < state.order.count, state.ended.count > objects || state.bytes > bytes {
      let (address, number) = state.order[state.head]
      state.head += 1
      guard let entry = state.ended[address], entry.number == number else { continue }
      state.ended[address] = nil
      state.bytes -= entry.bytes
      out.append((address, entry.type, entry.hasSpares))
    }
    if state.head > 1024, state.head * 2 > state.order.count {
      state.order.removeFirst(state.head)
      state.head = 0
    }
    return out
  }

  private func free(_ objects: [Old]) {
    for old in objects {
      // Held until the release below.
      let object = UnsafeMutableRawPointer(bitPattern: old.address)!
      // Bits 33 to 62 count references; bit 63 says that they are counted elsewhere.
      let counters = object.load(fromByteOffset: 8, as: UInt64.self)
      let left = Int((counters << 1) >> 34)
      if old.hasSpares, counters >> 63 == 0, left < Int(Self.spareReferences) { overReleased(old.type.name, Int(Self.spareReferences) - left) }
      release(object)
    }
  }

  /// The type of an object that has ended; nil for one that lives.
  func type(of object: UnsafeRawPointer) -> String? {
    // Counters of objects: bit 32 says that the end has begun, bit 63 that they are elsewhere.
    let counters = object.load(fromByteOffset: 8, as: UInt64.self)
    guard counters & (1 << 32 | 1 << 63) != 0 else { return nil }
    return state.withLock { $0.ended[UInt(bitPattern: object)]?.type }?.name
  }

  /// Frees all.
  func empty() {
    free(state.withLock { state in
      defer { (state.ended, state.order, state.head, state.bytes) = ([:], [], 0, 0) }
      return state.ended.map { ($0.key, $0.value.type, $0.value.hasSpares) }
    })
  }

  var figures: (objects: Int, bytes: Int) { state.withLock { ($0.ended.count, $0.bytes) } }
}

/// The `deinit` of a watched class.
private final class EndingLayer: Sendable {
  private let run: GuardRun
  private let quarantine: Quarantine

  init(_ run: GuardRun, _ quarantine: Quarantine) { (self.run, self.quarantine) = (run, quarantine) }

  func spec() -> LayerSpec {
    LayerSpec(endingLayer, keeping: self, phases: UInt32(HKT_ON_ENTER | HKT_ON_EXIT), owner: run.owner, group: "guard zombies")
  }

  /// A `deinit` begins, or has ended: what it ran on goes into quarantine.
  func call(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase) {
    // The frame keeps what came in, also when the call is over.
    guard let thread = call.pointee.thread,
      let object = UnsafeMutableRawPointer(bitPattern: UInt(call.pointee.frame.pointee.self_register))
    else { return }
    if phase == HKT_EXIT { return quarantine.ends(object, isFreed: CallView(call).plan.freesSelf) }
    let address = UInt64(UInt(bitPattern: object))
    // What the compiler put into a frame goes with it.
    if address >= thread.pointee.stack_low, address < thread.pointee.stack_high { return }
    if run.isOn { quarantine.begins(object) }
  }
}

private let endingLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for this hook.
  Unmanaged<EndingLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.call(call, phase) }
  return HKT_HANDLED
}

/// A method of a watched class. What it takes and returns is found out at its first call, and what can be answered at its first hit: of the
/// thousands that are watched few are called, and fewer are hit.
private final class ZombieLayer: Sendable {
  private let run: GuardRun
  private let quarantine: Quarantine
  private let image: ImageCatalog
  private let family: Family
  private let isContaining: Bool
  private let found = Mutex<Found>(.nothingYet)

  private enum Found {
    case nothingYet
    /// Nil: nothing harmless can be returned.
    case answer(GuardAnswer?)
  }

  init(_ run: GuardRun, _ quarantine: Quarantine, _ image: ImageCatalog, _ family: Family) {
    (self.run, self.quarantine, self.image, self.family) = (run, quarantine, image, family)
    isContaining = run.settings.mode == .contain && !family.hasAsyncBodies && !family.declaration.isCoroutine
  }

  func spec() -> LayerSpec {
    LayerSpec(
      zombieLayer, keeping: self, phases: UInt32(isContaining ? HKT_ON_AROUND : HKT_ON_ENTER), readsValues: false, owner: run.owner,
      group: "guard zombies")
  }

  private var answer: GuardAnswer? {
    // The function's own body, and not a clone whose result belongs to somebody else.
    guard isContaining, let body = family.bodies.first else { return nil }
    let (answer, isNew) = found.withLock { found in
      if case .answer(let known) = found { return (known, false) }
      let made = GuardAnswer(family, image.plan(of: body, in: family))
      found = .answer(made)
      return (made, true)
    }
    if isNew, answer == nil { run.note("'\(family.selector)' is recorded only: nothing harmless can be returned in the place of its result") }
    return answer
  }

  /// A method begins: a hit where its object has ended.
  func call(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase) {
    guard let object = CallView(call).selfObject, let type = quarantine.type(of: object), run.isOn, run.includes(GuardSite.address(call)) else {
      if phase == HKT_AROUND { hkt_call_proceed(call) }
      return
    }
    let answer = answer
    run.hit(
      family.selector, "called on an object of \(type) that has ended", outcome: answer?.description ?? "the call went on",
      address: GuardSite.address(call))
    guard phase == HKT_AROUND else { return }
    if let answer { answer.put(call) } else { hkt_call_proceed(call) }
  }
}

private let zombieLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for this hook.
  Unmanaged<ZombieLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.call(call, phase) }
  return HKT_HANDLED
}
