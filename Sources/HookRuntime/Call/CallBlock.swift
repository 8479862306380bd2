// CallBlock — one call of a program's function in the making: its arguments, then its result.
private import CHookTrampoline
private import SwiftMangling

/// Holds the arguments until they are given away; what was made is ended when the call is not made.
struct CallBlock: ~Copyable {
  private let callable: Callable
  private let memory: UnsafeMutableRawPointer
  /// Arguments made so far.
  private var made = 0
  /// The caller's variables of inout arguments.
  private var variables: [(index: Int, address: UnsafeMutableRawPointer)] = []

  static let onlyScripts = "calls from Swift do not look for what its parameters are; scripts do"

  /// - Parameters:
  ///   - count: how many arguments there are going to be.
  ///   - allowingLeak: the copy of a value that the call is made on may be left behind.
  init(_ callable: Callable, count: Int, allowingLeak: Bool) throws(CallError) {
    if callable.mayLeaveSelf, !allowingLeak { throw .mayLeaveCopy(selector: callable.selector) }
    guard count == callable.argumentCount else {
      throw .wrongCount(selector: callable.selector, expected: callable.argumentCount, found: count)
    }
    if callable.isGeneric { throw .refused(selector: callable.selector, reason: CallRefusal.generic(Self.onlyScripts).description) }
    self.callable = callable
    memory = .allocate(byteCount: max(callable.blockBytes, 16), alignment: 16)
  }

  deinit {
    for index in 0..<made { callable.arguments[index].info.metadata.destroy(place(index)) }
    memory.deallocate()
  }

  /// Where the block has room for the argument.
  private func place(_ index: Int) -> UnsafeMutableRawPointer { memory + callable.arguments[index].offset }

  /// Makes the next argument; a variable for an inout one is given as an `UnsafeMutablePointer`.
  mutating func add<T>(_ value: T) throws(CallError) {
    let argument = callable.arguments[made]
    let info = argument.info
    if argument.isInout {
      guard let variable = (value as? any MutablePointer)?.address(of: info.metadata.type) else {
        throw wrong("UnsafeMutablePointer<\(info.name)>", Metadata(T.self).name)
      }
      info.metadata.initialize(place(made), copying: variable)
      variables.append((made, variable))
    } else if !TypedValue.store(value, as: info, at: place(made)) {
      throw wrong(info.name, Metadata(T.self).name)
    }
    made += 1
  }

  /// Puts an argument of which only the call knows the type: numbers become numbers of the parameter's type where that is
  /// exact, nil an empty Optional.
  mutating func add(dynamic value: Any?) throws(CallError) {
    let argument = callable.arguments[made]
    guard !argument.isInout, let fault = DynamicValue.store(value, as: argument.info, at: place(made)) else {
      if argument.isInout { return try add(value as Any) }
      made += 1
      return
    }
    throw wrong(argument.info.name, fault)
  }

  /// Makes `self` of a struct's or enum's method.
  /// - Parameter store: makes the value, answers false when it is of another type.
  func setSelf(_ store: (TypeInfo, UnsafeMutableRawPointer) -> Bool) throws(CallError) {
    guard case .value(let info) = callable.receiver else { return }
    if store(info, memory + callable.selfOffset) { return }
    throw .wrongReceiver(selector: callable.selector, expected: info.name, found: "a value of another type")
  }

  private func wrong(_ expected: String, _ found: String) -> CallError {
    .wrongArgument(
      selector: callable.selector, position: made, label: callable.plan.arguments[made].label, expected: expected, found: found)
  }

  /// Makes the call. Throws what the function throws.
  /// - Returns: the result, nil for Void.
  mutating func run(receiver: UInt, entry: UInt) throws -> OwnedValue? {
    made = 0  // given away
    let result = callable.result.map { OwnedValue(uninitialized: $0) }
    let error = callable.run(memory, receiver: receiver, entry: entry, result: result?.memory)
    for (index, variable) in variables {
      let type = callable.arguments[index].info.metadata
      type.destroy(variable)
      type.initialize(variable, copying: place(index))
    }
    // Inout values are ours still.
    if callable.hasInout { for index in 0..<callable.argumentCount where callable.arguments[index].isInout { end(index) } }
    guard error == 0 else {
      result?.forget()
      // The word is an owned reference to the box that `any Error` is; what is thrown has one of its own.
      let thrown = unsafeBitCast(error, to: (any Error).self)
      ProgramCall.release(error)
      throw thrown
    }
    if callable.changedSelf(in: memory) {
      ProgramCall.asProgram { result?.destroy() }
      throw CallError.changedCopy(selector: callable.selector)
    }
    return result
  }

  private func end(_ index: Int) { callable.arguments[index].info.metadata.destroy(place(index)) }
}

/// Any `UnsafeMutablePointer`, for inout arguments.
protocol MutablePointer {
  func address(of type: Any.Type) -> UnsafeMutableRawPointer?
}
extension UnsafeMutablePointer: MutablePointer {
  func address(of type: Any.Type) -> UnsafeMutableRawPointer? { type == Pointee.self ? UnsafeMutableRawPointer(self) : nil }
}

extension ErrorBox {
  /// The error in a box whose reference is given away.
  package static func taking(_ word: UInt) -> any Error {
    let error = error(in: word)
    ProgramCall.release(word)
    return error
  }
}
