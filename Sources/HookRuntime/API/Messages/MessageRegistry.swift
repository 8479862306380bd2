// MessageRegistry — the one owner of what was added for messages.
private import Synchronization

final class MessageRegistry: @unchecked Sendable {
  // All state is behind `lock`; handlers are called outside of it.
  static let shared = MessageRegistry()
  private let lock = RecursiveLock()
  private var entries: [Entry] = []
  private var nextID: UInt64 = 1
  private var onUnknown: Unknown?
  /// Most programs add nothing: sends then do not take the lock.
  private let count = Atomic<Int>(0)

  typealias Unknown = @Sendable (Message, CallError) -> UnknownMessage

  enum Place {
    case type(Metadata, isStatic: Bool)
    case object(AnyObject)
  }

  /// What one call of `Messages` added.
  struct Handlers {
    var answers: [String: @Sendable (Message) throws -> Any?] = [:]
    var targets: [@Sendable (Message) -> Any?] = []
    var forwards: [@Sendable (Message) throws -> Message.Reply] = []
  }

  private struct Entry {
    let id: UInt64
    let type: (metadata: Metadata, isStatic: Bool)?
    /// A new object at the same address is another one.
    weak var object: AnyObject?
    let handlers: Handlers
  }

  func add(_ place: Place, _ fill: (inout Handlers) -> Void) -> MessageHandler {
    var handlers = Handlers()
    fill(&handlers)
    return lock.withLock {
      defer { nextID += 1 }
      entries.removeAll { $0.type == nil && $0.object == nil }
      switch place {
      case .type(let metadata, let isStatic):
        entries.append(Entry(id: nextID, type: (metadata, isStatic), object: nil, handlers: handlers))
      case .object(let object): entries.append(Entry(id: nextID, type: nil, object: object, handlers: handlers))
      }
      count.store(entries.count, ordering: .relaxed)
      return MessageHandler(id: nextID)
    }
  }

  func remove(_ id: UInt64) -> Bool {
    lock.withLock {
      guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
      entries.remove(at: index)
      count.store(entries.count, ordering: .relaxed)
      return true
    }
  }

  /// Those for the message's receiver: the object's first, then its class's, then those of classes above; the newer first.
  func handlers(_ message: Message) -> [Handlers] {
    if count.load(ordering: .relaxed) == 0 { return [] }
    let (type, isStatic) = message.type
    let object = message.object
    return lock.withLock {
      var found = entries.filter { $0.type == nil && $0.object != nil && $0.object === object }
      found.reverse()
      var each: Metadata? = type
      while let metadata = each {
        found += entries.filter { $0.type?.metadata == metadata && $0.type?.isStatic == isStatic }.reversed()
        each = metadata.superclass
      }
      return found.map(\.handlers)
    }
  }

  private var onFailedAssignment: (@Sendable (String, any Error) -> Void)?
  func setFailedAssignment(_ listener: (@Sendable (String, any Error) -> Void)?) { lock.withLock { onFailedAssignment = listener } }

  func failed(toAssign property: String, _ error: any Error) {
    if let listener = lock.withLock({ onFailedAssignment }) { return listener(property, error) }
    ErrorOutput.write("an assignment to '\(property)' failed: \(error)")
  }

  func setUnknown(_ answer: Unknown?) { lock.withLock { onUnknown = answer } }
  private var guardAnswer: Unknown?
  func setGuard(_ answer: @escaping Unknown) { lock.withLock { guardAnswer = answer } }

  /// What comes back where nobody answers.
  func unknown(_ message: Message, _ error: CallError) throws(CallError) -> MessageResult {
    let asked: [Unknown] = lock.withLock { [onUnknown, guardAnswer].compactMap { $0 } }
    for ask in asked {
      switch ask(message, error) {
      case .error: continue
      case .neutral: return .neutral
      case .value(let value): return .answered(value)
      }
    }
    throw error
  }
}
