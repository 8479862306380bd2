// ProgramStubs — a program's types and selectors as annotations for the Lua language server.
internal import HookRuntime
internal import SwiftMangling

struct ProgramStubs {
  let program: ProgramView
  private var members: [String: [Family]] = [:]
  private(set) var selectors: [String] = []
  /// Types that annotations name.
  private let named = NamedTypes()

  /// Reads the program's own functions.
  init(_ program: ProgramView) {
    self.program = program
    for family in program.catalogs[0].families(matching: SelectorPattern("**")) where !family.selector.contains("#") {
      selectors.append(family.selector)
      if let context = family.declaration.context { members[ProgramView.plain(context.description), default: []].append(family) }
    }
    // Functions that differ in their types alone have one name without them.
    selectors = Set(selectors).sorted()
  }

  /// The whole file.
  func text() -> String {
    var text = "---@meta\n-- Written by scripthost stubs: the types and selectors of \(program.name). Not to be run.\n"
    text += "\n---@alias Selector string\n"
    for selector in selectors where !selector.contains("\"") { text += "---| \"\(selector)\"\n" }
    let own = program.catalogs[0].types.types.filter { !$0.name.contains("#") && !$0.name.contains("<") }.sorted { $0.name < $1.name }
    text += "\n---@alias TypeName string\n"
    for type in own { text += "---| \"\(type.name)\"\n" }
    text += "\n---@param selector Selector\n---@param options? table\n---@return Method\nfunction method(selector, options) end\n"
    text += "\n---@param name TypeName\n---@param options? table\n---@return Class\nfunction class(name, options) end\n"
    for type in own { text += self.text(type) }
    // Types of libraries, of which only the names are here.
    for name in named.names.subtracting(own.map(\.name)).sorted() where name.contains(".") { text += "\n---@class \(name): Object\n" }
    return text
  }

  private func lua(_ type: TypeSyntax) -> String {
    named.note(type)
    return LuaNames.lua(type)
  }

  private func text(_ type: TypeRecord) -> String {
    let base = type.superclass.map { ": " + LuaNames.plain($0) } ?? ": Object"
    if let superclass = type.superclass { named.note(LuaNames.plain(superclass)) }
    var text = "\ndo\n---@class \(type.name)\(base)\n"
    var fields: Set<String> = []
    if type.kind != .enum {
      for field in type.fields where LuaNames.isName(field.name) && fields.insert(field.name).inserted {
        text += "---@field \(LuaNames.safe(field.name)) \(program.type(of: field, in: type).map(lua) ?? "any")\n"
      }
    }
    let families = members[type.name] ?? []
    for family in families where family.declaration.kind == .getter && !family.declaration.isStatic {
      let name = family.declaration.name
      guard LuaNames.isName(name), !family.declaration.isSubscript, fields.insert(name).inserted else { continue }
      text += "---@field \(LuaNames.safe(name)) \(lua(family.declaration.functionType.result))\n"
    }
    let variable = type.name.replacing(".", with: "_")
    // A chunk has at most 200 locals.
    text += "local \(variable) = {}\n"
    var reported: Set<String> = []
    for family in families where family.declaration.kind == .function && LuaNames.isName(family.declaration.name) {
      let name = LuaNames.safe(family.declaration.name)
      // Overloads share a name; editors take the first.
      if reported.insert(name).inserted { text += method(family, variable, name) }
    }
    return text + "end\n"
  }

  private func method(_ family: Family, _ variable: String, _ name: String) -> String {
    let function = family.declaration.functionType
    let names = LuaNames.parameters(function)
    var text = "\n--- `\(family.typedSelector)`\n"
    for (name, parameter) in zip(names, function.parameters) { text += "---@param \(name) \(lua(parameter.type))\n" }
    if function.result != .tuple([]) { text += "---@return \(lua(function.result))\n" }
    return text + "function \(variable)\(family.declaration.isStatic ? "." : ":")\(name)(\(names.joined(separator: ", "))) end\n"
  }
}

/// The names of types that were written into annotations.
private final class NamedTypes {
  private(set) var names: Set<String> = []

  func note(_ name: String) { names.insert(name) }

  func note(_ type: TypeSyntax) {
    guard case .nominal(let name, _, let arguments) = type else { return }
    // Of the standard library's own, annotations have those of Lua.
    if name.module != "Swift" || name.steps.count > 1 { names.insert(LuaNames.plain(name.description)) }
    for argument in arguments { note(argument) }
  }
}
