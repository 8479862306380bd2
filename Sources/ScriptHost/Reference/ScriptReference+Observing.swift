// The entries of what watches a program as a whole: stalls, a profile, its requests.

extension ScriptReference {
  static let observing: [ScriptEntry] = [
    ScriptEntry(
      "", "stalls", .function, "stalls(settings: table)",
      options: [
        ScriptOption("main", "string", "The threshold of the main thread: `250ms`; at least 10ms, as all of these."),
        ScriptOption("loops", "string", "That of other threads that wait for events."),
        ScriptOption("locks", "string", "That of threads that wait for a mutex, a read-write lock or a Mutex of Swift."),
        ScriptOption("queues", "table", "Those of dispatch queues, by their labels."),
        ScriptOption("pool", "string", "That of the threads on which tasks run."),
        ScriptOption("stacks", "boolean", "false: without the stack of the stalled thread."),
        ScriptOption("end_after", "string", "Ends the process when the main thread has not gone on for so long."),
      ],
      "Records where the program does not go on, with the stack and the length. See docs/apm.md.",
      example: "stalls { main = \"250ms\", pool = \"500ms\" }"),
    ScriptEntry(
      "", "slow", .function, "slow(rule: table) -> Rule",
      options: [
        ScriptOption("on", "string", "The selector, or a glob; of a C function `C.write`.", isNeeded: true),
        ScriptOption("budget", "string", "Calls that take as long are recorded: `50ms`.", isNeeded: true),
        ScriptOption("fields", "table", "Names and capture paths."), ScriptOption("where", "string", "A condition."),
        ScriptOption("rate", "string", "At most so many: `50/s`."), ScriptOption("once_per", "string", "The first one only."),
        ScriptOption("pii", "table", "`drop`, `hash` or `mask`."), ScriptOption("optional", "boolean", "What is not there is no error."),
        waitOption,
      ],
      "A rule: calls that take longer than their budget are recorded beside stalls. See docs/apm.md.",
      example: "slow { on = \"Shop.Cart.checkout()\", budget = \"50ms\" }"),
    ScriptEntry(
      "", "profile", .function, "profile(settings: table|boolean)",
      options: [ScriptOption("hz", "integer", "Looks per second, 1 to 1000.")],
      "Samples the stacks of the threads that use the processor; `profile(false)` ends it. See docs/apm.md.",
      example: """
        profile { hz = 99 }
        profile(false)
        """),
    ScriptEntry(
      "", "network", .function, "network(settings: table)",
      options: [
        ScriptOption("traceparent", "boolean", "Puts the W3C header into requests."),
        ScriptOption("hosts", "string", "A glob: the hosts whose requests get the header."),
        ScriptOption("optional", "boolean", "A program that does not use URLSession is no error."),
      ],
      "Records each request of Foundation's URLSession with its phases. See docs/apm.md.",
      example: "network { traceparent = true, hosts = \"*.example.org\", optional = true }"),
    ScriptEntry(
      "", "guard", .function, "guard(settings: table)",
      options: [
        ScriptOption("mode", "\"report\"|\"contain\"|\"assert\"", "What becomes of a hit; `contain` without one."),
        ScriptOption("modules", "string|table", "Only calls made by code of these modules, or messages of scripts of these file names."),
        ScriptOption("records", "integer", "At most so many records a second, 10 without it; all hits are counted."),
        ScriptOption("types", "string|table", "Of `zombies`: the classes, as names or globs."),
        ScriptOption("methods", "string|table", "Of `main_thread`: the functions, as selectors or globs."),
        ScriptOption("count", "integer", "Of `zombies`: so many objects are kept at most, 1000 without it."),
        ScriptOption("bytes", "string", "Of `zombies`: so much memory is kept at most, `8MB` without it."),
      ]
        + CrashGuard.allCases.map {
          ScriptOption($0.rawValue, "\"report\"|\"contain\"|\"assert\"|boolean|table", "This guard, in a mode or with settings of its own.")
        },
      "Switches guards on: mistakes that would end the program, or go unseen, are counted, recorded and kept from doing harm. See docs/guards.md.",
      example: "guard { \"main_thread\", methods = { \"Shop.Cart.total(tax:)\" }, mode = \"report\" }"),
    ScriptEntry(
      "", "screen", .function, "screen(rule: table) -> Rule",
      options: [
        ScriptOption("base", "string", "A class: its instances and those of all subclasses are screens. Or a protocol.", isNeeded: true),
        ScriptOption("appear", "string", "The method that begins a screen."), ScriptOption("disappear", "string", "The one that ends it."),
        ScriptOption("during", "string", "In place of both: a method whose run is the screen's life, of handlers and commands."),
        ScriptOption("load", "string|table", "Methods that make a screen ready, `viewDidLoad()`: each run is a span."),
        ScriptOption("name", "string", "A path, `self.title`, or a text with paths in braces; the type's name without one."),
        ScriptOption("fields", "table", "Names and capture paths."), ScriptOption("where", "string", "A condition, asked when it appears."),
        ScriptOption("sample", "string|number", "The share that is recorded."), ScriptOption("once_per", "string", "The first one only."),
        ScriptOption("pii", "table", "`drop`, `hash` or `mask`."), ScriptOption("optional", "boolean", "What is not there is no error."),
        waitOption,
      ],
      "A rule: screens, handlers and commands that appear and disappear, with path, previous one and duration. See docs/tracking.md.",
      example: """
        screen { base = "Shop.Cart", during = "checkout()", name = "self.title" }
        """),
    ScriptEntry(
      "", "exposure", .function, "exposure(rule: table) -> Rule",
      options: [
        ScriptOption("base", "string", "The class of views.", isNeeded: true),
        ScriptOption("frame", "string", "The path of a view's place: a rectangle of four numbers.", isNeeded: true),
        ScriptOption("within", "string", "That of what is around it, in the same coordinates."),
        ScriptOption("on", "string", "A method after which a view's place is looked at; the setter of `frame` without one."),
        ScriptOption("area", "number|string", "The share that has to be seen: 0.5 where nothing is said."),
        ScriptOption("dwell", "string", "For so long: `500ms` where nothing is said."),
        ScriptOption("again", "string", "`session`: once in a run; `always`; or a time such as `10s`."),
        ScriptOption("key", "string", "A path to what is shown; the object without one."),
        ScriptOption("name", "string", "The event's; `exposure` without one."), ScriptOption("fields", "table", "Names and capture paths."),
        ScriptOption("where", "string", "Views for which it does not hold are not seen."),
        ScriptOption("sample", "string|number", "The share that is recorded."), ScriptOption("rate", "string", "At most so many: `50/s`."),
        ScriptOption("pii", "table", "`drop`, `hash` or `mask`."), ScriptOption("optional", "boolean", "What is not there is no error."),
        waitOption,
      ],
      "A rule: views of which enough was seen for long enough. See docs/tracking.md.",
      example: "exposure { base = \"Shop.Banner\", frame = \"self.frame\", area = 0.5, dwell = \"500ms\", optional = true }"),
    ScriptEntry(
      "", "control", .function, "control(rule: table) -> Rule",
      options: [
        ScriptOption("base", "string", "The class of controls.", isNeeded: true),
        ScriptOption("send", "string", "The method by which all of them send their actions.", isNeeded: true),
        ScriptOption("action", "string", "The path of the action; without an action there is no event.", isNeeded: true),
        ScriptOption("target", "string", "The path of the target."), ScriptOption("frame", "string", "The path of the frame."),
        ScriptOption("name", "string", "The event's; `control` without one."), ScriptOption("fields", "table", "Names and capture paths."),
        ScriptOption("where", "string", "A condition."), ScriptOption("sample", "string|number", "The share that is recorded."),
        ScriptOption("rate", "string", "At most so many: `50/s`."),
        ScriptOption("dedupe", "string", "One action within this time is one event: `100ms`, as without it."),
        ScriptOption("same", "string|table", "Paths whose values tell one action; control and action are the default."),
        ScriptOption("rage", "string", "So many of one action in a time are an event of their own: `3/s`."),
        ScriptOption("dead", "string", "A tap after which nothing happens for so long is one: `1s`."),
        ScriptOption("once_per", "string", "The first one only."), ScriptOption("pii", "table", "`drop`, `hash` or `mask`."),
        ScriptOption("optional", "boolean", "What is not there is no error."), waitOption,
      ],
      "A rule: the actions that controls send, with type, action, target and frame. See docs/tracking.md.",
      example: """
        control { base = "Shop.Cart", send = "add(_:price:quantity:)", action = "args.1" }
        """),
    ScriptEntry(
      "", "delegate", .function, "delegate(rule: table) -> Rule",
      options: [
        ScriptOption("on", "string", "The property that holds the delegate.", isNeeded: true),
        ScriptOption("call", "string", "A requirement of its protocol.", isNeeded: true),
        ScriptOption("event", "string", "The event's name; the requirement's without one."),
        ScriptOption("fields", "table", "Names and capture paths."), ScriptOption("where", "string", "A condition."),
        ScriptOption("sample", "string|number", "The share that is recorded."), ScriptOption("rate", "string", "At most so many: `50/s`."),
        ScriptOption("dedupe", "string", "Equal records within this time are left out: `100ms`."),
        ScriptOption("once_per", "string", "The first one only."), ScriptOption("pii", "table", "`drop`, `hash` or `mask`."),
        ScriptOption("optional", "boolean", "What is not there is no error."),
      ],
      "A rule: calls on the delegate in a property, whoever it is. See docs/tracking.md.",
      example: """
        delegate { on = "Shop.Cart.delegate", call = "cartDidChange(_:)", event = "cart changed" }
        """),
  ]
}
