// SelectorLookup — from what a person typed to the families it means, or why it means none.

private import SwiftMangling

package enum LookupError: Error, Equatable, Sendable {
  case noSelector(String, nearest: [String])
  /// There is none, and why there may be none is known.
  case absent(String, Absence, nearest: [String])
  case noSelectorInType(String, type: String, nearest: [String])
  case ambiguous(String, candidates: [String])
  case noType(String, nearest: [String])
  /// No image imports the C function.
  /// `importers`: images that do import it, where others were asked for.
  case noImport(String, importer: String?, importers: [String], nearest: [String])
  case badPrototype(String)
  /// What cannot be a pattern, and why.
  case badPattern(String)
}

extension LookupError {
  /// What it is about may come with an image.
  package var mayAppear: Bool {
    switch self {
    case .noSelector, .absent, .noSelectorInType, .noType, .noImport: true
    case .ambiguous, .badPrototype, .badPattern: false
    }
  }
}

extension LookupError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noSelector(let name, let nearest): "no selector '\(name)' in this program" + Self.advice(nearest)
    case .absent(let name, let absence, let nearest): "no selector '\(name)' in this program: \(absence)" + Self.advice(nearest)
    case .noSelectorInType(let name, let type, let nearest):
      // A static member's name begins with the word, also where the type's name stands before the member's.
      "no selector '\(name)' in \(type)"
        + Self.advice(nearest.map { $0 == name && name.hasPrefix("static ") ? "static \(type).\(name.dropFirst(7))" : $0 })
    case .noType(let name, let nearest): "no type '\(name)' in this program" + Self.advice(nearest)
    case .noImport(let name, let importer, let importers, let nearest):
      (importer.map { "no image that matches '\($0)' imports" } ?? "no image of this program imports") + " a C function '\(name)'"
        + (importers.isEmpty
          ? Self.advice(nearest)
          : "; \(importers.prefix(4).map { "'\($0)'" }.joined(separator: ", "))\(importers.count > 4 ? " and others" : "") "
            + "\(importers.count == 1 ? "does" : "do")")
    case .badPrototype(let text), .badPattern(let text): text
    case .ambiguous(let name, let candidates):
      "'\(name)' is ambiguous: \(candidates.prefix(4).map { "'\($0)'" }.joined(separator: ", "))"
        + (candidates.count > 4 ? " and \(candidates.count - 4) more" : "") + "; spell the types"
    }
  }

  private static func advice(_ nearest: [String]) -> String {
    nearest.isEmpty ? "" : "; did you mean \(nearest.map { "'\($0)'" }.joined(separator: " or "))?"
  }
}

