// SharedMethods — tells when scripts of several patches stand on one method, and in which order: once, when a patch joins the others.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal
private import Synchronization

enum SharedMethods {
  private struct Reported {
    /// By selector: the patches that are known to stand on it together, each with the number of the look that saw it last.
    var patches: [String: [String: UInt64]] = [:]
    var looks: UInt64 = 0
  }
  private static let reported = Mutex(Reported())
  /// So many selectors are remembered; others are not reported.
  private static let most = 10_000
  /// Of more patches than that, their number is told.
  private static let shown = 3

  /// Notes what handlers of other patches stand on the same functions.
  static func tell(_ report: HookEngine.Report, of selector: ResolvedSelector, _ patch: Environment) {
    var counts: [String: Int] = [:]
    for (token, _) in report.tokens {
      let order = HookEngine.shared.order(on: token)
      guard order.count > 1, let own = order.firstIndex(where: { $0.token == token }) else { continue }
      let others = fresh(order.indices.filter { order[$0].owner != patch.id && isOfScript(order[$0]) }, order, patch.id, token.selector)
      guard !selector.isGlob else {
        for other in others { counts[order[other].owner, default: 0] += 1 }
        continue
      }
      guard others.count <= shown else {
        patch.log.note(
          "shared method", "\(patch.fileName): '\(token.selector)' is also hooked by \(others.count) other patches; hooks() shows the order")
        continue
      }
      for other in others {
        patch.log.note(
          "shared method",
          "\(patch.fileName): '\(token.selector)' is also hooked by '\(order[other].owner)', "
            + "which runs \(other < own ? "outside" : "inside") of it: \(why(order[other], order[own]))"
        )
      }
    }
    for (other, count) in counts.sorted(by: { $0.key < $1.key }) {
      patch.log.note(
        "shared method",
        "\(patch.fileName): \(count) of the methods that '\(selector.text)' matches \(count == 1 ? "is" : "are") also hooked by '\(other)'; "
          + "hooks() shows the order")
    }
  }

  private static func why(_ other: LayerPlace, _ own: LayerPlace) -> String {
    other.isOnObject != own.isOnObject
      ? "hooks of one object are outside of those of its type"
      : other.priority == own.priority
        ? "of the same priority (\(own.priority)) the one made later is outside" : "its priority is \(other.priority), this one's \(own.priority)"
  }

  private static func isOfScript(_ layer: LayerPlace) -> Bool {
    // C functions are their addresses.
    [luaLayer, asyncLuaLayer].contains { unsafeBitCast($0, to: UInt.self) == layer.code }
  }

  /// Those layers whose patches are not known to stand on the selector together with this one, each patch once.
  private static func fresh(_ layers: [Int], _ order: [LayerPlace], _ patch: String, _ selector: String) -> [Int] {
    guard !layers.isEmpty else { return [] }
    return reported.withLock { reported in
      guard reported.patches[selector] != nil || reported.patches.count < most else { return [] }
      reported.looks += 1
      let look = reported.looks
      var known = reported.patches.removeValue(forKey: selector) ?? [:]
      defer { reported.patches[selector] = known }
      let isNew = known.updateValue(look, forKey: patch) == nil
      return layers.filter { layer in
        let before = known.updateValue(look, forKey: order[layer].owner)
        return isNew ? before != look : before == nil
      }
    }
  }
}
