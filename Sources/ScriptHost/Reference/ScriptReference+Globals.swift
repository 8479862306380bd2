// The entries of globals, of `log` and of `swift`.
internal import HookRuntime

extension ScriptReference {
  static let waitOption = ScriptOption("wait", "boolean", "What is not there now may come with an image; it is resolved then.")

  static let hookOptions = [
    ScriptOption("priority", "integer", "Layers with a higher one are outside of others; the header's is the default."),
    ScriptOption("once", "boolean", "The hook is removed by its first call."),
    ScriptOption("object", "Object", "Only calls on this object are meant."),
    ScriptOption("group", "string", "A name under which hooks are listed together."),
    ScriptOption("wait", "boolean", "Also hook what images bring later."),
    ScriptOption("max", "integer", "More matches of a glob than this are an error."),
    ScriptOption(
      "by", BackEnd.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: "|"), "The back end that diverts the calls: see docs/hooks.md."),
    ScriptOption(
      "on_busy", "\"wait\"|\"original\"|\"throw\"",
      """
      When another thread is in the patch: wait for it (the default of around); wait 200 ms and then run the original alone (of before and \
      after); or, in around, wait 200 ms and then throw.
      """),
    ScriptOption(
      "on_failure", "\"original\"|\"throw\"|table",
      """
      When the handler fails: the original answers; in around, the call throws, or answers `{ value = v }`. A handler that was switched \
      off takes part in no call: the original answers then.
      """),
  ]

  static let containOptions = [
    ScriptOption("value", "any", "What the call returns when it trapped; nothing for functions without a result."),
    ScriptOption("throw", "any", "What it throws: an error of the program, or a text."),
    ScriptOption("answer", "function", "Says what it returns, or throws with call:throw."),
    ScriptOption("limit", "integer", "So many traps in a minute are contained, 10 where nothing is said, then none; 0: all of them."),
    ScriptOption("priority", "integer", "Where among the layers it is: innermost where nothing is said."),
    ScriptOption("object", "Object", "Only calls on this object are meant."),
    ScriptOption("group", "string", "A name under which hooks are listed together."),
    ScriptOption("max", "integer", "More matches of a glob than this are an error."),
  ]

  static let globals: [ScriptEntry] = [
    ScriptEntry(
      "", "patch", .function, "patch(header: table)",
      options: [
        ScriptOption("id", "string", "The patch's name in records and commands; the file's name without one."),
        ScriptOption("version", "string", "For people."), ScriptOption("api", "integer", "1: the API it was written for."),
        ScriptOption(
          "target", "table",
          "What it is made for: `program`, `build_ids`, `swift`, `selectors` that must be there and `bodies`, the code of functions as "
            + "`scripthost pin` writes it; elsewhere it is not loaded."),
        ScriptOption("priority", "integer", "Of its hooks, where they say nothing."),
        ScriptOption("config", "table", "Its settings with their defaults, read as `config`."),
        ScriptOption("phase", "\"boot\"|\"up\"|\"idle\"", "When it is loaded: before `main`, when the program is up, or when it has little to do."),
        ScriptOption("expires", "string", "A day or time in UTC from which on it is not in force."),
        ScriptOption(
          "canary", "\"boot\"|\"test\"|\"replay\"|\"self-test\"",
          "It is tried in a child of the program before it goes live: docs/canary.md."),
        ScriptOption("canary_limit", "integer", "So many seconds that may take."),
        ScriptOption("canary_changes", "boolean", "Under `replay`: true where results of calls may change."),
        ScriptOption("canary_arguments", "string[]", "Under `self-test`: what the program is started with to test itself."),
        ScriptOption(
          "permissions", "string[]", "What it does beside hooking, such as `{ \"call\" }`, where a policy restricts that: docs/policy.md."),
        ScriptOption("max_share", "string", "How much of the process's time each of its hooks may take, such as `\"5%\"`."),
        ScriptOption("over_share", "\"off\"|\"sample\"", "What is done about a hook that takes more."),
      ],
      "The header: the first statement of a file, literals only. It is read without running the file.",
      example: "patch { id = \"rounding\", version = \"1.2.0\", api = 1, target = { program = \"shop\" } }"),
    ScriptEntry(
      "", "method", .function, "method(selector: string, options?: table) -> Method", options: [waitOption],
      "Resolves a selector, or a glob. A name that means nothing is an error that names the nearest.",
      example: "local total = method \"Shop.Cart.total(tax:)\"\nprint(total:explain())"),
    ScriptEntry(
      "", "class", .function, "class(name: string, options?: table) -> Class", options: [waitOption],
      "A type of the program: hooks by member, static members, static methods.",
      example: "print(class \"Shop.Cart\".rate)\nlocal cart = class \"Shop.Cart\":make()\nprint(cart.title)"),
    ScriptEntry(
      "class", "define", .function, "class.define(name: string, description: table) -> Class",
      options: [
        ScriptOption("super", "string|Class", "The class to inherit from.", isNeeded: true),
        ScriptOption("methods", "table", "Functions by selector, called as handlers are; `call:super()` is the inherited one."),
        ScriptOption("fields", "table", "Stored properties with their first values."),
        ScriptOption("deinit", "function", "Runs when an instance ends."),
        ScriptOption("direct_calls", "\"miss\"", "Override although calls were made direct that do not see it."),
      ],
      "Makes a class at run time that inherits from one of the program's.",
      example: """
        local Fast = class.define("FastCart", { super = "Shop.Cart", methods = {
          ["total(tax:)"] = function(call, tax) return call:super() * 2 end,
        } })
        print(swift.type(swift.new("FastCart", "init(title:)", "x")))
        """),
    ScriptEntry(
      "", "implement", .statement, "implement(protocol: string) -> fun(functions: table): Object",
      "An object that conforms to protocols of the program; functions answer the requirements. `target` answers all others, `weak` keeps it weakly.",
      example: """
        local delegate = implement "Shop.CartDelegate" {
          ["cartDidChange(_:)"] = function(call, cart) log.info("changed", { title = cart.title }) end,
        }
        """),
    ScriptEntry(
      "", "delegates", .statement, "delegates(property: string) -> fun(functions: table): Delegates",
      "Shows the calls on whatever object is a property's delegate, before they go on.",
      example: """
        delegates "Shop.Cart.delegate" { ["cartDidChange(_:)"] = function(call, cart) print("told") end }
        """),
    ScriptEntry(
      "", "track", .statement, "track(name: string) -> fun(rule: table): Rule",
      options: [
        ScriptOption("on", "string", "The selector, or a glob.", isNeeded: true),
        ScriptOption("at", "\"enter\"|\"exit\"", "When fields are read; enter is the default."),
        ScriptOption("fields", "table", "Names and capture paths: `self.title`, `args.tax`, `result`, `error`, `duration`, `self.total()`."),
        ScriptOption("where", "string", "A condition, such as `self.lines.count > 0`."),
        ScriptOption("sample", "string|number", "The share of calls that is recorded, by chance: `10%`."),
        ScriptOption("rate", "string", "At most so many: `50/s`."),
        ScriptOption("dedupe", "string", "Equal records within this time are left out: `100ms`."),
        ScriptOption("same", "string|table", "Paths whose values tell one action, whichever rule of the name sees it."),
        ScriptOption("once_per", "string", "The first one only: per `process`, `thread`, or value of a path."),
        ScriptOption("pii", "table", "What becomes of fields about people: `drop`, `hash` or `mask`."),
        ScriptOption("context", "table", "Paths of what later records are to be told by."),
        ScriptOption("optional", "boolean", "What is not there is no error."), waitOption,
      ],
      "A rule: a call becomes an event with fields. It is data; no Lua runs when it fires. See docs/tracking.md.",
      example: """
        track "added" {
          on = "Shop.Cart.add(_:price:quantity:)", fields = { cart = "self.title", name = "args.1", price = "args.price" },
          where = "args.quantity > 0", rate = "50/s",
        }
        """),
    ScriptEntry(
      "", "span", .function, "span(rule: table) -> Rule",
      options: [
        ScriptOption("on", "string", "The selector, or a glob.", isNeeded: true),
        ScriptOption("name", "string", "The span's name, which may have paths in braces: `plan {args.1}`."),
        ScriptOption("kind", "string", "internal (the default), server, client, producer or consumer."),
        ScriptOption("attributes", "table", "Names and capture paths."),
        ScriptOption("context", "table", "Names and paths of what everything below inherits."),
        ScriptOption("where", "string", "A condition, asked when the call begins."),
        ScriptOption("sample", "string|number", "The share of traces, decided by their roots."),
        ScriptOption("slow", "string", "Traces that take this long, or fail, are recorded whole."),
        ScriptOption("once_per", "string", "The first one only."), ScriptOption("pii", "table", "`drop`, `hash` or `mask`."),
        ScriptOption("parent", "string", "A path to whom a root belongs: a `traceparent`, or headers with one."),
        ScriptOption("links", "string|table", "Paths to spans of other traces that it has to do with, in the same forms."),
        ScriptOption("ends", "table", "The call that ends it, where that is another one: `on`, `where`, `attributes`, `error`."),
        ScriptOption("key", "string|table", "A path to what both calls have in common, or a list of them; self is the default."),
        ScriptOption("cancels", "table", "The call after which it fails: `on`, `where`."),
        ScriptOption("optional", "boolean", "What is not there is no error."), waitOption,
      ],
      "A rule: a call becomes a span, under the one around it on its thread or in its task. See docs/tracking.md.",
      example: """
        span { on = "Shop.Cart.add(_:price:quantity:)", name = "add {args.1}", attributes = { price = "args.price" } }
        -- From goods that are put into a cart to what they cost.
        span { on = "Shop.Cart.add(_:price:quantity:)", name = "purchase", ends = { on = "Shop.Cart.total(tax:)", attributes = { tax = "args.tax" } } }
        """),
    ScriptEntry(
      "", "metric", .statement, "metric(name: string) -> fun(rule: table): Rule",
      options: [
        ScriptOption("on", "string", "The selector, or a glob.", isNeeded: true),
        ScriptOption("counter", "boolean|string", "true, or a path whose values are added."),
        ScriptOption("histogram", "string", "A path, such as `duration`."), ScriptOption("gauge", "string", "A path; the last value counts."),
        ScriptOption("by", "table", "Paths whose values are the attributes of a series."),
        ScriptOption("unit", "string", "As OpenTelemetry spells it."), ScriptOption("every", "string", "Time between records: `10s`."),
        ScriptOption("keys", "integer", "Series at most."), ScriptOption("where", "string", "A condition."),
        ScriptOption("sample", "string|number", "The share of calls that is counted."),
        ScriptOption("once_per", "string", "The first one only."), ScriptOption("pii", "table", "`drop`, `hash` or `mask`."),
        ScriptOption("optional", "boolean", "What is not there is no error."), waitOption,
      ],
      "A rule: a number per call, counted in the process. See docs/tracking.md.",
      example: """
        metric "added" { on = "Shop.Cart.add(_:price:quantity:)", counter = "args.quantity", by = { "args.1" } }
        """),
    ScriptEntry(
      "", "startup", .function, "startup(rule: table) -> Rule",
      options: [
        ScriptOption("first", "string", "The call that ends the start; without it the first span or screen does."),
        ScriptOption("stable", "string", "The call after which the program is up, where neither it nor a patch says so."),
      ],
      "Records when the stages of the start were reached, each once: process, loader, host, main, first, stable.",
      example: """
        startup {}
        """),
    ScriptEntry(
      "", "observe", .function, "observe(subject: Object|Class, property: string, function: function) -> Observation",
      """
      Tells what is written to a property: `change.object`, `path`, `old`, `new`, `in_place`. The function runs on the writing thread, \
      after the write.
      """,
      example: "observe(class \"Shop.Cart\", \"title\", function(change) print(change.old, change.new) end)"),
    ScriptEntry(
      "", "explain", .function, "explain(selector: string) -> string", "How far hooks on a selector reach, as the command explain says it.",
      example: "print(explain \"Shop.Cart.total(tax:)\")"),
    ScriptEntry(
      "", "hooks", .function, "hooks(selector?: string) -> table",
      "All hooks of the process, as tables; behind them those that wait. With a selector or a glob, those on what it names.",
      example: "for _, hook in ipairs(hooks()) do print(hook.selector, hook.position, hook.calls) end"),
    ScriptEntry(
      "", "test", .statement, "test(name: string) -> fun(body: function)",
      "A test of the patch, which `scripthost test` runs and nothing else: the function gets `t`, a Test.",
      example: """
        test "adds" (function(t)
          local cart = swift.new("Shop.Cart", "init(title:)", "x")
          t.call(cart, "add(_:price:quantity:)", "tea", 2.0, 3)
          t.equal(#cart.lines, 1)
          t.stub("Shop.Cart.total(tax:)", 7.5)
          t.equal(t.call(cart, "total(tax:)", 0.2), 7.5)
        end)
        """),
    ScriptEntry(
      "", "require", .function, "require(module: string) -> table|function",
      """
      What a file of the patch's own directory returns, run once for each load: \"lib.money\" is lib/money.lua. For a patch that is a \
      directory with patch.lua.
      """,
      example: """
        -- In patch.lua of a directory that has lib/money.lua; a file by itself has no modules.
        local isThere, money = pcall(require, "lib.money")
        print(isThere, isThere and money.round(2.345))
        """),
    ScriptEntry(
      "", "use", .function, "use(preset: string) -> Preset",
      """
      Puts a preset into the program: the file NAME.lua beside the patch, or else one that is installed with ScriptHost. However many \
      patches use it, it is there once, until the last of them is gone or removes it. See docs/tracking.md.
      """,
      example: "local stages = use \"startup\"\nprint(stages:remove())"),
    ScriptEntry(
      "", "on_unload", .function, "on_unload(body: function)",
      "Calls the function once, when the patch is unloaded or was replaced; the newest first.",
      example: "on_unload(function() print(\"bye\") end)"),
    ScriptEntry(
      "store", "get", .function, "store.get(key: string) -> any",
      "What the patch keeps at a key, also from the text before a reload; also written store:get(key). In memory, for as long as the process runs.",
      example: "print(store:get \"visits\")"),
    ScriptEntry(
      "store", "set", .function, "store.set(key: string, value: any, options?: table)",
      "Keeps a text, number or boolean; nil takes it out. `{ ttl = seconds }` gives it an end.",
      example: "store:set(\"token seen\", true, { ttl = 60 })"),
    ScriptEntry(
      "store", "incr", .function, "store.incr(key: string, by?: integer, options?: table) -> integer",
      "Adds to an integer, 0 where there is none, in one step for all threads.", example: "print(store:incr \"visits\")"),
    ScriptEntry(
      "store", "update", .function, "store.update(key: string, change: function, options?: table) -> any",
      "Keeps what the function makes of the value; it runs again when another thread changed the key meanwhile.",
      example: "store:update(\"longest\", function(old) return math.max(old or 0, 12) end)"),
    ScriptEntry("log", "debug", .function, "log.debug(message: any, fields?: table)", "Records a message that only debugging needs.",
      example: """
        method "Shop.Cart.total(tax:)":after(function(call)
          log.debug("total", { milliseconds = call.duration_ns / 1e6, result = call.result })
        end)
        """),
    ScriptEntry(
      "log", "info", .function, "log.info(message: any, fields?: table)", "Records a message with fields; see the command logs.",
      example: "log.info(\"checkout\", { items = 3, total = 12.5 })"),
    ScriptEntry("log", "warn", .function, "log.warn(message: any, fields?: table)", "Records a warning.", example: "log.warn \"no stock\""),
    ScriptEntry("log", "error", .function, "log.error(message: any, fields?: table)", "Records an error of the program's doing.",
      example: "log.error(\"no price\", { name = \"atlas\" })"),
    ScriptEntry(
      "json", "encode", .function, "json.encode(value: any) -> string",
      "A value as JSON: tables with the keys 1 to n are arrays, others objects with sorted names, `swift.null` is null.",
      example: "print(json.encode { title = \"books\", prices = { 1, 2.5 } })"),
    ScriptEntry(
      "json", "decode", .function, "json.decode(text: string) -> any", "The value of a JSON text; null is `swift.null`.",
      example: "print(json.decode(\"[1, 2]\")[2])"),
  ]

  static let swiftNames: [ScriptEntry] = [
    ScriptEntry("swift", "null", .value, "any", "A none where nil would mean nothing: as an element of a table, as an argument in the middle.",
      example: "print(json.encode { title = \"books\", discount = swift.null })"),
    ScriptEntry(
      "swift", "new", .function, "swift.new(type: string|Class, initialiser: string, ...: any) -> Object",
      "Makes an object or value by an initialiser.",
      example: "local cart = swift.new(\"Shop.Cart\", \"init(title:)\", \"books\")\nprint(cart.title)"),
    ScriptEntry(
      "swift", "send", .function, "swift.send(target: any, member?: any, ...: any) -> any",
      "Calls a member by its whole name; a target is an object, a class, or the selector of a static or free function.",
      example: """
        local cart = swift.new("Shop.Cart", "init(title:)", "books")
        swift.send(cart, "add(_:price:quantity:)", "atlas", 12.5, 2)
        print(swift.send(cart, "total(tax:)", 0.2))
        """),
    ScriptEntry(
      "swift", "try", .function, "swift.try(target: any, member?: any, ...: any) -> boolean",
      "Calls as swift.send does; answers true and the result, or false and the error that was thrown.",
      example: """
        local cart = swift.new("Shop.Cart", "init(title:)", "empty")
        local ok, problem = swift.try(cart, "checkout()")
        print(ok, problem)
        """),
    ScriptEntry(
      "swift", "call", .function, "swift.call(selector: string, ...: any) -> any", "Calls a free or static function by its selector.",
      example: "print(swift.call(\"Shop.discount(for:)\", 40))"),
    ScriptEntry(
      "swift", "forward", .function, "swift.forward(target: Object|Class, answer?: any)",
      "Messages that no member answers go to another object, or to a function(receiver, selector, arguments); nil takes back what there was.",
      example: """
        -- What Cart has no member for is answered here.
        swift.forward(class "Shop.Cart", function(_, selector) log.warn("no member", { selector = selector }) end)
        """),
    ScriptEntry(
      "swift", "allow_leak", .function, "swift.allow_leak(selector: string)",
      "Calls of these methods may leave a copy of a struct behind, where nothing tells whether they end it: see docs/values.md.",
      example: "swift.allow_leak \"Shop.Cart.total(tax:)\""),
    ScriptEntry(
      "swift", "closure", .function, "swift.closure(function: function, options?: table) -> function",
      options: [
        ScriptOption("default", "any", "The answer when the patch is gone."),
        ScriptOption("original", "function", "The closure of the program that is called when the patch is gone."),
      ], "Marks a Lua function as a closure with an agreed answer for the time after the patch.",
      example: """
        local double = swift.closure(function(n) return n * 2 end, { default = 0 })
        print(double)
        """),
    ScriptEntry(
      "swift", "keep", .function, "swift.keep(handle: any) -> any", "Keeps an object, value or closure beyond the call it was borrowed for.",
      example: """
        local last
        method "Shop.Cart.add(_:price:quantity:)":before(function(call)
          if last then swift.release(last) end
          last = swift.keep(call.self)
        end)
        method "Shop.Cart.checkout()":before(function() print(last and last.title) end)
        """),
    ScriptEntry("swift", "weak", .function, "swift.weak(object: Object) -> function", "A function that answers the object while it lives, then nil.",
      example: """
        local seen
        method "Shop.Cart.add(_:price:quantity:)":before(function(call) seen = swift.weak(call.self) end)
        method "Shop.Cart.checkout()":before(function() print(seen and seen() ~= nil) end)
        """),
    ScriptEntry(
      "scripthost", "up", .function, "scripthost.up()",
      "Says that the program is up: a crash from now on is no failed start. See docs/safe-mode.md.",
      example: "method \"Shop.Cart.checkout()\":after(function() scripthost.up() end, { once = true })"),
    ScriptEntry(
      "boot", "task", .function, "boot.task(task: table) -> boolean",
      options: [
        ScriptOption("name", "string", "For records and messages."),
        ScriptOption(
          "phase", "\"boot\"|\"launched\"|\"idle\"",
          "Before the program's main, which is the default; when it has begun; when it has little to do for the first time."),
        ScriptOption("priority", "integer", "Within a phase higher ones run first; 0 where nothing is said."),
        ScriptOption("failures", "integer", "It runs only after so many starts that failed one after another: a repair."),
        ScriptOption("run", "function", "What is done."),
      ], "Has something done once at the program's start; false when its phase is over. See docs/safe-mode.md.",
      example: """
        boot.task { name = "warm up", phase = "launched", priority = 10, run = function() log.info("launched") end }
        boot.task { name = "rebuild the index", failures = 2, run = function() log.warn("rebuilding the index") end }
        """),
    ScriptEntry(
      "boot", "cache", .function, "boot.cache(path: string)",
      "Registers a file or directory, by its absolute path, whose contents may be removed after two starts that failed.",
      example: "boot.cache \"/var/cache/shop\""),
    ScriptEntry(
      "boot", "data", .function, "boot.data(path: string)",
      "Registers a file or directory, by its absolute path, whose contents may be removed after five starts that failed.",
      example: "boot.data \"/var/lib/shop/index\""),
    ScriptEntry("swift", "release", .function, "swift.release(handle: any)", "Lets go of what was kept, before the collector does."),
    ScriptEntry(
      "swift", "lend", .function, "swift.lend(object: any) -> any",
      "Says that nobody keeps what lies in a frame of the program, for the rest of the handler: see docs/values.md.",
      example: "method \"Shop.Cart.checkout()\":before(function(call) print(swift.lend(call.self).title) end)"),
    ScriptEntry(
      "swift", "with", .function, "swift.with(value: any, changes: table) -> any", "A changed copy of a struct or tuple.",
      example: """
        local cart = class "Shop.Cart":make()
        print(swift.with(cart.lines[1], { quantity = 9 }).quantity)
        """),
    ScriptEntry(
      "swift", "case", .function, "swift.case(value: any, ...: any) -> any",
      """
      The name of an enum value's case; or, of a case's name and its payload, what a parameter of an enum type is made from; with the \
      type's name before it, a value of that type, which an Any takes.
      """,
      example: """
        local cart = class "Shop.Cart":make()
        print(swift.case(cart.status))
        cart.status = swift.case("closed", "sold")
        cart.status = swift.case("Shop.Status.closed", "sold")
        """),
    ScriptEntry("swift", "data", .function, "swift.data(bytes: string) -> any", "The bytes of a text, for parameters of type Data and [UInt8].",
      example: "print(swift.data \"\\x89PNG\")"),
    ScriptEntry("swift", "value", .function, "swift.value(handle: any) -> any", "The plain Lua value of a handle to a number, text or Bool.",
      example: "print(swift.value(swift.u64 \"7\") + 1)"),
    ScriptEntry(
      "swift", "table", .function, "swift.table(collection: any, max?: integer) -> table", "A table with the elements of a collection, at most max.",
      example: "for _, line in ipairs(swift.table(class \"Shop.Cart\":make().lines, 10)) do print(line.name) end"),
    ScriptEntry(
      "swift", "u64", .function, "swift.u64(number: integer|string) -> any", "An exact UInt64, from an integer or its digits.",
      example: "print(swift.u64 \"18446744073709551615\")"),
    ScriptEntry(
      "swift", "int", .function, "swift.int(handle: any) -> integer", "The Lua integer of an integer of any type; an error when it does not fit.",
      example: "print(swift.int(swift.u64 \"7\") + 1)"),
    ScriptEntry("swift", "type", .function, "swift.type(handle: any) -> string", "The dynamic type's full name.",
      example: """
        local cart = class "Shop.Cart":make()
        print(swift.type(cart), swift.is(cart, "Shop.Cart"), swift.as(cart, "Shop.Keeper"))
        """),
    ScriptEntry(
      "swift", "is", .function, "swift.is(handle: any, type: string) -> boolean",
      "Whether it is of the type or a class that inherits from it."),
    ScriptEntry("swift", "as", .function, "swift.as(handle: any, type: string) -> any", "The handle when it is of the type, else nil."),
    ScriptEntry("swift", "fields", .function, "swift.fields(handle: any) -> table", "The names of the stored properties.",
      example: "print(table.concat(swift.fields(class \"Shop.Cart\":make()), \", \"))"),
    ScriptEntry("swift", "error", .function, "swift.error(message: string) -> Error", "An error to throw or to pass on.",
      example: """
        method "Shop.Cart.checkout()":around(function(call)
          if #call.self.lines > 50 then call:throw(swift.error "too many lines") end
          return call:original()
        end)
        """),
  ]
}
