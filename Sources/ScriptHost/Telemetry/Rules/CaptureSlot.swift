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
    // Written at one place: with a writer for each kind it would be too much to be put into the loop over fields.
    let word: FieldWord
    switch slot.kind {
    case .int64: word = .integer(address.load(as: Int64.self))
    case .double: word = .double(address.load(as: Double.self))
    case .bool: word = .bool(address.load(as: UInt8.self) & 1 == 1)
    case .uint64: word = .unsigned(address.load(as: UInt64.self))
    case .int32: word = .integer(Int64(address.load(as: Int32.self)))
    case .float: word = .double(Double(address.load(as: Float.self)))
    case .string: return captureText(name, address, &writer)
    default: return false
    }
    writer.add(name, word)
    return true
  }

  @inline(never)
  private func captureText(_ name: FieldName.Borrowed, _ address: UnsafeMutableRawPointer, _ writer: inout FieldWriter) -> Bool {
    guard let text = StringBits.inRegisters(address) else { return false }
    writer.add(name, utf8: text)
    return true
  }
}
