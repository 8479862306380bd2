// What the modules of both suites begin with: newtypes, proxies.
import Synchronization

/// What happened, in order.
public final class Trace: Sendable {
  public static let shared = Trace()
  private let words = Mutex<[String]>([])
  public func add(_ word: String) { words.withLock { $0.append(word) } }
  public func take() -> String {
    words.withLock { words in
      defer { words = [] }
      return words.joined(separator: " ")
    }
  }
}

/// Counts its instances.
public final class Token: Sendable {
  static let count = Atomic<Int>(0)
  public static var alive: Int { count.load(ordering: .relaxed) }
  public init() { Self.count.add(1, ordering: .relaxed) }
  deinit { Self.count.subtract(1, ordering: .relaxed) }
}

public struct ShopError: Error, Equatable {
  public var code: Int
  public init(code: Int) { self.code = code }
}
