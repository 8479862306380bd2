// MemberNames — the names of a type's or module's functions, for lists that people choose from: nothing is found out of the bodies behind them.
private import Synchronization
private import SwiftMangling

/// A function by its names alone.
package struct MemberName: Hashable, Sendable {
  /// As hooks name it: `Shop.Cart.add(_:price:)`.
  package let selector: String
  /// `add`.
  package let name: String
  /// Called on an instance.
  package let isMethod: Bool
}

extension ProcessCatalog {
  private static let known = Mutex<(at: UInt64, owners: [String: [MemberName]])>((0, [:]))

  /// The functions whose selectors are the owner's name and one step more: `Shop.Cart.total(tax:)` of `Shop.Cart`, `Shop.discount(for:)` of `Shop`.
  /// In no order. What was asked before is known, until images come or go.
  package func memberNames(of owner: String) -> [MemberName] {
    let now = LoadedImages.changeCount
    if let names = Self.known.withLock({ $0.at == now ? $0.owners[owner] : nil }) { return names }
    var found: Set<MemberName> = []
    for image in current() { image.addMemberNames(of: owner, to: &found) }
    let names = Array(found)
    Self.known.withLock { known in
      if known.at != now || known.owners.count >= 64 { known = (now, [:]) }
      known.owners[owner] = names
    }
    return names
  }

  /// Reads what the first list of names needs: the types, and the order of the symbols.
  package func prepareNames() {
    _ = TypeCatalog.shared.contains("")
    for image in current() { image.symbols.prepare() }
  }
}

extension ImageCatalog {
  fileprivate func addMemberNames(of owner: String, to found: inout Set<MemberName>) {
    let beginning = OwnerBeginning(owner)
    let pattern = SelectorPattern(owner + ".*")
    let candidates = beginning.map { symbols.candidates(prefix: $0.prefix) } ?? symbols.candidates(words: pattern.requiredWords)
    let start = owner + "."
    // Not the image's own: no lock is needed for it.
    var parser = SymbolParser()
    for symbol in candidates {
      if let beginning, beginning.excludes(symbol.name) { continue }
      guard let declaration = parser.declaration(symbol.name, where: { $0 == .source }), declaration.kind.isSourceFunction else { continue }
      let selector = PrivateNames.stripped(declaration.selectorName)
      let name = selector.hasPrefix("static ") ? selector.dropFirst(7) : selector[...]
      guard name.hasPrefix(start), !name.dropFirst(start.count).prefix(while: { $0 != "(" }).dropFirst().contains(".") else { continue }
      found.insert(
        MemberName(selector: selector, name: declaration.name, isMethod: declaration.kind == .function && !declaration.isStatic))
    }
  }
}

/// How mangled names of a module's or type's functions begin. Names of most others are distinguished by it, without being read.
private struct OwnerBeginning {
  let prefix: [UInt8]
  /// The outermost type; nil: the functions of the module itself are meant.
  private let type: [UInt8]?
  private let module: [UInt8]

  /// Nil where a mangled name does not spell the module out: modules that have letters of their own, names with words that repeat.
  init?(_ owner: String) {
    let steps = owner.split(separator: ".", omittingEmptySubsequences: false)
    guard let first = steps.first, !first.isEmpty, first.utf8.allSatisfy({ $0 < 128 && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "#") }) else {
      return nil
    }
    guard !["Swift", "__C", "__ObjC", "C", "Builtin"].contains(first), !Self.repeatsWords(first) else { return nil }
    module = Array(first.utf8)
    prefix = Array("$s\(module.count)".utf8) + module
    type = steps.count > 1 ? Array(steps[1].utf8) : nil
  }

  /// A word that a name has twice is spelled once.
  private static func repeatsWords(_ name: Substring) -> Bool {
    var words: [Substring] = []
    var start = name.startIndex
    for index in name.indices.dropFirst() where name[index].isUppercase || name[index] == "_" {
      words.append(name[start..<index])
      start = index
    }
    words.append(name[start...])
    let long = words.filter { $0.utf8.count > 1 }
    return Set(long).count != long.count
  }

  /// The name is that of another type's member; false where its beginning does not tell.
  func excludes(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    var at = prefix.count
    guard at + 2 < name.count else { return true }
    let isSame: Bool
    if name[at] == UInt8(ascii: "A"), name[at + 1] == UInt8(ascii: "A") {
      // The type has the module's name.
      isSame = type == module
      at += 2
    } else {
      guard (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(name[at]) else { return false }
      var count = 0
      while at < name.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(name[at]), count < name.count {
        count = count * 10 + Int(name[at] - UInt8(ascii: "0"))
        at += 1
      }
      guard at + count < name.count else { return false }
      isSame = type.map { $0.elementsEqual(name[at..<at + count]) } ?? false
      at += count
    }
    guard at < name.count, [UInt8(ascii: "C"), UInt8(ascii: "V"), UInt8(ascii: "O")].contains(name[at]) else { return false }
    return !isSame
  }
}
