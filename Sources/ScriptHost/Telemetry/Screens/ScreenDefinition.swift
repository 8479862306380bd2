// ScreenDefinition — what a screen's rule has beside the common fields.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

/// Part of a rule.
struct ScreenDefinition: Sendable {
  var base = ""
  var appear = ""
  var disappear = ""
  /// A method whose run is the screen's life.
  var during = ""
  /// Methods that make a screen ready: each run is a span.
  var load: [String] = []
  /// A path, or text with paths in braces. Empty: the type's name.
  var name = ""

  static let fields = [
    "base", "appear", "disappear", "during", "load", "name", "fields", "where", "sample", "once_per", "pii", "wait", "optional",
  ]

  /// Sets one field; answers what is wrong with it.
  mutating func set(_ field: String, _ value: SHLValue, _ callback: LuaCallback) -> String? {
    if field == "load" { return readLoad(value, callback) }
    guard let text = value.text, !text.isEmpty else { return "'\(field)' is a text" }
    switch field {
    case "base": base = text
    case "appear": appear = text
    case "disappear": disappear = text
    case "during": during = text
    default: name = text
    }
    return nil
  }

  /// A method, or a list of methods.
  private mutating func readLoad(_ value: SHLValue, _ callback: LuaCallback) -> String? {
    let usage = "'load' is a list of methods of the base, such as { \"loadView()\", \"viewDidLoad()\" }"
    if let one = value.text { load = [one] } else {
      guard value.tag == SHL_TABLE else { return usage }
      var isRight = true
      callback.forEach(in: value) { _, member in
        if let member = member.text, !member.isEmpty { load.append(member) } else { isRight = false }
        return isRight
      }
      if !isRight { return usage }
    }
    return load.isEmpty ? usage : nil
  }

  /// What is missing, or too much.
  var problem: String? {
    if base.isEmpty { return "needs 'base', the type whose instances, and those of its subclasses, are screens" }
    if during.isEmpty, appear.isEmpty || disappear.isEmpty {
      return "needs 'appear' and 'disappear', methods of '\(base)', or 'during', one whose run is the screen's life"
    }
    return during.isEmpty || appear.isEmpty && disappear.isEmpty ? nil : "takes 'during', or 'appear' and 'disappear'"
  }
}

/// A screen's name for the calls of one function.
enum ScreenTitle: Sendable {
  case type
  case path(CapturePath)
  case text(SpanName)

  /// Checks the paths in the text.
  init(_ text: String, for family: Family, rights: PatchRights?) throws(RuleProblem) {
    if text.isEmpty {
      self = .type
    } else if text.hasPrefix("self.") || text.hasPrefix("args.") {
      let path = try CapturePath(text, for: family, rights: rights)
      if path.needsExit { throw RuleProblem("'name': '\(text)' is known when the call is over") }
      if Masking.isSecret(text) { throw RuleProblem("'name': '\(text)' is a secret; a screen is not named by one") }
      self = .path(path)
    } else {
      self = .text(try SpanName(text, for: family, rights: rights))
    }
  }

  /// The name; without its module the type's, where there is no other.
  func text(_ view: CallView, type: String, _ printer: ValuePrinter) -> String {
    var name = ""
    switch self {
    case .type: break
    case .text(let parts): name = parts.text(view, printer)
    case .path(let path):
      path.read(view, atExit: false) {
        switch $0 {
        case .null, .missing: break
        default: name = $0.shown(printer)
        }
      }
    }
    return name.isEmpty ? type.split(separator: ".").last.map(String.init) ?? type : name
  }
}
