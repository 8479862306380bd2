// CapturePathCheck — whether a path of a rule resolves, by what the program's files say of its types.
//
// Where the files do not tell (generic arguments, types of libraries that are not there, existentials) nothing is claimed.
internal import HookRuntime
internal import ScriptHost
internal import SwiftMangling

struct CapturePathCheck {
  let program: ProgramView
  /// What the patch may touch under a policy; nil: everything.
  var rights: PatchRights?

  /// Where a path leads.
  enum End: Equatable {
    /// Nothing of the kind is there, or it may not be read: a sentence.
    case problem(String)
    case type(TypeSyntax)
    case number, text
    case unknown
  }

  /// What is wrong with `path` on calls of `family`; nil when nothing is, or nothing is known.
  func problem(_ path: String, on family: Family) -> String? {
    if case .problem(let text) = end(of: path, on: family) { text } else { nil }
  }

  /// Where `path` leads on calls of `family`.
  func end(of path: String, on family: Family) -> End {
    if path.hasPrefix("'") { return .text }
    var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if steps.contains("") { return .problem("'\(path)' has an empty step") }
    let declaration = family.declaration
    let type: TypeSyntax
    switch steps.removeFirst() {
    case "self":
      guard let context = declaration.context, let kind = declaration.contextKind else { return .unknown }
      type = .nominal(context, kind: kind, arguments: [])
    case "result": type = declaration.functionType.result
    case "error": return steps.isEmpty ? .text : .unknown
    case "duration": return number(steps, path)
    case "errno" where family.imported != nil: return number(steps, path)
    case "args":
      guard !steps.isEmpty else { return .problem("'args' needs a label or a position: 'args.name' or 'args.1'") }
      switch Self.argument(steps.removeFirst(), of: family) {
      case .success(let index): type = declaration.functionType.parameters[index].type
      case .failure(let problem): return .problem(problem.text)
      }
    case let head: return .problem("'\(path)' begins with '\(head)'; it begins with self, args, result, error or duration")
    }
    return end(steps[...], in: type, path)
  }

  private func number(_ steps: [String], _ path: String) -> End {
    guard let next = steps.first else { return .number }
    return .problem("'\(path)': '\(path.prefix { $0 != "." })' is a number, which has no '\(next)'")
  }

  /// The position of the argument that a label or a number means.
  static func argument(_ name: String, of family: Family) -> Result<Int, BindingProblem> {
    let parameters = family.declaration.functionType.parameters
    if let position = Int(name), parameters.indices.contains(position - 1) { return .success(position - 1) }
    if let index = parameters.firstIndex(where: { $0.label == name || ($0.label ?? "_") + "_" == name }) { return .success(index) }
    let labels = parameters.enumerated().map { $1.label ?? "\($0 + 1)" }
    let near = Nearest.name(to: name, among: labels.filter { Int($0) == nil })
    return .failure(
      BindingProblem(
        text: "'\(family.selector)' has no argument '\(name)'; "
          + (near.map { "did you mean '\($0)'?" } ?? "it has \(labels.isEmpty ? "none" : labels.joined(separator: ", "))")))
  }

  private func end(_ steps: ArraySlice<String>, in type: TypeSyntax, _ path: String) -> End {
    guard let step = steps.first else { return .type(type) }
    if step == "@type" { return steps.count == 1 ? .text : .problem("'\(path)': '@type' is the name of a type, and the last step of a path") }
    guard case .nominal(let name, _, let arguments) = type else { return .unknown }
    if name.module == "Swift", name.shortName == "Optional" { return arguments.first.map { end(steps, in: $0, path) } ?? .unknown }
    if let why = refusal(of: step, type) { return .problem("'\(path)': \(why)") }
    if name.module == "Swift" { return end(steps, inStandard: name.shortName, arguments, path) }
    let owner = ProgramView.plain(name.description)
    guard let record = program.types[owner], record.kind != .enum else { return .unknown }
    let owners = [owner] + program.superclasses(of: owner).map { ProgramView.plain($0) }
    if step.hasSuffix("()") { return computed(step, owners, steps, path) }
    var fields: [String] = []
    for each in owners {
      // A superclass that no file declares may have it.
      guard let record = program.types[each] else { return .unknown }
      if let field = record.fields.first(where: { $0.name == step }) {
        guard let next = program.type(of: field, in: record) else { return .unknown }
        return end(steps.dropFirst(), in: next, path)
      }
      fields += record.fields.map(\.name)
    }
    let near = Nearest.name(to: step, among: fields)
    if near == nil, member(step, owners) != nil {
      return .problem("'\(path)': '\(step)' of \(owner) is computed; write '\(step)()' to run the program's code")
    }
    return .problem(
      "'\(path)': \(owner) has no stored field '\(step)'"
        + (near.map { "; did you mean '\($0)'?" } ?? (fields.isEmpty ? "" : "; it has \(fields.prefix(12).joined(separator: ", "))")))
  }

