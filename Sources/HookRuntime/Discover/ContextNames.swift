import Glibc

// ContextNames — what a context descriptor is called, read off its chain of parents.
//
// A descriptor's parent is a module, another type, an extension (the name is then
// that of the extended type) or an anonymous context (a private or local
// declaration: it adds nothing to the name).

/// Kinds of context descriptors (the low five bits of their flags).
enum ContextKind {
  static let module: UInt32 = 0, `extension`: UInt32 = 1, anonymous: UInt32 = 2, `protocol`: UInt32 = 3
  static let opaqueType: UInt32 = 4, `class`: UInt32 = 16, `struct`: UInt32 = 17, `enum`: UInt32 = 18
}

struct ContextNames {
  /// The full name of a context, and what the way up has shown.
  struct Name {
    var text: String
    /// The module the declaration was written in; of an extension that is not the module of the extended type.
    var module: String
    /// There is an anonymous context on the way up.
    var isPrivate = false
    var isInExtension = false
  }

  let reader: MetadataReader
  /// Nil for what has no name, and for what is being worked out: a chain that leads back to itself ends there.
  private var known: [UInt64: Name?] = [:]
  /// Names of symbols of other images, by where the symbol's text lies.
  private var knownSymbols: [UnsafePointer<UInt8>: String?] = [:]

  init(_ reader: MetadataReader) { self.reader = reader }

  private static let maximumDepth = 64

  /// The name of the context at `address`; nil where the chain is damaged.
  mutating func name(of address: UInt64, depth: Int = 0) -> Name? {
    if let name = known[address] { return name }
    guard depth < Self.maximumDepth, let flags: UInt32 = reader.load(address) else { return nil }
    known[address] = .some(nil)
    let name: Name?
    switch flags & 0x1f {
    case ContextKind.module:
      let text = reader.relative(at: address &+ 8).flatMap(reader.string)
      name = text.map { Name(text: $0, module: $0) }
    case ContextKind.extension:
      name = extensionName(address, depth)
    case ContextKind.anonymous:
      name = parent(of: address, depth).map {
        var name = $0
        name.isPrivate = true
        return name
      }
    case ContextKind.protocol, ContextKind.class...31:
      name = nominalName(address, depth)
    default:
      name = nil
    }
    known[address] = .some(name)
    return name
  }

  private mutating func nominalName(_ address: UInt64, _ depth: Int) -> Name? {
    guard let own = ownName(address), var name = parent(of: address, depth) else { return nil }
    name.text += "." + own
    return name
  }

  /// The last part of a nominal type's name. For imported C types it is the name that mangled names use, so that types and
  /// functions can be brought together: CFURLRef, though Swift code says CFURL.
  private func ownName(_ address: UInt64) -> String? {
    guard let place = reader.relative(at: address &+ 8), let view = reader.view(at: place), let name = view.cString(at: 0),
      let flags: UInt32 = reader.load(address)
    else { return nil }
    if flags & 0x1f >= ContextKind.class, flags >> 16 & 4 != 0 {
      // Import information: more strings follow, each with its kind as first letter, up to an empty one.
      var at = name.count + 1
      while let part = view.cString(at: at), let kind = part.first {
        if kind == UInt8(ascii: "N") { return String(decoding: part.dropFirst(), as: UTF8.self) }
        at += part.count + 1
      }
    }
    return String(decoding: name, as: UTF8.self)
  }

  private mutating func extensionName(_ address: UInt64, _ depth: Int) -> Name? {
    guard let parent = parent(of: address, depth), let mangled = reader.relative(at: address &+ 8),
      let extended = nominalName(ofMangled: mangled, depth: depth + 1)
    else { return nil }
    return Name(text: extended, module: parent.module, isPrivate: parent.isPrivate, isInExtension: true)
  }

  private mutating func parent(of address: UInt64, _ depth: Int) -> Name? {
    switch reader.relativeIndirectable(at: address &+ 4) {
    case .address(let parent): return name(of: parent, depth: depth + 1)
    case .symbol(let symbol): return name(ofSymbol: symbol).map { Name(text: $0, module: String($0.prefix { $0 != "." })) }
    case nil: return nil
    }
  }

