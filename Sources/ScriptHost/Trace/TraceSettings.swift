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
  /// Bytes that one value takes, about.
  package var width = 200
  /// Where lines go; nil is stderr.
  package var output: [UInt8]?
  package var depth = Int.max
  package var slowerThanNanoseconds: UInt64 = 0
  package var format = Format.text
  package var showRefusals = false
  /// Output is a terminal that shows colour.
  package var colour = false
  package var showsTime = false
  package var showsThread = false
  package var showsTask = false
  package var showsSelf = false
  /// The trace ends after so many nanoseconds, the program goes on.
  package var duration: UInt64?

  package init() {}

  package init(_ settings: BootSettings) {
    func number<N: FixedWidthInteger>(_ option: String, _: N.Type = N.self) -> N? { settings.text(.trace(option)).flatMap { N($0) } }
    match = settings.texts(.trace("match"))
    exclude = settings.texts(.trace("exclude"))
    summaryOnly = settings.has(.trace("count"))
    stringLimit = number("string") ?? stringLimit
    output = settings.bytes(.trace("output"))
    // What a file holds is the same whatever terminal there was.
    if output == nil, let columns = settings.text(.columns).flatMap({ Int($0) }) { width = max(40, columns - 30) }
    width = number("width") ?? width
    depth = number("depth") ?? depth
    slowerThanNanoseconds = number("slower") ?? 0
    if let text = settings.text(.trace("format")), let known = Format(rawValue: text) { format = known }
    showRefusals = settings.has(.trace("why"))
    showsTime = settings.has(.trace("timestamps"))
    showsThread = settings.has(.trace("thread"))
    showsTask = settings.has(.trace("task"))
    showsSelf = settings.has(.trace("self"))
    duration = number("for")
    colour = output == nil && settings.text(.colour) == "yes"
  }
}
