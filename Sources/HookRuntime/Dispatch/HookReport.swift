// HookReport — what installing led to, and what is installed.

extension HookEngine {
  /// What installing on one or many selectors led to.
  package struct Report: Sendable {
    /// What was installed, with the family's key.
    package var tokens: [(token: HookToken, key: String)] = []
    package var refused: [(selector: String, reason: HookRefusal)] = []
    /// Selectors hooked in some but not all bodies.
    package var partial: [(selector: String, hooked: Int, of: Int)] = []
    /// Selectors that are hooked by another back end, with the reason why not by their entries.
    package var chosen: [Chosen] = []
    /// What hooks by tables may not see, in whole sentences.
    package var mayMiss: [(selector: String, sentence: String)] = []
    /// What hooks on all bodies may miss none the less.
    package var doubts: [(selector: String, doubt: Doubt)] = []
    package var matched: Int { tokens.count + refused.count }

    package struct Chosen: Sendable {
      package let selector: String
      package let backEnd: BackEnd
      /// Why not by entry.
      package let instead: HookRefusal
      /// Some calls of the function do not come by it.
      package var isPartial: Bool { !backEnd.seesEveryCall }
    }
    /// How many selectors are hooked so that some of their calls are missed, or may be.
    package var partialCount: Int { partialSelectors.count }
    /// Their names.
    package var partialSelectors: Set<String> {
      Set(partial.map(\.selector) + chosen.filter(\.isPartial).map(\.selector) + doubts.filter(\.doubt.isProven).map(\.selector))
    }
    /// Doubts that nothing proves, once each: why, by what.
    package var unproven: [Doubt] { doubts.map(\.doubt).filter { !$0.isProven }.uniqued() }
  }
}

extension HookEngine.Report {
  /// Notes what the hooks that were installed at entries may miss.
  mutating func addDoubts(about requests: [HookRequest], _ depth: DoubtDepth) {
    let installed = Set(tokens.map(\.key))
    let elsewhere = Set(chosen.map(\.selector))
    let images = ProcessCatalog.shared.current()
    for request in requests where request.backEnd ?? .entry == .entry && installed.contains(request.family.key) {
      if elsewhere.contains(request.family.selector) { continue }
      if LimitedWork.isOver { return }
      for doubt in request.image.doubts(about: request.family, among: images, depth: depth) { doubts.append((request.family.selector, doubt)) }
    }
  }
}

/// One of the layers on a function.
package struct LayerPlace: Sendable {
  package let token: HookToken
  package let owner: String
  package let priority: Int
  /// It is for one object.
  package let isOnObject: Bool
  /// The address of its function: layers of one kind share it.
  package let code: UInt
}

/// A hook that is installed, as lists show it.
public struct HookInfo: Sendable {
  package let token: HookToken
  /// The function it is on: `Shop.Cart.total(tax:)`.
  public var selector: String { token.selector }
  /// The key of its family, which overloads do not share.
  package let key: String
  /// Who made it: a module of the program, or a patch.
  public let owner: String
  public let group: String?
  /// HKT_ON_ENTER, HKT_ON_AROUND, HKT_ON_EXIT
  package let phases: UInt32
  public let scope: Scope
  public let backEnd: BackEnd
  /// Why the engine chose it: what is wrong with the function's entries. Nil for entries, and where it was asked for.
  public let whyNotEntry: String?
  /// Calls that it may not see, in whole sentences, as far as they are known; what a back end never sees is not among them.
  public let mayMiss: [String]
  public let priority: Int
  public let isOnce: Bool
  public let isEnabled: Bool
  /// Of the type's hooks: calls of the selector that were delivered since it was made; of others: calls this one took part in.
  public let calls: UInt64
  /// What it diverts was changed by someone else since: calls may no longer come.
  public let isChangedElsewhere: Bool
  /// It takes part in one of so many calls, by chance: 1, unless its time was limited.
  package let oneIn: Int
  /// Why it is off, or takes part in some calls only, where the host decided that.
  package let limitation: String?

  public enum Scope: Equatable, Sendable {
    case type
    case subclass(String)
    /// The class's name and the address.
    case object(String, UInt64)
  }
}

extension HookInfo.Scope: CustomStringConvertible {
  public var description: String {
    switch self {
    case .type: "type"
    case .subclass(let name): "subclass \(name)"
    case .object(let name, let address): "object \(name) at 0x\(String(address, radix: 16))"
    }
  }
}

extension HookInfo {
  package var position: String {
    // The values of HKT_ON_ENTER, HKT_ON_AROUND and HKT_ON_EXIT, whose C names not every importer sees.
    phases & 2 != 0 ? "around" : phases & 4 != 0 ? (runsTwice ? "before and after" : "after") : "before"
  }
  /// Its handler runs before the original, and again after it.
  package var runsTwice: Bool { phases & 5 == 5 }
}

extension HookInfo: CustomStringConvertible {
  /// `before 'Shop.Cart.add(_:)' by storefront, scope type, back end entry, priority 10, 12 calls`
  public var description: String {
    var parts = ["\(position) '\(selector)' by \(owner)"]
    if let group { parts.append("group \(group)") }
    let reason = whyNotEntry.map { " (chosen: not by entry, \($0))" } ?? ""
    parts += ["scope \(scope)", "back end \(backEnd.rawValue)\(reason)"]
    parts += mayMiss.map { "may miss \($0)" }
    parts.append("priority \(priority)")
    if isOnce { parts.append("once") }
    if !isEnabled { parts.append("disabled") }
    if let limitation { parts.append(limitation) }
    if isChangedElsewhere { parts.append("changed by someone else") }
    parts.append("\(calls) call\(calls == 1 ? "" : "s")")
    return parts.joined(separator: ", ")
  }
}
