// The entries of what values of the program have for scripts: Error, Enum, Collection. docs/values.md tells of all kinds.

extension ScriptReference {
  static let valueTypes: [ScriptType] = [
    ScriptType(
      name: "Error", summary: """
        A Swift error: what `call.error`, `call:try()` and `swift.try` answer, and what `pcall` catches. `tostring` shows its case; the \
        program's own words are `message`.
        """),
    ScriptType(
      name: "Enum",
      summary: "A value of an enum. A struct has its stored fields by their names, a tuple by label and position: docs/values.md."),
    ScriptType(
      name: "Collection",
      summary: "An array, a set or a dictionary of the program: `#`, `[i]` from 1 or `[key]`, `ipairs` of arrays, `pairs`."),
  ]

  static let valueMembers: [ScriptEntry] = [
    ScriptEntry("Error", "type", .value, "string", "The name of its type.",
      example: """
        method "Shop.Cart.checkout()":after(function(call)
          local problem = call.error
          if problem then print(problem.type, problem.message, problem.case, problem.value) end
        end)
        """),
    ScriptEntry("Error", "message", .value, "string", "The error in its own words, as Swift prints it: code of the program may run."),
    ScriptEntry("Error", "case", .value, "string?", "The case it is, of an enum; else nil."),
    ScriptEntry("Error", "value", .value, "any", "The value that was thrown, with its fields or its payload."),
    ScriptEntry("Enum", "case", .value, "string", "The name of its case.",
      example: """
        method "Shop.Cart.checkout()":before(function(call)
          local status = call.self.status
          print(status.case, status.payload)
        end)
        """),
    ScriptEntry(
      "Enum", "payload", .value, "any",
      "What the case carries: its one value, or a tuple whose parts `[1]`, `[2]` are, too; nil where it carries nothing."),
    ScriptEntry("Collection", "count", .value, "integer", "How many elements it has, as `#` tells.",
      example: """
        method "Shop.Cart.checkout()":before(function(call)
          local lines = call.self.lines
          if not lines.isEmpty then print(lines.count, lines[1].name, #lines:table(10)) end
        end)
        """),
    ScriptEntry("Collection", "isEmpty", .value, "boolean", "Whether it has none."),
    ScriptEntry("Collection", "table", .function, "table(max?: integer) -> table", "Its elements as a table of Lua's, `max` of them at most."),
  ]
}
