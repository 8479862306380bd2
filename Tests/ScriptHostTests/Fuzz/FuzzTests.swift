// Kept seeds of the fuzzers, and a few mutations of them; scripts/fuzz runs libFuzzer on the same functions for as long as it is told.
import Glibc
import Testing

@Suite("Texts of strangers")
struct FuzzTests {
  /// Tests/Fixtures/fuzz/TARGET: one text a file.
  private static func seeds(_ target: String) -> [[UInt8]] {
    let file = "\(#filePath)"
    let root = file.split(separator: "/").dropLast(3).joined(separator: "/")
    let directory = "/\(root)/Fixtures/fuzz/\(target)"
    guard let open = opendir(directory) else { return [] }
    defer { closedir(open) }
    var names: [String] = []
    while let entry = readdir(open) {
      // d_name is a C string within the entry.
      let name = withUnsafePointer(to: &entry.pointee.d_name) { $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) } }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted().compactMap { name in
      guard let stream = fopen("\(directory)/\(name)", "re") else { return nil }
      defer { fclose(stream) }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, stream))
      return bytes
    }
  }

  @Test("kept texts and mutations of them break no promise", arguments: FuzzTargets.names)
  func mutations(_ target: String) {
    let seeds = Self.seeds(target)
    #expect(!seeds.isEmpty, "no seeds of '\(target)'")
    for seed in seeds { FuzzTargets.run(target, seed) }
    let number = getenv("SCRIPTHOST_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0..<1_000_000)
    print("fuzz \(target): seed \(number)")
    var mutator = Mutator(seed: number)
    for _ in 0..<5 { FuzzTargets.run(target, mutator.mutated(seeds)) }
  }
}
