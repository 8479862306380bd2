// CPrototype — what a C function takes and gives, as people write it.
//
//     C.getaddrinfo(node: cstring, service: cstring, hints: pointer, result: pointer) -> int32
//     C.open(cstring, int32, ...) -> int32
//
// Argument labels are free to choose, and may be left out. Nothing in a binary tells the type of a C function: a prototype
// is believed.
private import SwiftMangling

/// A type that C functions pass in one register or stack slot.
package enum CType: String, Sendable, CaseIterable {
  case void, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double
  /// `const char *`: read as text up to its NUL, nil for NULL.
  case cstring
  /// Any other pointer: its address.
  case pointer

  /// The type a word of a prototype means.
  init?(spelled text: String) {
    if let known = Self(rawValue: text) { self = known; return }
    guard let other = Self.otherSpellings[text] else { return nil }
    self = other
  }

  /// Widths as on x86-64 Linux.
  private static let otherSpellings: [String: CType] = [
    "char": .int8, "short": .int16, "int": .int32, "long": .int64, "ssize": .int64, "off": .int64, "uchar": .uint8, "ushort": .uint16,
    "uint": .uint32, "ulong": .uint64, "size": .uint64,
  ]
  static var spellings: [String] { allCases.map(\.rawValue) + otherSpellings.keys.sorted() }
}

package struct CPrototype: Hashable, Sendable {
  package struct Parameter: Hashable, Sendable {
    package var label: String?
    package var type: CType
  }

  package var name: String
  package var parameters: [Parameter]
  /// More arguments may follow (`...`), of types that only a call tells.
  package var isVariadic = false
  package var result: CType
}

extension CPrototype: CustomStringConvertible {
  package var description: String {
    var list = parameters.map { ($0.label.map { $0 + ": " } ?? "") + $0.type.rawValue }
    if isVariadic { list.append("...") }
    return "C.\(name)(\(list.joined(separator: ", ")))" + (result == .void ? "" : " -> \(result.rawValue)")
  }
}

/// Why a text is no prototype.
package struct CPrototypeError: Error, Equatable, Sendable, CustomStringConvertible {
  package let description: String
}

// MARK: Reading

extension CPrototype {
  /// Reads `C.name(type, label: type, ...) -> type`; the `C.` and a result of void may be left out.
  package init(_ text: String) throws(CPrototypeError) {
    var reader = Reader(text)
    self = try reader.prototype()
  }

  private struct Reader {
    let text: String
    var rest: Substring

    init(_ text: String) {
      self.text = text
      rest = text[...]
    }

    mutating func prototype() throws(CPrototypeError) -> CPrototype {
      skipSpace()
      if rest.hasPrefix("C.") { rest = rest.dropFirst(2) }
      let name = word()
      guard !name.isEmpty else { throw fail("expected the name of a C function") }
      var made = CPrototype(name: name, parameters: [], result: .void)
      guard take("(") else { throw fail("expected '(' behind '\(name)'") }
      if !take(")") {
        repeat {
          if take("...") {
            made.isVariadic = true
            break
          }
          try made.parameters.append(parameter())
        } while take(",")
        guard take(")") else { throw fail(made.isVariadic ? "'...' comes last: expected ')'" : "expected ',' or ')'") }
        // `f(void)` takes nothing.
        if made.parameters.count == 1, made.parameters[0].type == .void, !made.isVariadic { made.parameters = [] }
        guard !made.parameters.contains(where: { $0.type == .void }) else { throw fail("'void' is no type of an argument") }
      }
      if take("->") { made.result = try type(allowsVoid: true) }
      skipSpace()
      guard rest.isEmpty else { throw fail("unexpected '\(rest)'") }
      return made
    }

    private mutating func parameter() throws(CPrototypeError) -> Parameter {
      let start = rest
      let label = word()
      if !label.isEmpty, take(":") { return Parameter(label: label == "_" ? nil : label, type: try type(allowsVoid: false)) }
      rest = start
      return Parameter(label: nil, type: try type(allowsVoid: true))
    }

    private mutating func type(allowsVoid: Bool) throws(CPrototypeError) -> CType {
      skipSpace()
      let start = rest
      let name = word()
      if let type = CType(spelled: name), allowsVoid || type != .void {
        skipSpace()
        guard !rest.hasPrefix("*") else { throw fail("a pointer is spelled 'pointer', a text 'cstring'") }
        return type
      }
      if name.isEmpty { throw fail("expected a type") }
      if let reason = Self.unsupported[name] { throw fail("'\(name)': \(reason)") }
      rest = start
      let near = Self.swiftSpelling(name) ?? EditDistance.closest(CType.spellings, to: name, most: 1).first
      throw fail(
        "'\(name)' is no C type here; "
          + (near.map { "did you mean '\($0)'?" } ?? "known are \(CType.allCases.map(\.rawValue).joined(separator: ", "))"))
    }

    /// `Int32` was meant as `int32`.
    private static func swiftSpelling(_ name: String) -> String? {
      if name == "Int" || name == "UInt" { return name == "Int" ? "int64" : "uint64" }
      if name == "String" { return "cstring" }
      return CType(rawValue: name.lowercased())?.rawValue
    }

    private static let unsupported = [
      "struct": "structs by value are not supported; hook without a prototype to see calls, not values",
      "union": "unions by value are not supported; hook without a prototype to see calls, not values",
      "longdouble": "long double travels on the x87 stack and is not supported",
      "complex": "complex numbers are not supported", "va_list": "a va_list is a 'pointer'", "const": "leave 'const' out",
      "unsigned": "spell it uint8, uint16, uint32 or uint64", "signed": "spell it int8, int16, int32 or int64",
      "enum": "an enum is an 'int32' or 'uint32'", "FILE": "a FILE * is a 'pointer'",
    ]

    // MARK: Words

    private mutating func skipSpace() { rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "\n" } }

    private mutating func word() -> String {
      skipSpace()
      let found = rest.prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
      rest = rest.dropFirst(found.count)
      return String(found)
    }

    private mutating func take(_ token: String) -> Bool {
      skipSpace()
      guard rest.hasPrefix(token) else { return false }
      rest = rest.dropFirst(token.count)
      return true
    }

    private func fail(_ what: String) -> CPrototypeError {
      let position = text.utf8.count - rest.utf8.count + 1
      return CPrototypeError(description: "'\(text)', character \(position): \(what)")
    }
  }
}
