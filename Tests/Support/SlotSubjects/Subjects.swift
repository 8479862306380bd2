// What the tests of slots hook: a hierarchy, a replaceable function, protocols. A module of its own, so that no caller
// sees through it.

/// What ran, innermost last.
public nonisolated(unsafe) var ran: [String] = []

/// Hides where an object comes from.
@inline(never) public func hidden<T>(_ value: T) -> T { value }

public protocol Speaker: AnyObject {
  func speak(_ n: Int) -> Int
}

/// Used by one thread at a time.
open class Animal: Speaker, @unchecked Sendable {
  public let name: String
  public nonisolated(unsafe) static var alive = 0
  public init(name: String) {
    self.name = name
    Animal.alive += 1
  }
  deinit { Animal.alive -= 1 }

  open func speak(_ n: Int) -> Int {
    ran.append("Animal.speak \(n)")
    return n + 1
  }
  /// Inherited by all but `Cat`.
  open func walk(_ n: Int) -> Int {
    ran.append("Animal.walk \(n)")
    return n + 2
  }
  open var mood: Int {
    get {
      ran.append("Animal.mood")
      return 3
    }
    set { ran.append("Animal.mood = \(newValue)") }
  }
  open func twice(_ n: Int) -> Int? {
    ran.append("Animal.twice \(n)")
    return 2 * n
  }
  open func fails(_ n: Int) throws -> Int {
    ran.append("Animal.fails \(n)")
    if n < 0 { throw Refused() }
    return n
  }
  public dynamic func swapped(_ n: Int) -> Int {
    ran.append("Animal.swapped \(n)")
    return n + 4
  }
  open func later(_ n: Int) async -> Int {
    await Task.yield()
    ran.append("Animal.later \(n)")
    return n + 5
  }
  /// Calls itself.
  open func count(_ n: Int) -> Int {
    ran.append("Animal.count \(n)")
    return n == 0 ? 0 : 1 + count(n - 1)
  }
}

public struct Refused: Error {}

open class Dog: Animal, @unchecked Sendable {
  public var tricks = ["sit"]
  open override func speak(_ n: Int) -> Int {
    ran.append("Dog.speak \(n)")
    return super.speak(n) * 10
  }
  open func fetch() -> String { "stick" }
}

open class Puppy: Dog, @unchecked Sendable {
  open override func twice(_ n: Int) -> Int {
    ran.append("Puppy.twice \(n)")
    return 3 * n
  }
}

open class Cat: Animal, @unchecked Sendable {
  open override func walk(_ n: Int) -> Int {
    ran.append("Cat.walk \(n)")
    return n * 100
  }
}

public final class Fish: Animal, @unchecked Sendable {
  public override func walk(_ n: Int) -> Int {
    ran.append("Fish.walk \(n)")
    return -n
  }
}

open class Crate<Content>: Animal, @unchecked Sendable {
  public let content: Content
  public init(_ content: Content) {
    self.content = content
    super.init(name: "crate")
  }
  open func open(_ n: Int) -> Int { n }
}

public actor Clerk {
  public init() {}
  public func file(_ n: Int) -> Int { n }
}

public dynamic func swappedFree(_ n: Int) -> Int {
  ran.append("swappedFree \(n)")
  return n * 7
}
public dynamic func swappedLater(_ n: Int) async -> Int {
  ran.append("swappedLater \(n)")
  return n * 9
}

/// Calls through a protocol, unspecialised.
@inline(never) public func speakThrough(_ speaker: any Speaker, _ n: Int) -> Int { speaker.speak(n) }

/// The word that an object begins with.
@_optimize(none) @inline(never) public func classWord(_ object: AnyObject) -> UInt {
  Unmanaged.passUnretained(object).toOpaque().load(as: UInt.self)
}

/// Virtual calls that stay virtual: the optimiser asks for the exact class first and calls its method directly.
extension Animal {
  @_optimize(none) @inline(never) public final func callSpeak(_ n: Int) -> Int { speak(n) }
  @_optimize(none) @inline(never) public final func callWalk(_ n: Int) -> Int { walk(n) }
  @_optimize(none) @inline(never) public final func callTwice(_ n: Int) -> Int? { twice(n) }
  @_optimize(none) @inline(never) public final func callSwapped(_ n: Int) -> Int { swapped(n) }
  @_optimize(none) @inline(never) public final func callCount(_ n: Int) -> Int { count(n) }
  @_optimize(none) @inline(never) public final func callFails(_ n: Int) throws -> Int { try fails(n) }
  @_optimize(none) @inline(never) public final func callLater(_ n: Int) async -> Int { await later(n) }
  @_optimize(none) @inline(never) public final var readMood: Int { mood }
  @_optimize(none) @inline(never) public final func writeMood(_ n: Int) { mood = n }
}
extension Puppy {
  @_optimize(none) @inline(never) public final func callOwnTwice(_ n: Int) -> Int { twice(n) }
}
extension Crate {
  @_optimize(none) @inline(never) public final func callOpen(_ n: Int) -> Int { open(n) }
}
