// NotificationAPI — notification.on(name, handler, object?) and notification.post(name, object?, info?).
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum NotificationAPI {
  static let handles = HandleClass("subscription", tostring: toString, release: release)

  static let functions: [(String, SHLFunction)] = [("notification.on", on), ("notification.post", post)]

  static let members = NamedFunctions([("remove", remove)])

  /// Looking the functions up, and making the first calls, is not the script's time. Not with the state's lock held.
  private static func center(_ patch: Environment, _ callback: LuaCallback) -> Result<NotificationCenterCalls, CallError>? {
    let unlocked = shl_unlock_all(callback.scope)
    let found = Result { () throws(CallError) in try NotificationCenterCalls.found() }
    return shl_relock(callback.scope, unlocked) == SHL_OK ? found : nil
  }

  private static let on: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let name = callback.text(0), callback[1].tag == SHL_FUNCTION else {
        return callback.fail("'notification.on' takes a notification's name and a function")
      }
      if let refusal = patch.refusal("a subscription", name) { return callback.fail(refusal) }
      var object: AnyObject?
      if callback[2].tag != SHL_NIL {
        guard patch.classes.isObject(callback[2]) else {
          return callback.fail("'notification.on': the sender is an object of the program, got \(ValueBridge.describe(callback[2]))")
        }
        guard let found = patch.classes.object(callback[2]) else { return callback.fail(ObjectAPI.expired) }
        if Instance.isEnding(UInt(bitPattern: found)) { return callback.fail("'notification.on': the sender is in its deinit") }
        if let type = StackPromoted.find(object: UInt(bitPattern: found)) { return callback.fail(BridgeError.inFrame(type: type).description) }
        // Alive while its handle is.
        object = Instance.value(UInt(bitPattern: found))
      }
      guard let found = center(patch, callback) else { return -1 }
      let center: NotificationCenterCalls
      switch found {
      case .success(let known): center = known
      case .failure(let problem): return callback.fail("'notification.on': \(problem)")
      }
      let function = shl_keep(callback.scope, callback[1])
      guard function != 0 else { return callback.fail("out of memory") }
      let (source, line) = callback.caller
      let made = Subscription(name, function, of: patch, object: object, center, place: "\(source):\(line)")
      let unlocked = shl_unlock_all(callback.scope)
      let problem = made.begin()
      guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
      if let problem { return callback.fail("'notification.on': \(problem)") }
      patch.installation.add { [weak made] in made?.end() }
      // The handle's own reference, given back when it is collected.
      return callback.done(shl_handle(patch.classes.subscription, UInt64(UInt(bitPattern: Unmanaged.passRetained(made).toOpaque())), 0, 0))
    }
  }

  private static let post: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let name = callback.text(0) else { return callback.fail("'notification.post' takes a notification's name") }
      if let refusal = patch.refusal("a call", "notification \(name)") { return callback.fail(refusal) }
      guard callback[2].tag == SHL_NIL || callback[2].tag == SHL_TABLE else {
        return callback.fail("'notification.post': what it tells is a table, found \(ValueBridge.spelled(callback[2]))")
      }
      guard let found = center(patch, callback) else { return -1 }
      let center: NotificationCenterCalls
      switch found {
      case .success(let known): center = known
      case .failure(let problem): return callback.fail("'notification.post': \(problem)")
      }
      let bridge = ValueBridge(running: patch, callback.scope)
      let object = OwnedValue(uninitialized: center.postedObject), info = OwnedValue(uninitialized: center.postedInfo)
      do throws(BridgeError) { try bridge.store(callback[1], as: object.info, at: object.memory) } catch {
        object.forget()
        info.forget()
        return callback.fail("'notification.post': the sender: \(error.description)")
      }
      do throws(BridgeError) { try bridge.store(callback[2], as: info.info, at: info.memory) } catch {
        object.destroy()
        info.forget()
        return callback.fail("'notification.post': what it tells: \(error.description)")
      }
      let unlocked = shl_unlock_all(callback.scope)
      let trap = center.post(name, object: object, info: info)
      guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
      if let trap { return callback.fail(patch.trapped(trap, in: center.posting, GivenValues(callback, first: 0, of: patch))) }
      return callback.done()
    }
  }

  /// The receiver's.
  private static func subscription(_ callback: LuaCallback) -> Subscription {
    // The word was made by `on`, and the handle holds the reference.
    Unmanaged<Subscription>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(callback[0].h.a))!).takeUnretainedValue()
  }

  /// `s:remove()`: true when it was there.
  private static let remove: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      let subscription = subscription(callback)
      let unlocked = shl_unlock_all(callback.scope)
      let wasThere = subscription.end()
      guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
      return callback.done(shl_bool(wasThere))
    }
  }

  static let toString: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      let subscription = subscription(callback)
      return callback.done("subscription to '\(subscription.name)'\(subscription.hasEnded ? ", ended" : "")")
    }
  }

  static let release: KeptHandles.Release = { _, word, _, _ in
    // The handle's own reference.
    Unmanaged<Subscription>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(word))!).release()
  }
}
