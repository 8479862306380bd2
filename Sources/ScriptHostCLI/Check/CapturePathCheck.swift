// CapturePathCheck — whether a path of a rule resolves, by what the program's files say of its types.
//
// Where the files do not tell (generic arguments, types of libraries that are not there, existentials) nothing is claimed.
internal import HookRuntime
internal import SwiftMangling

struct CapturePathCheck {
  let program: ProgramView

  /// What is wrong with `path` on calls of `family`; nil when nothing is, or nothing is known.
  func problem(_ path: String, on family: Family) -> String? {
    var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if steps.contains("") { return "'\(path)' has an empty step" }
    let declaration = family.declaration
    let type: TypeSyntax
    switch steps.removeFirst() {
    case "self":
      guard let context = declaration.context, let kind = declaration.contextKind else { return nil }
      type = .nominal(context, kind: kind, arguments: [])
    case "result": type = declaration.functionType.result
    case "error", "duration": return nil
    case "errno" where family.imported != nil: return nil
    case "args":
      guard !steps.isEmpty else { return "'args' needs a label or a position: 'args.name' or 'args.1'" }
      switch Self.argument(steps.removeFirst(), of: family) {
      case .success(let index): type = declaration.functionType.parameters[index].type
      case .failure(let problem): return problem.text
      }
    case let head: return "'\(path)' begins with '\(head)'; it begins with self, args, result, error or duration"
    }
    return problem(steps[...], in: type, path)
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

  private func problem(_ steps: ArraySlice<String>, in type: TypeSyntax, _ path: String) -> String? {
    guard let step = steps.first else { return nil }
    if step == "@type" { return steps.count == 1 ? nil : "'\(path)': '@type' is the name of a type, and the last step of a path" }
    guard case .nominal(let name, _, let arguments) = type else { return nil }
    if name.module == "Swift" { return problem(steps, inStandard: name.shortName, arguments, path) }
    let owner = ProgramView.plain(name.description)
    guard let record = program.types[owner], record.kind != .enum else { return nil }
    let owners = [owner] + program.superclasses(of: owner).map { ProgramView.plain($0) }
    if step.hasSuffix("()") { return computed(step, owners, steps, path) }
    var fields: [String] = []
    for each in owners {
      // A superclass that no file declares may have it.
      guard let record = program.types[each] else { return nil }
      if let field = record.fields.first(where: { $0.name == step }) {
        guard steps.count > 1, let next = program.type(of: field, in: record) else { return nil }
        return problem(steps.dropFirst(), in: next, path)
      }
      fields += record.fields.map(\.name)
    }
    let near = Nearest.name(to: step, among: fields)
    if near == nil, member(step, owners) != nil {
      return "'\(path)': '\(step)' of \(owner) is computed; write '\(step)()' to run the program's code"
    }
    return "'\(path)': \(owner) has no stored field '\(step)'"
      + (near.map { "; did you mean '\($0)'?" } ?? (fields.isEmpty ? "" : "; it has \(fields.prefix(12).joined(separator: ", "))"))
  }

  /// Numbers and texts of the standard library, which have no fields a path could go into.
  private static let plain: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double", "Float", "Bool",
  ]

  /// Of collections and texts the host knows the members.
  private func problem(_ steps: ArraySlice<String>, inStandard type: String, _ arguments: [TypeSyntax], _ path: String) -> String? {
    let step = steps[steps.startIndex]
    if type == "Optional" { return arguments.first.flatMap { problem(steps, in: $0, path) } }
    if step.hasSuffix("()") { return nil }
    if Self.plain.contains(type) { return "'\(path)': Swift.\(type) has no fields, so no '\(step)'" }
    let isList = type == "Array"
    guard isList || ["String", "Dictionary", "Set"].contains(type) else { return nil }
    if step == "count" || step == "isEmpty" { return steps.count == 1 ? nil : problem(steps.dropFirst(), inStandard: "Int", [], path) }
    if isList, step == "first" || (Int(step) ?? 0) > 0 { return arguments.first.flatMap { problem(steps.dropFirst(), in: $0, path) } }
    return "'\(path)': a path goes into Swift.\(type) by count\(isList ? ", isEmpty, first or a position from 1" : " or isEmpty"), not by '\(step)'"
  }

  /// `total()`: a getter, or a method without arguments.
  private func computed(_ step: String, _ owners: [String], _ steps: ArraySlice<String>, _ path: String) -> String? {
    if let family = member(String(step.dropLast(2)), owners) {
      return problem(steps.dropFirst(), in: family.declaration.functionType.result, path)
    }
    // Stored ones may be read so, too; and what a file does not declare may have it.
    let name = step.dropLast(2)
    if owners.contains(where: { program.types[$0]?.fields.contains { $0.name == name } ?? true }) { return nil }
    return "'\(path)': \(owners[0]) has no property or method '\(name)' without arguments"
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
