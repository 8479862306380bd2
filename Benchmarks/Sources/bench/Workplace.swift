// Workplace — a temporary directory with the patches and the state of the run.
import Glibc

struct Workplace {
  let directory: String
  var hooks: String { directory + "/hooks" }
  var hundred: String { directory + "/hundred" }
  var everything: String { directory + "/everything" }
  var state: String { directory + "/state" }

  init(_ settings: Settings) {
    var template = Array("/tmp/scripthost-bench-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { fail("no temporary directory: \(String(cString: strerror(errno)))") }
    directory = String(cString: made)
    for each in [hooks, hundred, everything, state] { mkdir(each, 0o700) }
    write(hooks + "/hooks.lua", Self.hookPatch)
    for number in 1...100 { write(hundred + "/patch\(number).lua", Self.longPatch(number)) }
    write(everything + "/all.lua", "patch { id = \"all\", version = \"1.0.0\", api = 1 }\nmethod \"**\":before(function(call) end)\n")
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
    track "tracked" { on = "Subject.Counter.tracked(_:_:_:)", fields = { a = "args.1", b = "args.2" } }
    track "tracked text" { on = "Subject.Counter.trackedText(_:_:)", fields = { a = "args.2", text = "args.1" } }

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
