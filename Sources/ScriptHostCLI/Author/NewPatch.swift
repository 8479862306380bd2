// NewPatch — the text of a new patch or rule for a function of a program, with a test.
internal import HookRuntime
internal import SwiftMangling

struct NewPatch {
  let name: String
  /// Where the patch is written, and the program, as they were given.
  let file: String
  let program: String
  let shown: String
  let selector: String
  let family: Family
  /// Of the program, by name.
  let types: [String: TypeRecord]

  private var header: String {
    "patch { id = \"\(name)\", version = \"0.1.0\", api = 1, target = { program = \"\(program)\" } }\n"
  }

  /// The function with its types. What tells setters apart is the property's type, which is no result of theirs.
  private var typed: String {
    guard family.declaration.kind == .setter, let type = family.declaration.functionType.parameters.first?.type else { return family.typedSelector }
    return "\(family.selector)(_: \(type.description(qualified: false)))"
  }

  private var test: String {
    """

    -- Run by: scripthost test \(file == "-" ? name + ".lua" : file) \(shown)
    test "\(name) is in place" (function(t)
      t.expect(t.hooked "\(selector)", "nothing is hooked")
    end)

    """
  }

  /// An around handler with the function's parameters; of what must run once, as it is, one before it.
  func patch() -> String {
    let function = family.declaration.functionType
    let names = LuaNames.parameters(function)
    var text = "-- \(typed)\n" + header + "\n"
    for (name, parameter) in zip(names, function.parameters) { text += "---@param \(name) \(LuaNames.lua(parameter.type))\n" }
    if function.result != .tuple([]) { text += "---@return \(LuaNames.lua(function.result))\n" }
    let parameters = (["call"] + names).joined(separator: ", ")
    if family.declaration.refusesAround != nil {
      return text + "method \"\(selector)\":before(function(\(parameters))\n  log.info(call.selector)\nend)\n" + test
    }
    text += "method \"\(selector)\":around(function(\(parameters))\n"
    if function.result == .tuple([]) {
      text += "  call:original()\n"
    } else {
      text += "  local result = call:original()\n  return result\n"
    }
    return text + "end)\n" + test
  }

  /// What paths may go on with, as comments: `args.1` alone says of an object only what it is.
  private func reads(_ function: FunctionType) -> String {
    var roots: [(path: String, type: String)] = []
    if family.declaration.hasInstance {
      let type = selector.prefix { $0 != "(" }.split(separator: ".").dropLast().joined(separator: ".")
      roots.append(("self", LuaNames.plain(type)))
    }
    for (index, parameter) in function.parameters.enumerated() {
      roots.append(("args.\(parameter.label ?? "\(index + 1)")", LuaNames.lua(parameter.type)))
    }
    roots.append(("result", LuaNames.lua(function.result)))
    var text = ""
    for root in roots {
      // An optional is gone through.
      let name = root.type.hasSuffix("?") ? String(root.type.dropLast()) : root.type
      let fields = (types[name]?.fields ?? []).map(\.name).filter(LuaNames.isName)
      guard !fields.isEmpty else { continue }
      text += "-- \(root.path) has \(fields.prefix(Self.mostFields).joined(separator: ", "))\(fields.count > Self.mostFields ? ", …" : "")\n"
    }
    return text.isEmpty ? "" : text + "-- A getter of the program is called with (): self.total(). See docs/tracking.md.\n"
  }
  private static let mostFields = 12

  /// A rule with the function's arguments as fields.
  func rule() -> String {
    let function = family.declaration.functionType
    let names = LuaNames.parameters(function)
    var fields: [String] = []
    for (index, (name, parameter)) in zip(names, function.parameters).enumerated() {
      fields.append("    \(name) = \"args.\(parameter.label ?? "\(index + 1)")\",")
    }
    if function.result != .tuple([]) { fields.append("    result = \"result\",") }
    fields.append("    duration = \"duration\",")
    return "-- \(typed)\n" + header + reads(function) + """

      track "\(name)" {
        on = "\(selector)", at = "exit",
        fields = {
      \(fields.joined(separator: "\n"))
        },
      }

      """ + test
  }
}
