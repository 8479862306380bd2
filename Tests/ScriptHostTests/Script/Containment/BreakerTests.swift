import Testing

@testable import ScriptHost

@Suite("breaker")
struct BreakerTests {
  private let second: UInt64 = 1_000_000_000

  @Test("the fifth failure within a minute opens it, once")
  func opens() {
    let breaker = Breaker()
    #expect((0..<7).map { breaker.recordFailure(at: 100 * second + $0) } == [false, false, false, false, true, false, false])
    #expect(breaker.isOpen)
  }

  @Test("failures of long ago do not count")
  func forgets() {
    let breaker = Breaker()
    let opened = (0..<40).contains { breaker.recordFailure(at: 100 * second + UInt64($0) * 20 * second) }
    #expect(!opened)
    #expect(!breaker.isOpen)
  }

  // A thread that has read the clock may be overtaken by another one: seen once as the end of a program.
  @Test("threads that fail at the same time come in any order")
  func order() {
    let breaker = Breaker()
    #expect([3, 1, 5, 2, 4].map { breaker.recordFailure(at: 100 * second + $0) } == [false, false, false, false, true])
  }

  @Test("it says what opened it, and so do its parts")
  func causes() {
    let whole = Breaker(limit: 2), costly = Breaker()
    let part = whole.part(), other = whole.part()
    #expect(part.why == nil)
    #expect((0..<5).map { part.recordFailure(at: 100 * second + $0) }.last == true)
    #expect(part.why == "switched off: it failed 5 times in 60 s")
    #expect(other.why == nil)
    #expect((0..<2).map { whole.recordFailure(at: 100 * second + $0) }.last == true)
    #expect(other.why == "switched off: its handler failed too often, on several functions")
    // What opened first stays the reason.
    #expect(part.why == "switched off: it failed 5 times in 60 s")
    #expect(costly.open())
    #expect(costly.why == "switched off: it held the program up for too long")
    #expect(whole.part().isOpen)
  }
}
