// FunctionValue — a closure or function pointer of the program (or one of ours), held or borrowed.
package import CHookTrampoline
private import Synchronization

package final class FunctionValue: Sendable {
  /// The function type, in the form the value has.
  package let type: TypeInfo
  package let code: UInt
  /// The context object; 0 for functions without one.
  package let context: UInt
  /// The call that borrowed a non-escaping closure, or another whose context lies on the stack; 0 for values held here.
  package let borrowOwner: UInt64

  /// No call has this number: nothing is borrowed from it, and such a value is of no use.
  package static let nobody = UInt64.max

  /// Reads the value at `memory`; one that may escape is retained, any other is borrowed by the call `borrowOwner`.
  /// - Parameter endsWithCall: its context does not live longer, whatever the type says.
  package init(_ memory: UnsafeRawPointer, _ type: TypeInfo, borrowOwner: UInt64, endsWithCall: Bool = false) {
    self.type = type
    let shape = type.metadata.function
    code = memory.loadUnaligned(as: UInt.self)
    context = shape?.convention == .swift ? memory.loadUnaligned(fromByteOffset: 8, as: UInt.self) : 0
    let isBorrowed = endsWithCall || shape?.convention == .swift && shape?.isEscaping == false
    self.borrowOwner = isBorrowed ? borrowOwner == 0 && endsWithCall ? Self.nobody : borrowOwner : 0
    if self.borrowOwner == 0 { Self.retain(context) }
  }

  deinit { if borrowOwner == 0 { Self.release(context) } }

  package var isBorrowed: Bool { borrowOwner != 0 }
  package var plan: Result<FunctionPlan, FunctionProblem> { FunctionPlans.shared.plan(type) }

  // A context is a native object, or null; both words of a closure are kept or copied together.
  static func retain(_ context: UInt) {
    if let object = UnsafeRawPointer(bitPattern: context) { _ = Unmanaged<AnyObject>.fromOpaque(object).retain() }
  }
  package static func release(_ context: UInt) {
    if let object = UnsafeRawPointer(bitPattern: context) { Unmanaged<AnyObject>.fromOpaque(object).release() }
  }

  /// Initialises `memory` with the function as a value of `target`, which differs from its type in form at most. Where
  /// the form is another, the value becomes a closure of ours that calls it; the way back finds the original.
  ///
  /// The context is owned by what is in `memory` then, also where a non-escaping type does not release it.
  /// - Parameter borrow: of a borrowed closure that becomes one that may escape: called when the borrow is over, it stops the process.
  package func store(at memory: UnsafeMutableRawPointer, as target: TypeInfo, until borrow: ClosureBorrow? = nil) throws(FunctionProblem) {
    if borrow == nil, target.form.isSame(as: type.form) || target.metadata.function?.convention != .swift {
      Self.retain(context)
      write(code, context, target, memory)
      return
    }
    let from = try plan.get()
    let to = try FunctionPlans.shared.plan(target).get()
    guard (from.call.arguments.map(\.info) + [from.call.result.info]).allSatisfy(Self.hasOneForm) else {
      throw FunctionProblem(description: "closures of its type cannot be passed between generic and other places")
    }
    let made = HostClosure.make(to, ForwardingClosure(self, from, borrow))
    write(made.code, made.context, target, memory)
  }

  private static func hasOneForm(_ info: TypeInfo?) -> Bool {
    guard let info else { return false }
    return TypeResolver.shared.general(info) === info && info.form == .natural
  }

  /// Stores the words of the function; a C function is one word.
  private func write(_ code: UInt, _ context: UInt, _ target: TypeInfo, _ memory: UnsafeMutableRawPointer) {
    memory.storeBytes(of: code, as: UInt.self)
    if target.metadata.function?.convention == .swift { memory.storeBytes(of: context, toByteOffset: 8, as: UInt.self) }
  }

  /// The function that a closure of ours only passes calls on to, else the function itself.
  package var original: FunctionValue {
    (HostClosure.behind(code: code, context: context)?.body as? ForwardingClosure)?.target ?? self
  }

  /// Runs the function with the arguments of a call of the same type and form, as they are; leaves its results there.
  package func run(_ call: UnsafeMutablePointer<HKTCall>, _ plan: FunctionPlan) {
    let frame = call.pointee.frame!
    let (context, error) = (frame.pointee.self_register, frame.pointee.results.error)
    frame.pointee.self_register = UInt64(self.context)
    hkt_call_program(frame, UnsafeMutableRawPointer(bitPattern: code), plan.call.stack.bytes)
    // What the caller expects of a callee: its own context back, and no error where none can be.
    frame.pointee.results.self_register = context
    if !plan.shape.isThrowing { frame.pointee.results.error = error }
  }
}

/// How long a handler may borrow closures that must not escape.
package final class ClosureBorrow: Sendable {
  fileprivate let isOver = Atomic<Bool>(false)
  package init() {}

  /// Ends a borrow when it is released.
  package final class Term {
    private let borrow: ClosureBorrow
    package init(_ borrow: ClosureBorrow) { self.borrow = borrow }
    deinit { borrow.isOver.store(true, ordering: .releasing) }
  }
}

/// Passes calls of one form of a function type on to a closure of the other form.
private final class ForwardingClosure: ClosureBody {
  let target: FunctionValue
  private let targetPlan: FunctionPlan
  private let borrow: ClosureBorrow?

  init(_ target: FunctionValue, _ plan: FunctionPlan, _ borrow: ClosureBorrow?) {
    self.target = target
    targetPlan = plan
    self.borrow = borrow
  }

  /// Passes a call of the one form on to the closure of the other form.
  func run(_ call: UnsafeMutablePointer<HKTCall>, _ plan: FunctionPlan) {
    if let borrow, borrow.isOver.load(ordering: .acquiring) {
      fatalError("a non-escaping closure of type '\(target.type.name)' was kept and called after the handler it was lent to")
    }
    let reader = ValueReader(call.pointee.frame)
    var arguments: [UnsafeMutableRawPointer] = []
    var copies: [OwnedValue] = []
    for argument in plan.call.arguments {
      if case .address(let place) = argument.location, let memory = UnsafeMutableRawPointer(bitPattern: UInt(reader.argumentWord(place))) {
        arguments.append(memory)
        continue
      }
      guard let info = argument.info else { return }
      let copy = OwnedValue(uninitialized: info)
      // Bits are copied for the length of the call: whoever owns the value in the registers owns them.
      _ = reader.withMemory(argument.location, info, isResult: false) { copy.memory.copyMemory(from: $0, byteCount: info.size) }
      arguments.append(copy.memory)
      copies.append(copy)
    }
    defer { copies.forEach { $0.forget() } }
    guard let info = plan.call.result.info else { return }
    let result = OwnedValue(uninitialized: info)
    let error = arguments.withUnsafeBufferPointer {
      targetPlan.invoke(code: target.code, context: target.context, arguments: $0, result: result.memory)
    }
    guard error == 0 else {
      result.forget()
      if !plan.setError(error, in: call) { fatalError("internal error: a closure of '\(plan.type.name)' threw an error of another type") }
      return
    }
    // The caller of a general closure has no room for the result when that is no bytes.
    if info.size == 0 { result.forget() } else { ValueWriter(call).setResult(plan.call.result, to: result) }
  }
}
