// ObserveAPI — observe(object, "title", function(change) … end): a script is notified of what is written to a property.
//
// `change` is a table: `object`, `path`, `old`, `new` (nil where the path leads to no value), `in_place`. What it holds is the
// script's own. The function runs on the thread that wrote, after the write.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge

/// One `observe`: its Lua function, and how often that failed.
final class LuaObservation: @unchecked Sendable {
  // Set before anything is reported, but for the breaker, which is atomic; `patch` is weak.
  private weak var patch: Environment?
  private let function: SHLRef
  let path: String
  private let breaker = Breaker()
  private var observer: Observer?

  /// - Parameters:
  ///   - function: a reference that this object forgets when it ends.
  ///   - key: by which a second one like it is found.
  init(_ subject: Observer.Subject, _ path: String, _ function: SHLRef, _ key: ObserverKey, of patch: Environment) throws(ObserveError) {
    self.patch = patch
    self.function = function
    self.path = path
    shl_outside(patch.state, HeldMemory.ofObservation)
    let observer = try Observer(subject, path, owner: patch.id) { [weak self] change in self?.tell(change) }
    self.observer = observer
    observer.holder = self
    ObserverBook.shared.add(observer, key)
  }

  deinit {
    guard let patch else { return }
    shl_forget(patch.state, function)
    shl_outside(patch.state, -HeldMemory.ofObservation)
  }

  var explanation: String { observer?.explanation ?? "" }
  var misses: [String] { observer?.misses ?? [] }
  func end() -> Bool { observer?.end() ?? false }
  /// It was over because its object had ended.
  var endedByItself: Bool { observer?.endedByItself ?? false }

  private func tell(_ change: Observer.Change) {
    guard let patch, patch.isLive, let thread = hkt_thread() else { return }
    hkt_host_begin(thread)
    defer { hkt_host_end(thread) }
    withUnsafeTemporaryAllocation(of: SHLInvocation.self, capacity: 1) { invocation in
      let invocation = invocation.baseAddress!
      // Waiting is safe: nobody runs program code with the state's lock held.
      var budget = SHLBudget(instructions: 0, wall_ns: 0, lock_ns: -1)
      let status = shl_enter(patch.state, &budget, invocation)
      guard status == SHL_OK else { return patch.skipped(path, String(cString: shl_status_text(status))) }
      var error: UnsafeMutablePointer<SHLError>?
      let called = call(change, UnsafeMutableRawPointer(invocation).assumingMemoryBound(to: SHLScope.self), patch, &error)
      shl_invoke_end(invocation)
      defer { if let error { shl_error_free(patch.state, error) } }
      if called != SHL_OK { failed(called, error, patch) }
    }
  }

  /// Calls the function with a table that tells of the write.
  private func call(
    _ change: Observer.Change, _ scope: UnsafeMutablePointer<SHLScope>, _ patch: Environment, _ error: inout UnsafeMutablePointer<SHLError>?
  ) -> SHLStatus {
    let table = shl_table_new(scope, 0, 5)
    guard table.tag == SHL_TABLE else { return SHL_NO_MEMORY }
    // With serial 0 the script owns what it gets.
    let bridge = ValueBridge(classes: patch.classes, serial: 0, scope: scope)
    // Room for a small string.
    withUnsafeTemporaryAllocation(of: (UInt64, UInt64).self, capacity: 1) { scratch in
      let scratch = scratch.baseAddress!
      for (name, value) in [("old", change.old), ("new", change.new)] as [(StaticString, OwnedValue?)] {
        guard let value else { continue }
        set(table, name, bridge.snapshot(value.memory, value.info, scratch), scope)
      }
      set(table, "object", change.object == 0 ? shl_nil() : bridge.reference(change.object), scope)
      set(table, "path", bridge.text(path, scratch), scope)
    }
    set(table, "in_place", shl_bool(change.isInPlace), scope)
    var count: Int32 = 0
    return withUnsafePointer(to: table) { shl_call(scope, shl_ref_value(function), $0, 1, nil, 0, &count, &error) }
  }

  private func set(_ table: SHLValue, _ name: StaticString, _ value: SHLValue, _ scope: UnsafeMutablePointer<SHLScope>) {
    // A static string's bytes, as C has them.
    let text = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    _ = shl_table_set_field(scope, table, text, name.utf8CodeUnitCount, value)
  }

  /// Tells that the function failed, and switches it off when it failed too often.
  private func failed(_ status: SHLStatus, _ error: UnsafeMutablePointer<SHLError>?, _ patch: Environment) {
    let text =
      error.map { withUnsafePointer(to: &$0.pointee.message) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) } }
      ?? "\(patch.fileName): \(String(cString: shl_status_text(status)))"
    let instead = "the write stands"
    patch.failed(path, "observe", text, instead: instead)
    if breaker.recordFailure() {
      _ = end()
      patch.disabled(path, "observe", failures: breaker.limit, seconds: breaker.windowSeconds, instead: instead)
    }
  }
}

