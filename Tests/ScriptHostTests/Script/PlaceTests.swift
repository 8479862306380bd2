// Slots of the hook runtime read as places of the Lua shim, which knows nothing of the other.

import CLuaShim
import HookRuntime
import Testing

@Suite("slots are places")
struct PlaceTests {
  @Test("the same bytes mean the same")
  func layout() {
    #expect(MemoryLayout<ValueSlot>.size == MemoryLayout<SHLPlace>.size)
    #expect(MemoryLayout<ValueSlot>.stride == MemoryLayout<SHLPlace>.stride)
    #expect(MemoryLayout<ValueSlot>.offset(of: \.kind) == MemoryLayout<SHLPlace>.offset(of: \.kind))
    #expect(MemoryLayout<ValueSlot>.offset(of: \.place) == MemoryLayout<SHLPlace>.offset(of: \.offset))
    #expect(Int(FramePlace.stackBit) == Int(SHL_ON_STACK))
    let kinds: [(ValueSlot.Kind, Int)] = [
      (.bool, SHL_PLACE_BOOL), (.int8, SHL_PLACE_INT8), (.int16, SHL_PLACE_INT16), (.int32, SHL_PLACE_INT32), (.int64, SHL_PLACE_INT64),
      (.uint8, SHL_PLACE_UINT8), (.uint16, SHL_PLACE_UINT16), (.uint32, SHL_PLACE_UINT32), (.uint64, SHL_PLACE_UINT64),
      (.float, SHL_PLACE_FLOAT), (.double, SHL_PLACE_DOUBLE), (.string, SHL_PLACE_TEXT),
    ]
    for (kind, place) in kinds { #expect(Int(kind.rawValue) == place, "\(kind)") }
    for kind in [ValueSlot.Kind.none, .void, .object] { #expect(!kinds.contains { $0.1 == Int(kind.rawValue) }) }
  }
}
