// MainThreadGuard — calls of chosen functions on another thread than the main one: recorded, or moved to the main queue.
//
// A call can be moved where nobody waits for a result of it: its arguments are copied, its object is kept, and the main queue makes
// the call when it comes to that. All others are recorded and go on where they are.
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import SwiftMangling

enum MainThreadGuard {
  static func begin(_ run: GuardRun) throws(GuardProblem) {
    guard !run.settings.methods.isEmpty else {
      throw GuardProblem("guard 'main_thread' needs 'methods', the functions that belong on the main thread, such as { \"Shop.Window.*\" }")
    }
    var count = 0
    for text in run.settings.methods {
      switch SelectorLookup.resolve(text) {
      case .failure(let problem): throw GuardProblem("guard 'main_thread': \(problem)")
      case .success(let found):
        var layers: [FamilyName: MainThreadLayer] = [:]
        let isGlob = SelectorPattern(text).isGlob
        let requests = found.filter { !isGlob || isPlain($0.1) }.map { image, family in
          layers[FamilyName(family)] = MainThreadLayer(run, image, family)
          return HookRequest(image: image, family: family, mayChoose: true)
        }
        let made = layers
        let hooked = run.install(requests) { made[FamilyName($0)]!.spec() }
        if !isGlob, hooked == 0 { throw GuardProblem("guard 'main_thread': \(run.notes.last ?? "'\(text)' cannot be watched")") }
        count += hooked
      }
    }
    run.watches(count)
    guard count > 0 else { throw GuardProblem("guard 'main_thread': nothing that 'methods' names can be watched") }
  }

  /// Of a pattern: what may end anywhere, and accessors of storage, are not meant.
  private static func isPlain(_ family: Family) -> Bool {
    switch family.declaration.kind {
    case .`deinit`, .deallocatingDeinit, .isolatedDeinit: false
    default: !family.declaration.isCoroutine
    }
  }
}

/// One function that belongs on the main thread.
final class MainThreadLayer: @unchecked Sendable {
  // Immutable.
  private let run: GuardRun
  private let selector: String
  private let answer: GuardAnswer?
  private let callable: Callable?

  init(_ run: GuardRun, _ image: ImageCatalog, _ family: Family) {
    self.run = run
    selector = family.selector
    guard run.settings.mode == .contain, let body = family.bodies.first else {
      (answer, callable) = (nil, nil)
      return
    }
    let plan = image.plan(of: body, in: family)
    switch MovedCall.callable(family, plan) {
    case .success(let callable): (self.callable, answer) = (callable, GuardAnswer(family, plan))
    case .failure(let reason):
      (answer, callable) = (nil, nil)
      run.note("'\(family.selector)' is recorded only: \(reason.description)")
    }
  }

  private var moves: Bool { answer != nil && callable != nil }

  func spec() -> LayerSpec {
    LayerSpec(mainThreadLayer, keeping: self, phases: UInt32(moves ? HKT_ON_AROUND : HKT_ON_ENTER), owner: run.owner, group: "guard main_thread")
  }

  fileprivate func call(_ call: UnsafeMutablePointer<HKTCall>, _ phase: HKTPhase) {
    guard let thread = call.pointee.thread, thread.pointee.tid != getpid(), run.isOn, !MainQueue.isCurrent,
      run.includes(GuardSite.address(call))
    else {
      if phase == HKT_AROUND { hkt_call_proceed(call) }
      return
    }
    let problem = "called on thread \(thread.pointee.tid), not on the main thread"
    if phase == HKT_AROUND, let callable, let answer, let queue = MainQueue.shared, let moved = MovedCall(call, callable) {
      run.hit(selector, problem, outcome: "moved to the main queue", address: GuardSite.address(call))
      answer.put(call)
      queue.add { moved.make() }
      return
    }
    run.hit(selector, problem, outcome: "went on where it was", address: GuardSite.address(call))
    if phase == HKT_AROUND { hkt_call_proceed(call) }
  }
}

private let mainThreadLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for this hook.
  Unmanaged<MainThreadLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.call(call, phase) }
  return HKT_HANDLED
}

/// A call that is made later: its function, its object and copies of its arguments, all owned.
final class MovedCall: @unchecked Sendable {
  // Handed from the thread that made the call to the main thread, once.
  private let callable: Callable
  private let block: UnsafeMutableRawPointer
  private let receiver: Unmanaged<AnyObject>?
  private let word: UInt

  /// The function as it can be called later, or why it cannot.
  static func callable(_ family: Family, _ plan: CallPlan) -> Result<Callable, GuardProblem> {
    if !plan.resultIsVoid { return .failure(GuardProblem("it returns a value, for which its caller waits")) }
    if plan.isAsync || plan.learnsTypesFromCalls { return .failure(GuardProblem("it is async or generic")) }
    if plan.mayThrow || plan.declaresError { return .failure(GuardProblem("it may throw, for which its caller looks")) }
    switch plan.selfPlan {
    case .none, .object, .metatype: break
    case .value, .unknown: return .failure(GuardProblem("its self is a value of the caller's"))
    }
    for argument in plan.arguments {
      guard let info = argument.info, argument.location.isWhole, !argument.isInout, info.isCopyable, !argument.hasMixedOwnership,
        !info.isBorrowedFunction, !info.isPointer
      else { return .failure(GuardProblem("an argument of it cannot be kept for later")) }
    }
    do throws(CallError) {
      let callable = try CallableLookup.shared.callable(family.selector)
      guard callable.argumentCount == plan.argumentCount, !callable.hasInout, !callable.isGeneric else {
        return .failure(GuardProblem("its arguments are not all known"))
      }
      return .success(callable)
    } catch { return .failure(GuardProblem("it cannot be called by name: \(error)")) }
  }

  /// Copies what the call was given; nil where that is not there.
  init?(_ call: UnsafeMutablePointer<HKTCall>, _ callable: Callable) {
    let view = CallView(call)
    let plan = view.plan
    self.callable = callable
    let room = UnsafeMutableRawPointer.allocate(byteCount: max(callable.blockBytes, 16), alignment: 16)
    room.initializeMemory(as: UInt8.self, repeating: 0, count: max(callable.blockBytes, 16))
    block = room
    var made = 0
    for (index, argument) in plan.arguments.enumerated() {
      guard let info = argument.info,
        view.reader.withMemory(
          argument.location, info, isResult: false, { info.metadata.initialize(room + callable.arguments[index].offset, copying: $0) }) != nil
      else { break }
      made += 1
    }
    guard made == plan.argumentCount else {
      for index in 0..<made { plan.arguments[index].info?.metadata.destroy(room + callable.arguments[index].offset) }
      room.deallocate()
      return nil
    }
    if let object = view.selfObject {
      // The caller's reference keeps it until this one does.
      receiver = Unmanaged<AnyObject>.fromOpaque(object).retain()
      word = UInt(bitPattern: object)
    } else {
      receiver = nil
      if case .metatype = plan.selfPlan { word = UInt(call.pointee.frame.pointee.self_register) } else { word = 0 }
    }
  }

  /// Makes the call; once.
  func make() {
    var entry = callable.entry
    if let object = UnsafeRawPointer(bitPattern: word), receiver != nil {
      entry = VirtualCall.entry(of: callable, for: Metadata(object.load(as: UnsafeRawPointer.self)))
    }
    // The arguments are given away; nothing is returned, and nothing is thrown.
    _ = callable.run(block, receiver: word, entry: entry, result: nil)
    block.deallocate()
    receiver?.release()
  }
}