  /// As the process names types: `Swift.Array<Shop.Line>`.
  static func name(of type: TypeSyntax) -> String {
    guard case .nominal(let name, _, let arguments) = type, !arguments.isEmpty else { return type.description(qualified: true) }
    return "\(name.description)<\(arguments.map { Self.name(of: $0) }.joined(separator: ", "))>"
  }

  /// Why the policy keeps the patch from a step; nil when it does not.
  private func refusal(of step: String, _ owner: TypeSyntax) -> String? {
    guard let rights else { return nil }
    let isComputed = step.hasSuffix("()")
    let type = Self.name(of: owner)
    return rights.refusal(selector: "\(type).\(isComputed ? String(step.dropLast(2)) : step)", of: type) ?? (isComputed ? rights.refusal(.call) : nil)
  }

  /// Numbers and texts of the standard library, which have no fields a path could go into.
  private static let plain: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double", "Float", "Bool",
  ]

  /// Of collections and texts the host knows the members.
  private func end(_ steps: ArraySlice<String>, inStandard type: String, _ arguments: [TypeSyntax], _ path: String) -> End {
    let step = steps[steps.startIndex]
    if step.hasSuffix("()") { return .unknown }
    if Self.plain.contains(type) { return .problem("'\(path)': Swift.\(type) has no fields, so no '\(step)'") }
    let isList = type == "Array"
    guard isList || ["String", "Dictionary", "Set"].contains(type) else { return .unknown }
    if step == "count" || step == "isEmpty" {
      let result = Self.standard(step == "count" ? "Int" : "Bool")
      return end(steps.dropFirst(), in: result, path)
    }
    if isList, step == "first" || (Int(step) ?? 0) > 0 { return arguments.first.map { end(steps.dropFirst(), in: $0, path) } ?? .unknown }
    return .problem(
      "'\(path)': a path goes into Swift.\(type) by count\(isList ? ", isEmpty, first or a position from 1" : " or isEmpty"), not by '\(step)'")
  }

  private static func standard(_ name: String) -> TypeSyntax {
    .nominal(NominalName(module: "Swift", steps: [.init(name: name, kind: .structure)]), kind: .structure, arguments: [])
  }

  /// `total()`: a getter, or a method without arguments.
  private func computed(_ step: String, _ owners: [String], _ steps: ArraySlice<String>, _ path: String) -> End {
    if let family = member(String(step.dropLast(2)), owners) {
      return end(steps.dropFirst(), in: family.declaration.functionType.result, path)
    }
    // Stored ones may be read so, too; and what a file does not declare may have it.
    let name = step.dropLast(2)
    if owners.contains(where: { program.types[$0]?.fields.contains { $0.name == name } ?? true }) { return .unknown }
    return .problem("'\(path)': \(owners[0]) has no property or method '\(name)' without arguments")
  }

  // MARK: Observations

  /// What is wrong with a property, or a path of properties, that is observed on objects of a class; nil when nothing is, or nothing is known.
  func observed(_ path: String, of type: String) -> String? {
    guard !path.hasPrefix("static ") else { return nil }
    var owner = ProgramView.plain(type)
    for step in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
      if let why = rights?.refusal(selector: "\(owner).\(step)", of: owner) { return why }
      let owners = [owner] + program.superclasses(of: owner).map { ProgramView.plain($0) }
      let records = owners.compactMap { program.types[$0] }
      guard records.count == owners.count else { return nil }
      let fields = records.flatMap(\.fields)
      guard let record = records.first(where: { $0.fields.contains { $0.name == step } }),
        let field = record.fields.first(where: { $0.name == step })
      else {
        if member(step, owners) != nil { return nil }
        let near = Nearest.name(to: step, among: fields.map(\.name))
        return "\(owner) has no property '\(step)'"
          + (near.map { "; did you mean '\($0)'?" } ?? (fields.isEmpty ? "" : "; its stored ones are "
            + "\(fields.prefix(12).map(\.name).joined(separator: ", "))"))
      }
      guard let next = program.type(of: field, in: record), case .nominal(let name, _, let arguments) = next else { return nil }
      var inner = name
      if name.module == "Swift", name.shortName == "Optional" {
        guard case .nominal(let payload, _, _)? = arguments.first else { return nil }
        inner = payload
      }
      guard inner.module != "Swift", program.types[ProgramView.plain(inner.description)]?.kind == .class else { return nil }
      owner = ProgramView.plain(inner.description)
    }
    return nil
  }

  /// What is wrong with the property of a class whose delegates are watched, `Shop.Cart.delegate`; nil when nothing is, or nothing is known.
  func delegates(_ property: String) -> String? {
    guard let (type, name) = SelectorBinding.split(property), program.types[ProgramView.plain(type)] != nil else { return nil }
    if let problem = observed(name, of: type) { return "cannot watch the delegates in '\(property)': \(problem)" }
    for owner in [type] + program.superclasses(of: type) {
      guard let record = program.types[ProgramView.plain(owner)], let field = record.fields.first(where: { $0.name == name }),
        case .nominal(let held, _, let arguments)? = program.type(of: field, in: record)
      else { continue }
      var values = TypeSyntax.nominal(held, kind: .structure, arguments: arguments)
      if held.module == "Swift", held.shortName == "Optional", let payload = arguments.first { values = payload }
      guard case .nominal = values else { return nil }
      return "cannot watch the delegates in '\(property)': its values are of type '\(Self.name(of: values))', which is no protocol of classes"
    }
    return nil
  }

  private func member(_ name: String, _ owners: [String]) -> Family? {
    for owner in owners {
      for form in ["\(owner).\(name).get", "\(owner).\(name)()"] {
        if let found = program.catalogs.families(matching: SelectorPattern(form)).first { return found.1 }
      }
    }
    return nil
  }
}

