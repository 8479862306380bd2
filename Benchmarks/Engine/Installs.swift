// Installs — many hooks at once on a real library, without running it. Where there are more hooks than functions, functions get
// several.
import CHookTrampoline
import Glibc
import HookRuntime
import Sampling

enum Installs {
  static func measure(library: String, count: Int) {
    guard dlopen(library, RTLD_NOW | RTLD_LOCAL) != nil else { fatalError("'\(library)' cannot be opened") }
    guard let image = ProcessCatalog.shared.current().first(where: { $0.path.hasSuffix(library) || library.hasSuffix($0.path) }) else {
      fatalError("'\(library)' is no Swift library")
    }
    let start = processorTime()
    var families = image.families { _ in true }
    sample("find \(count)", (processorTime() - start) / 1e6)
    sample("functions \(count)", Double(min(count, families.count)))
    families = (0..<count).map { families[$0 % families.count] }

    let found = families.map { (image, $0) }
    let memory = memoryKiB("Rss")
    let began = processorTime()
    let report = install(found, readsValues: false)
    let spent = processorTime() - began
    sample("install \(count)", spent / 1e6)
    sample("hooks \(count)", Double(report.tokens.count))
    sample("bytes per hook \(count)", (memoryKiB("Rss") - memory) * 1024 / Double(max(1, report.tokens.count)))
    let removing = processorTime()
    HookEngine.shared.remove(report.tokens.map(\.token))
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
}
