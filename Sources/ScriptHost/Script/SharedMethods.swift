// SharedMethods — tells when scripts of two patches stand on one method, and in which order: once for each two patches and method.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal
private import Synchronization

enum SharedMethods {
  private struct Meeting: Hashable { let patch: String, other: String, selector: String }
  private static let reported = Mutex<Set<Meeting>>([])
  /// So many are remembered; later ones are not reported.
  private static let most = 10_000

  /// Notes what handlers of other patches stand on the same functions.
  static func tell(_ report: HookEngine.Report, of selector: ResolvedSelector, _ patch: Environment) {
    var others: [String: Int] = [:]
    for (token, _) in report.tokens {
      let order = HookEngine.shared.order(on: token)
      guard let own = order.firstIndex(where: { $0.token == token }) else { continue }
      for (index, layer) in order.enumerated() where layer.owner != patch.id && isOfScript(layer) && isNew(patch.id, layer.owner, token.selector) {
        guard !selector.isGlob else {
          others[layer.owner, default: 0] += 1
          continue
        }
        let place = index < own ? "outside" : "inside"
        patch.log.note(
          "shared method",
          "\(patch.fileName): '\(token.selector)' is also hooked by '\(layer.owner)', which runs \(place) of it: \(why(layer, order[own]))")
      }
    }
    for (other, count) in others.sorted(by: { $0.key < $1.key }) {
      patch.log.note(
        "shared method",
        "\(patch.fileName): \(count) of the methods that '\(selector.text)' matches \(count == 1 ? "is" : "are") also hooked by '\(other)'; hooks() shows the order")
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

  private static func isNew(_ patch: String, _ other: String, _ selector: String) -> Bool {
    let (first, second) = patch < other ? (patch, other) : (other, patch)
    return reported.withLock { $0.count < most && $0.insert(Meeting(patch: first, other: second, selector: selector)).inserted }
  }
}
