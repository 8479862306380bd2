// TraceSettings — what `scripthost trace` asked for.

package struct TraceSettings: Sendable {
  package enum Format: String, Sendable {
    case text
    /// One object per call, when it ends.
    case json
    /// One object per entry and one per return, with the bytes of every value.
    case bytes
  }
  package var match: [String] = []
  package var exclude: [String] = []
  package var summaryOnly = false
  package var stringLimit = 64
  /// Where lines go; nil is stderr.
  package var output: [UInt8]?
  package var depth = Int.max
  package var slowerThanNanoseconds: UInt64 = 0
  package var format = Format.text
  package var showRefusals = false
  package var colour = false

  package init() {}

  package init(_ settings: BootSettings) {
    match = settings.texts(.trace("match"))
    exclude = settings.texts(.trace("exclude"))
    summaryOnly = settings.has(.trace("count"))
    if let text = settings.text(.trace("string")), let limit = Int(text) { stringLimit = limit }
    output = settings.bytes(.trace("output"))
    if let text = settings.text(.trace("depth")), let limit = Int(text) { depth = limit }
    if let text = settings.text(.trace("slower")), let limit = UInt64(text) { slowerThanNanoseconds = limit }
    if let text = settings.text(.trace("format")), let known = Format(rawValue: text) { format = known }
    showRefusals = settings.has(.trace("why"))
    colour = settings.text(.colour) == "yes"
  }
}
