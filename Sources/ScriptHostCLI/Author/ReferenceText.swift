// ReferenceText — the reference of scripts as text, as Markdown, and as annotations for editors.
internal import ScriptHost

enum ReferenceText {
  // MARK: Text

  /// One entry with its options and example.
  static func text(_ entry: ScriptEntry) -> String {
    var lines = ["\(heading(entry))", Help.wrap(entry.summary, indent: 4)]
    if !entry.options.isEmpty {
      lines.append("")
      for option in entry.options {
        lines.append("    \(option.name): \(option.type)\(option.isNeeded ? " (needed)" : "")")
        lines.append(Help.wrap(option.summary, indent: 8))
      }
    }
    if let example = ScriptReference.example(of: entry)?.text {
      lines += [""] + example.split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }
    }
    return lines.joined(separator: "\n")
  }

  /// A line for each entry.
  static func overview() -> String {
    var lines: [String] = []
    for section in sections() {
      lines += [section.title, Help.wrap(section.text, indent: 2)]
      for entry in section.entries { lines.append("  \(heading(entry))") }
      lines.append("")
    }
    lines += ["Lua's own", Help.wrap("As in Lua 5.4, within the budgets of a call.", indent: 2)]
    for (library, names) in libraries() { lines.append(Help.wrap((library.isEmpty ? "" : library + ": ") + names.joined(separator: " "), indent: 2)) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// `Method:around(handler: function, options?: table) -> Hook`.
  static func heading(_ entry: ScriptEntry) -> String {
    guard entry.isMember else { return entry.kind == .value ? "\(entry.fullName): \(entry.signature)" : entry.signature }
    if entry.owner == ScriptEntry.test { return "t.\(entry.signature)" }
    return entry.kind == .value ? "\(entry.owner).\(entry.name): \(entry.signature)" : "\(entry.owner):\(entry.signature)"
  }

  private static func sections() -> [(title: String, text: String, entries: [ScriptEntry])] {
    let entries = ScriptReference.entries
    var found = [
      (
        title: "Globals", text: "What every script has.",
        entries: entries.filter { !$0.isMember && $0.owner != "swift" && $0.owner != "log" && $0.owner != "store" }
      )
    ]
    found.append(("log", "Messages with fields, into the journal.", entries.filter { $0.owner == "log" }))
    found.append(("store", "What a patch keeps from one text to the next.", entries.filter { $0.owner == "store" }))
    found.append(("swift",
    """
    Values and calls of the program: everything that is ours is behind this name, so that no Swift method is hidden.
    """, entries.filter { $0.owner == "swift" }))
    for type in ScriptReference.types { found.append((type.name, type.summary, ScriptReference.members(of: type.name))) }
    return found
  }

  private static func libraries() -> [(String, [String])] {
    var order: [String] = []
    var names: [String: [String]] = [:]
    for each in ScriptReference.standard {
      if names[each.library] == nil { order.append(each.library) }
      names[each.library, default: []].append(each.name)
    }
    return order.map { ($0, names[$0]!) }
  }

  // MARK: Markdown

  /// docs/lua-api.md.
  static func markdown() -> String {
    var text = """
      # What scripts can name

      Written by `scripthost doc --markdown`, from the entries by which a test compares what is registered in a script's Lua state. Every example here
      is run by `Tests/Programs/reference`. `scripthost doc NAME` prints one entry; `scripthost stubs PROGRAM` writes the same for editors, with the
      types of a program.

      """
    for section in sections() {
      text += "\n## \(section.title)\n\n\(section.text)\n"
      for entry in section.entries {
        text += "\n### `\(heading(entry))`\n\n\(entry.summary)\n"
        if !entry.options.isEmpty {
          text += "\n| key | type | |\n|---|---|---|\n"
          for option in entry.options {
            let type = option.type.replacing("|", with: "\\|")
            text += "| `\(option.name)` | `\(type)` | \(option.isNeeded ? "Needed. " : "")\(option.summary) |\n"
          }
        }
        guard let example = ScriptReference.example(of: entry) else { continue }
        text += example.of.fullName == entry.fullName ? "\n```lua\n\(example.text)\n```\n" : "\nExample: at `\(example.of.fullName)`.\n"
      }
    }
    text += "\n## Lua's own\n\nAs in Lua 5.4, within the budgets of a call; a name that is not here does not exist for scripts.\n"
    text += "\n| name | what limits it |\n|---|---|\n"
    for each in ScriptReference.standard {
      text += "| `\(each.library.isEmpty ? "" : each.library + ".")\(each.name)` | \(each.note.replacing("|", with: "\\|")) |\n"
    }
    return text
  }

  // MARK: Annotations

  /// Definitions of the host's names for the Lua language server.
  static func annotations() -> String {
    var text = "---@meta\n-- Written by scripthost: what scripts can name. Not to be run.\n"
    for type in ScriptReference.types {
      text += "\n--- \(type.summary)\n---@class \(type.name)\n"
      for entry in ScriptReference.members(of: type.name) where entry.kind == .value {
        text += "---@field \(entry.name) \(entry.signature) \(entry.summary)\n"
      }
      text += "local \(type.name) = {}\n"
      for entry in ScriptReference.members(of: type.name) where entry.kind != .value {
        text += function(entry, type.name + (type.name == ScriptEntry.test ? "." : ":") + entry.name)
      }
    }
    text += "\n---@class Object\n\n---@type any\n"
    var tables: Set<String> = []
    for entry in ScriptReference.entries where !entry.isMember {
      if !entry.owner.isEmpty, tables.insert(entry.owner).inserted, ScriptReference.entry(entry.owner) == nil { text += "\n\(entry.owner) = {}\n" }
      if entry.name == "class", entry.owner.isEmpty {
        // Called, and a table.
        text += "\n--- \(entry.summary)\n---@overload fun(name: string, options?: table): Class\nclass = {}\n"
      } else if entry.kind == .value {
        text += "\n--- \(entry.summary)\n---@type \(entry.signature)\n\(entry.fullName) = nil\n"
      } else {
        text += function(entry, entry.fullName)
      }
    }
    return text
  }

  private static func function(_ entry: ScriptEntry, _ name: String) -> String {
    var text = "\n--- \(entry.summary)\n"
    for parameter in entry.parameters {
      if parameter.name == "..." { text += "---@vararg \(parameter.type)\n" } else {
        text += "---@param \(LuaNames.safe(parameter.name))\(parameter.isOptional ? "?" : "") \(parameter.type)\n"
      }
    }
    if let result = entry.result { text += "---@return \(result)\n" }
    let names = entry.parameters.map { LuaNames.safe($0.name) }.joined(separator: ", ")
    // A name that is a Lua word stands behind a bracket.
    if let last = name.split(separator: ".").last.map(String.init), LuaNames.isWord(last) {
      return text + "\(name.dropLast(last.count + 1))[\"\(last)\"] = function(\(names)) end\n"
    }
    return text + "function \(name)(\(names)) end\n"
  }
}
