// HookOptions — what a script asks for beside selector and handler.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

/// The options of a hook: `{ priority = 10, once = true, object = cart, group = "a", on_busy = "wait", max = 100, by = "vtable" }`.
struct HookOptions {
  var priority: Int
  /// When another call holds the patch's state: wait for it, or let the original run without the handler.
  var waitsWhenBusy: Bool
  /// When another call holds it, the call throws.
  var throwsWhenBusy = false
  /// What the call answers when the handler fails.
  var onFailure = FailureWish.original
  /// More matches of a glob than this are an error.
  var most: Int?
  /// What diverts the calls; nil: the engine chooses.
  var backEnd: BackEnd?
  var isOnce = false
  /// Also hook what images bring later.
  var waits = false
  var group: String?
  /// The one whose calls are meant, as the script's handle; nil: everybody's.
  var object: SHLValue?

  private static let names = ["priority", "once", "object", "group", "wait", "max", "by", "on_busy", "on_failure"]

  /// Sets one option; answers what is wrong with it.
  /// - Parameter others: options that the caller knows, for the message.
  mutating func set(_ name: String, _ value: SHLValue, besides others: [String] = []) -> String? {
    let text = value.text
    switch (name, value.tag) {
    case ("priority", SHL_INT): priority = Int(value.i)
    case ("max", SHL_INT) where value.i >= 0: most = Int(value.i)
    case ("once", SHL_BOOL): isOnce = value.b
    case ("wait", SHL_BOOL): waits = value.b
    case ("group", SHL_STRING): group = text
    case ("object", SHL_HANDLE): object = value
    case ("on_busy", _) where text == "wait" || text == "original" || text == "throw":
      waitsWhenBusy = text == "wait"
      throwsWhenBusy = text == "throw"
    case ("on_failure", _) where text == "original": onFailure = .original
    case ("on_failure", _) where text == "throw": onFailure = .error
    case ("by", SHL_STRING):
      backEnd = text.flatMap(BackEnd.init(rawValue:))
      if backEnd == nil {
        let known = BackEnd.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return "option 'by' names a back end: \(known), found \(ValueBridge.spelled(value))"
      }
    case ("on_busy", _): return "option 'on_busy' is \"wait\", \"original\" or \"throw\", found \(ValueBridge.spelled(value))"
    case ("on_failure", _): return "option 'on_failure' is \"original\", \"throw\" or { value = v }, found \(ValueBridge.spelled(value))"
    case ("priority", _), ("max", _): return "option '\(name)' is an integer, found \(ValueBridge.spelled(value))"
    case ("once", _): return "option 'once' is true or false, found \(ValueBridge.spelled(value))"
    case ("wait", _): return "option 'wait' is true or false, found \(ValueBridge.spelled(value))"
    case ("group", _): return "option 'group' is a name, found \(ValueBridge.spelled(value))"
    case ("object", _): return "option 'object' is an object of the program, found \(ValueBridge.spelled(value))"
    default:
      let near = RuleNames.nearest(to: name, others + Self.names)
      return "unknown option '\(name)'; " + (near.map { "did you mean '\($0)'?" } ?? "known are \((others + Self.names).joined(separator: ", "))")
    }
    return nil
  }

  /// Reads the table behind the handler, if there is one; answers what is wrong with it.
  mutating func read(_ options: SHLValue, _ callback: LuaCallback) -> String? {
    guard options.tag != SHL_NIL else { return nil }
    guard options.tag == SHL_TABLE else { return "options are a table, found \(ValueBridge.spelled(options))" }
    var problem: String?
    callback.forEach(in: options) { key, value in
      if key.text == "on_failure", value.tag == SHL_TABLE {
        problem = readFailure(value, callback)
        return problem == nil
      }
      problem = key.text.map { set($0, value) } ?? "options are named, such as { priority = 10 }"
      return problem == nil
    }
    return problem
  }

  /// Reads `{ value = v }`.
  private mutating func readFailure(_ table: SHLValue, _ callback: LuaCallback) -> String? {
    var isOther = false
    var kept: SHLRef?
    callback.forEach(in: table) { key, value in
      if key.text == "value" { kept = shl_keep(callback.scope, value) } else { isOther = true }
      return true
    }
    if let kept { onFailure = .value(kept) }
    if isOther || kept == nil { return "option 'on_failure' as a table is { value = v }, where nil is spelled swift.null" }
    if kept == 0 { return "out of memory" }
    return nil
  }

  /// Gives back what was kept while the options were read.
  func end(_ patch: Environment) { if case .value(let kept) = onFailure, kept != 0 { shl_forget(patch.state, kept) } }

  /// What may be said of these handlers alone; nil where that was kept to.
  func misuse(of position: LuaHook.Position) -> String? {
    guard !onFailure.isOriginal || throwsWhenBusy else { return nil }
    let option = onFailure.isOriginal ? "on_busy = \"throw\"" : "on_failure"
    if position != .around { return "\(option) is for 'around': the original of a '\(position.rawValue)' runs in any case" }
    if waits { return "\(option) and 'wait' do not go together: what appears later is not known yet" }
    return nil
  }
}
