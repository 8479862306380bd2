// NotificationCenterCalls — Foundation's default NotificationCenter, called by the names of its functions, where the program has it.
//
// Nothing here brings Foundation into a program: the functions are looked for among those of the images that are there.
internal import CHookTrampoline
internal import HookRuntime
private import Glibc

/// Immutable. Any thread.
final class NotificationCenterCalls: @unchecked Sendable {
  // Callables are immutable, and the center is an object of Foundation's that lives as long as the process.
  private let add, take, post: Callable
  private let center: AnyObject

  /// What the program's Foundation has; looked for anew where it was not there.
  static func found() throws(CallError) -> NotificationCenterCalls {
    if let known = once.withLock({ $0 }) { return known }
    let made = try NotificationCenterCalls()
    return once.withLock { shared in
      if let shared { return shared }
      shared = made
      return made
    }
  }
  private static let once = Shared()

  private final class Shared: @unchecked Sendable {
    // Guarded by `lock`.
    private let lock = RecursiveLock()
    private var value: NotificationCenterCalls?
    func withLock<R>(_ body: (inout NotificationCenterCalls?) -> R) -> R { lock.withLock { body(&value) } }
  }

  private init() throws(CallError) {
    let type = "FoundationEssentials.NotificationCenter"
    guard case .success = SelectorLookup.resolve("\(type).post(name:object:userInfo:)", suggesting: false) else {
      throw .notFound("this program does not use Foundation, which has the notifications; nothing here brings it in")
    }
    let lookup = CallableLookup.shared
    add = try lookup.callable("\(type).addObserver(forName:object:queue:using:)")
    take = try lookup.callable("\(type).removeObserver(_: Any)")
    post = try lookup.callable("\(type).post(name:object:userInfo:)")
    let own = try lookup.callable("static \(type).default.get")
    guard add.argumentCount == 4, take.argumentCount == 1, post.argumentCount == 3, own.argumentCount == 0,
      add.arguments[0].info.size == MemoryLayout<String>.size, post.arguments[0].info.size == MemoryLayout<String>.size
    else { throw .notFound("the notifications of this Foundation are not those that are known") }
    var word: UInt = 0
    let receiver = own.owner.map { UInt(bitPattern: $0.pointer) } ?? 0
    _ = withUnsafeTemporaryAllocation(byteCount: own.blockBytes + 32, alignment: 16) { block in
      withUnsafeMutableBytes(of: &word) { own.run(block.baseAddress!, receiver: receiver, entry: own.entry, result: $0.baseAddress!) }
    }
    guard let object = UnsafeRawPointer(bitPattern: word) else { throw .notFound("Foundation has no default notification center") }
    // A getter's result is the caller's own reference.
    center = Unmanaged<AnyObject>.fromOpaque(object).takeRetainedValue()
  }

  /// The type of the closures that are reported.
  var observerType: TypeInfo { add.arguments[3].info }
  var postedObject: TypeInfo { post.arguments[1].info }
  var postedInfo: TypeInfo { post.arguments[2].info }

  /// Makes a call with arguments that are made in place, all of them given away.
  private func run(
    _ callable: Callable, _ result: UnsafeMutableRawPointer?, trap: UnsafeMutablePointer<HKTTrap>? = nil,
    _ fill: (UnsafeMutableRawPointer) -> Void
  ) {
    let object = UnsafeRawPointer(Unmanaged.passUnretained(center).toOpaque())
    let entry = VirtualCall.entry(of: callable, for: Metadata(object.load(as: UnsafeRawPointer.self)))
    withUnsafeTemporaryAllocation(byteCount: callable.blockBytes + 32, alignment: 16) { memory in
      let block = memory.baseAddress!
      block.initializeMemory(as: UInt8.self, repeating: 0, count: memory.count)
      fill(block)
      _ = callable.run(block, receiver: UInt(bitPattern: object), entry: entry, result: result, trap: trap)
    }
  }

  /// A name is a struct of one text, and an Optional of it lies as the text does: checked by their sizes when the center was found.
  private func put(_ name: String, _ block: UnsafeMutableRawPointer, _ callable: Callable) {
    (block + callable.arguments[0].offset).initializeMemory(as: String.self, to: name)
  }

  /// Subscribes to a name, whoever posts it.
  /// - Parameter closure: code and context of a closure of `observerType`; given away.
  /// - Returns: what `remove` takes.
  func subscribe(to name: String, _ closure: (code: UInt, context: UInt)) -> AnyObject? {
    guard let info = add.result else { return nil }
    let result = OwnedValue(uninitialized: info)
    run(add, result.memory) { block in
      put(name, block, add)
      // No sender and no queue: both are Optionals.
      for index in 1...2 { add.arguments[index].info.metadata.injectEnumTag(block + add.arguments[index].offset, 1) }
      let place = block + add.arguments[3].offset
      place.storeBytes(of: closure.code, as: UInt.self)
      place.storeBytes(of: closure.context, toByteOffset: 8, as: UInt.self)
    }
    // An existential of a protocol of classes begins with its object.
    let word = result.memory.load(as: UInt.self)
    result.forget()
    return UnsafeRawPointer(bitPattern: word).map { Unmanaged<AnyObject>.fromOpaque($0).takeRetainedValue() }
  }

  func remove(_ token: AnyObject) {
    run(take, nil) { ($0 + take.arguments[0].offset).initializeMemory(as: Any.self, to: token) }
  }

  /// Posts: observers run before this returns.
  /// - Parameters:
  ///   - object, info: values of the types above; given away.
  /// - Returns: how an observer trapped; nil: none did.
  func post(_ name: String, object: OwnedValue, info: OwnedValue) -> ContainedTrap? {
    let trap = Containment.catching { trap in
      run(post, nil, trap: trap) { block in
        put(name, block, post)
        for (value, index) in [(object, 1), (info, 2)] {
          value.info.metadata.initialize(block + post.arguments[index].offset, copying: value.memory)
        }
      }
    }
    ProgramCall.asProgram {
      object.destroy()
      info.destroy()
    }
    return trap
  }

  /// Messages about a trap name it.
  var posting: Callable { post }
}