  /// The name of what a reference leads to.
  mutating func name(of target: MetadataReader.Target, depth: Int = 0) -> String? {
    switch target {
    case .address(let address): name(of: address, depth: depth)?.text
    case .symbol(let symbol): name(ofSymbol: symbol)
    }
  }

  /// The context's name as its symbol has it, remembered by the symbol's address.
  private mutating func name(ofSymbol symbol: UnsafeBufferPointer<UInt8>) -> String? {
    guard let start = symbol.baseAddress else { return nil }
    if let name = knownSymbols[start] { return name }
    let name = SymbolNames.context(symbol)
    knownSymbols[start] = .some(name)
    return name
  }

  /// The nominal type that the mangled type name at `address` is about: "Swift.Array" for [Int].
  mutating func nominalName(ofMangled address: UInt64, depth: Int = 0) -> String? {
    guard let reference = MangledTypeReference(reader, at: address, names: &self, depth: depth) else { return nil }
    if let first = reference.symbolic.first, first.offset == 0 { return first.name }
    if reference.symbolic.isEmpty { return SymbolNames.type(reference.bytes) }
    // "Say…G": a generic type of the standard library, whose arguments need references.
    let bytes = reference.bytes
    guard reference.symbolic[0].offset >= 3, bytes[0] == UInt8(ascii: "S"), bytes[2] == UInt8(ascii: "y") else { return nil }
    return SymbolNames.type(Array(bytes[..<2]))
  }
}

/// Names of what only a symbol tells, by the demangler of the Swift runtime in this process.
enum SymbolNames {
  /// "$s10Foundation4DataVMn" is "Foundation.Data". A name that cannot be read is given as it is.
  static func context(_ symbol: UnsafeBufferPointer<UInt8>) -> String? {
    guard let text = demangled(symbol) else { return String(decoding: symbol, as: UTF8.self) }
    for prefix in ["nominal type descriptor for ", "protocol descriptor for ", "module descriptor ", "type metadata for "]
    where text.hasPrefix(prefix) {
      return withoutGenerics(String(text.dropFirst(prefix.count)))
    }
    return withoutGenerics(text)
  }

  /// "SaySiG" is "Swift.Array".
  static func type(_ mangled: [UInt8]) -> String? {
    let symbol = Array("$s".utf8) + mangled + Array("D\0".utf8)
    return symbol.withUnsafeBufferPointer { demangled(UnsafeBufferPointer(rebasing: $0.dropLast())) }.map(sugarFree)
  }

  /// The demangler prints [A] for Array and A? for Optional.
  private static func sugarFree(_ text: String) -> String {
    if text.utf8.last == UInt8(ascii: "?") { return "Swift.Optional" }
    if text.utf8.first == UInt8(ascii: "[") { return text.utf8.contains(UInt8(ascii: ":")) ? "Swift.Dictionary" : "Swift.Array" }
    return withoutGenerics(text)
  }

  /// Cuts every <…>, and "(extension in M):" at the front.
  static func withoutGenerics(_ text: String) -> String {
    var depth = 0
    var kept = ""
    var rest = Substring(text)
    if rest.hasPrefix("(extension in "), let end = rest.firstIndex(of: ":") { rest = rest[rest.index(after: end)...] }
    for character in rest {
      switch character {
      case "<": depth += 1
      case ">": depth -= 1
      default: if depth == 0 { kept.append(character) }
      }
    }
    return kept
  }

  private typealias Demangle =
    @convention(c) (
      UnsafePointer<UInt8>, Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UInt32
    ) -> UnsafeMutablePointer<CChar>?

  /// char *swift_demangle(const char *, size_t, char *, size_t *, uint32_t): absent where the runtime is linked in statically.
  private static let demangle = dlsym(nil, "swift_demangle").map { unsafeBitCast($0, to: Demangle.self) }

  /// `symbol` must be followed by NUL: the runtime's function takes a length, and looks for the end all the same.
  private static func demangled(_ symbol: UnsafeBufferPointer<UInt8>) -> String? {
    guard let base = symbol.baseAddress, let text = demangle?(base, symbol.count, nil, nil, 0) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }
}
