// ScriptReference — what scripts can name: one entry for each global, each function behind a dot, each member of a handle.
//
// The entries are the one source of `scripthost doc`, docs/lua-api.md, the stub file for editors, the checker's names and the console's
// completion. Tests hold them against what is registered in a patch's Lua state, and run their examples.
internal import CLuaShim

/// One name that scripts can use.
package struct ScriptEntry: Sendable {
  package enum Kind: String, Sendable {
    case function, table, value
    /// Takes a name and then a table: `track "name" { … }`.
    case statement
  }

  /// What it belongs to: empty for globals, `swift` and `log` for functions behind a dot, a handle's type (`Method`, `Call`) for members.
  package let owner: String
  package let name: String
  package let kind: Kind
  /// `around(handler: Handler, options?: HookOptions) -> Hook`; of a value its type.
  package let signature: String
  package let options: [ScriptOption]
  /// One or two sentences.
  package let summary: String
  /// Lua that runs on the program of the reference's tests; empty where another entry's shows it.
  package let example: String

  package init(
    _ owner: String, _ name: String, _ kind: Kind = .function, _ signature: String, options: [ScriptOption] = [], _ summary: String,
    example: String = ""
  ) {
    self.owner = owner
    self.name = name
    self.kind = kind
    self.signature = signature
    self.options = options
    self.summary = summary
    self.example = example
  }

  /// As scripts write it: `swift.with`, `Method:around`, `call.result`, `t.equal`.
  package var fullName: String {
    if owner.isEmpty { return name }
    if owner == Self.test { return "t.\(name)" }
    guard isMember else { return "\(owner).\(name)" }
    return "\(owner)\(kind == .function ? ":" : ".")\(name)"
  }
  /// The type of what a test gets: its functions stand behind a dot, and its name is chosen by the test.
  package static let test = "Test"

  /// A member of a handle, not a name of a table.
  package var isMember: Bool { owner.first.map { $0.isUppercase } ?? false }

  /// Parameters, without the receiver.
  package var parameters: [ScriptParameter] { ScriptParameter.all(in: signature) }

  /// The type of what it answers; nil when it answers nothing.
  package var result: String? { signature.split(separator: ">", maxSplits: 1).dropFirst().first.map { String($0).trimmedBlanks } }

  /// How many arguments a call may have; nil where any number is fine.
  package var arity: ClosedRange<Int>? {
    guard kind != .value, kind != .table else { return nil }
    let parameters = parameters
    if parameters.contains(where: { $0.name == "..." }) { return parameters.count { !$0.isOptional && $0.name != "..." }...Int.max }
    return parameters.count { !$0.isOptional }...parameters.count
  }
}

/// One parameter of a signature.
package struct ScriptParameter: Sendable, Equatable {
  /// `...` for any number.
  package let name: String
  package let type: String
  package let isOptional: Bool

  static func all(in signature: String) -> [ScriptParameter] {
    guard let open = signature.firstIndex(of: "("), let close = signature.firstIndex(of: ")"), open < close else { return [] }
    return signature[signature.index(after: open)..<close].split(separator: ",").map { part in
      let halves = part.split(separator: ":", maxSplits: 1).map { String($0).trimmedBlanks }
      let isOptional = halves[0].hasSuffix("?")
      return ScriptParameter(
        name: isOptional ? String(halves[0].dropLast()) : halves[0], type: halves.count > 1 ? halves[1] : "any", isOptional: isOptional)
    }
  }
}

/// A key of a table that a function takes.
package struct ScriptOption: Sendable {
  package let name: String
  /// As in a stub: `boolean`, `"wait"|"original"`.
  package let type: String
  package let summary: String
  package let isNeeded: Bool

  package init(_ name: String, _ type: String, _ summary: String, isNeeded: Bool = false) {
    self.name = name
    self.type = type
    self.summary = summary
    self.isNeeded = isNeeded
  }
}

/// Something that can be got from a handle, and what it is for.
package struct ScriptType: Sendable {
  package let name: String
  package let summary: String
}

/// All of it.
package enum ScriptReference {
  /// Names of ours, globals first.
  package static let entries: [ScriptEntry] = globals + units + clock + notifications + observing + swiftNames + handles + tests

  /// Of the language's own libraries: what is there, and what limits it.
  package static let standard: [(library: String, name: String, note: String)] = {
    var found: [(library: String, name: String, note: String)] = []
    // A list that ends with an entry without a name; it is written once, and never freed.
    var entry = shl_allow_list()
    while let each = entry?.pointee, let name = each.name {
      found.append((String(cString: each.library), String(cString: name), each.reason.map { String(cString: $0) } ?? ""))
      entry = entry.map { $0 + 1 }
    }
    return found
  }()

  /// Every global name there is, Lua's own among them.
  package static let globalNames: Set<String> = {
    var names = Set(standard.map { $0.library.isEmpty ? $0.name : $0.library })
    for entry in entries where !entry.isMember { names.insert(entry.owner.isEmpty ? entry.name : entry.owner) }
    return names
  }()

  /// The names behind a dot of a global table: `string`, `swift`; nil for what is no such table.
  package static func members(ofTable table: String) -> [String]? {
    let names = standard.filter { $0.library == table }.map(\.name) + entries.filter { $0.owner == table && !$0.isMember }.map(\.name)
    return names.isEmpty || table.isEmpty ? nil : names
  }

  /// The members of a handle's type.
  package static func members(of type: String) -> [ScriptEntry] { entries.filter { $0.owner == type && $0.isMember } }

  /// `method`, `swift.with`.
  package static func entry(_ path: String) -> ScriptEntry? { byName[path] }
  /// A member of a handle's type.
  package static func member(_ name: String, of type: String) -> ScriptEntry? { entries.first { $0.owner == type && $0.name == name } }

  /// The example that shows an entry: its own, or the first of another entry that uses it.
  package static func example(of entry: ScriptEntry) -> (text: String, of: ScriptEntry)? {
    if !entry.example.isEmpty { return (entry.example, entry) }
    return entries.first { !$0.example.isEmpty && mayUse(entry, $0) && uses(entry, $0.example) }.map { ($0.example, $0) }
  }

  /// Of members with one name: it is that type's member in examples of the type, and of what answers the type.
  private static func mayUse(_ entry: ScriptEntry, _ other: ScriptEntry) -> Bool {
    guard entry.isMember, entry.owner != "Call" else { return true }
    return other.owner == entry.owner || (other.result?.hasSuffix(entry.owner) ?? false)
  }

  private static func uses(_ entry: ScriptEntry, _ text: String) -> Bool {
    let owner = entry.owner == "Call" ? "call" : entry.owner == ScriptEntry.test ? "t" : entry.isMember ? "" : entry.owner
    guard !owner.isEmpty || entry.isMember else { return false }
    let ends: (Character) -> Bool = { !$0.isLetter && !$0.isNumber && $0 != "_" }
    return [".", ":"].contains { mark in
      let word = owner + mark + entry.name
      var rest = text[...]
      while let found = rest.holdsAt(word) {
        rest = rest[found...].dropFirst(word.count)
        if rest.first.map(ends) ?? true { return true }
      }
      return false
    }
  }

  private static let byName = Dictionary(entries.map { ($0.fullName, $0) }) { first, _ in first }
}

extension String {
  var trimmedBlanks: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}

extension Substring {
  /// Where a text begins in it first.
  fileprivate func holdsAt(_ word: String) -> Index? { indices.first { self[$0...].hasPrefix(word) } }
}
