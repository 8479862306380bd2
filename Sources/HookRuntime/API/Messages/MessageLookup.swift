// MessageLookup — which member of its receiver a message means. Found once for each type and name.
private import SwiftMangling

final class MessageLookup: @unchecked Sendable {
  // All state is behind `lock`.
  static let shared = MessageLookup()
  private let lock = RecursiveLock()
  private var known: [Key: Found] = [:]
  /// What was not there, with the count of changes of the images then: another image may bring it.
  private var missing: [Key: (error: CallError, changes: UInt64)] = [:]

  private struct Key: Hashable {
    var type: Metadata
    var isStatic: Bool
    var selector: String
    var count: Int
  }

  enum Found {
    case function(Callable, entry: UInt)
    case field(StoredField.Readable)
  }

  /// - Throws: `.noMember` when nothing of this name is there, everything else when it is and cannot be called.
  func find(_ message: Message) throws(CallError) -> Found {
    let (type, isStatic) = message.type
    let key = Key(type: type, isStatic: isStatic, selector: message.selector, count: message.arguments.count)
    let changes = LoadedImages.changeCount
    let (found, absence) = lock.withLock { (known[key], missing[key]) }
    if let found { return found }
    if let absence, absence.changes == changes { throw absence.error }
    do throws(CallError) {
      let found = try find(key)
      lock.withLock { known[key] = found }
      return found
    } catch {
      if case .noMember = error {
        lock.withLock {
          if missing.count >= 1000 { missing = [:] }
          missing[key] = (error, changes)
        }
      }
      throw error
    }
  }

  private func find(_ key: Key) throws(CallError) -> Found {
    let name = key.selector
    if !name.contains("("), !name.hasSuffix(".get"), !name.hasSuffix(".set") { return try findByName(name, key) }
    do throws(CallError) { return function(try exact(name, key), key.type) } catch {
      // `add("x", 2.5)` has no labels to tell, so that the name and the number of arguments have to; and `title()` may be a property.
      guard case .noMember = error, let base = Self.baseName(unlabelled: name) else { throw error }
      do throws(CallError) { return try findByName(base, key) } catch let other {
        if case .noMember = other { throw error }
        throw other
      }
    }
  }

  private func exact(_ name: String, _ key: Key) throws(CallError) -> Callable {
    let isInit = name.hasPrefix("init(") || name.hasPrefix("init?(")
    let callable = try CallableLookup.shared.callable(name, of: key.type, isStatic: key.isStatic && !isInit)
    if callable.owner != nil { try CallCheck.type(key.type, for: callable) }
    if isInit, !key.isStatic { throw .noMember(selector: name, type: key.type.name, nearest: []) }
    return callable
  }

  private func function(_ callable: Callable, _ type: Metadata) -> Found {
    .function(callable, entry: VirtualCall.entry(of: callable, for: type))
  }

  /// The base name of `name(_:_:)` and `name.set`, nil where a label is spelled.
  private static func baseName(unlabelled selector: String) -> String? {
    if selector.hasSuffix(".get") || selector.hasSuffix(".set") { return String(selector.dropLast(4)) }
    guard let open = selector.firstIndex(of: "("), selector.hasSuffix(")") else { return nil }
    let labels = selector[selector.index(after: open)...].dropLast()
    return labels.allSatisfy { $0 == "_" || $0 == ":" } ? String(selector[..<open]) : nil
  }

  /// A property, or the one method of that name with as many arguments.
  private func findByName(_ name: String, _ key: Key) throws(CallError) -> Found {
    switch CallableLookup.shared.member(name, of: key.type, isStatic: key.isStatic) {
    case .property(let get, let set, _)?:
      let accessor = key.count == 0 ? get : set
      if key.count > 1 { throw .wrongCount(selector: name, expected: 1, found: key.count) }
      if case .success(let callable)? = accessor { return function(callable, key.type) }
      // The accessor may be gone where every use of it was inlined.
      if let field = field(name, key) { return .field(field) }
      if case .failure(let error)? = accessor { throw error }
      throw .refused(selector: name, reason: "it has no setter")
    case .methods(let selectors)?: return try choose(selectors, name, key)
    case nil: break
    }
    if let field = field(name, key) { return .field(field) }
    throw .noMember(selector: name, type: key.type.name, nearest: NearestNames.members(of: key.type.name, like: name))
  }

  private func field(_ name: String, _ key: Key) -> StoredField.Readable? {
    guard !key.isStatic, case .success(let field) = StoredField.find(name, in: key.type) else { return nil }
    return field
  }

  private func choose(_ selectors: [String], _ name: String, _ key: Key) throws(CallError) -> Found {
    var fitting: [Callable] = []
    var refused: CallError?
    for selector in selectors {
      do throws(CallError) {
        let callable = try CallableLookup.shared.callable(selector, on: key.type)
        if callable.argumentCount == key.count { fitting.append(callable) }
      } catch { refused = refused ?? error }
    }
    if fitting.count == 1 { return function(fitting[0], key.type) }
    if fitting.isEmpty, let refused { throw refused }
    if fitting.isEmpty, selectors.count == 1 {
      let only = try CallableLookup.shared.callable(selectors[0], on: key.type)
      throw .wrongCount(selector: only.selector, expected: only.argumentCount, found: key.count)
    }
    throw .ambiguous(selector: name, candidates: selectors)
  }
}
