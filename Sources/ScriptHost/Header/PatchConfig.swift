// PatchConfig — the settings of a patch: what its header declares, what a file beside it says, and what the start was given.
//
//     patch { id = "rounding", config = { digits = 2, hosts = { "a.example" } } }    the header: defaults
//     rounding.json        { "digits": 3 }                                           beside rounding.lua; config.json in a patch's directory
//     run --config FILE    { "rounding": { "digits": 4 } }                           by the patches' ids
//
// Later ones count. Where the header declares settings, there are no others, and each keeps its kind.
private import Glibc
internal import HookRuntime
package import Journal

package enum PatchConfig {
  /// The settings of one load.
  /// - Parameter chosen: the file that the start was given.
  static func settings(of source: PatchSource, chosen: RawPath?) throws(PatchError) -> [JSONValue.Member] {
    var settings: [JSONValue.Member] = []
    if case .object(let declared)? = source.header.config { settings = declared }
    let isDeclared = source.header.config != nil
    let own = file(of: source.place)
    if own.status() != nil {
      try add(members(of: try object(in: own), own), to: &settings, isDeclared, own.description)
    }
    if let chosen, let mine = try object(in: chosen)[source.id] {
      try add(members(of: mine, chosen), to: &settings, isDeclared, "\(chosen): '\(source.id)'")
    }
    return settings
  }

  /// Where a patch's own file of settings is, if it has one.
  static func file(of place: PatchFiles.Place) -> RawPath {
    if let directory = place.directory { return directory.appending("config.json") }
    let name = place.path.lastComponent
    let stem = name.suffix(4) == Array(".lua".utf8)[...] ? Array(name.dropLast(4)) : Array(name)
    return place.path.parent.appending(stem + Array(".json".utf8))
  }

  /// Reads a file of settings by patches, for whoever names it.
  package static func check(_ path: RawPath) throws(PatchError) { _ = members(of: try object(in: path), path) }

  /// The ids that a file of settings by patches names.
  static func ids(in path: RawPath) throws(PatchError) -> [String] { members(of: try object(in: path), path).map(\.name) }

  private static func object(in path: RawPath) throws(PatchError) -> JSONValue {
    let bytes = try PatchSource.bytes(of: path)
    let value: JSONValue
    do throws(JSONValue.Problem) {
      value = try JSONValue(parsing: bytes)
    } catch {
      throw .unreadable(path: path.description, why: "no JSON: \(error.what) at byte \(error.position + 1)")
    }
    guard case .object = value else {
      throw .unreadable(path: path.description, why: "the settings of a patch are a JSON object, { \"name\": value }")
    }
    return value
  }

  private static func members(of value: JSONValue, _ path: RawPath) -> [JSONValue.Member] {
    if case .object(let members) = value { members } else { [] }
  }

  private static func add(
    _ new: [JSONValue.Member], to settings: inout [JSONValue.Member], _ isDeclared: Bool, _ place: String
  ) throws(PatchError) {
    for member in new {
      // Nothing is said.
      if case .null = member.value { continue }
      let name = EventText.printable(String(member.name.prefix(64)))
      guard let index = settings.firstIndex(where: { $0.name == member.name }) else {
        guard !isDeclared else {
          let names = settings.map(\.name)
          let near = RuleNames.nearest(to: member.name, names).map { "; did you mean '\($0)'?" } ?? "; there are \(names.joined(separator: ", "))"
          throw .header("\(place): the patch's header declares no setting '\(name)'\(near)")
        }
        settings.append(member)
        continue
      }
      var value = member.value
      // A whole number is one that a setting with a fraction may have.
      if case .number = settings[index].value, case .int(let whole) = value { value = .number(Double(whole)) }
      if isDeclared, kind(settings[index].value) != kind(value) {
        throw .header(
          "\(place): setting '\(name)' is \(kind(settings[index].value)), as the patch's header declares it, found \(found(value, of: name))")
      }
      settings[index] = JSONValue.Member(member.name, value)
    }
  }

  /// What a setting is set to; a secret, and what is long, by its kind alone.
  private static func found(_ value: JSONValue, of name: String) -> String {
    let text: String
    switch value {
    case .bool(let value): text = "\(value)"
    case .int(let value): text = "\(value)"
    case .number(let value): text = "\(value)"
    case .string(let value): text = EventText.printable(value)
    case .null, .array, .object: return kind(value)
    }
    return Masking.isSecret(name) || text.utf8.count > 64 ? kind(value) : "\(kind(value)), '\(text)'"
  }

  private static func kind(_ value: JSONValue) -> String {
    switch value {
    case .null: "null"
    case .bool: "true or false"
    case .int: "a whole number"
    case .number: "a number"
    case .string: "a text"
    case .array: "a list"
    case .object(let members): members.isEmpty ? "a list" : "a table"
    }
  }
}

extension LiteralReader.Literal {
  /// The literal as a setting has it.
  var setting: JSONValue {
    switch self {
    case .string(let text): .string(text)
    case .number(let number): .int(Int64(number))
    case .decimal(let number): .number(number)
    case .boolean(let value): .bool(value)
    case .table(let fields):
      fields.allSatisfy { $0.0.isEmpty }
        ? .array(fields.map { $0.1.setting }) : .object(fields.filter { !$0.0.isEmpty }.map { .init($0.0, $0.1.setting) })
    }
  }
}
