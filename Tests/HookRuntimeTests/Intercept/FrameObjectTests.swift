import CHookTrampoline
import Testing

@Suite("objects in frames")
struct FrameObjectTests {
  @Test("numbers that would be addresses at the end of memory are none") func numbers() {
    let words: [Int] = [-16, -8, -1, -24, 0, .min, .max]
    #expect(words.withUnsafeBytes { hkt_frame_object_among($0.baseAddress!, words.count) } == nil)
  }

  private final class Thing {}

  /// What is found for a word that leads to two words on the stack: metadata, and counts as swift_initStackObject sets them.
  private func isFound(metadata: UInt) -> Bool {
    withUnsafeTemporaryAllocation(of: UInt.self, capacity: 2) { object in
      (object[0], object[1]) = (metadata, 5)
      let words = [UInt(bitPattern: object.baseAddress!)]
      return words.withUnsafeBytes { hkt_frame_object_among($0.baseAddress!, 1) } == UnsafeRawPointer(object.baseAddress!)
    }
  }

  @Test("an object in a frame is told by its class") func objects() {
    // A metatype is the address of the class's metadata.
    #expect(isFound(metadata: unsafeBitCast(Thing.self as AnyClass, to: UInt.self)))
  }

  @Test("what no metadata is makes no object") func others() {
    let memory = UnsafeMutablePointer<UInt>.allocate(capacity: 32)
    defer { memory.deallocate() }
    for filling in [0, 0x41, 0x400, .max] as [UInt] {
      memory.initialize(repeating: filling, count: 32)
      // The kind of a class, whatever is around it.
      memory[8] = 0
      #expect(!isFound(metadata: UInt(bitPattern: memory + 8)))
    }
    // Where nothing is mapped.
    #expect(!isFound(metadata: 0x7000_0000_0000))
  }
}
