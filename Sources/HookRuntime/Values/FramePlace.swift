// FramePlace — where a word of a call lies in the frame that the trampoline made: the one encoding of it; C reads it (hkt_frame_at), which every
// module's optimiser can see.
//
//   bits 0 to 14   bytes from the start of the HKTFrame, or,
//   bit 15         where it is set, of the stack arguments (HKTFrame.stack)
//
// Slots (ValueSlot), recipes (ValueRecipe) and StraightPlace hold it, and the shim has it as SHLPlace.offset: CLuaShim.h asserts the layout there,
// PlaceTests compares.
internal import CHookTrampoline

package struct FramePlace: Hashable, Sendable {
  package let bits: UInt16
  package static let stackBit = UInt16(HKT_ON_STACK)

  /// Bytes from the start of the frame, or of its stack arguments with the bit above.
  init(bits: UInt16) { self.bits = bits }

  /// The registers as the caller left them, or as the callee did.
  enum Registers {
    case arguments, results

    fileprivate var integers: Int { self == .arguments ? 0 : MemoryLayout<HKTFrame>.offset(of: \.results)! }
    fileprivate var floats: Int {
      self == .arguments ? MemoryLayout<HKTFrame>.offset(of: \.xmm)! : integers + MemoryLayout<HKTResults>.offset(of: \.xmm)!
    }
  }

  /// nil where no frame keeps what is in the place, or not within reach.
  init?(_ place: Place, in registers: Registers = .arguments) {
    switch place {
    case .integer(let i): bits = UInt16(registers.integers + 8 * i)
    case .float(let i): bits = UInt16(registers.floats + 16 * i)
    case .stack(let i) where i < 4095: bits = UInt16(8 * i) | Self.stackBit
    // As ValueReader has them: of results, what the callee left there.
    case .selfRegister where registers == .arguments: bits = UInt16(MemoryLayout<HKTFrame>.offset(of: \.self_register)!)
    case .indirectResult: bits = UInt16(MemoryLayout<HKTFrame>.offset(of: \.indirect_result)!)
    case .stack, .selfRegister, .yielded, .x87: return nil
    }
  }

  /// The first byte. What a callee leaves is there after the original ran.
  @inline(__always)
  func address(in frame: UnsafeMutablePointer<HKTFrame>) -> UnsafeMutableRawPointer { hkt_frame_at(frame, bits).unsafelyUnwrapped }
}
