// HookOptions — what a script asks for beside selector and handler.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

/// The options of a hook: `{ priority = 10, once = true, object = cart, group = "a", on_busy = "wait", max = 100, by = "vtable" }`.
struct HookOptions {
  var priority: Int
  /// When another call holds the patch's state: wait for it, or let the original run without the handler.
  var waitsWhenBusy: Bool
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

  /// Sets one option; answers what is wrong with it.
  mutating func set(_ name: String, _ value: SHLValue) -> String? {
    let text = value.text
    switch (name, value.tag) {
    case ("priority", SHL_INT): priority = Int(value.i)
    case ("max", SHL_INT) where value.i >= 0: most = Int(value.i)
    case ("once", SHL_BOOL): isOnce = value.b
    case ("wait", SHL_BOOL): waits = value.b
    case ("group", SHL_STRING): group = text
    case ("object", SHL_HANDLE): object = value
    case ("on_busy", _) where text == "wait" || text == "original": waitsWhenBusy = text == "wait"
    case ("on_failure", _) where text == "original": break  // what always happens
    case ("by", SHL_STRING):
      backEnd = text.flatMap(BackEnd.init(rawValue:))
      if backEnd == nil {
        let known = BackEnd.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return "option 'by' names a back end: \(known), found '\(text ?? "")'"
      }
    case ("on_busy", _): return "option 'on_busy' is \"wait\" or \"original\""
    case ("on_failure", _): return "option 'on_failure' is \"original\"; other ways are not supported yet"
    case ("priority", _), ("max", _): return "option '\(name)' is an integer, got \(ValueBridge.describe(value))"
    case ("once", _): return "option 'once' is true or false, got \(ValueBridge.describe(value))"
    case ("wait", _): return "option 'wait' is true or false, got \(ValueBridge.describe(value))"
    case ("group", _): return "option 'group' is a name, got \(ValueBridge.describe(value))"
    case ("object", _): return "option 'object' is an object of the program, got \(ValueBridge.describe(value))"
    default: return "unknown option '\(name)'; known are priority, once, object, group, wait, max, by, on_busy, on_failure"
    }
    return nil
  }

  /// Reads the table behind the handler, if there is one; answers what is wrong with it.
  mutating func read(_ options: SHLValue, _ callback: LuaCallback) -> String? {
    guard options.tag != SHL_NIL else { return nil }
    guard options.tag == SHL_TABLE else { return "options are a table, got \(ValueBridge.describe(options))" }
    var problem: String?
    callback.forEach(in: options) { key, value in
      problem = key.text.map { set($0, value) } ?? "options are named, such as { priority = 10 }"
      return problem == nil
    }
    return problem
  }
}
