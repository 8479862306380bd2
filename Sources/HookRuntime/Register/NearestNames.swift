// NearestNames — what a mistyped selector may have meant. The host's own names are never meant.

package enum NearestNames {
  /// Up to three selectors close to `text`; empty when nothing is close.
  package static func selectors(to text: String, in images: [ImageCatalog]? = nil, most: Int = 3) -> [String] {
    if let selector = CSelector(text), images == nil { return imports(to: selector, in: ProcessCatalog.shared.currentImports()) }
    let pattern = SelectorPattern(text)
    if pattern.isGlob { return globs(to: text, in: images ?? ProcessCatalog.shared.current(), most: most).filter { $0 != text } }
    let wanted = Array(text.utf8)
    let bound = max(2, wanted.count / 6)
    var best: [(distance: Int, name: String)] = []
    for image in images ?? ProcessCatalog.shared.images(for: pattern) where !OurImages.hold(image.path) {
      image.eachSelector { name, declaration, _ in
        let isMeant = Self.means(text, name)
        if !isMeant, let module = pattern.module, abs(name.utf8.count - wanted.count) > bound, !name.hasPrefix(module) { return true }
        guard isMeant || abs(name.utf8.count - wanted.count) <= bound else { return true }
        let distance = isMeant ? 0 : EditDistance.editDistance(wanted, Array(name.utf8), bound: bound)
        if distance <= bound, !best.contains(where: { $0.name == name }) {
          best.append((distance, name))
          best.sort { ($0.distance, $0.name) < ($1.distance, $1.name) }
          if best.count > most { best.removeLast() }
        }
        return true
      }
    }
    // Only the closest: a second guess that is farther off is noise.
    return best.filter { $0.distance == best[0].distance }.map(\.name)
  }

  /// The text is the selector's without its accessor, its labels or its module.
  private static func means(_ text: String, _ name: String) -> Bool {
    if name.hasPrefix(text) {
      let rest = name.dropFirst(text.count)
      return rest == ".get" || rest == ".set" || rest.hasPrefix("(")
    }
    return name.hasSuffix(text) && name.dropLast(text.count).last == "."
  }

  /// C functions that images import, close to the name that was typed.
  package static func imports(to selector: CSelector, in imports: Imports, most: Int = 2) -> [String] {
    guard !selector.isGlob, let all = CSelector("C.*") else { return [] }
    return EditDistance.closest(imports.families(matching: all).map(\.selector), to: "C." + selector.name, most: most)
  }

  /// The glob with the type (or module) that its spelled-out beginning may have meant.
  private static func globs(to text: String, in images: [ImageCatalog], most: Int) -> [String] {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let spelled = parts.prefix { !$0.contains("*") && !$0.contains("(") }
    guard !spelled.isEmpty, spelled.count < parts.count else { return [] }
    var names: Set<String> = []
    /// Types without their modules: `Cart.**` may mean `Shop.Cart.**`.
    var whole: [String: Set<String>] = [:]
    for image in images where !OurImages.hold(image.path) {
      for type in SwiftTypes(file: image.file).types {
        let steps = type.name.split(separator: ".")
        names.insert(steps.prefix(spelled.count).joined(separator: "."))
        let inModule = steps.dropFirst().prefix(spelled.count)
        guard inModule.count == spelled.count else { continue }
        let short = inModule.joined(separator: ".")
        whole[short, default: []].insert("\(steps[0]).\(short)")
      }
    }
    let begin = spelled.joined(separator: ".")
    let rest = parts[spelled.count...].joined(separator: ".")
    if names.contains(begin) { return memberGlobs(of: begin, like: rest, in: images, most: most) }
    let elsewhere = whole[begin]?.sorted() ?? []
    let near = elsewhere.isEmpty ? EditDistance.closest(Array(names), to: begin, most: most) : Array(elsewhere.prefix(most))
    if !near.isEmpty { return near.map { $0 + "." + rest } }
    return EditDistance.closest(Array(whole.keys), to: begin, most: 1).flatMap { whole[$0]!.sorted() }.prefix(most).map { $0 + "." + rest }
  }

  /// Globs of a type's members whose spelled-out beginning may have been meant: `Shop.Cart.total*` for `Shop.Cart.totla*`.
  private static func memberGlobs(of type: String, like glob: String, in images: [ImageCatalog], most: Int) -> [String] {
    let spelled = glob.prefix { $0 != "*" && $0 != "(" }
    guard spelled.count > 1, !glob.contains(".") else { return [] }
    let members = images.filter { !OurImages.hold($0.path) }.flatMap { $0.families(matching: SelectorPattern(type + ".*")) }
      .map { $0.selector.dropStatic().dropFirst(type.count + 1).prefix { $0 != "(" } }
    let wanted = Array(spelled.utf8)
    let beginnings = members.map { member in
      // What was meant may be longer by a letter, or shorter.
      [1, 0, -1].map { String(member.prefix(spelled.count + $0)) }
        .min { EditDistance.editDistance(wanted, Array($0.utf8), bound: 2) < EditDistance.editDistance(wanted, Array($1.utf8), bound: 2) }!
    }
    return EditDistance.closest(beginnings, to: String(spelled), most: most).map { "\(type).\($0)\(glob.dropFirst(spelled.count))" }
  }

  /// Members of a type whose name is close to `member`; static ones begin with `static`.
  package static func members(of type: String, like member: String, most: Int = 2) -> [String] {
    var names: [String] = []
    for image in ProcessCatalog.shared.images(for: SelectorPattern(type)) {
      for family in image.families(matching: SelectorPattern(type + ".**")) {
        let prefix = family.selector.hasPrefix("static ") ? "static " : ""
        names.append(prefix + family.selector.dropStatic().dropFirst(type.count + 1))
      }
    }
    // A wrong or missing argument list is the commonest slip: compare base names as well.
    let sameBase = named(base(of: member), among: names)
    if !sameBase.isEmpty { return Array(sameBase.prefix(most)) }
    let near = EditDistance.closest(names, to: member, most: most)
    if !near.isEmpty || !member.contains("(") { return near }
    // Both: `ad(_:)` for `add(_:price:quantity:)`.
    let bases = EditDistance.closest(names.filter { $0.contains("(") }.map { base(of: $0) }, to: base(of: member), most: most)
    return Array(bases.flatMap { named($0, among: names) }.prefix(most))
  }

  private static func base(of name: String) -> String { String(name.dropStatic().prefix { $0 != "(" }) }
  private static func named(_ wanted: String, among names: [String]) -> [String] { names.filter { base(of: $0) == wanted }.uniqued() }

  /// Types close to `name`. The same name in a part of the module comes first: `Foundation.URL` is declared in
  /// FoundationEssentials.
  package static func types(to name: String, most: Int = 2) -> [String] {
    let all = TypeCatalog.shared.all
    guard let dot = name.firstIndex(of: ".") else { return EditDistance.closest(all, to: name, most: most) }
    let inModule = name[dot...]
    let elsewhere = all.filter { $0.hasSuffix(inModule) && $0.utf8.dropLast(inModule.utf8.count).firstIndex(of: UInt8(ascii: ".")) == nil }
    // A module whose name begins alike is a part of the one that was meant.
    let part = elsewhere.filter { $0.hasPrefix(name[..<dot]) }
    if !part.isEmpty { return Array(part.sorted().prefix(most)) }
    let near = EditDistance.closest(all, to: name, most: most)
    return near.isEmpty ? Array(elsewhere.sorted().prefix(most)) : near
  }
}
