// MessageDelivery — the way of a message: members first, then those who answer for others.
private import SwiftMangling

extension Message {
  func deliver() throws -> MessageResult {
    if let own = ofCollection { return own }
    switch try member() {
    case .success(let found): return try perform(found).get()
    case .failure(let error): return try answer(missing: error)
    }
  }

  /// What comes back where no member answers, which was found out before; nil for nothing.
  package func answered(_ missing: CallError) throws -> OwnedValue? {
    switch try answer(missing: missing) {
    case .returned(let value): return value
    case .neutral, .answered(nil): return nil
    case .answered(let value?):
      guard case .success(let info) = TypeResolver.shared.type(of: Metadata(Swift.type(of: value))),
        let owned = TypedValue.owned(value, as: TypeResolver.shared.general(info))
      else {
        throw CallError.wrongResult(
          selector: selector, expected: Metadata(Swift.type(of: value)).name, found: "a value whose layout is known")
      }
      return owned
    }
  }

  /// What a member of another receiver answers to the message; nil where it has none that can be called so, or the call fails.
  /// - Parameter mayCall: asked of the function before it is called.
  package func answer(ofMemberOf other: Any, mayCall: (Callable) -> Bool) -> UnknownMessage? {
    let message = Message(selector, arguments, to: other)
    if let own = message.ofCollection { return (try? own.any()).map { .value($0) } }
    // Most have nothing of that name, and looking for what is like it takes longer than the call.
    let base = String(selector.prefix { $0 != "(" && $0 != "." })
    let (type, isStatic) = message.type
    guard CallableLookup.shared.member(base, of: type, isStatic: isStatic) != nil,
      case .success(let found)? = try? message.member()
    else { return nil }
    if case .function(let callable, _) = found, !mayCall(callable) { return nil }
    guard case .success(let result)? = try? message.perform(found) else { return nil }
    return (try? result.any()).map { .value($0) }
  }

  private func answer(missing: CallError) throws -> MessageResult {
    let handlers = MessageRegistry.shared.handlers(self)
    for name in names {
      for handler in handlers { if let answer = handler.answers[name] { return .answered(try answer(self)) } }
    }
    if let target = try target(handlers) { return try passed(to: target).deliver() }
    if let reply = try forwarded(handlers) { return .answered(reply.value) }
    return try MessageRegistry.shared.unknown(self, missing)
  }

  /// What is asked of every collection is answered without a body in the program: theirs are generic.
  private var ofCollection: MessageResult? {
    guard arguments.isEmpty, let collection = receiver as? any Collection else { return nil }
    switch selector {
    case "count()", "count": return .answered(collection.count)
    case "isEmpty()", "isEmpty": return .answered(collection.isEmpty)
    default: return nil
    }
  }

  /// The member that answers; that there is none is an answer too.
  private func member() throws(CallError) -> Result<MessageLookup.Found, CallError> {
    do throws(CallError) { return .success(try MessageLookup.shared.find(self)) } catch {
      guard case .noMember = error else { throw error }
      return .failure(error)
    }
  }

  /// The selector as answers may be spelled: a call without arguments may read a property.
  private var names: [String] {
    if selector.hasSuffix("()") { return [selector, selector.dropLast(2) + ".get"] }
    return arguments.isEmpty && !selector.contains("(") ? [selector, selector + "()", selector + ".get"] : [selector]
  }

  /// Who is named to get the message instead.
  private func target(_ handlers: [MessageRegistry.Handlers]) throws -> Any? {
    for handler in handlers {
      for name in handler.targets { if let target = name(self), !isReceiver(target) { return target } }
    }
    let own: Any? =
      switch receiver {
      case let own as any MessageForwarding: own.forwardingTarget(for: selector)
      case let own as any MessageForwarding.Type: own.forwardingTarget(for: selector)
      default: nil
      }
    return own.flatMap { isReceiver($0) ? nil : $0 }
  }

  private func isReceiver(_ other: Any) -> Bool {
    guard let object, case .classType = Metadata(Swift.type(of: other)).kind else { return false }
    return object === (other as AnyObject)
  }

  private struct Answer { var value: Any? }

  private func forwarded(_ handlers: [MessageRegistry.Handlers]) throws -> Answer? {
    for handler in handlers {
      for forward in handler.forwards { if case .answered(let value) = try forward(self) { return Answer(value: value) } }
    }
    let reply: Reply =
      switch receiver {
      case let own as any MessageForwarding: try own.forward(self)
      case let own as any MessageForwarding.Type: try own.forward(self)
      default: .passedOn
      }
    if case .answered(let value) = reply { return Answer(value: value) }
    return nil
  }

  /// Calls a member. What is wrong with the call itself is thrown, what the function throws is in the result.
  private func perform(_ found: MessageLookup.Found) throws(CallError) -> Result<MessageResult, any Error> {
    if case .field(let field) = found { return .success(try read(field)) }
    guard case .function(let callable, let entry) = found else { return .success(.answered(nil)) }
    if callable.isAsync { throw .cannotWait(selector: callable.selector) }
    var block = try CallBlock(callable, count: arguments.count, allowingLeak: false)
    for argument in arguments { try block.add(dynamic: argument.map(Dynamic.unwrapped)) }
    let word = try self.word(of: callable)
    if case .value = callable.receiver {
      let receiver = receiver
      try block.setSelf { TypedValue.store(receiver, as: $0, at: $1) }
    }
    defer { withExtendedLifetime(receiver) {} }
    do { return .success(.returned(try block.run(receiver: word, entry: entry))) } catch { return .failure(error) }
  }

  /// What the callee finds as self, or its metatype.
  private func word(of callable: Callable) throws(CallError) -> UInt {
    switch callable.receiver {
    case .none, .value: return 0
    case .metatype: return UInt(bitPattern: type.metadata.pointer)
    case .object:
      guard let object else {
        throw .wrongReceiver(selector: callable.selector, expected: "an object", found: "the type \(type.metadata.name)")
      }
      let word = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
      try CallCheck.object(word, for: callable)
      return word
    }
  }

  /// A stored property that no accessor is left of.
  private func read(_ field: StoredField.Readable) throws(CallError) -> MessageResult {
    guard arguments.isEmpty else {
      throw .refused(selector: selector, reason: "no setter of it is left in the program; its code writes the field itself")
    }
    let copy = OwnedValue(uninitialized: field.info)
    if let object {
      let memory = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()) + field.offset
      field.info.metadata.initialize(copy.memory, copying: memory)
      return .returned(copy)
    }
    copy.forget()
    guard let whole = try? TypeResolver.shared.type(of: type.metadata).get(), let value = TypedValue.owned(receiver, as: whole) else {
      throw .refused(selector: selector, reason: "the layout of '\(type.metadata.name)' is not known")
    }
    defer { value.destroy() }
    let part = OwnedValue(uninitialized: field.info)
    field.info.metadata.initialize(part.memory, copying: value.memory + field.offset)
    return .returned(part)
  }
}
