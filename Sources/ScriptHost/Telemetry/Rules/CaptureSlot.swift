// CaptureSlot — a path that is no more than a number or a text in a register, which most are: read in place.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal

struct CaptureSlot {
  enum Source { case argument(Int), result, path }
  let source: Source

  init(_ path: CapturePath) {
    source =
      switch path.root {
      case .argument(let index) where path.steps.steps.isEmpty: .argument(index)
      case .result where path.steps.steps.isEmpty: .result
      default: .path
      }
  }

  /// Adds the value; false, with nothing added, when it has to be read by its path.
  @inline(__always)
  func capture(_ name: FieldName.Borrowed, _ view: CallView, atExit: Bool, _ writer: inout FieldWriter) -> Bool {
    let slot: ValueSlot
    switch source {
    case .path: return false
    case .argument(let index):
      if atExit, view.withPlan({ $0.consumesArguments }) { return false }
      slot = view.withPlan { $0.slots[index] }
    case .result:
      if view.didThrow { return false }
      slot = view.withPlan { $0.resultSlot }
    }
    let address = slot.address(in: view.call)
    switch slot.kind {
    case .int64: writer.add(name, address.load(as: Int64.self))
    case .double: writer.add(name, address.load(as: Double.self))
    case .bool: writer.add(name, address.load(as: UInt8.self) & 1 == 1)
    case .uint64: writer.add(name, address.load(as: UInt64.self))
    case .int32: writer.add(name, Int64(address.load(as: Int32.self)))
    case .float: writer.add(name, Double(address.load(as: Float.self)))
    case .string:
      guard let text = StringBits.inRegisters(address) else { return false }
      writer.add(name, utf8: text)
    default: return false
    }
    return true
  }
}
