// SelectorBinding — what a selector of a script means in a program that does not run, by the rules of the program that does.
internal import HookRuntime
internal import SwiftMangling

/// A selector that was found.
struct BoundSelector {
  let text: String
  let found: [(image: ImageCatalog, family: Family)]
  let isGlob: Bool

  /// The one function it means; nil for globs and requirements, which are many.
  var only: Family? { isGlob || Set(found.map(\.family.key)).count != 1 ? nil : found.first?.family }
}

/// Why a selector means nothing, or cannot be hooked: a sentence.
struct BindingProblem: Error { let text: String }

/// Finds selectors and types, once each.
final class SelectorBinding {
  let program: ProgramView
  private var known: [String: Result<BoundSelector, BindingProblem>] = [:]

  init(_ program: ProgramView) { self.program = program }

  func resolve(_ text: String) -> Result<BoundSelector, BindingProblem> {
    if let found = known[text] { return found }
    let found = look(text)
    known[text] = found
    return found
  }

  /// A member of a type, its own or one it inherits: `add(_:price:)`, `static make()`.
  func resolve(_ member: String, of type: String) -> Result<BoundSelector, BindingProblem> {
    let (prefix, name) = member.hasPrefix("static ") ? ("static ", String(member.dropFirst(7))) : ("", member)
    let own = resolve("\(prefix)\(type).\(name)")
    if case .success = own { return own }
    for owner in program.superclasses(of: type) {
      if case .success(let found) = resolve("\(prefix)\(owner).\(name)") { return .success(found) }
    }
    return own
  }

  /// What the selector means; nil where there is nothing of the name.
  func families(of selector: String) -> [(ImageCatalog, Family)]? {
    if case .success(let bound) = resolve(selector) { bound.found.map { ($0.image, $0.family) } } else { nil }
  }

  /// What was found, by the selectors.
  var bound: [BoundSelector] { known.values.compactMap { try? $0.get() }.sorted { $0.text < $1.text } }

  private func look(_ text: String) -> Result<BoundSelector, BindingProblem> {
    let pattern = SelectorPattern(text)
    let found = families(text, pattern)
    if found.isEmpty { return .failure(BindingProblem(text: missing(text, pattern))) }
    let bound = BoundSelector(text: text, found: found, isGlob: pattern.isGlob)
    if pattern.isGlob || found.count == 1 { return .success(bound) }
    let requirements = Set(found.compactMap { $0.family.requirement?.typedName(qualified: true) })
    if requirements.count == 1 || requirements.isEmpty && Set(found.map(\.family.key)).count == 1 { return .success(bound) }
    let hookable = found.filter { isHookable($0.image, $0.family) }
    if Set(hookable.map(\.family.key)).count == 1 {
      return .success(BoundSelector(text: text, found: hookable, isGlob: false))
    }
    let names = requirements.isEmpty ? Set(found.map { $0.image.fullName($0.family, typed: true) }) : requirements
    let more = names.count > 4 ? " and \(names.count - 4) more" : ""
    return .failure(
      BindingProblem(
        text: "'\(text)' is ambiguous: \(names.sorted().prefix(4).map { "'\($0)'" }.joined(separator: ", "))\(more); spell the types"))
  }

  private func families(_ text: String, _ pattern: SelectorPattern) -> [(image: ImageCatalog, family: Family)] {
    if let selector = CSelector(text) {
      let imported = program.imports.families(matching: selector).map { (image: program.catalogs[0], family: $0) }
      if !imported.isEmpty { return imported }
    }
    return program.catalogs.families(matching: pattern).map { (image: $0.0, family: $0.1) }
  }

  /// Something can divert its calls.
  func isHookable(_ image: ImageCatalog, _ family: Family) -> Bool {
    family.bodies.contains { image.refusal(of: $0, in: family) == nil }
      || Reach(family, in: image, among: program.catalogs).all().contains(where: \.isChosen)
  }

  /// Why hooks on it would all be refused; nil when some would not.
  func whyNotHookable(_ bound: BoundSelector) -> String? {
    guard !bound.isGlob, !bound.found.contains(where: { isHookable($0.image, $0.family) }), let (image, family) = bound.found.first else {
      return nil
    }
    let reason = family.bodies.lazy.compactMap { image.refusal(of: $0, in: family)?.description }.first ?? "it has no body"
    return "cannot hook '\(bound.text)': \(reason)"
  }

