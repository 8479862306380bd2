// MessageAPI — messages no member answers: what swift.send tries next, and swift.forward, by which scripts answer them.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge
internal import Synchronization

/// What guards say of messages that nothing answers.
struct MessageGuards: Sendable {
  /// Whether one looks at messages at all.
  let areOn: @Sendable () -> Bool
  /// Whether calls of members that the receiver does not have may come back with something.
  let contain: @Sendable (Any) -> Bool
}

/// What a script answers messages with; nil passes them on.
private typealias LuaForward = (_ receiver: Any, _ selector: String, _ arguments: [Any?]) throws -> Any?

/// `swift.forward` for one receiver.
struct ScriptForward {
  /// The object's or type's address.
  let receiver: UInt
  let handler: MessageHandler
}

enum MessageAPI {
  // MARK: Sending

  /// Sends on what no member of `receiver` answers; `missing` is the failure when nobody else does.
  static func send(
    _ member: String, to receiver: Any, _ missing: CallError, _ callback: LuaCallback, _ patch: Environment, catching: Bool, first: Int = 2
  ) -> Int32 {
    var arguments: [Any?] = []
    do throws(BridgeError) {
      for index in first..<max(first, callback.count) { arguments.append(try any(callback[index], patch, callback)) }
    } catch { return callback.fail("argument \(arguments.count + 1) of '\(member)': \(error.description)") }
    var message = Message(member, arguments, to: receiver)
    let caller = callback.caller
    message.site = "\(caller.source):\(caller.line)"
    let unlocked = shl_unlock_all(callback.scope)
    let sent = message
    let answer = Result { try sent.answered(missing) }
    guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
    switch answer {
    case .success(let value):
      if catching { callback.give(shl_bool(true)) }
      if let value { OwnedResult(patch: patch, callback: callback).give(value) }
      return callback.done()
    case .failure(let error as CallError): return CallInAPI.fail(error, callback)
    case .failure(let error):
      // The script's handle ends the box.
      let handle = shl_handle(patch.classes.keptError, UInt64(ErrorBox(error).word), 0, 0)
      guard catching else { return shl_raise(callback.raw, handle) }
      callback.give(shl_bool(false))
      return callback.done(handle)
    }
  }

  // MARK: Members that are not there

  /// Nil until a guard of messages begins, whose stage comes later.
  static let guards = Mutex<MessageGuards?>(nil)

  /// `object.name`, and `object:name(…)` with `isCall`, where nothing has that name: an error, unless a guard looks at messages. Lua
  /// reads the name before it calls, and so reading it is a method where a guard contains.
  static func missing(_ text: String, _ receiver: @autoclosure () -> Any, isCall: Bool, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    guard let guards = guards.withLock({ $0 }), guards.areOn(), let name = callback.name else { return callback.fail(text) }
    let receiver = receiver()
    if !isCall, guards.contain(receiver) { return shl_return_method(callback.raw) == SHL_OK ? 0 : callback.fail("out of memory") }
    return send(LuaWord.swiftName(name), to: receiver, .notFound(text), callback, patch, catching: false, first: isCall ? 1 : .max)
  }

  /// A Lua value as Swift code without a type for it has it.
  private static func any(_ value: SHLValue, _ patch: Environment, _ callback: LuaCallback) throws(BridgeError) -> Any? {
    if value.tag == SHL_NIL { return nil }
    guard case .success(let info) = TypeResolver.shared.type(of: Metadata(Any.self)) else { return nil }
    let made = OwnedValue(uninitialized: info)
    defer { made.forget() }
    try ValueBridge(running: patch, callback.scope).store(value, as: info, at: made.memory)
    return made.memory.assumingMemoryBound(to: Any.self).move()
  }

  // MARK: Answering

  static let functions: [(String, SHLFunction)] = [("swift.forward", forward)]

  private static let usage =
    "'swift.forward' takes an object or class, and an object that gets its messages or a function(receiver, selector, arguments); "
      + "nil takes back what there was"

  /// `swift.forward(object, other)`, `swift.forward(class "Shop.Cart", function(self, selector, args) … end)`.
  private static let forward: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a forwarding") { return callback.fail(refusal) }
      let target = callback[0]
      if target.tag == SHL_HANDLE, target.cls == patch.classes.type {
        do throws(CallError) {
          let type = try patch.callIns.type(patch.classNames[Int(target.h.a)], callback)
          return forward(UInt(bitPattern: type.pointer), patch, callback) { Messages(instancesOf: type.type).forward($0) }
        } catch { return CallInAPI.fail(error, callback) }
      }
      guard let pointer = patch.classes.object(target) else {
        return callback.fail(patch.classes.isObject(target) ? ObjectAPI.expired : usage)
      }
      // Alive while its handle is.
      let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
      return forward(UInt(bitPattern: pointer), patch, callback) { Messages<AnyObject>(object).forward($0) }
    }
  }

  private typealias Body<Receiver> = @Sendable (Receiver, Message) throws -> Message.Reply

  private static func forward<Receiver>(
    _ receiver: UInt, _ patch: Environment, _ callback: LuaCallback, _ add: (@escaping Body<Receiver>) -> MessageHandler
  ) -> Int32 {
    let body: Body<Receiver>
    switch callback[1].tag {
    case SHL_NIL:
      for each in patch.forwards where each.receiver == receiver { each.handler.remove() }
      patch.forwards.removeAll { $0.receiver == receiver }
      return callback.done()
    case SHL_FUNCTION:
      guard let function = function(patch, callback) else { return callback.fail("out of memory") }
      body = { receiver, message in
        try function(receiver, message.selector, message.arguments).map { .answered($0) } ?? .passedOn
      }
    default:
      guard let pointer = patch.classes.object(callback[1]) else { return callback.fail(usage) }
      // Retained by the closure; whoever sends messages from several threads has a target that stands that.
      nonisolated(unsafe) let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
      body = { _, message in .answered(try message.send(to: object)) }
    }
    let handler = add(body)
    patch.forwards.append(ScriptForward(receiver: receiver, handler: handler))
    patch.installation.add { handler.remove() }
    return callback.done()
  }

  /// The Lua function as a Swift closure, which may be called on any thread.
  private static func function(_ patch: Environment, _ callback: LuaCallback) -> (@Sendable (Any, String, [Any?]) throws -> Any?)? {
    guard case .success(let info) = TypeResolver.shared.type(of: Metadata(LuaForward.self)) else { return nil }
    // As generic code, which a pointer is, has it.
    let made = OwnedValue(uninitialized: TypeResolver.shared.general(info))
    defer { made.forget() }
    let bridge = ValueBridge(running: patch, callback.scope)
    do throws(BridgeError) { try bridge.store(callback[1], as: made.info, at: made.memory) } catch { return nil }
    // The state's own lock guards what the function does.
    nonisolated(unsafe) let function = made.memory.assumingMemoryBound(to: LuaForward.self).move()
    return { try function($0, $1, $2) }
  }
}
