// DescriptorSymbols — what the symbols of an image say of descriptors: names of methods and requirements, visibility.
//
// A class's method and a resilient protocol's requirement have a "method descriptor" symbol (`…Tq`) at their own record,
// where they are visible outside their module. A descriptor that is not local is public (docs/abi-notes.md).
private import Synchronization

struct DescriptorSymbols: Sendable {
  /// By mangled name, without `Tq`: the file's address.
  private let methods: [String: UInt64]
  /// By the file's address: the names without `Tq`.
  private let names: [UInt64: [String]]
  /// Descriptors of types and protocols that other images can name.
  private let visible: Set<UInt64>

  private init(_ table: SymbolTable) {
    var methods: [String: UInt64] = [:]
    var names: [UInt64: [String]] = [:]
    var visible: Set<UInt64> = []
    for symbols in table.tables {
      for index in 0..<symbols.count {
        let entry = symbols[index]
        guard !entry.isFunction, entry.isDefined, entry.name != 0, Int(entry.name) < symbols.strings.count else { continue }
        if symbols.name(entry, endsWith: "Tq") {
          let name = String(cString: symbols.namePointer(entry))
          guard methods.updateValue(entry.value, forKey: String(name.dropLast(2))) == nil else { continue }
          names[entry.value, default: []].append(String(name.dropLast(2)))
        } else if !entry.isLocal, entry.visibility != 2, symbols.name(entry, endsWith: "Mp") || symbols.name(entry, endsWith: "Mn") {
          visible.insert(entry.value)
        }
      }
    }
    self.methods = methods
    self.names = names
    self.visible = visible
  }

  private static let known = Mutex<[String: DescriptorSymbols]>([:])

  /// Read once for each image.
  static func of(_ image: ImageCatalog) -> DescriptorSymbols {
    if let known = known.withLock({ $0[image.path] }) { return known }
    let made = DescriptorSymbols(image.symbols)
    known.withLock { $0[image.path] = made }
    return made
  }

  /// The record of a method or requirement, as a file's address.
  func record(ofMethod mangledName: String) -> UInt64? { methods[mangledName] }
  /// The mangled names of the method or requirement whose record is at the file's address.
  func methods(at record: UInt64) -> [String] { names[record] ?? [] }
  /// Other modules can name the type or protocol with this descriptor.
  func isVisible(_ descriptor: UInt64) -> Bool { visible.contains(descriptor) }
}
