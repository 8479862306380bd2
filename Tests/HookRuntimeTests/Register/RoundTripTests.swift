// What `scripthost methods` prints is what people type: every selector it prints means the function it was printed for.
import Testing

@testable import HookRuntime

@Suite struct RoundTripTests {
  @Test(arguments: [Toolchain.format, Toolchain.library("libFoundation"), Toolchain.library("libFoundationEssentials")])
  func everyPrintedSelectorIsFound(path: String) throws {
    let image = ImageCatalog(path: path, file: try ELFFile(path: path), bias: 0, isMainProgram: true, isLoaded: false)
    let wanted = image.families { _ in true }
    #expect(wanted.count > 1000)
    // Of the biggest some, at random: without the optimiser all take minutes.
    let step = max(1, wanted.count / 40)
    let first = Int(makeSeed("every selector of \(path)") % UInt64(step))
    var missed: [String] = []
    for family in stride(from: first, to: wanted.count, by: step).map({ wanted[$0] }) {
      for spelled in [image.fullName(family, typed: true), image.fullName(family)] {
        let pattern = SelectorPattern(spelled.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "\\*"))
        let found = image.families(matching: pattern)
        if !found.contains(where: { $0.key == family.key }) { missed.append(spelled) }
      }
    }
    #expect(missed.isEmpty, "\(missed.count) of every \(step)th from \(first), \(missed.prefix(20).joined(separator: "\n"))")
  }
}
