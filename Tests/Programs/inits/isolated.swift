// Classes and an actor whose deinits are isolated: each object's deinit counts once, wherever its last reference ends.
nonisolated(unsafe) var ended: [String: Int] = [:]
@inline(never) func count(_ name: String) { ended[name, default: 0] += 1 }

@MainActor final class Window { var title = 3; init() {}; isolated deinit { count("Window"); title = 4 } }
@MainActor class View { init() {}; isolated deinit { count("View") } }
final class Button: View { isolated deinit { count("Button") } }
actor Store { var items = 1; isolated deinit { count("Store"); items += 1 } }

@main struct Main {
  @inline(never) static func open() async {
    let window = await Window()
    _ = await window.title
  }
  /// What was handed to the main actor before is over when this is.
  static func settle() async { await MainActor.run {} }

  static func main() async {
    for _ in 0..<3 {
      await open()
      await settle()
    }
    await Task.detached {
      for _ in 0..<2 { await open() }
      await settle()
    }.value
    await Task.detached {
      let button = await Button()
      _ = consume button
      await settle()
    }.value
    await Task.detached {
      let store = Store()
      _ = consume store
      await settle()
    }.value
    for (name, count) in ended.sorted(by: { $0.key < $1.key }) { print(name, count) }
  }
}
