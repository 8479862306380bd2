// CallInAPI — scripts call the program: obj:method(…), obj.property, swift.send, swift.call, swift.new, swift.try.
//
// Everything is checked before anything runs: the name, the receiver, the number of arguments, each argument's type and
// range, that no access to the receiver is open, and that what becomes of a copied receiver is known. A call that is made is the program's
// own: hooks see it, the state's lock is given back while it runs, and what it returns belongs to the script.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

/// One function of one type, ready to be called again.
struct BoundCall {
  let callable: Callable
  /// The type's own implementation; of an async function, its async function pointer.
  let entry: UInt
}

enum CallInAPI {
  // MARK: One call

  /// Calls with the callback's arguments from position `first` on.
  /// - Parameters:
  ///   - receiver: the object or metatype, 0 for none. Objects are kept alive here.
  ///   - value: the struct or enum that is `self`; the call gets a copy.
  ///   - catching: a Swift error is answered as `false, error` instead of raised, and results follow `true`.
  static func perform(
    _ bound: BoundCall, on receiver: UInt, value: BorrowedValue? = nil, _ callback: LuaCallback, first: Int, _ patch: Environment,
    catching: Bool = false
  ) -> Int32 {
    let callable = bound.callable
    if let refusal = patch.refusal("a call", callable.selector, of: callable.ownerName) { return callback.fail(refusal) }
    let given = max(0, callback.count - first)
    guard given == callable.argumentCount else {
      return fail(.wrongCount(selector: callable.selector, expected: callable.argumentCount, found: given), callback)
    }
    if callable.isGeneric { return performGeneric(bound, on: receiver, value, callback, first: first, patch, catching: catching) }
    let isObject = callable.isOnObject
    if isObject {
      do throws(CallError) { try CallCheck.object(receiver, for: callable) } catch { return fail(error, callback) }
    }
    if callable.mayLeaveSelf, !patch.leftCopies.accept(callable) { return fail(.mayLeaveCopy(selector: callable.selector), callback) }
    if callable.isAsync {
      return AwaitedCall.begin(bound, on: receiver, isObject, value, callback, first: first, patch, catching: catching)
    }
    return withUnsafeTemporaryAllocation(byteCount: callable.blockBytes + resultRoom, alignment: 16) { memory in
      let block = memory.baseAddress!
      let watch = StackPromoted.Watch(isObject ? receiver : 0)
      if let problem = store(given, callable, block, first: first, patch, callback) { return problem }
      var passed = GivenMemory()
      for index in 0..<given where Self.mayBeLong(callback[first + index]) && !callable.arguments[index].isInout {
        passed.note(block + callable.arguments[index].offset, callable.arguments[index].info)
      }
      defer { watch?.end(callable.selector, patch) }
      if callable.isOnValue, let problem = copySelf(value, callable, block, callback) { return problem }
      // What does not fit in two words gets a home of its own, which the script's handle takes over.
      let isScalar = OwnedResult.isScalar(callable.resultKind)
      let home =
        isScalar ? nil : callable.result.flatMap { $0.size > resultRoom || $0.alignment > 16 ? OwnedValue(uninitialized: $0) : nil }
      let result: UnsafeMutableRawPointer? = home?.memory ?? block + callable.blockBytes
      // The method may let go of the last other reference to its own self.
      let kept = isObject ? UnsafeRawPointer(bitPattern: receiver).map { Unmanaged<AnyObject>.fromOpaque($0).retain() } : nil
      let waiting = WaitingCalls.begin(callable, patch)
      let unlocked = shl_unlock_all(callback.scope)
      var error: UInt = 0
      let trap = Containment.catching { error = callable.run(block, receiver: receiver, entry: bound.entry, result: result, trap: $0) }
      let isOverdue = WaitingCalls.end(waiting)
      if kept != nil { ProgramCall.release(receiver) }
      if callable.mayLeaveSelf { patch.log.leftSelf(patch: patch.id, selector: callable.selector) }
      guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
      passed.end(patch)
      if isOverdue, patch.didLoad { shl_overdue(callback.raw) }
      if let trap {
        home?.forget()
        return callback.fail(patch.trapped(trap, in: callable, GivenValues(callback, first: first, of: patch)))
      }
      return answer(callable, block, result, home, error, patch, callback, catching: catching)
    }
  }

