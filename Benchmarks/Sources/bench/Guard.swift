// Guard — each guard by itself, and all of them, as patches ask for them on swift-format.

struct Guard {
  let name: String
  /// What the row says.
  let title: String
  /// What the patch says.
  let text: String

  private static let zombies = "zombies = { types = { \"SwiftFormat.*\", \"SwiftSyntax.*\" } }"
  private static let mainThread = "main_thread = { methods = { \"SwiftFormat.PrettyPrinter.*(*)\" } }"

  /// The first one is what the others are compared with.
  static let all = [
    Guard(name: "none", title: "a patch without a guard", text: ""),
    Guard(name: "unknown_selector", title: "unknown_selector", text: "guard { \"unknown_selector\" }"),
    Guard(name: "observation", title: "observation", text: "guard { \"observation\" }"),
    Guard(name: "notifications", title: "notifications", text: "guard { \"notifications\" }"),
    Guard(name: "timers", title: "timers", text: "guard { \"timers\" }"),
    Guard(name: "containers", title: "containers", text: "guard { \"containers\" }"),
    Guard(name: "null", title: "null", text: "guard { \"null\" }"),
    Guard(name: "zombies", title: "zombies, of all its classes", text: "guard { \(zombies) }"),
    Guard(name: "main_thread", title: "main_thread, the printer's methods", text: "guard { \(mainThread) }"),
    Guard(
      name: "all", title: "all of them",
      text: "guard { \"unknown_selector\", \"observation\", \"notifications\", \"timers\", \"containers\", \"null\", \(zombies), \(mainThread) }"),
  ]

  /// A hundred files of ours.
  static func files(_ settings: Settings) -> [String] {
    let sources = settings.live.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/") + "/Sources"
    let all = Child.run(["/usr/bin/find", sources, "-name", "*.swift"]).output.split(separator: "\n").map(String.init).sorted()
    return stride(from: 0, to: all.count, by: max(1, all.count / 100)).prefix(100).map { all[$0] }
  }
}
