import CHookTrampoline
import Testing

/// How far stack arguments reach where nothing tells their number: `words` lie above a return address.
@Suite("stack arguments of unknown number")
struct StackArgumentTests {
  /// Bytes for a caller whose rbp is the address of word `rbp` of a hundred, after `fill` has changed them.
  private func bytes(rbp: Int, least: Int = 0, fill: (inout [UInt64], _ base: UInt64) -> Void = { _, _ in }) -> Int {
    let stack = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: 100)
    defer { stack.deallocate() }
    let base = UInt64(UInt(bitPattern: stack.baseAddress!))
    var words = [UInt64](repeating: 0xAAAA_AAAA_AAAA_AAA8, count: 100)
    fill(&words, base)
    _ = stack.initialize(from: words)
    let end = base + 800
    return hkt_argument_bytes(stack.baseAddress!, end, end, base &+ UInt64(bitPattern: Int64(8 * rbp)), least)
  }

  @Test("a frame's record ends them") func frame() {
    #expect(bytes(rbp: 10) { $0[10] = $1 + 8 * 40 } == 80)
    #expect(bytes(rbp: 10) { words, _ in words[10] = 0 } == 80, "the outermost")
    #expect(bytes(rbp: 10) { $0[10] = 1 << 60 | ($1 + 8 * 40) } == 80, "an async function's")
  }

  @Test("an rbp that holds something else does not") func noFrame() {
    #expect(bytes(rbp: 6) == 800, "no address of a frame above is there")
    #expect(bytes(rbp: 6) { $0[6] = $1 + 8 * 2 } == 800, "it leads down")
    #expect(bytes(rbp: 6) { $0[6] = $1 + 8 * 101 } == 800, "it leads out of the stack")
    #expect(bytes(rbp: 99) { words, _ in words[99] = 0 } == 800, "no room for a record")
    #expect(bytes(rbp: -3) == 800 && bytes(rbp: 1_000_000) == 800, "it is elsewhere, and nothing is read there")
  }

  @Test("what the signature can need is copied whatever rbp says") func least() {
    #expect(bytes(rbp: 3, least: 480) { $0[3] = $1 + 8 * 40 } == 480)
    #expect(bytes(rbp: 3, least: 4000) { words, _ in words[3] = 0 } == 800, "but nothing behind the stack's end")
  }
}