  /// The value may be a text or a list that is worth a look when the call is over.
  @inline(__always)
  private static func mayBeLong(_ value: SHLValue) -> Bool {
    value.tag == SHL_STRING ? value.s.n >= 256 : value.tag == SHL_TABLE || value.tag == SHL_HANDLE || value.tag == SHL_OTHER
  }

  /// Performs a call once the types of the arguments have told what the function is generic over.
  private static func performGeneric(
    _ bound: BoundCall, on receiver: UInt, _ value: BorrowedValue?, _ callback: LuaCallback, first: Int, _ patch: Environment, catching: Bool
  ) -> Int32 {
    let template = bound.callable
    guard let generic = template.generic else { return callback.fail("internal error: a template without a function") }
    let bridge = ValueBridge(classes: patch.classes, serial: 0, scope: callback.scope)
    let given = (first..<callback.count).map { bridge.givenType(callback[$0]) }
    let object = template.isOnObject ? UnsafeRawPointer(bitPattern: receiver).map { Metadata($0.load(as: UnsafeRawPointer.self)) } : nil
    let type = value?.info.metadata ?? object
    do throws(CallError) {
      // Looking for types and witness tables is not the script's time.
      let unlocked = shl_unlock_all(callback.scope)
      let found = Result { () throws(CallError) in try generic.callable(on: type ?? template.owner, given) }
      guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
      let callable = try found.get()
      // Of a generic class, the metatype is known only now.
      var receiver = receiver
      if receiver == 0, case .metatype(let own) = callable.receiver { receiver = UInt(bitPattern: own.pointer) }
      return perform(
        BoundCall(callable: callable, entry: bound.entry), on: receiver, value: value, callback, first: first, patch, catching: catching)
    } catch { return fail(error, callback) }
  }

  /// Makes the copy of a struct or enum that a call runs on, behind the arguments; answers the failure, with nothing left in the
  /// block, when the value is gone.
  static func copySelf(_ value: BorrowedValue?, _ callable: Callable, _ block: UnsafeMutableRawPointer, _ callback: LuaCallback) -> Int32? {
    guard case .value(let info) = callable.receiver else { return nil }
    let made: Void? = value?.withMemory { info.metadata.initialize(block + callable.selfOffset, copying: $0) }
    if made != nil { return nil }
    for index in 0..<callable.argumentCount { callable.arguments[index].destroy(block) }
    return callback.fail(value == nil ? "'\(callable.selector)' is called on a value; use swift.send(value, …)" : ObjectAPI.expired)
  }

  /// Makes all arguments in the block; answers the failure, with nothing left there, when one cannot be made.
  @inline(__always)
  static func store(
    _ given: Int, _ callable: Callable, _ block: UnsafeMutableRawPointer, first: Int, _ patch: Environment, _ callback: LuaCallback
  ) -> Int32? {
    for index in 0..<given {
      if let problem = store(callback[first + index], index, callable, block, patch, callback) {
        for made in 0..<index { callable.arguments[made].destroy(block) }
        return problem
      }
    }
    return nil
  }

  /// The call has returned: its results, or its error, become the script's.
  /// - Parameter home: the result's memory, where it has some of its own.
  @inline(__always)
  static func answer(
    _ callable: Callable, _ block: UnsafeMutableRawPointer, _ result: UnsafeMutableRawPointer?, _ home: OwnedValue?, _ error: UInt,
    _ patch: Environment, _ callback: LuaCallback, catching: Bool
  ) -> Int32 {
    if error != 0 {
      home?.forget()
      callable.endInouts(block)
      let handle = shl_handle(patch.classes.keptError, UInt64(error), 0, 0)
      guard catching else { return shl_raise(callback.raw, handle) }
      callback.give(shl_bool(false))
      return callback.done(handle)
    }
    if callable.changedSelf(in: block) {
      // Its results speak of a value that is gone.
      if let info = callable.result, let result { ProgramCall.asProgram { info.metadata.destroy(result) } }
      home?.forget()
      callable.endInouts(block)
      return fail(.changedCopy(selector: callable.selector), callback)
    }
    if catching { callback.give(shl_bool(true)) }
    if !callable.hasInout, OwnedResult.isScalar(callable.resultKind) {
      if let result { OwnedResult.giveScalar(result, callable.resultKind, callback) }
      return callback.done()
    }
    let owned = OwnedResult(patch: patch, callback: callback)
    if let info = callable.result {
      if let home { owned.give(home) } else if let result { owned.give(result, info, callable.resultKind) }
    }
    if callable.hasInout {
      for index in 0..<callable.argumentCount where callable.arguments[index].isInout {
        owned.give(block + callable.arguments[index].offset, callable.arguments[index].info, callable.arguments[index].kind)
      }
    }
    return callback.done()
  }

