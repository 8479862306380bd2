// Subscription — one `notification.on`: a closure of ours that the program's NotificationCenter calls.
//
// A center knows the sender that an observer is for by its address alone, and the observer outlives it: what comes to that address later
// would be taken for it. So subscriptions are made for all senders, those of one object compare it by a weak reference, and end with it.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
private import Synchronization

/// Any thread.
final class Subscription: ClosureBody, @unchecked Sendable {
  // Set in init, but for what is atomic or has a lock; `patch` and `object` are weak, which the runtime makes safe on all threads.
  private weak var patch: Environment?
  private weak var object: AnyObject?
  private let hasObject: Bool
  private let objectType: String
  private let function: SHLRef
  let name: String
  /// Where the script made it: `cart.lua:3`.
  let place: String
  private let center: NotificationCenterCalls
  private let breaker = Breaker()
  private let isOver = Atomic<Bool>(false)
  /// What the center gave for it.
  private let token = Mutex<Token?>(nil)
  private struct Token: @unchecked Sendable { let object: AnyObject }  // only passed on

  /// - Parameter function: a reference that this object forgets when it ends.
  init(_ name: String, _ function: SHLRef, of patch: Environment, object: AnyObject?, _ center: NotificationCenterCalls, place: String) {
    self.patch = patch
    self.object = object
    hasObject = object != nil
    objectType = object.map { Instance.typeName(UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())) } ?? ""
    self.function = function
    self.name = name
    self.place = place
    self.center = center
  }

  deinit { if let patch { shl_forget(patch.state, function) } }

  var hasEnded: Bool { isOver.load(ordering: .relaxed) }

  /// Subscribes; answers why it cannot. Not with the state's lock held.
  func begin() -> String? {
    let plan: FunctionPlan
    switch FunctionPlans.shared.plan(center.observerType) {
    case .success(let known): plan = known
    case .failure(let problem): return "no observer can be made: \(problem)"
    }
    guard plan.call.argumentCount == 1, plan.call.resultIsVoid, !plan.call.arguments[0].isOwned, plan.call.arguments[0].info != nil else {
      return "the observers of this Foundation are not those that are known"
    }
    guard let made = center.subscribe(to: name, HostClosure.make(plan, self)) else { return "the center gave nothing for an observer" }
    token.withLock { $0 = Token(object: made) }
    if let object {
      // Where the end of the object cannot be seen as it happens, the next notification finds out.
      _ = ObjectEndings.watch(object) { [weak self] in self?.objectEnded() }
    }
    return nil
  }

  /// No call begins any more; the center lets go of it. False when it had ended. Not where a lock of the center may be held.
  @discardableResult
  func end() -> Bool {
    guard !isOver.exchange(true, ordering: .relaxed) else { return false }
    leave()
    return true
  }

  private func leave() {
    let token = token.withLock { token in
      defer { token = nil }
      return token
    }
    if let token { center.remove(token.object) }
  }

  /// On whatever thread ended the object, which may hold a lock of the center: that is left on the patch's own thread.
  private func objectEnded() {
    guard !isOver.exchange(true, ordering: .relaxed) else { return }
    tellEnd()
    patch?.timers.soon { [self] in leave() }
  }

  private func tellEnd() {
    guard let patch else { return }
    let problem = "the object it was made for, a \(objectType), has ended"
    if let run = GuardRegistry.shared.active(.notifications) {
      run.hit("notification.on", problem, outcome: "the subscription to '\(name)' ended", script: place)
    } else {
      patch.log.guarded(
        GuardHit(
          guarded: .notifications, mode: .contain, selector: "notification.on", problem: problem,
          outcome: "the subscription to '\(name)' ended", site: place), owner: patch.id, count: 1)
    }
  }

  // MARK: A notification

  /// A notification arrives, as the block's argument. On the thread that posts it.
  func run(_ call: UnsafeMutablePointer<HKTCall>, _ plan: FunctionPlan) {
    guard !hasEnded, let patch, patch.isLive, !breaker.isOpen, let thread = call.pointee.thread, let info = plan.call.arguments[0].info else {
      return
    }
    if hasObject, object == nil { return objectEnded() }
    hkt_host_begin(thread)
    defer { hkt_host_end(thread) }
    CallView(call).reader.withMemory(plan.call.arguments[0].location, info, isResult: false) { memory in
      if hasObject {
        guard let object, let sender = Self.sender(memory, info), sender === object else { return }
      }
      deliver(memory, info, patch)
    }
  }

  /// Of a notification that lies at `memory`.
  private static func sender(_ memory: UnsafeRawPointer, _ info: TypeInfo) -> AnyObject? {
    guard let field = info.fields.first(where: { $0.name == "object" }), case .success(let type) = field.type, type.size == MemoryLayout<Any?>.size
    else { return nil }
    // The field is declared as `Any?`.
    guard let value = (memory + field.offset).assumingMemoryBound(to: Any?.self).pointee, Swift.type(of: value) is AnyClass else { return nil }
    return value as AnyObject
  }

  /// Calls the script's function with the notification at `memory`.
  private func deliver(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ patch: Environment) {
    let outcome = HostCall.run(function, of: patch) { scope, bridge in
      let table = shl_table_new(scope, 0, 3)
      guard table.tag == SHL_TABLE else { return [] }
      var name = self.name
      name.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { _ = shl_table_set_field(scope, table, "name", 4, shl_string($0.baseAddress, $0.count)) }
      }
      // Room for a small string.
      withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) { scratch in
        for (theirs, ours) in [("object", "object"), ("userInfo", "info")] {
          guard let field = info.fields.first(where: { $0.name == theirs }), case .success(let type) = field.type else { continue }
          let value = bridge.snapshot(memory + field.offset, type, scratch.baseAddress!)
          _ = ours.withCString { shl_table_set_field(scope, table, $0, ours.utf8.count, value) }
        }
      }
      return [table]
    }
    switch outcome {
    case .done: break
    case .skipped(let why): patch.skipped("notification \(name)", why)
    case .failed(let text, let isCostly):
      let instead = "the other observers are told"
      patch.failed(name, "notification.on", text, instead: instead)
      if isCostly ? breaker.open() : breaker.recordFailure() {
        patch.disabled(name, "notification.on", failures: isCostly ? 1 : breaker.limit, seconds: breaker.windowSeconds, instead: instead)
      }
    }
  }
}
