// KeptHandles — what scripts keep: strong and weak handles, and how they end.
//
// A kept handle holds one retain, given back when the script lets go of it or when it is collected; never twice, since letting
// go clears the handle's words. Of one object there is at most one kept handle in a state while it lives, and it is given out
// wherever the object is met: a kept object is its own table key.
private import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum KeptHandles {
  static let weakHandles = HandleClass("weak handle", tostring: weakToString, call: callWeak, release: releaseWeak)

  typealias Release = @convention(c) (UnsafeMutableRawPointer?, UInt64, UInt64, UInt64) -> Void

  /// A kept object was collected: outside the collector and the lock, on a thread that left the state.
  static let releaseObject: Release = { _, a, _, _ in
    guard let object = UnsafeRawPointer(bitPattern: UInt(a)) else { return }
    // The handle's own retain, which is void where the program has ended the object all the same. What ends with it ends as the program's.
    if !hkt_is_ending(object) { ProgramCall.release(UInt(a)) }
    hkt_release_memory(object)
  }
  /// A kept error was collected.
  static let releaseError: Release = { _, a, _, _ in if a != 0 { ProgramCall.release(UInt(a)) } }
  static let releaseValue: Release = { _, a, b, _ in
    guard b != 0 else { return }
    ProgramCall.asProgram { owned(a, b).destroy() }
  }
  static let releaseWeak: Release = { _, a, _, _ in
    guard let box = UnsafeRawPointer(bitPattern: UInt(a)) else { return }
    Unmanaged<WeakBox>.fromOpaque(box).release()
  }

  private final class WeakBox {
    weak var object: AnyObject?
    init(_ object: AnyObject) { self.object = object }
  }

  private static func owned(_ a: UInt64, _ b: UInt64) -> OwnedValue {
    let borrowed = BorrowedValue(
      {
        var value = SHLValue(); value.h.a = a; value.h.b = b; value.h.c = 0; return value
      }())
    guard case .memory(let address) = borrowed.root else { fatalError("internal error: an owned value without memory; please report it") }
    return OwnedValue(adopting: UnsafeMutableRawPointer(bitPattern: address)!, borrowed.info)
  }

  /// `swift.keep(h)`: a handle that stays valid after the call.
  static let keep: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let value = callback[0]
      let owning = ValueBridge(classes: patch.classes, serial: 0, scope: callback.scope)
      if value.cls == patch.classes.keptObject || value.cls == patch.classes.keptError || value.cls == patch.classes.weakObject,
        value.tag == SHL_HANDLE
      {
        guard value.h.a != 0 else { return callback.fail(ObjectAPI.expired) }
        if patch.classes.endedObject(value) != nil { return callback.fail(ObjectAPI.gone(value, patch)) }
        return callback.done(
          value.cls == patch.classes.weakObject ? strong(value, patch, callback) : owning.kept(UInt(value.h.a), value.cls))
      }
      if patch.classes.isObject(value) {
        guard let object = patch.classes.object(value) else { return callback.fail(ObjectAPI.gone(value, patch)) }
        if Instance.isEnding(UInt(bitPattern: object)) {
          return callback.fail("'swift.keep': this \(Instance.typeName(object)) is in its deinit and cannot be kept")
        }
        if let type = StackPromoted.find(object: UInt(bitPattern: object)) { return callback.fail(inFrame(type)) }
        return callback.done(owning.kept(UInt(bitPattern: object), patch.classes.keptObject))
      }
      if patch.classes.isError(value) {
        guard let box = patch.classes.errorBox(value) else { return callback.fail(ObjectAPI.expired) }
        return callback.done(owning.kept(box, patch.classes.keptError))
      }
      if value.tag == SHL_HANDLE, value.cls == patch.classes.closure {
        // Handles of closures that may escape keep them from the start.
        if ClosureBridge.value(value).isBorrowed {
          return callback.fail("'swift.keep': this closure does not escape; it is only borrowed for its call")
        }
        return callback.done(shl_handle(value.cls, ClosureBridge.retained(value), 0, 0))
      }
      guard let borrowed = patch.classes.borrowedValue(value) else {
        if value.tag == SHL_HANDLE { return callback.fail("'swift.keep' takes an object or a value, got \(owning.describe(value))") }
        // Plain values are the script's own anyway.
        return value.tag == SHL_NIL && callback.count == 0
          ? callback.fail("'swift.keep' takes an object or a value") : give(value, callback)
      }
      guard borrowed.info.isCopyable else { return callback.fail("'swift.keep': values of type '\(borrowed.info.name)' cannot be copied") }
      return borrowed.withMemory { memory in
        let made = owning.copied(memory, borrowed.info)
        guard made.cls == patch.classes.value else { return callback.done(made) }
        return callback.fail(inFrame(StackPromoted.find(in: memory, borrowed.info) ?? borrowed.info.name))
      } ?? callback.fail(ObjectAPI.expired)
    }
  }

  private static func inFrame(_ type: String) -> String { "'swift.keep': \(BridgeError.inFrame(type: type).description)" }

  private static func give(_ value: SHLValue, _ callback: LuaCallback) -> Int32 { callback.done(value) }

  /// `swift.weak(h)`: a handle that does not keep its object; `w()` is the object, or nil when it is gone.
  static let makeWeak: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard patch.classes.isObject(callback[0]) else {
        return callback.fail("'swift.weak' takes a Swift object, got \(ValueBridge.describe(callback[0]))")
      }
      guard let object = patch.classes.object(callback[0]) else { return callback.fail(ObjectAPI.gone(callback[0], patch)) }
      if Instance.isEnding(UInt(bitPattern: object)) {
        return callback.fail("'swift.weak': this \(Instance.typeName(object)) is in its deinit; nothing may refer to it any more")
      }
      let box = WeakBox(Instance.value(UInt(bitPattern: object)))
      return callback.done(shl_handle(patch.classes.weakObject, UInt64(UInt(bitPattern: Unmanaged.passRetained(box).toOpaque())), 0, 0))
    }
  }

  static let callWeak: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in callback.done(strong(callback[0], patch, callback)) }
  }

  /// The object of a weak handle: borrowed in a handler, else kept; nil when it is gone.
  private static func strong(_ value: SHLValue, _ patch: Environment, _ callback: LuaCallback) -> SHLValue {
    guard let box = UnsafeRawPointer(bitPattern: UInt(value.h.a)) else { return shl_nil() }
    // The handle retains its box, which this file alone makes.
    guard let object = Unmanaged<WeakBox>.fromOpaque(box).takeUnretainedValue().object else { return shl_nil() }
    return withExtendedLifetime(object) {
      ValueBridge(running: patch, callback.scope).reference(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    }
  }

  static let weakToString: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let box = UnsafeRawPointer(bitPattern: UInt(callback[0].h.a)),
        let object = Unmanaged<WeakBox>.fromOpaque(box).takeUnretainedValue().object
      else { return callback.done("<weak: gone>") }
      return callback.done("<weak \(_typeName(Swift.type(of: object), qualified: true))>")
    }
  }

  /// `swift.release(h)`: lets go of what the handle keeps; true when it kept something.
  static let release: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let value = callback[0]
      guard value.tag == SHL_HANDLE else { return callback.fail("'swift.release' takes a kept handle, got \(ValueBridge.describe(value))") }
      switch value.cls {
      case patch.classes.keptObject where value.h.a != 0:
        _ = shl_handle_set(callback.raw, 0, 0, 0, 0)
        releaseObject(nil, value.h.a, 0, 0)
      case patch.classes.keptError where value.h.a != 0:
        _ = shl_handle_set(callback.raw, 0, 0, 0, 0)
        releaseError(nil, value.h.a, 0, 0)
      case patch.classes.weakObject where value.h.a != 0:
        _ = shl_handle_set(callback.raw, 0, 0, 0, 0)
        releaseWeak(nil, value.h.a, 0, 0)
      case patch.classes.ownedValue where value.h.b != 0:
        _ = shl_handle_set(callback.raw, 0, CallValues.releasedMark, 0, 0)
        releaseValue(nil, value.h.a, value.h.b, 0)
      case patch.classes.keptObject, patch.classes.keptError, patch.classes.weakObject, patch.classes.ownedValue:
        return callback.done(shl_bool(false))
      default: return callback.fail("'swift.release' takes what 'swift.keep' or 'swift.weak' gave; this handle keeps nothing")
      }
      return callback.done(shl_bool(true))
    }
  }
}

extension ValueBridge {
  /// For what is read out of a receiver: borrowed as long as that, or by the handler that runs, or the script's own.
  init(reading receiver: SHLValue, _ patch: Environment, _ scope: UnsafeMutablePointer<SHLScope>?) {
    let classes = patch.classes
    if receiver.cls == classes.object || receiver.cls == classes.value || receiver.cls == classes.error {
      self.init(classes: classes, serial: receiver.h.c, scope: scope)
    } else {
      self.init(running: patch, scope)
    }
  }

  /// For what a script asks outside of a receiver: borrowed by the handler that runs, or the script's own.
  init(running patch: Environment, _ scope: UnsafeMutablePointer<SHLScope>?) {
    var serial: UInt64 = 0
    if let top = ScriptThread.current()?.pointee.top, top.pointee.patch === patch { serial = top.pointee.serial }
    self.init(classes: patch.classes, serial: serial, scope: scope)
  }
}
