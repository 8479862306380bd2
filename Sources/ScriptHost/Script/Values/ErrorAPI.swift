// ErrorAPI — Swift errors as scripts see, keep, make and throw them.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge
internal import SwiftMangling

/// The error a script makes from a text: `call:throw("why")`, `swift.error("why")`.
public struct ScriptError: Error, CustomStringConvertible, Sendable {
  public let message: String
  public init(_ message: String) { self.message = message }
  public var description: String { message }
}

enum ErrorAPI {
  static let handles = HandleClass("Swift error", isUnique: true, index: index, tostring: tostring, equal: equal)

  private static let errorInfo = try? TypeResolver.shared.type(of: Metadata((any Error).self)).get()

  /// What is in an error box; it stays as long as the box.
  static func opened(_ box: UInt) -> (value: UnsafeRawPointer, type: TypeInfo)? {
    withUnsafePointer(to: box) { errorInfo?.openExistential(UnsafeRawPointer($0)) }
  }

  /// The error in a box, retained.
  static func error(_ box: UInt) -> any Error {
    // A boxed `any Error` is one reference; the copy is retained.
    unsafeBitCast(box, to: (any Error).self)
  }

  private static func box(of error: any Error) -> UInt {
    // In a struct: passed by itself, the error would be opened to what it holds.
    struct Holder { let error: any Error }
    return withUnsafeBytes(of: Holder(error: error)) { $0.load(as: UInt.self) }
  }

  /// `e.type`, `e.message`, `e.value`; a case or a field of the error's own value otherwise.
  static let index: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let receiver = callback[0]
      guard let box = patch.classes.liveErrorBox(receiver) else { return callback.fail(ObjectAPI.expired) }
      guard box != 0, let (memory, type) = opened(box) else { return callback.fail("the type of this error is not known") }
      let bridge = ValueBridge(reading: receiver, patch, callback.scope)
      switch callback.name {
      case "type": return callback.done(type.name)
      case "message":
        if let refusal = patch.refusal("an error's message") { return callback.fail(refusal) }
        return callback.done(message(box, callback))
      case "value": return ValueAPI.push(memory, type, bridge, callback)
      case "case"?:
        guard let number = type.caseNumber(of: memory) else { return callback.done(shl_nil()) }
        return callback.done(type.cases[number].name)
      default:
        return callback.fail("an error has 'type', 'message', 'case' and 'value', no '\(callback.name ?? ValueBridge.shown(callback[1]))'")
      }
    }
  }

  /// The error in its own words: program code, which no hook sees, with the state's lock given back.
  static func message(_ box: UInt, _ callback: LuaCallback) -> String {
    let error = error(box)
    return callback.unlocked { HostWork.run { String(describing: error) } }
  }

  static let tostring: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let box = patch.classes.liveErrorBox(callback[0]) else { return callback.done("a Swift error of a call that is over") }
      if box == 0 { return callback.done("a Swift error of a type that is not known") }
      return callback.done(text(box))
    }
  }

  /// The error as values are shown, without running program code; of what a script or the host made, its words.
  static func text(_ box: UInt) -> String {
    switch error(box) {
    case let made as ScriptError: made.message
    case let made as UnansweredCall: made.description
    default: ValuePrinter.error(box)
    }
  }

  static let equal: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let a = patch.classes.errorBox(callback[0]), let b = patch.classes.errorBox(callback[1]) else {
        return callback.done(shl_bool(false))
      }
      return callback.done(shl_bool(a == b))
    }
  }

  /// `swift.error(text)`: an error to throw or to pass on.
  static let make: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let text = callback.text(0) else {
        return callback.fail("'swift.error' takes a text, got \(ValueBridge.describe(callback[0]))")
      }
      return callback.done(handle(of: ScriptError(text), ValueBridge(running: patch, callback.scope)))
    }
  }

  private static func handle(of error: any Error, _ bridge: ValueBridge) -> SHLValue {
    withExtendedLifetime(error) { bridge.error(box(of: error)) }
  }

  /// `call:throw(e)`: ends the handler; the call throws `e`, a Swift error, a value that is one, or a text.
  static let throwError: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let script = callback.call else { return callback.fail("this call is over") }
      let value = callback[1]
      // What the original threw it may throw again, whatever is known of it: it is still where it was left.
      let own = script.pointee.view.withPlan { $0.throwsTyped } ? script.pointee.typedErrorBox : script.pointee.view.thrownError
      if script.pointee.hasRun, script.pointee.view.didThrow, patch.classes.liveErrorBox(value) == own { return shl_raise(callback.raw, value) }
      if let why = refusal(script) { return callback.fail(why) }
      let bridge = ValueBridge(classes: patch.classes, serial: script.pointee.serial, scope: callback.scope)
      if script.pointee.view.withPlan({ $0.throwsTyped }) { return throwTyped(value, script, bridge, callback) }
      if patch.classes.isError(value) {
        guard let box = patch.classes.errorBox(value), box != 0 else { return callback.fail(ObjectAPI.expired) }
        return shl_raise(callback.raw, bridge.error(box))
      }
      if let text = callback.text(1) { return shl_raise(callback.raw, handle(of: ScriptError(text), bridge)) }
      do throws(BridgeError) {
        let carried = try bridge.any(value)
        if let any = ValueBridge.anyInfo, let type = withUnsafePointer(to: carried, { StackPromoted.find(in: $0, any, for: .pass) }) {
          throw .inFrame(type: type)
        }
        guard let made = carried as? any Error else {
          return callback.fail("'call:throw' takes a Swift error or a text, got \(bridge.describe(value))")
        }
        return shl_raise(callback.raw, handle(of: made, bridge))
      } catch { return callback.fail("'call:throw': \(error.description)") }
    }
  }

  /// Throws in a function that states the type of its errors: `e` is one, or what makes a value of that type.
  private static func throwTyped(
    _ value: SHLValue, _ script: UnsafeMutablePointer<ScriptCall>, _ bridge: ValueBridge, _ callback: LuaCallback
  ) -> Int32 {
    let selector = script.pointee.hook.selector
    guard let info = script.pointee.changes.throwable else {
      return callback.fail("'\(selector)' throws errors of a type that is not known here, or leaves them in a place that is not")
    }
    let made = OwnedValue(uninitialized: info)
    do throws(BridgeError) { try bridge.store(value, as: info, at: made.memory) } catch {
      made.forget()
      return callback.fail("'\(selector)' throws '\(info.name)': \(error.description)")
    }
    let box = info.metadata.box(made.memory)  // moves the value
    made.forget()
    guard box != 0 else { return callback.fail("'\(info.name)' is no error") }
    let handle = bridge.error(box)  // retains
    ProgramCall.release(box)
    return shl_raise(callback.raw, handle)
  }

  /// Why the handler cannot throw in this call; nil where it can.
  private static func refusal(_ script: UnsafeMutablePointer<ScriptCall>) -> String? {
    if script.pointee.phase == HKT_ENTER { return "a 'before' handler cannot throw; use 'around'" }
    if !script.pointee.view.withPlan({ $0.mayThrow || $0.throwsTyped }) {
      if script.pointee.view.withPlan({ $0.declaresError }) {
        return "nothing shows that callers of '\(script.pointee.hook.selector)' still look for an error; return a value instead"
      }
      if script.pointee.hook.declaration.kind == .getter {
        return "whether '\(script.pointee.hook.selector)' throws is not known: a getter's name does not tell; return a value instead"
      }
      return "'\(script.pointee.hook.selector)' does not throw; return a value instead"
    }
    return nil
  }
}
