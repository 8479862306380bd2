// CrashSymbols — names for the addresses of a report, from the files it was made with.
private import Glibc
internal import HookRuntime

/// Looks addresses up in the files of the report's images; a file that is another build by now gives no names.
package struct CrashSymbols {
  private let images: [CrashReport.Image]
  private var files: [String: (file: ELFFile, symbols: SymbolTable)?] = [:]

  package init(_ report: CrashReport) { images = report.images }

  /// Where a frame is; of one that waits the function that goes on.
  package mutating func text(_ frame: CrashReport.Frame) -> String { text(frame.address, isReturn: frame.how != "p" && frame.how != "a") }

  /// "swift-format  Module.Type.method(_:) + 12", or image and offset.
  /// - Parameter isReturn: the address is where a call returns to, which may be behind the end of its function.
  package mutating func text(_ address: UInt64, isReturn: Bool) -> String {
    guard let image = images.first(where: { $0.range.contains(address) }) else { return "?  0x" + String(address, radix: 16) }
    let name = String(image.path.split(separator: "/").last ?? "?")
    let inFile = address - image.range.lowerBound + image.offset
    let place = "\(name) + 0x\(String(inFile, radix: 16))"
    guard let (file, symbols) = open(image) else { return place }
    guard let segment = file.segments.first(where: { $0.type == 1 && inFile >= $0.offset && inFile - $0.offset < $0.fileSize }) else {
      return place
    }
    let virtual = inFile - segment.offset + segment.address
    guard let symbol = symbols.symbol(containing: isReturn && virtual > 0 ? virtual - 1 : virtual) else { return place }
    return "\(name)  \(Self.shown(symbol)) + \(virtual - symbol.address)"
  }

  private typealias Demangle =
    @convention(c) (
      UnsafePointer<CChar>, Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UInt32
    ) -> UnsafeMutablePointer<CChar>?

  // The runtime's `char *swift_demangle(const char *, size_t, char *, size_t *, uint32_t)`.
  private static let demangle = dlsym(nil, "swift_demangle").map { unsafeBitCast($0, to: Demangle.self) }

  private static func demangled(_ name: String) -> String? {
    guard name.hasPrefix("$s"), let text = name.withCString({ demangle?($0, strlen($0), nil, nil, 0) }) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }

  private static func shown(_ symbol: ImageSymbol) -> String { demangled(symbol.nameText) ?? symbol.nameText }

  private mutating func open(_ image: CrashReport.Image) -> (file: ELFFile, symbols: SymbolTable)? {
    if let known = files[image.path] { return known }
    var found: (file: ELFFile, symbols: SymbolTable)?
    if let file = try? ELFFile(path: image.path), image.buildID == "-" || file.buildIDHex == image.buildID {
      found = (file, SymbolTable(file))
    }
    files[image.path] = .some(found)
    return found
  }
}
