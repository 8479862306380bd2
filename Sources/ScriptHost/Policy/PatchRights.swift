// PatchRights — what one patch may touch and do under a policy. Without a policy there are none, and nothing is asked.
internal import HookRuntime
internal import SwiftMangling
private import Synchronization

/// Any thread.
package final class PatchRights: Sendable {
  package let policy: Policy
  private let rules: Policy.Rules
  private let file: String
  /// Nil: a session of the console, which asks for all there is.
  private let asked: Set<Capability>?

  package init(_ policy: Policy, id: String, asked: [Capability]?) {
    self.policy = policy
    rules = policy.rules(for: id)
    file = policy.fileName
    self.asked = asked.map { Set($0) }
  }

  package var budgets: Policy.Budgets { rules.budgets ?? Policy.Budgets() }

  /// Why a patch that asks for these cannot be loaded; nil when it can.
  package var refusalToLoad: String? {
    guard let granted = rules.capabilities, let asked else { return nil }
    let more = asked.subtracting(granted.value).map(\.rawValue).sorted()
    if more.isEmpty { return nil }
    return "it asks for \(more.map { "'\($0)'" }.joined(separator: ", ")) in permissions, and \(file):\(granted.line) "
      + "does not grant \(more.count == 1 ? "that" : "those")"
  }

  /// Why the patch may not do this; nil when it may.
  package func refusal(_ capability: Capability) -> String? {
    guard let granted = rules.capabilities else { return nil }
    let word = capability.rawValue
    if !granted.value.contains(capability) { return "the policy does not grant '\(word)', \(file):\(granted.line)" }
    guard let asked, !asked.contains(capability) else { return nil }
    return "the patch does not ask for '\(word)', which \(file):\(granted.line) restricts; add it to permissions"
  }

  /// Secrets are masked unless a policy says otherwise: none that is silent of capabilities does.
  package var grantsSecrets: Bool { rules.capabilities?.value.contains(.secrets) == true && asked?.contains(.secrets) == true }

  /// Why the patch may not touch a function or property; nil when it may.
  /// - Parameters:
  ///   - selector: `Shop.Cart.total(tax:)`, without types.
  ///   - type: the one that declares it; nil for free functions.
  package func refusal(selector: String, of type: String?) -> String? {
    if let (line, why) = rules.selectors?.refusal(Self.spellings(selector), "selectors") {
      return "'\(selector)' is denied by the policy, \(file):\(line): \(why)"
    }
    return type.flatMap { refusal(type: $0) }
  }

  /// Why the patch may not see calls of a function; nil when it may.
  func refusal(of family: Family) -> String? { refusal(selector: family.selector, of: family.declaration.context?.description) }

  /// Why the patch may not touch a type; nil when it may. What is denied is so with the types in it.
  package func refusal(type: String) -> String? {
    guard let names = rules.types else { return nil }
    var around = [type]
    while let dot = around.last!.lastIndex(of: "."), around.last![..<dot].contains(".") { around.append(String(around.last![..<dot])) }
    if let (line, why) = Policy.Names(allow: nil, deny: names.deny, line: names.line).refusal(around, "types") ?? names.refusal([type], "types") {
      return "type '\(type)' is denied by the policy, \(file):\(line): \(why)"
    }
    return nil
  }

  /// Why a hook of the patch, which has so many, is refused; nil when it is not.
  func refusalOfHook(_ family: Family, beside count: Int) -> String? {
    refusal(of: family) ?? refusalOfHook(beside: count)
  }

  /// Why a patch that has so many hooks gets no other; nil when it does.
  package func refusalOfHook(beside count: Int) -> String? {
    guard let most = rules.budgets?.hooks else { return nil }
    if count < most.value { return nil }
    return "the patch has \(count) hooks, and \(file):\(most.line) allows no more"
  }

  /// A property is spelled by its accessors, too: what is said of `Shop.User.password` is said of `Shop.User.password.get`.
  private static func spellings(_ selector: String) -> [String] {
    for suffix in [".get", ".set", ".modify", ".read", ".willset", ".didset"] where selector.hasSuffix(suffix) {
      return [selector, String(selector.dropLast(suffix.count))]
    }
    return [selector]
  }
}

/// The rights of those who have some, by owner of hooks: the engine asks of each hook.
enum HookRights {
  private static let all = Mutex<[String: PatchRights]>([:])

  static func set(_ rights: PatchRights, of owner: String) {
    all.withLock { $0[owner] = rights }
    // Once there is one policy there is always one.
    HookEngine.shared.policy = { owner, count, family in all.withLock { $0[owner] }?.refusalOfHook(family, beside: count) }
  }
}
