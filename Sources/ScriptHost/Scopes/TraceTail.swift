// TraceTail — spans of one trace that are kept back until its root is over: recorded when that was slow or failed, else forgotten.
internal import Journal
private import Synchronization

/// Any thread.
final class TraceTail: Sendable {
  private enum State {
    case waiting([[UInt8]], bytes: Int)
    case recorded, forgotten
  }
  private let state = Mutex(State.waiting([], bytes: 0))
  /// Of more, the newest are lost.
  private static let most = 1 << 20

  /// Keeps a record back; false when it is to be written at once. What belongs to a trace that is forgotten is, too.
  func keepBack(_ record: UnsafeRawBufferPointer) -> Bool {
    state.withLock { state in
      switch state {
      case .recorded: return false
      case .forgotten: return true
      case .waiting(var records, let bytes):
        if bytes + record.count <= Self.most {
          state = .forgotten  // so that the list below has one owner
          records.append(Array(record))
          state = .waiting(records, bytes: bytes + record.count)
        }
        return true
      }
    }
  }

  /// The root is over: what is to be written now.
  func end(isKept: Bool) -> [[UInt8]] {
    state.withLock { state in
      guard case .waiting(let records, _) = state else { return [] }
      state = isKept ? .recorded : .forgotten
      return isKept ? records : []
    }
  }
}