package enum SelectorLookup {
  private static let mostBytes = 16_384
  /// Longer names are compared with none: nobody mistyped one.
  private static let mostToCompare = 512

  /// The families of an exact name (one) or a glob (one or more).
  /// - Parameters:
  ///   - suggesting: a miss names the nearest, for which all names of the program are read.
  ///   - toCall: the families' own functions are enough.
  ///   - isMeant: of a glob, the families that are wanted.
  package static func resolve(
    _ text: String, suggesting: Bool = true, toCall: Bool = false, where isMeant: ((Family) -> Bool)? = nil
  ) -> Result<[(ImageCatalog, Family)], LookupError> {
    // Reading a name takes time that grows with its length; what the compiler makes is far shorter.
    guard text.utf8.count <= mostBytes else { return .failure(.noSelector("\(text.prefix(60))…", nearest: [])) }
    return LimitedWork.doing(.lookup, "looking for '\(text)'") { find(text, suggesting: suggesting, toCall: toCall, where: isMeant) }
  }

  private static func find(
    _ text: String, suggesting: Bool, toCall: Bool, where isMeant: ((Family) -> Bool)?
  ) -> Result<[(ImageCatalog, Family)], LookupError> {
    let suggesting = suggesting && text.utf8.count <= mostToCompare
    if let problem = CSelector(text)?.problem { return .failure(.badPrototype(problem)) }
    let pattern = SelectorPattern(text)
    if let problem = pattern.problem { return .failure(.badPattern(problem)) }
    let found = ProcessCatalog.shared.families(matching: pattern, toCall: toCall, limited: true, where: isMeant)
    if LimitedWork.isOver { return .failure(.noSelector(text, nearest: [])) }
    if found.isEmpty { return .failure(suggesting ? miss(text, pattern) : .noSelector(text, nearest: [])) }
    if pattern.isGlob || found.count == 1 { return .success(found) }
    // What carries out a protocol's requirement is many by nature; overloads of requirements are not one.
    let requirements = found.compactMap { $0.1.requirement?.typedName(qualified: true) }.uniqued()
    if requirements.count == 1 { return .success(found) }
    if requirements.count > 1 { return .failure(.ambiguous(text, candidates: requirements)) }
    // What only the runtime has is never hooked, so it does not make a name of the program ambiguous. And one generic
    // declaration may have bodies in several images: the specialisations each of them needed.
    let hookable = found.filter { $0.0.forbiddenName == nil }
    let meant = hookable.isEmpty ? found : hookable
    if Set(meant.map(\.1.key)).count == 1 { return .success(meant) }
    return .failure(.ambiguous(text, candidates: meant.map { $0.0.fullName($0.1, typed: true) }.uniqued()))
  }

  private static func miss(_ text: String, _ pattern: SelectorPattern) -> LookupError {
    if let selector = CSelector(text) {
      let imports = ProcessCatalog.shared.currentImports()
      let elsewhere = selector.importer == nil ? [] : CSelector("C." + selector.name).map { imports.families(matching: $0) } ?? []
      return .noImport(
        selector.name, importer: selector.importer,
        importers: elsewhere.flatMap { $0.bodies.compactMap { $0.place?.importer.name } }.uniqued(),
        nearest: NearestNames.imports(to: selector, in: imports))
    }
    let absence = Absence.reason(text, in: ProcessCatalog.shared.images(for: pattern))
    if let absence, case .inlined = absence { return .absent(text, absence, nearest: []) }
    if !pattern.isGlob, let (type, member) = split(text) {
      if typeExists(type) {
        return .noSelectorInType(member, type: type, nearest: NearestNames.members(of: type, like: member))
      }
      let nearest = NearestNames.types(to: type)
      if !nearest.isEmpty { return .noType(type, nearest: nearest) }
    }
    if let absence { return .absent(text, absence, nearest: NearestNames.selectors(to: text)) }
    return .noSelector(text, nearest: NearestNames.selectors(to: text))
  }

  /// `Shop.Cart.add(_:)` as `Shop.Cart` and `add(_:)`; accessors keep their suffix.
  private static func split(_ text: String) -> (type: String, member: String)? {
    let head = text.prefix { $0 != "(" }
    var parts = head.dropStatic().split(separator: ".").map(String.init)
    guard parts.count >= 2 else { return nil }
    var suffix = ""
    if let last = parts.last, last != "init", EntityKind.accessorWords.contains(last), parts.count > 2 { suffix = "." + parts.removeLast() }
    let member = parts.removeLast()
    return (parts.joined(separator: "."), member + String(text.dropFirst(head.count)) + suffix)
  }

  package static func typeExists(_ name: String) -> Bool { TypeCatalog.shared.contains(name) }

  /// Why `name` is no type, nil when it is one.
  package static func typeProblem(_ name: String) -> String? {
    guard name.utf8.count <= mostToCompare * 4 else { return LookupError.noType("\(name.prefix(60))…", nearest: []).description }
    return LimitedWork.doing(.lookup, "looking for the type '\(name)'") { problem(ofType: name) }
  }

  private static func problem(ofType name: String) -> String? {
    TypeCatalog.shared.contains(name) ? nil : LookupError.noType(name, nearest: NearestNames.types(to: name)).description
  }
}