  /// Room for a result in front of its home: two words, and a tag.
  static let resultRoom = 32

  /// Makes argument `index` in the block; answers the failure when it cannot be made.
  @inline(__always)
  private static func store(
    _ value: SHLValue, _ index: Int, _ callable: Callable, _ block: UnsafeMutableRawPointer, _ patch: Environment, _ callback: LuaCallback
  ) -> Int32? {
    let argument = callable.arguments[index]
    let place = block + argument.offset
    switch (argument.kind, value.tag) {
    case (.int64, SHL_INT): place.storeBytes(of: value.i, as: Int64.self)
    case (.double, SHL_NUMBER): place.storeBytes(of: value.n, as: Double.self)
    case (.bool, SHL_BOOL): place.storeBytes(of: value.b ? 1 : 0, as: UInt64.self)
    default:
      let bridge = ValueBridge(classes: patch.classes, serial: 0, scope: callback.scope)
      do throws(BridgeError) {
        try bridge.store(value, as: argument.info, at: place)
        if let type = StackPromoted.settle(place, argument.info, for: .pass) {
          argument.destroy(block)
          throw .inFrame(type: type)
        }
      } catch {
        let text = "argument \(argumentName(index, callable.plan.arguments[index].label)) of '\(callable.selector)': \(error.description)"
        return callback.fail(text)
      }
    }
    return nil
  }

  static func fail(_ error: CallError, _ callback: LuaCallback) -> Int32 { callback.fail(error.description) }

  // MARK: Functions of `swift`

  static let functions: [(String, SHLFunction)] = [
    ("swift.send", { context, callback in withPatch(context, callback) { send($0, $1, catching: false) } }),
    ("swift.try", { context, callback in withPatch(context, callback) { send($0, $1, catching: true) } }),
    ("swift.call", call), ("swift.new", new),
  ]

  /// `swift.send(target, "member(…)", …)`: a target is an object, a `class "…"`, or the whole selector of a static or free
  /// function.
  private static func send(_ patch: Environment, _ callback: LuaCallback, catching: Bool) -> Int32 {
    let target = callback[0]
    if let selector = callback.text(0) { return callFunction(selector, patch, callback, catching: catching) }
    let verb = catching ? "swift.try" : "swift.send"
    guard target.tag == SHL_HANDLE else {
      return callback.fail("'\(verb)' takes a Swift object, a class or a selector, got \(ValueBridge.describe(target))")
    }
    guard let member = callback.text(1) else {
      return callback.fail("'\(verb)' takes a member after its target, such as \"add(_:price:)\", got \(ValueBridge.describe(callback[1]))")
    }
    var receiver: Any?
    do throws(CallError) {
      if target.cls == patch.classes.type {
        let type = try patch.callIns.type(patch.classNames[Int(target.h.a)], callback)
        receiver = type.type
        let isInit = member.hasPrefix("init(") || member.hasPrefix("init?(")
        let bound = try patch.callIns.bound(member, of: type, isStatic: !isInit, callback)
        return perform(bound, on: UInt(bitPattern: type.pointer), callback, first: 2, patch, catching: catching)
      }
      if let borrowed = patch.classes.borrowedValue(target) {
        receiver = borrowed.withMemory { TypedValue.load($0, borrowed.info, as: Any.self) } ?? nil
        let bound = try patch.callIns.bound(member, of: borrowed.info.metadata, isStatic: false, callback)
        return perform(bound, on: 0, value: try self.receiver(borrowed, bound.callable), callback, first: 2, patch, catching: catching)
      }
      guard patch.classes.isObject(target) else {
        return callback.fail("'\(verb)' calls members of objects, classes and values, got \(ValueBridge.describe(target))")
      }
      guard let object = patch.classes.object(target) else { return callback.fail(ObjectAPI.gone(target, patch)) }
      let type = Metadata(object.load(as: UnsafeRawPointer.self))
      // Alive while its handle is.
      receiver = Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
      let bound = try patch.callIns.bound(member, of: type, isStatic: false, callback)
      guard case .object = bound.callable.receiver else { throw staticMember(bound.callable) }
      return perform(bound, on: UInt(bitPattern: object), callback, first: 2, patch, catching: catching)
    } catch {
      guard case .noMember = error, let receiver else { return fail(error, callback) }
      return MessageAPI.send(member, to: receiver, error, callback, patch, catching: catching)
    }
  }

