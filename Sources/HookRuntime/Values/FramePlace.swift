// FramePlace — where a word of a call lies in the frame that the trampoline made: the one encoding of it, CFrame.h's, with its reader
// (`address(in:)`), which every module's optimiser can see. Slots (ValueSlot), recipes (ValueRecipe) and StraightPlace hold it.
package import CHookTrampoline

package typealias FramePlace = HKTFramePlace

extension HKTFramePlace {
  static let stackBit = UInt16(HKT_ON_STACK)

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
    case .integer(let i): self.init(bits: UInt16(registers.integers + 8 * i))
    case .float(let i): self.init(bits: UInt16(registers.floats + 16 * i))
    case .stack(let i) where i < 4095: self.init(bits: UInt16(8 * i) | Self.stackBit)
    // As ValueReader has them: of results, what the callee left there.
    case .selfRegister where registers == .arguments: self.init(bits: UInt16(MemoryLayout<HKTFrame>.offset(of: \.self_register)!))
    case .indirectResult: self.init(bits: UInt16(MemoryLayout<HKTFrame>.offset(of: \.indirect_result)!))
    case .stack, .selfRegister, .yielded, .x87: return nil
    }
  }
}
