// GuardAPI — `guard { "containers", mode = "contain" }` in Lua.
internal import CLuaShim
internal import Journal
internal import LuaBridge

enum GuardAPI {
  /// Global functions.
  static let functions: [(String, SHLFunction)] = [("guard", guardFunction)]

  private static let usage = "guard takes a table, such as { \"containers\", mode = \"contain\" } or { containers = \"report\" }"

  /// What a script asks for ends with it; a second call for the same guard replaces the first.
  private static let guardFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a guard") { return callback.fail(refusal) }
      let wishes: [Wish]
      do throws(GuardProblem) { wishes = try read(callback[0], callback) } catch { return callback.fail(error.description) }
      let installation = patch.installation
      // Hooking many functions takes its time, and the state is not needed for it.
      let unlocked = shl_unlock_working(callback.scope)
      var problem: String?
      for wish in wishes {
        _ = GuardRegistry.shared.stop(wish.guarded, of: installation)
        do throws(GuardProblem) {
          let run = try GuardRegistry.shared.start(wish.guarded, wish.settings, owner: patch.id, log: patch.log, installation: installation)
          installation.add { GuardRegistry.shared.stop(run) }
        } catch {
          problem = error.description
          break
        }
      }
      guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
      callback.spent()
      return problem.map { callback.fail($0) } ?? callback.done()
    }
  }

  struct Wish {
    let guarded: CrashGuard
    var settings: GuardSettings
  }

  // MARK: Reading

  /// The table: names of guards, guards with a mode or a table of their own, and what all of them share.
  static func read(_ table: SHLValue, _ callback: LuaCallback) throws(GuardProblem) -> [Wish] {
    guard table.tag == SHL_TABLE else { throw GuardProblem(usage) }
    var shared = GuardSettings()
    var named: [CrashGuard] = []
    var problem: String?
    // First what is shared: the order in a table is no order.
    callback.forEach(in: table) { key, value in
      guard let field = key.text else {
        guard let name = value.text, let guarded = CrashGuard(rawValue: name) else {
          problem = unknown(value.text ?? ValueBridge.spelled(value))
          return false
        }
        named.append(guarded)
        return true
      }
      if CrashGuard(rawValue: field) == nil { problem = set(field, value, &shared, callback) }
      return problem == nil
    }
    if let problem { throw GuardProblem(problem) }
    var wishes = named.map { Wish(guarded: $0, settings: shared) }
    callback.forEach(in: table) { key, value in
      guard let field = key.text, let guarded = CrashGuard(rawValue: field) else { return true }
      var own = shared
      switch value.tag {
      case SHL_BOOL: if !value.b { return true }
      case SHL_STRING: problem = set("mode", value, &own, callback)
      case SHL_TABLE:
        callback.forEach(in: value) { key, value in
          problem = key.text.map { set($0, value, &own, callback) } ?? "guard: the fields of '\(field)' are named"
          return problem == nil
        }
      default: problem = "guard: '\(field)' is a mode, true or a table, found \(ValueBridge.spelled(value))"
      }
      wishes.append(Wish(guarded: guarded, settings: own))
      return problem == nil
    }
    if let problem { throw GuardProblem(problem) }
    if wishes.isEmpty { throw GuardProblem("guard names none; known are \(names)") }
    return wishes
  }

  private static var names: String { CrashGuard.allCases.map(\.rawValue).joined(separator: ", ") }
  private static func unknown(_ name: String) -> String { "guard: there is no guard '\(name)'; known are \(names)" }

  /// - Returns: what is wrong with it.
  private static func set(_ field: String, _ value: SHLValue, _ settings: inout GuardSettings, _ callback: LuaCallback) -> String? {
    func number(_ path: WritableKeyPath<GuardSettings, Int>) -> String? {
      guard value.tag == SHL_INT, (1...Int64(GuardSettings.most)).contains(value.i) else {
        return "guard: '\(field)' is a whole number from 1 to \(GuardSettings.most), found \(ValueBridge.spelled(value))"
      }
      settings[keyPath: path] = Int(value.i)
      return nil
    }
    switch field {
    case "mode":
      guard let mode = value.text.flatMap(GuardMode.init) else {
        return "guard: 'mode' is one of \(GuardMode.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")), "
          + "found \(ValueBridge.spelled(value))"
      }
      settings.mode = mode
      return nil
    case "modules": return texts(field, value, &settings.modules, callback)
    case "types": return texts(field, value, &settings.types, callback)
    case "methods": return texts(field, value, &settings.methods, callback)
    case "records": return number(\.recordsPerSecond)
    case "count": return number(\.objectLimit)
    case "bytes":
      if value.tag == SHL_INT { return number(\.byteLimit) }
      guard let bytes = value.text.flatMap(bytes) else { return "guard: 'bytes' is a size such as \"8MB\", found \(ValueBridge.spelled(value))" }
      settings.byteLimit = bytes
      return nil
    default:
      return CrashGuard.allCases.contains { $0.rawValue.hasPrefix(field.prefix(4)) }
        ? unknown(field) : "guard: unknown field '\(field)'; known are mode, modules, records, types, methods, count, bytes"
    }
  }

  private static func texts(_ field: String, _ value: SHLValue, _ list: inout [String], _ callback: LuaCallback) -> String? {
    if let text = value.text {
      list = [text]
      return nil
    }
    var found: [String] = []
    var isWrong = value.tag != SHL_TABLE
    if !isWrong {
      callback.forEach(in: value) { _, each in
        if let text = each.text { found.append(text) } else { isWrong = true }
        return !isWrong
      }
    }
    if isWrong || found.isEmpty { return "guard: '\(field)' is a text or a list of texts, found \(ValueBridge.spelled(value))" }
    list = found.sorted()
    return nil
  }

  /// "8MB", "64KB", "1GB".
  static func bytes(_ text: String) -> Int? {
    for (suffix, shift) in [("KB", 10), ("MB", 20), ("GB", 30)] where text.hasSuffix(suffix) {
      guard let number = Int(text.dropLast(2)), number > 0, number < 1 << 20 else { return nil }
      return number << shift
    }
    return nil
  }
}
