// PatchStore — values that a patch keeps from one text to the next: plain data, by key, each with an end if it was given one.
private import CHookTrampoline
private import Synchronization

/// One patch's values, in memory for as long as the process runs. Any thread; each operation is one step for all.
final class PatchStore: Sendable {
  /// What can be kept: nothing that belongs to a Lua state or to the program.
  enum Value: Sendable, Equatable {
    case bool(Bool)
    case int(Int64)
    case number(Double)
    case text([UInt8])

    var size: Int { if case .text(let bytes) = self { bytes.count } else { 8 } }
  }

  fileprivate struct Item {
    var value: Value
    /// By CLOCK_MONOTONIC, in nanoseconds; nil: never.
    var end: UInt64?
    /// Changes with each change of the key.
    var version: UInt64
  }
  fileprivate struct State {
    var items: [String: Item] = [:]
    var size = 0
    var versions: UInt64 = 0
  }
  private let state = Mutex(State())

  /// Why a value was not kept.
  enum Problem: Error, Equatable {
    case full, noInteger, overflow
  }

  static let mostKeys = 10_000
  static let mostBytes = 4 << 20

  /// The stores of patches, by id; they outlive their patches.
  private static let stores = Mutex<[String: PatchStore]>([:])
  static func of(_ id: String) -> PatchStore {
    stores.withLock { stores in
      if let known = stores[id] { return known }
      let made = PatchStore()
      stores[id] = made
      return made
    }
  }

  /// - Parameter version: tells later whether somebody changed it meanwhile.
  func get(_ key: String, version: inout UInt64) -> Value? {
    state.withLock { state in
      state.dropIfOver(key)
      version = state.items[key]?.version ?? 0
      return state.items[key]?.value
    }
  }

  /// - Parameters:
  ///   - value: nil takes the key out.
  ///   - life: in nanoseconds; nil: it has no end.
  ///   - expected: nothing happens when the key changed since it had this version.
  /// - Returns: false when it did.
  func set(_ key: String, _ value: Value?, life: UInt64?, ifVersion expected: UInt64? = nil) throws(Problem) -> Bool {
    let outcome: Result<Bool, Problem> = state.withLock { state in
      state.dropIfOver(key)
      if let expected, expected != state.items[key]?.version ?? 0 { return .success(false) }
      return state.put(key, value, life) ? .success(true) : .failure(.full)
    }
    return try outcome.get()
  }

  /// Adds to an integer, which is 0 where there is none; answers what it is then. It keeps its end unless it gets another.
  func add(_ amount: Int64, to key: String, life: UInt64?) throws(Problem) -> Int64 {
    let outcome: Result<Int64, Problem> = state.withLock { state in
      state.dropIfOver(key)
      let item = state.items[key]
      var before: Int64 = 0
      if let item {
        guard case .int(let number) = item.value else { return .failure(.noInteger) }
        before = number
      }
      let (sum, overflows) = before.addingReportingOverflow(amount)
      if overflows { return .failure(.overflow) }
      guard state.put(key, .int(sum), life) else { return .failure(.full) }
      if life == nil { state.items[key]?.end = item?.end }
      return .success(sum)
    }
    return try outcome.get()
  }
}

extension PatchStore.State {
  fileprivate mutating func dropIfOver(_ key: String) {
    if let end = items[key]?.end, end <= hkt_now_ns() { _ = put(key, nil, nil) }
  }

  /// False when there is no room; those that are over make some.
  fileprivate mutating func put(_ key: String, _ value: PatchStore.Value?, _ life: UInt64?) -> Bool {
    let before = items[key].map { $0.value.size + key.utf8.count } ?? 0
    guard let value else {
      if items.removeValue(forKey: key) != nil { size -= before }
      return true
    }
    let after = value.size + key.utf8.count
    func isFull() -> Bool { items[key] == nil && items.count >= PatchStore.mostKeys || size - before + after > PatchStore.mostBytes }
    if isFull() {
      let now = hkt_now_ns()
      for (key, item) in items where item.end.map({ $0 <= now }) ?? false {
        size -= item.value.size + key.utf8.count
        items[key] = nil
      }
      if isFull() { return false }
    }
    versions += 1
    size += after - before
    items[key] = .init(value: value, end: life.map { hkt_now_ns() &+ $0 }, version: versions)
    return true
  }
}