  /// The value as `self` of the callable; an error when that takes another type, or none.
  static func receiver(_ borrowed: BorrowedValue, _ callable: Callable) throws(CallError) -> BorrowedValue {
    guard case .value(let info) = callable.receiver else { throw staticMember(callable) }
    guard info.metadata == borrowed.info.metadata else {
      throw .wrongReceiver(selector: callable.selector, expected: info.name, found: borrowed.info.name)
    }
    return borrowed
  }

  private static func staticMember(_ callable: Callable) -> CallError {
    .wrongReceiver(selector: callable.selector, expected: "none", found: "an object or value; use swift.call")
  }

  /// `swift.call("Shop.total(of:)", …)`, also `swift.call("static Shop.Cart.make()")`.
  private static let call: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let selector = callback.text(0) else {
        return callback.fail("'swift.call' takes a selector, such as \"Shop.total(of:)\", got \(ValueBridge.describe(callback[0]))")
      }
      return callFunction(selector, patch, callback, catching: false)
    }
  }

  private static func callFunction(
    _ selector: String, _ patch: Environment, _ callback: LuaCallback, catching: Bool, first: Int = 1
  ) -> Int32 {
    do throws(CallError) {
      let callable = try patch.callIns.function(selector, callback)
      switch callable.receiver {
      case .object: throw .wrongReceiver(selector: callable.selector, expected: "an object", found: "none; use swift.send(object, …)")
      case .value(let info): throw .wrongReceiver(selector: callable.selector, expected: info.name, found: "none; use swift.send(value, …)")
      case .none where callable.wantsInstance:
        throw .wrongReceiver(selector: callable.selector, expected: "an object or value", found: "none; use swift.send(object, …)")
      case .none, .metatype: break
      }
      let receiver = callable.owner.map { UInt(bitPattern: $0.pointer) } ?? 0
      return perform(
        BoundCall(callable: callable, entry: callable.target), on: receiver, callback, first: first, patch, catching: catching)
    } catch { return fail(error, callback) }
  }

  /// `swift.new("Shop.Cart", "init(title:)", "x")`; without an initialiser, `init()`.
  private static let new: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let target = callback[0]
      let name = target.tag == SHL_HANDLE && target.cls == patch.classes.type ? patch.classNames[Int(target.h.a)] : callback.text(0)
      guard let name else { return callback.fail("'swift.new' takes a type and an initialiser, such as \"Shop.Cart\", \"init(title:)\"") }
      let initialiser = callback.count > 1 ? callback.text(1) : "init()"
      guard let initialiser, initialiser.hasPrefix("init") else {
        return callback.fail("'swift.new' takes an initialiser after the type, such as \"init(title:)\"")
      }
      if let type = RuntimeClasses.named(name) { return instance(of: type, initialiser, patch, callback) }
      return callFunction("\(name).\(initialiser)", patch, callback, catching: false, first: 2)
    }
  }

  /// An instance of a class made at run time.
  private static func instance(of type: RuntimeClass, _ initialiser: String, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    let unlocked = shl_unlock_all(callback.scope)
    let found: Result<InstanceMaker, NewTypeError>
    do throws(NewTypeError) { found = .success(try type.maker(initialiser)) } catch { found = .failure(error) }
    guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
    switch found {
    case .failure(let error): return callback.fail("\(error)")
    case .success(let maker):
      let bound = BoundCall(callable: maker.callable, entry: maker.entry)
      return perform(bound, on: UInt(bitPattern: type.metadata.pointer), callback, first: 2, patch)
    }
  }
}

extension Callable {
  /// Ends what a call left in its inout arguments.
  func endInouts(_ block: UnsafeMutableRawPointer) {
    guard hasInout else { return }
    for index in 0..<argumentCount where arguments[index].isInout { arguments[index].destroy(block) }
  }
}

extension Callable.Argument {
  /// Ends the argument in a block that is not going to be used.
  func destroy(_ block: UnsafeMutableRawPointer) { info.metadata.destroy(block + offset) }
}
