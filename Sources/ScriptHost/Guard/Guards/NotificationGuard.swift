// NotificationGuard — observers of Foundation's NotificationCenter that were made for an object, and are still there when it has ended.
//
// A center knows the object by its address alone: an observer that stays would be notified of what another object posts that comes to the same
// address. The object's end is seen as it happens; the center is asked to let go of the observer a moment later, on a thread of the guard's:
// whoever ends an object may hold a lock of the center. What scripts subscribe to ends with its object without the guard, which it is told by.
internal import CHookTrampoline
internal import HookRuntime
private import Synchronization

enum NotificationGuard {
  static func begin(_ run: GuardRun) throws(GuardProblem) {
    let type = "FoundationEssentials.NotificationCenter"
    guard case .success(let adding) = SelectorLookup.resolve("\(type).addObserver(forName:object:queue:using:)", suggesting: false),
      case .success(let taking) = SelectorLookup.resolve("\(type).removeObserver(_: Any)", suggesting: false)
    else {
      run.note("this program does not use Foundation, which has the notifications: subscriptions of scripts are all there is to watch")
      return
    }
    let observers = Observers(run)
    let made = run.install((adding + taking).map { HookRequest(image: $0, family: $1) }) { family in
      ObserverLayer(observers, isAdding: adding.contains { $0.1.key == family.key }).spec(run.owner)
    }
    guard made > 1 else { throw GuardProblem("guard 'notifications': \(run.notes.last ?? "the center's functions cannot be watched")") }
    run.watches(made)
  }
}

/// What observers there are for objects. Any thread.
private final class Observers: @unchecked Sendable {
  // Immutable, but for what has a lock; the run that these belong to keeps them.
  private weak var run: GuardRun?
  /// The key is the address of what the center gave for it.
  private let known = Mutex<[UInt: Token]>([:])
  /// One thread for all, made when an observer first outlives its object; nil: there is none, and observers stay.
  private static let worker: HostWorker? = {
    let worker = HostWorker("scripthost-end")
    return worker.start() == 0 ? worker : nil
  }()
  private struct Token: @unchecked Sendable { let object: AnyObject }  // only passed on

  init(_ run: GuardRun) { self.run = run }

  func add(_ token: AnyObject, for object: AnyObject, _ name: String, _ caller: UInt) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(token).toOpaque())
    let type = Instance.typeName(UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()))
    let held = Token(object: token)
    known.withLock { $0[address] = held }
    let isSeen = ObjectEndings.watch(object) { [weak self] in self?.ended(address, type, name, caller) }
    if !isSeen { known.withLock { _ = $0.removeValue(forKey: address) } }
  }

  func remove(_ address: UInt) {
    let token = known.withLock { $0.removeValue(forKey: address) }
    withExtendedLifetime(token) {}
  }

  private func ended(_ address: UInt, _ type: String, _ name: String, _ caller: UInt) {
    guard let token = known.withLock({ $0.removeValue(forKey: address) }), let run, run.isOn else { return }
    let isTaken = run.settings.mode != .report
    run.hit(
      "NotificationCenter.addObserver", "the observer of '\(name)' outlived the object it was made for, a \(type)",
      outcome: isTaken ? "the observer was removed" : "the observer stays", address: caller)
    if isTaken { Self.worker?.add { (try? NotificationCenterCalls.found())?.remove(token.object) } }
  }
}

/// Sees observers come and go.
private final class ObserverLayer: Sendable {
  private let observers: Observers
  private let isAdding: Bool

  init(_ observers: Observers, isAdding: Bool) {
    self.observers = observers
    self.isAdding = isAdding
  }

  func spec(_ owner: String) -> LayerSpec {
    LayerSpec(observerLayer, keeping: self, phases: UInt32(isAdding ? HKT_ON_EXIT : HKT_ON_ENTER), owner: owner, group: "guard notifications")
  }

  func call(_ call: UnsafeMutablePointer<HKTCall>) {
    let view = CallView(call)
    let plan = view.plan
    guard isAdding else {
      if let token = object(in: 0, view, plan, { $0.assumingMemoryBound(to: Any.self).pointee }) {
        observers.remove(UInt(bitPattern: Unmanaged.passUnretained(token).toOpaque()))
      }
      return
    }
    // The sender is borrowed from the caller until the call is over.
    guard let sender = object(in: 1, view, plan, { $0.assumingMemoryBound(to: Any?.self).pointee }), !view.didThrow, let info = plan.result.info,
      let word = view.reader.withMemory(plan.result.location, info, isResult: true, { $0.load(as: UInt.self) }), word != 0
    else { return }
    let name = view.reader.withMemory(plan.arguments[0].location, plan.arguments[0].info!, isResult: false) { memory in
      // An Optional of a struct of one text: it lies as an Optional text does.
      memory.assumingMemoryBound(to: String?.self).pointee ?? ""
    }
    // An existential of a protocol of classes begins with its object, which the result keeps.
    observers.add(Instance.value(word), for: sender, name ?? "", GuardSite.address(call))
  }

  /// The object in an argument that is declared as an `Any` or an Optional of one, which lie alike where there is a value.
  private func object(in index: Int, _ view: CallView, _ plan: CallPlan, _ load: (UnsafeRawPointer) -> Any?) -> AnyObject? {
    guard index < plan.argumentCount, let info = plan.arguments[index].info, info.size == MemoryLayout<Any>.size, !plan.arguments[index].isOwned,
      plan.arguments[index].location.isWhole
    else { return nil }
    return view.reader.withMemory(plan.arguments[index].location, info, isResult: false) { memory -> AnyObject? in
      guard let value = load(memory), type(of: value) is AnyClass else { return nil }
      return value as AnyObject
    } ?? nil
  }
}

private let observerLayer: HKTLayerFunction = { call, context, _ in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for this hook.
  Unmanaged<ObserverLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.call(call) }
  return HKT_HANDLED
}
