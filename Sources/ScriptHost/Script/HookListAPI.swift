// HookListAPI — `hooks()`: what is hooked, and what is waited for, by whomever.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum HookListAPI {
  static let functions: [(String, SHLFunction)] = [("hooks", hooks)]

  /// A list, in the order in which the hooks were made, wishes behind them. Each has selector, owner and waiting; a hook
  /// position, scope, by, priority, once, enabled, calls; a wish landed, the number of hooks it led to, and refused.
  private static let hooks: SHLFunction = { context, callback in
    withPatch(context, callback) { _, callback in
      let hooks = HookEngine.shared.list()
      let waits = HookEngine.shared.waits()
      let list = shl_table_new(callback.scope, Int32(clamping: hooks.count + waits.count), 0)
      var index: Int64 = 0
      for hook in hooks {
        var row = Row(callback)
        row.add("selector", hook.selector)
        row.add("owner", hook.owner)
        row.add("position", hook.position)
        row.add("scope", hook.scope.description)
        row.add("by", hook.backEnd.rawValue)
        row.add("priority", shl_int(Int64(hook.priority)))
        row.add("once", shl_bool(hook.isOnce))
        row.add("enabled", shl_bool(hook.isEnabled))
        row.add("calls", shl_int(Int64(clamping: hook.calls)))
        row.add("waiting", shl_bool(false))
        index += 1
        guard row.append(to: list, at: index) else { return callback.fail("out of memory") }
      }
      for wait in waits {
        var row = Row(callback)
        row.add("selector", wait.selector)
        row.add("owner", wait.owner)
        row.add("waiting", shl_bool(!wait.hasLanded))
        row.add("landed", shl_int(Int64(wait.hooks.count)))
        row.add("refused", shl_int(Int64(wait.refused.count)))
        index += 1
        guard row.append(to: list, at: index) else { return callback.fail("out of memory") }
      }
      return callback.done(list)
    }
  }

  /// One table of the list.
  private struct Row {
    private let scope: UnsafeMutablePointer<SHLScope>?
    private let table: SHLValue
    private var isWhole: Bool

    init(_ callback: LuaCallback) {
      scope = callback.scope
      table = shl_table_new(callback.scope, 0, 10)
      isWhole = table.tag != SHL_NIL
    }

    mutating func add(_ name: StaticString, _ text: String) {
      var text = text
      text.withUTF8 { bytes in
        add(name, shl_string(UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self), bytes.count))
      }
    }

    mutating func add(_ name: StaticString, _ value: SHLValue) {
      let key = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
      isWhole = isWhole && shl_table_set_field(scope, table, key, name.utf8CodeUnitCount, value) == SHL_OK
    }

    func append(to list: SHLValue, at index: Int64) -> Bool { isWhole && shl_table_set_at(scope, list, index, table) == SHL_OK }
  }
}
