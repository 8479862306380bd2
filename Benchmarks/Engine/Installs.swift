// Installs — many hooks at once on a real library, without running it.
import CHookTrampoline
import Glibc
import HookRuntime

enum Installs {
  static func measure(library: String, count: Int) {
    guard dlopen(library, RTLD_NOW | RTLD_LOCAL) != nil else { fatalError("'\(library)' cannot be opened") }
    guard let image = ProcessCatalog.shared.current().first(where: { $0.path.hasSuffix(library) || library.hasSuffix($0.path) }) else {
      fatalError("'\(library)' is no Swift library")
    }
    let start = processorTime()
    var families = image.families { _ in true }
    sample("find \(count)", (processorTime() - start) / 1e6)
    families.removeLast(max(0, families.count - count))

    let found = families.map { (image, $0) }
    let memory = residentKiB()
    let began = processorTime()
    let report = install(found, readsValues: false)
    let spent = processorTime() - began
    sample("install \(count)", spent / 1e6)
    sample("hooks \(count)", Double(report.tokens.count))
    sample("bytes per hook \(count)", (residentKiB() - memory) * 1024 / Double(max(1, report.tokens.count)))
    let removing = processorTime()
    for (token, _) in report.tokens { HookEngine.shared.remove(token) }
    sample("remove \(count)", (processorTime() - removing) / 1e6)
    // The bodies are diverted already: what is left is finding out where the values are.
    let planning = processorTime()
    _ = install(found, readsValues: true)
    sample("plan \(count)", (processorTime() - planning) / 1e6)
  }

  private static func install(_ found: [(ImageCatalog, Family)], readsValues: Bool) -> HookEngine.Report {
    HookEngine.shared.install(found.map { HookRequest(image: $0, family: $1) }) { _ in
      LayerSpec(
        function: { _, _, _ in HKT_HANDLED }, context: nil, phases: UInt32(HKT_ON_ENTER), readsValues: readsValues, owner: "bench")
    }
  }

  private static func residentKiB() -> Double {
    guard let file = fopen("/proc/self/smaps_rollup", "r") else { return 0 }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0 {
      let words = String(cString: line!).split(separator: " ")
      if words.first == "Rss:", words.count > 1 { return Double(words[1]) ?? 0 }
    }
    return 0
  }
}
