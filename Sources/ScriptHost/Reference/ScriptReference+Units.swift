// The entries of what a patch has as a unit, by the clock, and of Foundation's notifications.

extension ScriptReference {
  static let units: [ScriptEntry] = [
    ScriptEntry(
      "", "extend", .statement, "extend(type: string) -> fun(functions: table): Hook",
      "Around handlers for several members of a type, by their selectors. They are hooked together, or none of them is; the answer stands for all.",
      example: """
        extend "Shop.Cart" {
          ["total(tax:)"] = function(call, tax) return call:original() * 2 end,
          ["checkout()"] = function(call) return call:original() + 1 end,
        }
        """),
    ScriptEntry(
      "", "config", .value, "table",
      "The patch's settings, read only: what its header declares, changed by the file beside it (`rounding.json` of `rounding.lua`, `config.json` in a directory) and by `run --config`. Tables in it come out as copies.",
      example: """
        patch { id = "rounding", config = { digits = 2, names = { "total" } } }
        print(config.digits, #config.names, config.names[1])
        """),
  ]

  static let timerOptions = [
    ScriptOption("main", "boolean", "The handler runs on the main queue, where the program has one and serves it."),
    ScriptOption("target", "Object", "The handler gets this object. The timer does not keep it, and ends with it."),
  ]

  static let clock: [ScriptEntry] = [
    ScriptEntry(
      "timer", "after", .function, "timer.after(time: number|string, handler: function, options?: table) -> Timer", options: timerOptions,
      "Calls the handler once, after so many seconds or a time such as `100ms`, on a thread of the patch's own, under the budget of a call.",
      example: """
        timer.after("20ms", function() log.info "the program runs" end)
        """),
    ScriptEntry(
      "timer", "every", .function, "timer.every(time: number|string, handler: function, options?: table) -> Timer", options: timerOptions,
      "Calls it again and again; calls that it comes too late for are left out. It ends with the patch, and when its handler failed five times in a minute.",
      example: """
        method "Shop.Cart.checkout()":before(function(call)
          timer.every(1, function(cart) print(cart.title, #cart.lines) end, { target = call.self })
        end)
        local pulse = timer.every("500ms", function() store:incr "beats" end)
        print(pulse:cancel())
        """),
  ]

  static let notifications: [ScriptEntry] = [
    ScriptEntry(
      "notification", "on", .function, "notification.on(name: string, handler: function, object?: Object) -> Subscription",
      "Tells what is posted under a name to the default NotificationCenter, on the posting thread: `note.name`, `note.object`, `note.info`. With an object, what it posts, until it ends. For programs that use Foundation.",
      example: """
        local isThere, watch = pcall(notification.on, "cart.changed", function(note) print(note.name, note.object) end)
        if isThere then
          notification.post("cart.changed", nil, { items = 3 })
          print(watch:remove())
        end
        """),
    ScriptEntry(
      "notification", "post", .function, "notification.post(name: string, object?: any, info?: table)",
      "Posts to the default NotificationCenter; its observers have run when this returns. For programs that use Foundation."),
  ]
}