enum ObserveAPI {
  static let handles = HandleClass("observation", tostring: toString)

  static let functions: [(String, SHLFunction)] = [("observe", observe)]
  static let members = NamedFunctions([("remove", remove), ("explain", explain)])

  /// `observe(object, "user.name", f)`, `observe(class "Shop.Cart", "title", f)`, `observe(class "Shop.Cart", "static rate", f)`.
  private static let observe: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("an observation", callback.text(1) ?? "") { return callback.fail(refusal) }
      if let path = callback.text(1), callback[2].tag == SHL_NIL,
        ObservationGuard.hit(path, ObservationGuard.unhandled, outcome: "nothing is observed", at: site(callback))
      {
        return callback.done()
      }
      guard let path = callback.text(1), callback[2].tag == SHL_FUNCTION else {
        return callback.fail("'observe' takes an object or class, a property such as \"title\" or \"user.name\", and a function")
      }
      let subject: Observer.Subject
      let isStatic = path.hasPrefix("static ")
      let receiver = callback[0]
      if receiver.tag == SHL_HANDLE, receiver.cls == patch.classes.type {
        let name = patch.classNames[Int(receiver.h.a)]
        do throws(CallError) {
          let type = try patch.callIns.type(name, callback)
          guard case .classType = type.kind else {
            return callback.fail("'observe': '\(name)' is no class; the values of other types have no identity, hook their methods")
          }
          subject = isStatic ? .statics(of: type) : .instances(of: type)
        } catch { return CallInAPI.fail(error, callback) }
      } else if let object = patch.classes.object(receiver), !isStatic {
        // Alive while its handle is.
        subject = .object(Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue())
      } else {
        if patch.classes.isObject(receiver) {
          return callback.fail(
            isStatic ? "a static property is observed on its class: observe(class \"…\", \"\(path)\", f)" : ObjectAPI.expired)
        }
        let bridge = ValueBridge(running: patch, callback.scope)
        return callback.fail("'observe' takes an object or class, got \(bridge.describe(receiver))")
      }
      var info = SHLFunctionInfo()
      let function = shl_arg_function_ref(callback.raw, 2, &info)
      guard function != 0 else { return callback.fail("out of memory") }
      let observed = isStatic ? String(path.dropFirst(7)) : path
      let key = ObserverKey(subject, observed, place: "\(patch.id) \(place(info))")
      if let first = ObserverBook.shared.running(key)?.holder as? LuaObservation,
        ObservationGuard.hit(path, ObservationGuard.doubled, outcome: "the first one goes on alone", at: site(callback))
      {
        shl_forget(patch.state, function)
        return callback.done(shl_handle(patch.classes.observation, patch.number(first), 0, 0))
      }
      do throws(ObserveError) {
        // Looking the path and its writers up takes milliseconds, and is not the script's time.
        let found = callback.unlocked {
          Result { () throws(ObserveError) in
            try LuaObservation(subject, observed, function, key, of: patch)
          }
        }
        let made = try found.get()
        for missed in made.misses where patch.tellsDoubt(of: "\(path): \(missed)") {
          patch.log.note("observed in part", "\(patch.fileName): the observation of '\(path)' may miss \(missed)")
        }
        let number = patch.number(made)
        patch.installation.add { [weak made] in _ = made?.end() }
        return callback.done(shl_handle(patch.classes.observation, number, 0, 0))
      } catch {
        return callback.fail(error.description)
      }
    }
  }

  /// The receiver's; nil when its installation is over.
  private static func observation(_ patch: Environment, _ callback: LuaCallback) -> LuaObservation? {
    patch.handle(callback[0].h.a)
  }

  private static func site(_ callback: LuaCallback) -> GuardSite.Sender {
    let caller = callback.caller
    return .script("\(caller.source):\(caller.line)")
  }

  /// Where the function is: a handler that makes one each time it runs makes the same one.
  private static func place(_ info: SHLFunctionInfo) -> String {
    let source = withUnsafePointer(to: info.source) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
    return "\(source):\(info.line)-\(info.last_line)"
  }

  /// `o:remove()`: true when it ran.
  private static let remove: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let observation = observation(patch, callback)
      let hasEnded = observation?.end() ?? false
      if !hasEnded, let observation, !observation.endedByItself {
        _ = ObservationGuard.hit(observation.path, ObservationGuard.endedTwice, outcome: "nothing was ended", at: site(callback))
      }
      return callback.done(shl_bool(hasEnded))
    }
  }

  private static let explain: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in callback.done(observation(patch, callback)?.explanation ?? "") }
  }

  static let toString: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in callback.done("observation of \(observation(patch, callback)?.path ?? "nothing")") }
  }
}
