// The entries of what a patch has as a unit, in its tests, by the clock, and of Foundation's notifications.

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
      """
      The patch's settings, read only: what its header declares, changed by the file beside it (`rounding.json` of `rounding.lua`, \
      `config.json` in a directory) and by `run --config`. Tables in it come out as copies.
      """,
      example: """
        patch { id = "rounding", config = { digits = 2, names = { "total" } } }
        print(config.digits, #config.names, config.names[1])
        """),
  ]

  static let tests: [ScriptEntry] = [
    ScriptEntry(
      ScriptEntry.test, "expect", .function, "expect(value: any, why?: string) -> any", "Fails the test where the value is false or nil.",
      example: """
        method "Shop.Cart.total(tax:)":around(function(call) return call:original() + 1 end)
        test "adds one" (function(t)
          local cart = swift.new("Shop.Cart", "init(title:)", "x")
          t.expect(t.hooked "Shop.Cart.total(tax:)", "nothing is hooked")
          t.stub("Shop.Cart.total(tax:)", 7.5)
          t.equal(t.call(cart, "total(tax:)", 0.2), 8.5)
          t.stub("Shop.Cart.checkout()", function() return "no number" end)
          print(t.fails(function() t.call(cart, "checkout()") end, "expected Int"))
        end)
        """),
    ScriptEntry(ScriptEntry.test, "equal", .function, "equal(found: any, expected: any, why?: string) -> any", "Fails the test where they differ."),
    ScriptEntry(
      ScriptEntry.test, "fails", .function, "fails(body: function, text?: string) -> string",
      """
      Fails the test where the function raises no error and no handler of the patch fails while it runs, or where the message lacks the \
      text. Answers the message.
      """),
    ScriptEntry(ScriptEntry.test, "hooked", .function, "hooked(selector: string) -> boolean", "Whether an enabled hook is on the selector."),
    ScriptEntry(
      ScriptEntry.test, "call", .function, "call(target: any, member?: any, ...: any) -> any",
      "As `swift.send`: the call is hooked as one of the program is. An async function is called in a task of its own."),
    ScriptEntry(
      ScriptEntry.test, "stub", .function, "stub(selector: string, answer: any) -> Hook",
      "A function(call, …) or a value that stands in for the original, under the patch's own hooks; it is gone when the test ends."),
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
      """
      Calls it again and again; calls that it comes too late for are left out. It ends with the patch, and when its handler failed five \
      times in a minute.
      """,
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
      """
      Tells what is posted under a name to the default NotificationCenter, on the posting thread: `note.name`, `note.object`, `note.info`. \
      With an object, what it posts, until it ends. For programs that use Foundation.
      """,
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
