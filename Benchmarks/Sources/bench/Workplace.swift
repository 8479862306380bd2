// Workplace — a temporary directory with the patches and the state of the run.
import Glibc

struct Workplace {
  let directory: String
  var hooks: String { directory + "/hooks" }
  var rules: String { directory + "/rules" }
  var hundred: String { directory + "/hundred" }
  var everything: String { directory + "/everything" }
  /// A rule on a base class of many.
  var tree: String { directory + "/tree" }
  /// Patches for every kind of value: one reads arguments, one replaces them.
  var reading: String { directory + "/reading" }
  var replacing: String { directory + "/replacing" }
  var calling: String { directory + "/calling" }
  var state: String { directory + "/state" }
  /// A state in which there can be no crash files, and so no breadcrumbs.
  var crumbless: String { directory + "/crumbless" }
  var watchdog: String { directory + "/watchdog" }
  var traps: String { directory + "/traps" }
  /// A patch for each guard, named after it; `none` asks for nothing.
  var guards: String { directory + "/guards" }

  init(_ settings: Settings) {
    var template = Array("/tmp/scripthost-bench-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { fail("no temporary directory: \(String(cString: strerror(errno)))") }
    directory = String(cString: made)
    for each in [hooks, rules, hundred, everything, tree, reading, replacing, calling, state, crumbless, watchdog, traps, guards] { mkdir(each, 0o700) }
    write(hooks + "/hooks.lua", Self.hookPatch)
    write(rules + "/rules.lua", Self.rulePatch)
    for number in 1...100 { write(hundred + "/patch\(number).lua", Self.longPatch(number)) }
    write(everything + "/all.lua", "patch { id = \"all\", version = \"1.0.0\", api = 1 }\nmethod \"**\":before(function(call) end)\n")
    write(tree + "/tree.lua", "patch { id = \"tree\", version = \"1.0.0\", api = 1 }\nscreen { base = \"SwiftSyntax.SyntaxVisitor\", during = \"visit(_:)\" }\n")
    write(
      reading + "/reading.lua",
      Self.valuePatch("reading") { count, kind in
        (0..<count).map { "local x\($0) = " + kind.read.replacing("@", by: Self.letters[$0]) }.joined(separator: " ")
      })
    write(
      replacing + "/replacing.lua",
      Self.valuePatch("replacing") { count, kind in
        (kind.once.map { $0 + " " } ?? "") + "local args = call.args "
          + (1...count).map { "args[\($0)] = \(kind.new)" }.joined(separator: " ")
      })
    write(calling + "/calling.lua", Self.callPatch)
    write(crumbless + "/crashes", "in the place of the directory\n")
    write(watchdog + "/watchdog.lua", "patch { id = \"watchdog\" }\nstalls { main = \"100ms\" }\n")
    write(traps + "/traps.lua", "patch { id = \"traps\" }\nmethod \"Subject.Counter.trapped(_:_:_:)\":contain { value = 0, limit = 0 }\n")
    for each in Guard.all { write(guards + "/\(each.name).lua", "patch { id = \"guards\" }\n\(each.text)\n") }
  }

  func remove() { _ = Child.run(["/bin/rm", "-rf", directory]) }

  private func write(_ path: String, _ text: String) {
    guard let file = fopen(path, "w") else { fail("'\(path)' cannot be written") }
    fputs(text, file)
    fclose(file)
  }

  /// One hook of each kind; the functions of PlainLua do the same work.
  private static let hookPatch = """
    patch { id = "bench", version = "1.0.0", api = 1 }
    method "Subject.Counter.before(_:_:_:)":before(function(call, a, b, c) end)
    method "Subject.Counter.around(_:_:_:)":around(function(call) return call:original() end)
    method "Subject.Counter.after(_:_:_:)":after(function(call) end)
    method "Subject.Counter.aroundText(_:)":around(function(call, text) return call:original() end)
    method "Subject.Counter.replacedText(_:)":around(function(call, text) call:original() return "a text of 25 characters.." end)
    method "Subject.Counter.contained(_:_:_:)":contain { value = 0 }
    track "tracked" { on = "Subject.Counter.tracked(_:_:_:)", fields = { a = "args.1", b = "args.2" } }
    track "tracked text" { on = "Subject.Counter.trackedText(_:_:)", fields = { a = "args.2", text = "args.1" } }

    """

  /// One rule of each kind.
  private static let rulePatch = """
    patch { id = "rules", version = "1.0.0", api = 1 }
    track "left out" { on = "Subject.Watched.leftOut(_:_:)", where = "args.1 < 0 and args.2 > 1", fields = { a = "args.1" } }
    track "repeat" { on = "Subject.Watched.repeated(_:_:)", where = "args.1 >= 0", dedupe = "10s", fields = { b = "args.2" } }
    track "recorded" { on = "Subject.Watched.distinct(_:_:)", where = "args.1 >= 0", dedupe = "1ms", fields = { a = "args.1" } }
    span { on = "Subject.Watched.spanned(_:_:)", name = "spanned" }
    metric "counted" { on = "Subject.Watched.counted(_:_:)", histogram = "duration" }
    slow { on = "Subject.Watched.budgeted(_:_:)", budget = "1s" }
    screen { base = "Subject.Watched", during = "handle(_:)" }
    control { base = "Subject.Button", send = "send(_:to:)", action = "args.1", target = "args.to", frame = "self.frame" }
    control { base = "Subject.Knob", send = "send(_:to:)", name = "knob", action = "args.1", same = "self.total", rage = "3/s" }
    exposure { base = "Subject.Button", on = "layout()", frame = "self.frame", within = "self.around()" }
    delegate { on = "Subject.Owner.delegate", call = "changed(_:to:)", event = "changed", fields = { value = "args.to" } }

    """

  private static let letters = ["a", "b", "c", "d", "e", "f", "g", "h"]

  private static func valuePatch(_ id: String, _ body: (Int, Kind) -> String) -> String {
    var lines = ["patch { id = \"\(id)\", version = \"1.0.0\", api = 1 }", "local kept", "local function replacement(a) return a end"]
    for kind in Kind.all {
      for count in [1, 3, 8] {
        let parameters = (["call"] + letters.prefix(count)).joined(separator: ", ")
        let labels = String(repeating: "_:", count: count)
        lines.append("method \"Kinds.Kinds.\(kind.name)\(count)(\(labels))\":before(function(\(parameters)) \(body(count, kind)) end)")
      }
    }
    lines.append("method \"Kinds.Kinds.generic(_:)\":before(function(call, a) \(body(1, Kind.all[0])) end)")
    return lines.joined(separator: "\n") + "\n"
  }

  /// Loops in Lua, measured by the program around them.
  private static let callPatch = """
    patch { id = "calling", version = "1.0.0", api = 1 }
    local text, point = "a text of 24 characters.", { x = 1, y = 2 }
    local shape, list = { circle = 5 }, { 1, 2, 3 }
    local passed = { default = 0 }
    local function same(a) return a end
    local item
    local kinds = {
      ["nothing in a loop"] = function(it, n) for i = 1, n do end end,
      scalar = function(it, n) for i = 1, n do it:scalar(i, 2) end end,
      nothing = function(it, n) for i = 1, n do it:nothing() end end,
      text = function(it, n) for i = 1, n do it:text(text) end end,
      optional = function(it, n) for i = 1, n do it:optional(i) end end,
      object = function(it, n) local item = it.item for i = 1, n do it:object(item) end end,
      structure = function(it, n) for i = 1, n do it:structure(point) end end,
      enumeration = function(it, n) for i = 1, n do it:enumeration(shape) end end,
      array = function(it, n) for i = 1, n do it:array(list) end end,
      closure = function(it, n) for i = 1, n do it:closure(swift.closure(same, passed)) end end,
      getter = function(it, n) local x for i = 1, n do x = it.getter end end,
      setter = function(it, n) for i = 1, n do it.getter = i end end,
      field = function(it, n) local x for i = 1, n do x = it.raw end end,
      static = function(it, n) for i = 1, n do swift.call("static Kinds.Called.make(_:)", i) end end,
      send = function(it, n) for i = 1, n do swift.send(it, "scalar(_:_:)", i, 2) end end,
    }
    method "Kinds.Called.run(_:_:)":before(function(call, kind, n) kinds[kind](call.self, n) end)
    method "Kinds.Closures.keep(_:)":before(function(call, body) call.args[1] = swift.closure(function(a) return a + 1 end, { default = 0 }) end)
    method "Kinds.Closures.lend(_:_:)":before(function(call, n, body) for i = 1, n do body(i) end end)
    method "Kinds.Later.before(_:)":before(function(call, a) end)
    method "Kinds.Later.around(_:)":around(function(call, a) return call:original() end)
    method "Kinds.Later.after(_:)":after(function(call) end)
    span { on = "Kinds.Later.spanned(_:)", name = "spanned" }

    """

  /// Fifty lines: a header, helpers and one hook.
  private static func longPatch(_ number: Int) -> String {
    var lines = [
      "patch { id = \"bench\(number)\", version = \"1.0.0\", api = 1 }",
      "local counts = { small = 0, large = 0, calls = 0 }",
    ]
    for helper in 1...7 {
      lines += [
        "local function helper\(helper)(value, limit)", "  if value > limit then", "    counts.large = counts.large + \(helper)",
        "  end", "  return value * \(number) + \(helper)", "end",
      ]
    }
    lines += [
      "method \"Subject.Counter.loaded(_:_:_:)\":before(function(call, a, b, c)", "  counts.calls = counts.calls + 1",
      "  if c then", "    helper1(a, 10)", "  end", "end)",
    ]
    return lines.joined(separator: "\n") + "\n"
  }
}

extension String {
  /// Every `text` in it replaced.
  fileprivate func replacing(_ text: Character, by other: String) -> String { reduce(into: "") { $0 += $1 == text ? other : String($1) } }
}
