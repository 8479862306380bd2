// NewPatch — the text of a new patch or rule for a function of a program, with a test.
internal import HookRuntime
internal import SwiftMangling

struct NewPatch {
  let name: String
  let program: String
  let selector: String
  let family: Family

  private var header: String {
    "patch { id = \"\(name)\", version = \"0.1.0\", api = 1, target = { program = \"\(program)\" } }\n"
  }

  private var test: String {
    """

    -- Run by: scripthost test \(name).lua \(program)
    test "\(name) is in place" (function(t)
      t.expect(t.hooked "\(selector)", "nothing is hooked")
    end)

    """
  }

  /// An around handler with the function's parameters.
  func patch() -> String {
    let function = family.declaration.functionType
    let names = LuaNames.parameters(function)
    var text = "-- \(family.typedSelector)\n" + header + "\n"
    for (name, parameter) in zip(names, function.parameters) { text += "---@param \(name) \(LuaNames.lua(parameter.type))\n" }
    if function.result != .tuple([]) { text += "---@return \(LuaNames.lua(function.result))\n" }
    text += "method \"\(selector)\":around(function(\((["call"] + names).joined(separator: ", ")))\n"
    if function.result == .tuple([]) {
      text += "  call:original()\n"
    } else {
      text += "  local result = call:original()\n  return result\n"
    }
    return text + "end)\n" + test
  }

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
    return "-- \(family.typedSelector)\n" + header + """

      track "\(name)" {
        on = "\(selector)", at = "exit",
        fields = {
      \(fields.joined(separator: "\n"))
        },
      }

      """ + test
  }
}
