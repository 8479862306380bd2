// The entries of what handles have: Method, Class, Hook, Call, Observation, Delegates.

extension ScriptReference {
  /// The types of handles, in the order of the reference.
  package static let types: [ScriptType] = [
    ScriptType(name: "Method", summary: "What `method` answers: one or more functions of the program."),
    ScriptType(
      name: "Class",
      summary: "What `class` answers: a type of the program. Static properties and methods stand behind it under their own names."),
    ScriptType(name: "Hook", summary: "An installed hook."),
    ScriptType(name: "Rule", summary: "What `track` and its kin answer."),
    ScriptType(name: "Call", summary: "The first argument of every handler: one call of the program. It ends with the handler."),
    ScriptType(name: "Observation", summary: "What `observe` answers."),
    ScriptType(name: "Delegates", summary: "What `delegates` answers."),
    ScriptType(name: "Timer", summary: "What `timer.after` and `timer.every` answer."),
    ScriptType(name: "Subscription", summary: "What `notification.on` answers."),
    ScriptType(name: "Preset", summary: "What `use` answers."),
    ScriptType(
      name: ScriptEntry.test,
      summary: "What the function of a `test` gets, as `t`. A handler of the patch that fails while a test runs fails the test."),
  ] + valueTypes

  static let handles: [ScriptEntry] = methodMembers + classMembers + hookMembers + callMembers + otherMembers + valueMembers

  private static let methodMembers: [ScriptEntry] = [
    ScriptEntry(
      "Method", "before", .function, "before(handler: function, options?: table) -> Hook", options: hookOptions,
      "Runs function(call, arguments…) before the original; it may change arguments.",
      example: """
        method "Shop.Cart.add(_:price:quantity:)":before(function(call, name, price, quantity)
          if quantity > 100 then call.args.quantity = 100 end
        end)
        """),
    ScriptEntry(
      "Method", "around", .function, "around(handler: function, options?: table) -> Hook", options: hookOptions,
      "Runs function(call, arguments…) in the original's place. It calls the original or returns a value.",
      example: """
        method "Shop.Cart.total(tax:)":around(function(call, tax)
          return math.floor(call:original() * 100 + 0.5) / 100
        end, { priority = 10 })
        """),
    ScriptEntry(
      "Method", "after", .function, "after(handler: function, options?: table) -> Hook", options: hookOptions,
      "Runs function(call, arguments…) behind the original; it sees `call.result`, `call.error` and `call.duration_ns`, and may change the result.",
      example: """
        method "Shop.Cart.checkout()":after(function(call)
          if call.error then log.warn("checkout failed", { error = call.error }) end
        end)
        """),
    ScriptEntry(
      "Method", "contain", .function, "contain(answer: table | function) -> Hook", options: containOptions,
      """
      A trap anywhere below a call of it, on the call's thread, does not end the program: the call is left, and returns or throws what is \
      said here. A function gets (call, reason). What the frames held is lost; `explain` says what must not be contained, docs/crashes.md \
      what cannot.
      """,
      example: """
        method "Shop.Cart.total(tax:)":contain { value = 0.0, limit = 3 }
        method "Shop.Cart.checkout()":contain(function(call, reason)
          log.warn("checkout trapped", { reason = reason })
          return 0
        end)
        """),
    ScriptEntry("Method", "explain", .function, "explain() -> string", "How far hooks on it reach."),
  ]

  private static let classMembers: [ScriptEntry] = [
    ScriptEntry(
      "Class", "before", .function, "before(member: string, handler: function, options?: table) -> Hook", options: hookOptions,
      "As of a method, for a member of the type or one it inherits.",
      example: "class \"Shop.Cart\":before(\"checkout()\", function(call) print(call.self.title) end)"),
    ScriptEntry(
      "Class", "around", .function, "around(member: string, handler: function, options?: table) -> Hook", options: hookOptions, "As of a method.",
      example: """
        local cart = class "Shop.Cart"
        cart:around("total(tax:)", function(call) return call:original(0.0) end)
        cart:after("checkout()", function(call) print(call.result) end)
        cart:contain("checkout()", { value = 0 })
        """),
    ScriptEntry(
      "Class", "after", .function, "after(member: string, handler: function, options?: table) -> Hook", options: hookOptions,
      "As of a method."),
    ScriptEntry(
      "Class", "contain", .function, "contain(member: string, answer: table | function) -> Hook", options: containOptions, "As of a method."),
  ]

  private static let hookMembers: [ScriptEntry] = [
    ScriptEntry(
      "Hook", "remove", .function, "remove() -> boolean", "Takes the hook out; true when it was installed or waited.",
      example: """
        local hook = method "Shop.Cart.total(tax:)":before(function(call) end)
        hook:disable()
        hook:enable()
        print(hook:describe())
        hook:remove()
        """),
    ScriptEntry("Hook", "enable", .function, "enable() -> boolean", "Lets calls through to the handler again."),
    ScriptEntry("Hook", "disable", .function, "disable() -> boolean", "Passes calls by; the code stays diverted."),
    ScriptEntry("Hook", "describe", .function, "describe() -> string", "A line for each installed hook."),
    ScriptEntry("Hook", "installed", .value, "string[]", "The functions that are hooked: of a glob, those of its matches that could be.",
      example: """
        local added = method "Shop.Cart.*":before(function(call) end, { max = 100 })
        print(#added.installed, added.installed[1])
        for _, each in ipairs(added.refused) do print(each.selector, each.reason) end
        """),
    ScriptEntry("Hook", "refused", .value, "table[]", "What was meant and could not be hooked, each as `{ selector = …, reason = … }`."),
  ]

