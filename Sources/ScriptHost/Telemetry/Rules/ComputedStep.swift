// ComputedStep — `total()` in a path: a getter, or a method without arguments, called when the rule fires.
//
// It is code of the program, and runs as the host's work: hooks on what it calls do not see it.
internal import CHookTrampoline
internal import HookRuntime

final class ComputedStep: Sendable {
  private let callable: Callable
  let result: TypeInfo

  /// Finds the getter or method of values of `type`.
  init(_ name: String, of type: TypeInfo, _ path: String) throws(RuleProblem) {
    let found = Self.find(name, of: type)
    guard case .success(let callable) = found, let result = callable.result else {
      let why = if case .failure(let error) = found { "\(error)" } else { "its result is not known" }
      throw RuleProblem("'\(path)': '\(name)()' cannot be called on \(type.name): \(why)")
    }
    self.callable = callable
    self.result = result
  }

  private static func find(_ name: String, of type: TypeInfo) -> Result<Callable, CallError> {
    var first: CallError?
    for member in ["\(name).get", "\(name)()"] {
      do throws(CallError) {
        let callable = try CallableLookup.shared.callable(member, of: type.metadata)
        if let refusal = refusal(callable) { return .failure(.refused(selector: callable.selector, reason: refusal)) }
        return .success(callable)
      } catch { first = first ?? error }
    }
    return .failure(first!)
  }

  /// Why a rule does not call it.
  private static func refusal(_ callable: Callable) -> String? {
    if callable.isAsync { return "it is async, and a rule does not wait" }
    if callable.isGeneric { return "it is generic" }
    if callable.argumentCount > 0 { return "it takes arguments" }
    if callable.mayLeaveSelf || callable.hasInout { return "it may change or consume its self" }
    return nil
  }

  /// Calls it on the value at `memory`; `body` gets the result, which ends with it.
  func call(on memory: UnsafeRawPointer, _ type: Unmanaged<TypeInfo>, _ body: (UnsafeRawPointer, Unmanaged<TypeInfo>) -> Void) -> String? {
    let isObject = if case .object = type._withUnsafeGuaranteedRef({ $0.kind }) { true } else { false }
    let object = isObject ? memory.loadUnaligned(as: UInt.self) : 0
    if isObject {
      do throws(CallError) { try CallCheck.object(object, for: callable) } catch { return "\(error)" }
    }
    return withUnsafeTemporaryAllocation(byteCount: max(callable.blockBytes, 16), alignment: 16) { block in
      block.initializeMemory(as: UInt8.self, repeating: 0)
      let block = block.baseAddress!
      if !isObject { type._withUnsafeGuaranteedRef { $0.metadata }.initialize(block + callable.selfOffset, copying: memory) }
      return withUnsafeTemporaryAllocation(byteCount: max(result.size, 16), alignment: max(result.alignment, 16)) { room in
        room.initializeMemory(as: UInt8.self, repeating: 0)
        let room = room.baseAddress!
        let entry = UnsafeRawPointer(bitPattern: object).map {
          VirtualCall.entry(of: callable, for: Metadata($0.load(as: UnsafeRawPointer.self)))
        } ?? callable.entry
        let error = unseen { callable.run(block, receiver: object, entry: entry, result: room) }
        if error != 0 {
          let text = ValuePrinter.error(error)
          ProgramCall.release(error)
          return "threw \(text)"
        }
        body(room, .passUnretained(result))
        result.metadata.destroy(room)
        return nil
      }
    }
  }

  /// Hooked functions that it calls pass through: a rule never fires inside a rule.
  private func unseen<R>(_ body: () -> R) -> R {
    guard let thread = hkt_thread() else { return body() }
    thread.pointee.unseen += 1
    defer { thread.pointee.unseen -= 1 }
    return body()
  }
}
