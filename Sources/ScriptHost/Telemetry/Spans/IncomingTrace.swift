// IncomingTrace — the trace that whoever started the program was in: TRACEPARENT in its environment, as OpenTelemetry passes it on.
private import Glibc
internal import HookRuntime
internal import Journal

struct IncomingTrace: Sendable {
  let trace: TraceID
  let span: UInt64
  /// Who sent it records the trace.
  let isSampled: Bool

  /// Read once; nil where there is none.
  static let shared: IncomingTrace? = getenv("TRACEPARENT").flatMap { IncomingTrace(String(cString: $0)) }

  /// "00-" 32 digits "-" 16 digits "-" flags (W3C Trace Context); nil for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0].utf8.count == 2, parts[1].utf8.count == 32, parts[2].utf8.count == 16,
      let high = UInt64(parts[1].prefix(16), radix: 16), let low = UInt64(parts[1].suffix(16), radix: 16), let span = UInt64(parts[2], radix: 16),
      high | low != 0, span != 0, parts[3].utf8.count == 2, let flags = UInt8(parts[3], radix: 16)
    else { return nil }
    isSampled = flags & 1 == 1
    trace = TraceID(high: high, low: low)
    self.span = span
  }
}

extension IncomingTrace {
  /// What a value of a call says: a text as `traceparent` has it, or headers with one of that name.
  init?(_ value: CapturedValue) {
    switch value {
    case .text(let bytes): self.init(String(decoding: bytes, as: UTF8.self))
    case .other(let memory, let type):
      guard let text = type._withUnsafeGuaranteedRef({ Self.header("traceparent", in: memory, $0) }) else { return nil }
      self.init(text)
    default: return nil
    }
  }

  /// The second text of the pair whose first one is the name, in any case; nil for anything but a list of pairs of texts.
  private static func header(_ name: String, in memory: UnsafeRawPointer, _ type: TypeInfo) -> String? {
    guard let list = CollectionType.of(type), list.isList, case .tuple = list.element.kind, list.element.fields.count == 2,
      list.element.fields.allSatisfy({ if case .success(let type) = $0.type, case .string = type.kind { true } else { false } })
    else { return nil }
    let offsets = list.element.fields.map(\.offset)
    for position in 0..<min(list.count(memory), 256) {
      var found: String?
      let _: Void? = list.withElement(memory, position) { pair in
        // Both elements are of type String, as was looked at above.
        let key = (pair + offsets[0]).assumingMemoryBound(to: String.self).pointee
        if key.utf8.count == name.utf8.count, key.lowercased() == name {
          found = (pair + offsets[1]).assumingMemoryBound(to: String.self).pointee
        }
      }
      if let found { return found }
    }
    return nil
  }
}
