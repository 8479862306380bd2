// SampleNames — names of the addresses in samples, from the files they were in, as long as those are the builds that ran.
private import HookRuntime
internal import Journal

struct SampleNames {
  private var images: [SampleRecord.Image: CodeNames?] = [:]

  /// The frames of a sample, outermost first: `Shop.Cart.total(tax:)`, or `libshop.so+0x1f0` where no symbol holds the address.
  mutating func stack(_ sample: SampleRecord) -> [String] {
    sample.frames.enumerated().map { index, frame in
      let image = sample.images[frame.image]
      if images[image] == nil { images[image] = .some(Self.open(image)) }
      // The outer level says that it was looked for.
      if let function = images[image]??.function(at: index == 0 ? frame.address : frame.address - 1) { return function.name }
      return "\(image.path.split(separator: "/").last ?? "?")+0x\(String(frame.address, radix: 16))"
    }.reversed()
  }

  /// Nil when the file is gone or is another build.
  private static func open(_ image: SampleRecord.Image) -> CodeNames? {
    guard let file = try? ELFFile(path: image.path) else { return nil }
    let build = file.buildID.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return build == image.buildID ? CodeNames(file) : nil
  }
}
