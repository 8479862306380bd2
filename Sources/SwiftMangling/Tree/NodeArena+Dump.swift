extension NodeArena {
  /// The tree below a node in the form of the toolchain's own tree dump, two spaces per level.
  ///
  /// Shared parts are printed each time they occur, up to `limit` lines.
  func dump(_ root: NodeIndex, limit: Int = 200_000) -> String {
    var lines = ""
    var pending: [(node: NodeIndex, depth: Int)] = [(root, 0)]
    var printed = 0
    while let (node, depth) = pending.popLast(), printed < limit {
      printed += 1
      lines += String(repeating: "  ", count: depth) + "kind=" + kind(node).dumpName
      if text(node) != nil { lines += ", text=\"" + string(node) + "\"" }
      if let number = number(node) { lines += ", index=\(number)" }
      lines += "\n"
      for position in stride(from: childCount(node) - 1, through: 0, by: -1) {
        pending.append((child(node, position), depth + 1))
      }
    }
    return lines
  }
}
