// HookGroup — hooks that land together, or not at all.
private import Glibc

/// Hooks that are installed, switched and removed as one.
///
///     let checkout = try HookGroup("checkout") {
///       try Hooks.before("Shop.Cart.add(_:price:quantity:)") { (_, name: String) in print(name) }
///       try Hooks(Cart.self).around("total(tax:)") { call in try call.original() }
///     }
///     checkout.remove()
///
/// The hooks that the closure makes are collected, also those of functions it calls, and installed in one transaction when it
/// returns: if one is refused, or the closure throws, nothing is. The handles they return are good from then on.
public struct HookGroup: Sendable {
  /// Shown in lists beside the owner.
  public let name: String
  public let hooks: [Hook]

  public init(_ name: String, _ hooks: () throws -> Void) throws {
    let draft = try Draft.collecting(hooks)
    self.name = name
    self.hooks = try draft.install(name)
  }

  /// Removes all of them; answers how many were still there.
  @discardableResult
  public func remove() -> Int { hooks.count { $0.remove() } }
  /// Calls that start later see the hooks again. Answers how many of them are still installed.
  @discardableResult
  public func enable() -> Int { hooks.count { $0.enable() } }
  /// Calls that start later do not see the hooks. Answers how many of them are still installed.
  @discardableResult
  public func disable() -> Int { hooks.count { $0.disable() } }
  /// All that are installed, one line each.
  public func describe() -> String { hooks.map { $0.describe() }.joined(separator: "\n") }
}

extension HookGroup {
  /// The hooks of a group that is being made.
  final class Draft {
    var plans: [HookPlan] = []

    /// The one being made on this thread.
    static var current: Draft? {
      // Only `collecting` sets the value, to a draft that it keeps.
      pthread_getspecific(key).map { Unmanaged<Draft>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      guard pthread_key_create(&key, nil) == 0 else { fatalError("internal error: no thread key left; please report it") }
      return key
    }()

    /// What `body` asks for. A group inside a group is installed by itself.
    static func collecting(_ body: () throws -> Void) throws -> Draft {
      let draft = Draft()
      let outer = pthread_getspecific(key)
      pthread_setspecific(key, Unmanaged.passUnretained(draft).toOpaque())
      defer { pthread_setspecific(key, outer) }
      try withExtendedLifetime(draft) { try body() }
      return draft
    }

    func install(_ name: String) throws(HookError) -> [Hook] {
      for index in plans.indices { plans[index].settlePattern() }
      var (report, order) = attempt(name)
      while !report.refused.isEmpty {
        // That functions of patterns have one body is only known of all together: one of them is hooked then.
        var gone: Set<String> = []
        for (selector, reason) in report.refused where !leaveOut(selector, reason, &gone) { throw HookError(selector, reason) }
        (report, order) = attempt(name)
      }
      // All were installed, in the order in which their layers were made.
      let tokens = zip(order, report.tokens.map(\.token))
      for (wish, plan) in plans.enumerated() {
        plan.record.become(
          tokens.filter { $0.0 == wish }.map(\.1),
          HookEngine.Report(partial: report.partial, chosen: report.chosen, mayMiss: report.mayMiss, doubts: report.doubts))
      }
      for plan in plans { plan.waitForMore(group: name) }
      return plans.map { Hook(record: $0.record) }
    }

    /// Installs all or nothing; answers whose the layers are, in the order in which they were made.
    private func attempt(_ name: String) -> (HookEngine.Report, order: [Int]) {
      var order: [Int] = []
      let requests = plans.enumerated().flatMap { wish, plan in
        plan.requests.map { request in
          var request = request
          request.wish = wish
          request.layer = {
            order.append(wish)
            return plan.layer($0, group: name)
          }
          return request
        }
      }
      return (HookEngine.shared.installWanted(requests, atomically: true) { _ in nil }, order)
    }

    /// Leaves one of two functions with one body out of the patterns that match it, if possible one that nobody spelled out; false
    /// where none does, or that is not the matter.
    /// - Parameter gone: what was left out since the attempt, which may have been in the way of others.
    private func leaveOut(_ selector: String, _ reason: HookRefusal, _ gone: inout Set<String>) -> Bool {
      guard case .sharedBody(let other) = reason else { return false }
      if gone.contains(selector) || gone.contains(other) { return true }
      let pair = [(selector, reason), (other, HookRefusal.sharedBody(with: selector))]
      for (name, reason) in plans.contains(where: { $0.spells(selector) }) ? pair.reversed() : pair {
        let found = plans.indices.filter { plans[$0].leaveOut(name, reason) }
        if !found.isEmpty {
          gone.insert(name)
          return true
        }
      }
      return false
    }
  }
}
