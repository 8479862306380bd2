// LimitedWork — work that somebody asked for and that grows with the program: finding names, explaining them, putting hooks in. Whoever limits the
// time of scripts is asked every few hundred steps whether it is to be given up.
//
// What is given up answers less than there is. Nothing keeps such an answer: who asked is being stopped, and `isOver` stays true until
// then. Work that is kept (tables of an image, the plan of a call) is finished once it was begun.
private import Synchronization

package enum LimitedWork {
  package enum Kind: Int32, Sendable { case lookup, hooks }

  /// What limits time: asked on the thread that works.
  package struct Limits {
    package typealias Begin = @convention(c) (Int32) -> Bool
    package typealias IsOver = @convention(c) () -> Bool
    package typealias End = @convention(c) (UnsafePointer<CChar>?, Int) -> Void
    /// False: nobody limits this work, or it is part of work that was begun.
    let begin: Begin
    let isOver: IsOver
    /// Takes what was given up; nil where nothing was.
    let end: End

    package init(begin: @escaping Begin, isOver: @escaping IsOver, end: @escaping End) {
      (self.begin, self.isOver, self.end) = (begin, isOver, end)
    }
  }

  private static let beginning = Atomic<UInt>(0)
  private static let asking = Atomic<UInt>(0)
  private static let ending = Atomic<UInt>(0)

  /// Sets who is asked; once, any thread.
  package static func limit(by limits: Limits) {
    // C functions as words, which `begin`, `isOver` and `end` turn back.
    ending.store(unsafeBitCast(limits.end, to: UInt.self), ordering: .relaxed)
    asking.store(unsafeBitCast(limits.isOver, to: UInt.self), ordering: .relaxed)
    beginning.store(unsafeBitCast(limits.begin, to: UInt.self), ordering: .releasing)
  }

  /// Does `work`, which looks at `isOver`.
  /// - Parameter what: for the message where it is given up: "looking for 'Shop.**'".
  package static func doing<R>(_ kind: Kind, _ what: @autoclosure () -> String, _ work: () -> R) -> R {
    guard begin(kind) else { return work() }
    let result = work()
    end(isOver ? what() : nil)
    return result
  }

  /// It is to be given up.
  package static var isOver: Bool {
    let word = asking.load(ordering: .acquiring)
    // `limit` was given that function.
    return word != 0 && unsafeBitCast(word, to: Limits.IsOver.self)()
  }

  private static func begin(_ kind: Kind) -> Bool {
    let word = beginning.load(ordering: .acquiring)
    // `limit` was given that function.
    return word != 0 && unsafeBitCast(word, to: Limits.Begin.self)(kind.rawValue)
  }

  private static func end(_ what: String?) {
    let word = ending.load(ordering: .acquiring)
    guard word != 0 else { return }
    // `limit` was given that function.
    let end = unsafeBitCast(word, to: Limits.End.self)
    guard let what else { return end(nil, 0) }
    what.withCString { end($0, what.utf8.count) }
  }

  /// Counts the steps of a loop and asks at some of them.
  struct Steps {
    private let spacing: UInt32
    private var count: UInt32 = 0

    /// - Parameter spacing: asks at each of so many steps. Asking takes about as long as a step of a tenth of a microsecond.
    init(each spacing: UInt32 = 256) { self.spacing = spacing }

    mutating func areOver() -> Bool {
      count &+= 1
      return count % spacing == 0 && LimitedWork.isOver
    }
  }
}
