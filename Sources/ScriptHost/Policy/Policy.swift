// Policy — what the owner of a program lets patches do: which types and selectors they touch, what they may do beside hooking, how much
// they may take.
//
//     policy {
//       types = { deny = { "Shop.Keychain" } },
//       selectors = { allow = { "Shop.**" }, deny = { "**.password" } },
//       capabilities = { "call" },
//       budgets = { instructions = 1000000, time = "20ms", memory = "4MiB", hooks = 100, max_share = "5%" },
//       patches = { { id = "rounding*", capabilities = { "call", "write" } } },
//     }
//
// Data in the syntax of headers, read without running anything. docs/policy.md has the rules.
internal import HookRuntime
package import Journal

/// A policy that was read. Immutable.
package struct Policy: Sendable {
  /// A text of the file with its line.
  struct Line<Value: Sendable>: Sendable {
    let value: Value
    let line: Int
  }

  /// Which names are let through.
  struct Names: Sendable {
    /// Nil: all.
    var allow: [Line<SelectorPattern>]?
    var deny: [Line<SelectorPattern>] = []
    var line = 0
  }

  /// Upper bounds; nil: the host's own.
  package struct Budgets: Sendable {
    package var instructions: Int64?
    /// The script's own time for a call, in nanoseconds.
    package var time: Int64?
    package var memory: Int?
    var hooks: Line<Int>?
    package var share: Double?
  }

  /// What holds for a patch.
  struct Rules: Sendable {
    var types: Names?
    var selectors: Names?
    /// Nil: not restricted.
    var capabilities: Line<Set<Capability>>?
    var budgets: Budgets?
  }

  package let fileName: String
  let general: Rules
  private let patches: [(id: Line<SelectorPattern>, rules: Rules)]

  /// Reads a policy; the sentence of an error begins with file and line.
  package init(source: [UInt8], fileName: String) throws(PatchError) {
    self.fileName = fileName
    var reader = LiteralReader(source: source, fileName: fileName, of: "policy", depth: 6)
    guard try reader.takeName("policy") else { throw .header("\(fileName):1: a policy begins with 'policy {'") }
    guard case .table(let fields)? = try reader.takeTable() else { throw .header("\(fileName):1: a policy begins with 'policy {'") }
    try reader.expectEnd()
    var patches: [(Line<SelectorPattern>, Rules)] = []
    var rest: [(String, LiteralReader.Literal, Int)] = []
    for (key, value, line) in fields {
      guard key == "patches" else {
        rest.append((key, value, line))
        continue
      }
      guard case .table(let entries) = value else { throw .header("\(fileName):\(line): 'patches' is a list of tables, found \(value.spelled)") }
      for (name, entry, line) in entries {
        guard name.isEmpty, case .table(let fields) = entry else {
          throw .header("\(fileName):\(line): 'patches' is a list of tables, found \(entry.spelled)")
        }
        guard case .string(let id)? = fields.first(where: { $0.0 == "id" })?.1 else {
          throw .header("\(fileName):\(line): each of 'patches' has an id, such as id = \"rounding\"; * stands for any letters")
        }
        // Ids may have dots, at which a name's wildcard stops.
        let pattern = SelectorPattern(id.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "**"))
        patches.append((Line(value: pattern, line: line), try Self.rules(fields.filter { $0.0 != "id" }, fileName, "patches")))
      }
    }
    general = try Self.rules(rest, fileName, "policy")
    self.patches = patches
  }

  /// Reads the file at a path.
  package init(reading path: RawPath) throws(PatchError) {
    try self.init(source: try PatchSource.bytes(of: path), fileName: EventText.printable(String(decoding: path.lastComponent, as: UTF8.self)))
  }

  // MARK: Reading

  private static func rules(_ fields: [(String, LiteralReader.Literal, Int)], _ file: String, _ place: String) throws(PatchError) -> Rules {
    var rules = Rules()
    for (key, value, line) in fields {
      switch (key, value) {
      case ("types", .table(let parts)): rules.types = try names(parts, "types", file, line)
      case ("selectors", .table(let parts)): rules.selectors = try names(parts, "selectors", file, line)
      case ("capabilities", .table(let words)):
        rules.capabilities = Line(value: Set(try PatchHeader.capabilities(words, "capabilities", file)), line: line)
      case ("budgets", .table(let parts)): rules.budgets = try budgets(parts, file)
      case ("types", _), ("selectors", _):
        throw .header("\(file):\(line): '\(key)' is a table, such as { allow = { \"Shop.**\" } }, found \(value.spelled)")
      case ("capabilities", _): throw .header("\(file):\(line): 'capabilities' is a list of words, such as { \"call\" }, found \(value.spelled)")
      case ("budgets", _): throw .header("\(file):\(line): 'budgets' is a table, such as { time = \"20ms\" }, found \(value.spelled)")
      default:
        let more = place == "policy" ? ", patches" : ", id"
        throw .header(
          "\(file):\(line): unknown field '\(EventText.printable(String(key.prefix(64))))' in \(place); "
            + "known are types, selectors, capabilities, budgets\(more)")
      }
    }
    return rules
  }

  private static func names(
    _ parts: [(String, LiteralReader.Literal, Int)], _ field: String, _ file: String, _ line: Int
  ) throws(PatchError) -> Names {
    var names = Names(line: line)
    for (key, value, line) in parts {
      guard key == "allow" || key == "deny" else {
        throw .header("\(file):\(line): unknown field '\(EventText.printable(String(key.prefix(64))))' in \(field); known are allow, deny")
      }
      guard case .table(let texts) = value else {
        throw .header("\(file):\(line): '\(field).\(key)' is a list of names and globs, found \(value.spelled)")
      }
      var found: [Line<SelectorPattern>] = []
      for (name, text, line) in texts {
        guard name.isEmpty, case .string(let text) = text, !text.isEmpty else {
          throw .header("\(file):\(line): '\(field).\(key)' is a list of names and globs, such as \"Shop.**\"")
        }
        // What is called is known by its name without types: a pattern with types would let it through.
        guard !text.contains(": "), !text.contains(" -> "), !text.contains(") async"), !text.contains(") throws") else {
          throw .header(
            "\(file):\(line): '\(EventText.printable(String(text.prefix(80))))' spells types; names in a policy have none, "
              + "such as \"Shop.Cart.add(_:price:)\"")
        }
        found.append(Line(value: SelectorPattern(text), line: line))
      }
      if key == "allow" { names.allow = found } else { names.deny = found }
    }
    return names
  }

  private static func budgets(_ parts: [(String, LiteralReader.Literal, Int)], _ file: String) throws(PatchError) -> Budgets {
    var budgets = Budgets()
    for (key, value, line) in parts {
      switch (key, value) {
      case ("instructions", .number(let number)) where number >= 1000: budgets.instructions = Int64(number)
      case ("hooks", .number(let number)) where number >= 0: budgets.hooks = Line(value: number, line: line)
      case ("time", .string(let text)):
        guard let time = RuleUnits.duration(text), time >= 1_000_000 else {
          throw .header(
            "\(file):\(line): 'budgets.time' is a time of at least 1ms, such as \"20ms\", found '\(EventText.printable(String(text.prefix(64))))'")
        }
        budgets.time = Int64(clamping: time)
      case ("memory", .string(let text)):
        guard let bytes = Self.bytes(text), bytes >= 256 << 10 else {
          throw .header(
            "\(file):\(line): 'budgets.memory' is a size of at least 256KiB, such as \"4MiB\", "
              + "found '\(EventText.printable(String(text.prefix(64))))'")
        }
        budgets.memory = bytes
      case ("max_share", .string(let text)):
        guard let share = ShareRule.share(text) else {
          throw .header(
            "\(file):\(line): 'budgets.max_share' is a percentage, such as \"5%\", found '\(EventText.printable(String(text.prefix(64))))'")
        }
        budgets.share = share
      case ("instructions", _): throw .header("\(file):\(line): 'budgets.instructions' is a whole number of at least 1000, found \(value.spelled)")
      case ("hooks", _): throw .header("\(file):\(line): 'budgets.hooks' is a whole number, found \(value.spelled)")
      case ("time", _), ("memory", _), ("max_share", _):
        throw .header("\(file):\(line): 'budgets.\(key)' is a text, such as \"20ms\", \"4MiB\" or \"5%\", found \(value.spelled)")
      default:
        throw .header(
          "\(file):\(line): unknown field '\(EventText.printable(String(key.prefix(64))))' in budgets; "
            + "known are instructions, time, memory, hooks, max_share")
      }
    }
    return budgets
  }

  /// "4MiB", "512KiB"
  private static func bytes(_ text: String) -> Int? {
    for (unit, size) in [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)] where text.hasSuffix(unit) {
      guard let number = Int(text.dropLast(3)), number > 0 else { return nil }
      let (bytes, overflows) = number.multipliedReportingOverflow(by: size)
      return overflows ? nil : bytes
    }
    return nil
  }

  // MARK: Asking

  /// What holds for the patch of that id: of the first entry of `patches` that names it, and in general what that says nothing of.
  func rules(for id: String) -> Rules {
    guard let own = patches.first(where: { $0.id.value.matches(id, isStatic: false, typed: { [] }) })?.rules else { return general }
    return Rules(
      types: own.types ?? general.types, selectors: own.selectors ?? general.selectors, capabilities: own.capabilities ?? general.capabilities,
      budgets: own.budgets ?? general.budgets)
  }
}

extension Policy.Names {
  /// Why the name is not let through: the line and the rest of a sentence; nil when it is.
  func refusal(_ names: [String], _ field: String) -> (line: Int, why: String)? {
    func first(_ lines: [Policy.Line<SelectorPattern>]) -> Policy.Line<SelectorPattern>? {
      lines.first { line in
        names.contains { line.value.matches($0, isStatic: true, typed: { [] }) || line.value.matches($0, isStatic: false, typed: { [] }) }
      }
    }
    if let denied = first(deny) { return (denied.line, "\(field).deny has \"\(denied.value.text)\"") }
    if let allow, first(allow) == nil { return (line, "\(field).allow does not name it") }
    return nil
  }
}