  private static let callMembers: [ScriptEntry] = [
    ScriptEntry("Call", "self", .value, "any", "The object or value the call is on.",
      example: """
        method "Shop.Cart.checkout()":before(function(call)
          print(call.self.title, call.type, call.selector, call.depth, call.thread, call.task)
        end)
        """),
    ScriptEntry("Call", "type", .value, "string", "The name of the type that declares the function."),
    ScriptEntry("Call", "selector", .value, "string", "The selector's name."),
    ScriptEntry(
      "Call", "args", .value, "table",
      """
      Arguments by position and label; `before` and `around` may set them until the original has run, `inout` ones to the end. Another run \
      gets what is passed to `call:original(…)`. A label that is a Lua word gets a trailing underscore.
      """),
    ScriptEntry("Call", "result", .value, "any", "The original's result, or the one that was set; `after` and `around` may set it."),
    ScriptEntry("Call", "error", .value, "Error?", "What the original threw; nil when it returned, and once a result was set in the error's place."),
    ScriptEntry("Call", "errno", .value, "integer", "Of a C function: errno behind the call; it can be set.",
      example: """
        -- With wait: programs that import no such function are no error.
        method("C.open", { wait = true }):after(function(call)
          if call.result == -1 then log.warn("open failed", { errno = call.errno }) end
        end)
        """),
    ScriptEntry("Call", "duration_ns", .value, "integer", "How long the original took, in nanoseconds."),
    ScriptEntry("Call", "depth", .value, "integer", "How many hooked calls are around this one on its thread."),
    ScriptEntry("Call", "thread", .value, "integer", "The kernel's number of the thread."),
    ScriptEntry("Call", "task", .value, "integer", "The number of the Swift task; nil outside of tasks."),
    ScriptEntry("Call", "ctx", .value, "table", "A table that the handlers of one call share.",
      example: """
        method "Shop.Cart.checkout()":before(function(call) call.ctx.lines = #call.self.lines end)
        method "Shop.Cart.checkout()":after(function(call) print(call.ctx.lines, call.result) end)
        """),
    ScriptEntry(
      "Call", "original", .function, "original(...: any) -> any",
      "Runs the original, with the arguments as they are or with all of them anew."),
    ScriptEntry("Call", "super", .function, "super(...: any) -> any", "In a class made here: the superclass's method."),
    ScriptEntry("Call", "try", .function, "try(...: any) -> boolean", "Runs the original; answers true and the result, or false and the error.",
      example: """
        method "Shop.Cart.checkout()":around(function(call)
          local ok, result = call:try()
          if ok then return result end
          log.warn("checkout failed", { error = result })
          call:throw(result)
        end)
        """),
    ScriptEntry(
      "Call", "stack", .function, "stack(max?: integer) -> table",
      """
      The functions around the call, the called one first, then its callers: names of the program, without frames of the host. At most 32 \
      where nothing is said, and 128. Of an async function its callers are those that wait for it.
      """,
      example: """
        method "Shop.Cart.add(_:price:quantity:)":before(function(call, name)
          log.info("added", { name = name, from = call:stack(2)[2] })
        end)
        """),
    ScriptEntry("Call", "throw", .function, "throw(error: any)", "Ends the handler; the call throws the error, or one made of a text."),
  ]

  private static let otherMembers: [ScriptEntry] = [
    ScriptEntry("Rule", "remove", .function, "remove() -> boolean", "Takes the rule out; true when it was in the program.",
      example: """
        local added = track "added" { on = "Shop.Cart.add(_:price:quantity:)" }
        added:disable()
        added:enable()
        print(added:info().calls)
        added:remove()
        """),
    ScriptEntry("Rule", "enable", .function, "enable() -> boolean", "Lets it record again."),
    ScriptEntry("Rule", "disable", .function, "disable() -> boolean", "Calls pass it by."),
    ScriptEntry(
      "Rule", "info", .function, "info() -> table",
      "What became of its calls: calls, recorded, left_out_where, left_out_sample, left_out_rate, left_out_repeat, cost_ns."),
    ScriptEntry("Timer", "cancel", .function, "cancel() -> boolean", "No call begins any more; true when there would have been one."),
    ScriptEntry("Subscription", "remove", .function, "remove() -> boolean", "Ends it; true when it was there."),
    ScriptEntry(
      "Preset", "remove", .function, "remove() -> boolean",
      "Ends this use of it: the preset goes with the last one. True when it was in use; false where it is loaded as a patch."),
    ScriptEntry("Observation", "remove", .function, "remove() -> boolean", "Ends it; true when it ran.",
      example: """
        local watch = observe(class "Shop.Cart", "title", function(change) print(change.new) end)
        print(watch:explain())
        watch:remove()
        """),
    ScriptEntry("Observation", "explain", .function, "explain() -> string", "How writes are seen, and which are not."),
    ScriptEntry("Delegates", "remove", .function, "remove() -> boolean", "Ends it.",
      example: """
        local watch = delegates "Shop.Cart.delegate" { ["cartDidChange(_:)"] = function() print "told" end }
        print(watch:explain())
        print(watch:adopt(swift.new("Shop.Cart", "init(title:)", "x")))
        watch:remove()
        """),
    ScriptEntry("Delegates", "explain", .function, "explain() -> string", "What is watched."),
    ScriptEntry(
      "Delegates", "adopt", .function, "adopt(owner: Object) -> boolean",
      "Watches the delegate that the owner has already; true when it had one."),
  ]
}
