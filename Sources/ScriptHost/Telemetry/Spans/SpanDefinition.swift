// SpanDefinition — what a span has beside the common fields of a rule.
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge

/// Part of a rule. Durations are nanoseconds.
struct SpanDefinition: Sendable {
  /// Literal text, and paths in braces: `lint {args.1}`. Empty: the selector.
  var name = ""
  var kind = SpanKind.internal
  /// A trace that is at least this long, or fails, is recorded whole, whatever the sample.
  var slow: UInt64?
  /// Path of what names the span around it: a text as W3C's `traceparent`, or pairs of texts (headers) with one of that name.
  var parent: String?
  /// Paths of what names other spans that it has to do with, in the same forms.
  var links: [String] = []
  /// Of a span that ends in another call than it began in; nil: it is the time of the call.
  var ends: SpanEnd?
  /// Calls after which it cannot end any more.
  var cancels: RuleDefinition?
  /// Paths of what both calls have in common, objects compared by identity; what cancels a span has the first of them.
  var key = ["self"]

  static let fields = [
    "on", "name", "kind", "attributes", "context", "where", "sample", "once_per", "pii", "slow", "wait", "optional", "parent", "links",
    "key", "ends", "cancels",
  ]

  /// Sets one field; answers what is wrong with it.
  mutating func set(_ field: String, _ value: SHLValue) -> String? {
    switch field {
    case "name":
      guard let text = value.text, !text.isEmpty else { return "'name' is a text, which may have paths in braces: \"lint {args.1}\"" }
      name = text
    case "kind":
      guard let found = SpanKind.allCases.first(where: { "\($0)" == value.text }) else {
        return "'kind' is \(SpanKind.allCases.map { "\"\($0)\"" }.joined(separator: ", "))"
      }
      kind = found
    case "parent":
      guard let path = value.text else { return "'parent' is a path, such as \"args.headers\"" }
      parent = path
    case "slow":
      guard let time = value.text.flatMap(RuleUnits.duration), time > 0 else { return "'slow' is a time, such as \"250ms\"" }
      slow = time
    default: return "'\(field)' is not known here"
    }
    return nil
  }
}

/// The calls that end a span which began in another one: a request's answer.
struct SpanEnd: Sendable {
  /// Whose calls, on which condition, and what each of them adds to the attributes, as far as it is there.
  var rule: RuleDefinition
  /// The condition on which the span failed.
  var error: String?
  /// Where these calls have the key; nil: where the first call has it.
  var key: [String]?

  static let fields = ["on", "where", "attributes", "pii", "error", "key", "optional", "wait"]
}

/// A span's name for one function.
struct SpanName: Sendable {
  enum Part: Sendable { case text(String), path(CapturePath) }
  let parts: [Part]

  /// Reads the text; paths are checked, and have to be known when the call begins.
  init(_ text: String, for family: Family, rights: PatchRights?) throws(RuleProblem) {
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else { throw RuleProblem("'name': a '{' in '\(text)' has no '}'") }
      if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
      let path = try CapturePath(String(rest[rest.index(after: open)..<close]), for: family, rights: rights)
      if path.needsExit { throw RuleProblem("'name': '\(path.text)' is known when the call is over; a span is named when it begins") }
      parts.append(.path(path))
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    self.parts = parts
  }

  /// The name of all spans of the function; nil where values are part of it.
  var literal: String? {
    if parts.isEmpty { return "" }
    if parts.count == 1, case .text(let text) = parts[0] { return text }
    return nil
  }

  /// The name of the span of one call.
  func text(_ view: CallView, _ printer: ValuePrinter) -> String {
    var name = ""
    for part in parts {
      switch part {
      case .text(let text): name += text
      case .path(let path): path.read(view, atExit: false) { name += $0.shown(printer) }
      }
    }
    return name
  }
}
