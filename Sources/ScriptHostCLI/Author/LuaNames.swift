// LuaNames — names and types of the program as scripts spell them.
internal import LuaSyntax
internal import SwiftMangling

enum LuaNames {
  static func isWord(_ name: String) -> Bool { Token.keywords.contains(name) }

  /// A label that is a Lua word gets a trailing underscore.
  static func safe(_ name: String) -> String { isWord(name) ? name + "_" : name }

  static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F }
  }

  /// Names for the parameters of a handler: labels, and for those without one their types.
  static func parameters(_ function: FunctionType) -> [String] {
    var used: Set<String> = ["call"]
    return function.parameters.enumerated().map { index, parameter in
      var name = parameter.label ?? word(of: parameter.type)
      if !isName(name) { name = "arg\(index + 1)" }
      name = safe(name)
      while !used.insert(name).inserted { name += "\(index + 1)" }
      return name
    }
  }

  /// `text` of String, `cart` of Shop.Cart.
  private static func word(of type: TypeSyntax) -> String {
    switch lua(type) {
    case "string": return "text"
    case "integer", "number": return "number"
    case "boolean": return "flag"
    default: break
    }
    guard case .nominal(let name, _, let arguments) = type else { return "value" }
    if name.module == "Swift", name.shortName == "Optional", let inner = arguments.first { return word(of: inner) }
    if name.module == "Swift", ["Array", "Set", "Dictionary"].contains(name.shortName) { return "list" }
    let short = name.shortName.prefix { $0 != "#" }
    return short.prefix(1).lowercased() + short.dropFirst()
  }

  /// The type as annotations have it.
  static func lua(_ type: TypeSyntax) -> String {
    switch type {
    case .nominal(let name, _, let arguments):
      guard name.module == "Swift", name.steps.count == 1 else { return plain(name.description) }
      switch name.shortName {
      case "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64": return "integer"
      case "Double", "Float": return "number"
      case "Bool": return "boolean"
      case "String", "Substring", "Character": return "string"
      case "Optional": return arguments.first.map { lua($0) + "?" } ?? "any"
      case "Array", "Set", "ContiguousArray", "ArraySlice": return arguments.first.map { "(\(lua($0)))[]" } ?? "any"
      case "Dictionary" where arguments.count == 2: return "table<\(lua(arguments[0])), \(lua(arguments[1]))>"
      default: return "any"
      }
    case .function: return "function"
    default: return "any"
    }
  }

  /// Without the files of private types: what an annotation may be called.
  static func plain(_ name: String) -> String {
    let text = ProgramView.plain(name)
    return text.utf8.allSatisfy { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: " ") } ? text : "any"
  }
}