extension ProgramView {
  /// The declared type of a field, where its spelling alone tells.
  func type(of field: FieldRecord, in owner: TypeRecord) -> TypeSyntax? {
    guard !owner.isGeneric, let type = field.type else { return nil }
    if type.symbolic.isEmpty {
      var parser = SymbolParser()
      return type.bytes.withUnsafeBufferPointer { parser.type($0) }
    }
    // One reference to a descriptor, alone, as an Optional or as an array's element.
    guard type.symbolic.count == 1, let reference = type.symbolic.first, let name = reference.name,
      let record = types[Self.plain(name)], !record.isGeneric
    else { return nil }
    let parts = Self.plain(record.name).split(separator: ".").map(String.init)
    let kind: NominalKind = record.kind == .class ? .classType : record.kind == .struct ? .structure : .enumeration
    let nominal = TypeSyntax.nominal(
      NominalName(module: parts[0], steps: parts.dropFirst().map { .init(name: $0, kind: kind) }), kind: kind, arguments: [])
    let before = String(decoding: type.bytes[..<reference.offset], as: UTF8.self)
    let behind = String(decoding: type.bytes[min(reference.offset + 5, type.bytes.count)...], as: UTF8.self)
    func standard(_ name: String) -> TypeSyntax {
      .nominal(NominalName(module: "Swift", steps: [.init(name: name, kind: .structure)]), kind: .structure, arguments: [nominal])
    }
    switch (before, behind) {
    case ("", ""): return nominal
    case ("", "Sg"): return standard("Optional")
    case ("Say", "G"): return standard("Array")
    default: return nil
    }
  }
}