  // MARK: Misses

  private func missing(_ text: String, _ pattern: SelectorPattern) -> String {
    if let selector = CSelector(text) {
      if let problem = selector.problem { return problem }
      return "no image of \(program.shown) imports a C function '\(selector.name)'"
        + Self.advice(NearestNames.imports(to: selector, in: program.imports))
    }
    if !pattern.isGlob, let (type, member) = Self.split(text) {
      if program.types[type] != nil { return "no selector '\(member)' in \(type)" + Self.advice(members(of: type, like: member)) }
      if let problem = typeProblem(type), problem.contains("; did you mean") { return problem }
    }
    let near = NearestNames.selectors(to: text, in: pattern.module == nil ? [program.catalogs[0]] : program.catalogs)
    let absence = pattern.isGlob ? Absence.reason(text, in: program.catalogs) : nil
    return "no selector '\(text)' in \(program.shown)" + (absence.map { ": \($0)" } ?? "") + Self.advice(near)
  }

  /// Why `name` is no type of the program; nil when it is one.
  func typeProblem(_ name: String) -> String? {
    if program.types[ProgramView.plain(name)] != nil || program.protocols.contains(name) { return nil }
    // A name in another part of the module comes first: `Foundation.URL` is declared in FoundationEssentials.
    let tail = name.firstIndex(of: ".").map { String(name[$0...]) }
    let elsewhere = tail.map { tail in
      program.types.keys.filter { $0.hasSuffix(tail) && $0.split(separator: ".").count == name.split(separator: ".").count }
    } ?? []
    let near = elsewhere.isEmpty ? EditDistance.closest(Array(program.types.keys), to: name, most: 2) : Array(elsewhere.sorted().prefix(2))
    return "no type '\(name)' in \(program.shown)" + Self.advice(near)
  }

  func protocolProblem(_ name: String) -> String? {
    if program.protocols.contains(name) { return nil }
    return "no protocol '\(name)' in \(program.shown)" + Self.advice(EditDistance.closest(Array(program.protocols), to: name, most: 2))
  }

  private func members(of type: String, like member: String) -> [String] {
    var names: [String] = []
    for (_, family) in families(type + ".**", SelectorPattern(type + ".**")) {
      let isStatic = family.selector.hasPrefix("static ")
      let name = (isStatic ? "static " : "") + family.selector.dropFirst((isStatic ? 7 : 0) + type.count + 1)
      if !names.contains(name) { names.append(name) }
    }
    func base(_ name: String) -> Substring { (name.hasPrefix("static ") ? name.dropFirst(7) : name[...]).prefix { $0 != "(" } }
    let sameBase = names.filter { base($0) == base(member) }
    if !sameBase.isEmpty { return Array(sameBase.prefix(2)) }
    let near = EditDistance.closest(names, to: member, most: 2)
    if !near.isEmpty { return near }
    let bases = EditDistance.closest(names.map { String(base($0)) }, to: String(base(member)), most: 1)
    return bases.first.map { wanted in Array(names.filter { base($0) == wanted }.prefix(2)) } ?? []
  }

  /// `Shop.Cart.add(_:)` as `Shop.Cart` and `add(_:)`; accessors keep their suffix.
  static func split(_ text: String) -> (type: String, member: String)? {
    let body = text.hasPrefix("static ") ? text.dropFirst(7) : text[...]
    let head = body.prefix { $0 != "(" }
    var parts = head.split(separator: ".").map(String.init)
    guard parts.count >= 2 else { return nil }
    var suffix = ""
    if let last = parts.last, ["get", "set", "modify", "read", "willset", "didset"].contains(last), parts.count > 2 {
      suffix = "." + parts.removeLast()
    }
    let member = parts.removeLast()
    return (parts.joined(separator: "."), member + body.dropFirst(head.count) + suffix)
  }

  static func advice(_ nearest: [String]) -> String {
    nearest.isEmpty ? "" : "; did you mean \(nearest.map { "'\($0)'" }.joined(separator: " or "))?"
  }
}
