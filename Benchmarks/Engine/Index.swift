// Index — opening a large binary and asking for one exact selector, in a fresh process.
import HookRuntime
import Sampling

enum Index {
  static func measure(file: String, directory: String, selector: String) {
    let start = processorTime()
    guard let elf = try? ELFFile(path: file) else { fatalError("'\(file)' cannot be read") }
    let image = ImageCatalog(
      path: file, file: elf, bias: 0, isMainProgram: true, isLoaded: false, options: .init(indexDirectory: directory))
    let symbols = image.symbols.count  // the first question reads or builds the index
    let spent = processorTime() - start
    let origin = image.symbols.indexOrigin == .read ? "warm" : "cold"
    sample("index \(origin)", spent / 1e6)
    sample("symbols", Double(symbols))
    let asked = processorTime()
    let found = image.families(matching: SelectorPattern(selector))
    sample("lookup \(origin)", (processorTime() - asked) / 1e6)
    sample("found", Double(found.count))
    let again = processorTime()
    _ = image.families(matching: SelectorPattern(selector))
    sample("lookup again", (processorTime() - again) / 1e6)
  }
}
