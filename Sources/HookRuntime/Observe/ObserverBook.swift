// ObserverBook — which observations run, so that a second one of the same property by the same observer is found.
private import Synchronization

/// Who observes what.
package struct ObserverKey: @unchecked Sendable {
  // Its references are only compared.
  /// Nil for a type.
  weak var object: AnyObject?
  /// Of an observed type; nil for an object.
  let type: Metadata?
  let isStatic: Bool
  let path: String
  /// The observer: an object, or a place in a script.
  weak var guardian: AnyObject?
  let place: String

  /// - Parameter place: where a script says what is done with changes; empty where an object observes.
  package init(_ subject: Observer.Subject, _ path: String, guardian: AnyObject? = nil, place: String = "") {
    self.path = path
    self.guardian = guardian
    self.place = place
    switch subject {
    case .object(let object): (self.object, type, isStatic) = (object, nil, false)
    case .instances(let type): (object, self.type, isStatic) = (nil, type, false)
    case .statics(let type): (object, self.type, isStatic) = (nil, type, true)
    }
  }

  /// Objects that have ended are like nothing.
  fileprivate func isSame(_ other: ObserverKey) -> Bool {
    guard path == other.path, place == other.place, type == other.type, isStatic == other.isStatic else { return false }
    if type == nil, object == nil || object !== other.object { return false }
    return place.isEmpty ? guardian != nil && guardian === other.guardian : true
  }
}

/// The observations of this process. Any thread. No reference is let go under the lock: the last one may run code of the program.
package final class ObserverBook: Sendable {
  package static let shared = ObserverBook()

  private struct Entry: Sendable {
    let key: ObserverKey
    weak let observer: Observer?
  }
  private struct Book {
    var entries: [Entry] = []
    var kept = 0
    var mistakes: (@Sendable (ObservationMistake) -> Bool)?
  }
  private let book = Mutex(Book())

  package func add(_ observer: Observer, _ key: ObserverKey) {
    let loaded: [Observer] = book.withLock { book in
      book.entries.append(Entry(key: key, observer: observer))
      guard book.entries.count > 2 * book.kept + 64 else { return [] }
      let loaded = book.entries.map(\.observer)
      book.entries = zip(book.entries, loaded).filter { $1.map { !$0.isOver } ?? false }.map(\.0)
      book.kept = book.entries.count
      return loaded.compactMap { $0 }
    }
    withExtendedLifetime(loaded) {}
  }

  /// The observation of that key that runs.
  package func running(_ key: ObserverKey) -> Observer? {
    let all = book.withLock(\.entries)
    return all.lazy.filter { $0.key.isSame(key) }.compactMap(\.observer).first { !$0.isOver }
  }

  /// Who is asked about mistakes of Swift code; answers whether the mistake is to have no effect.
  package func onMistake(_ body: @escaping @Sendable (ObservationMistake) -> Bool) { book.withLock { $0.mistakes = body } }

  func isIgnored(_ mistake: ObservationMistake) -> Bool { book.withLock(\.mistakes)?(mistake) ?? false }
}

/// What is wrong with an observation that Swift code asks for or ends.
package enum ObservationMistake: Sendable {
  /// Its observer observes that property of that object already.
  case doubled(path: String)
  /// It was ended before.
  case endedTwice(path: String)
}
