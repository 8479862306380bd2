// Interface first; bodies follow.
package final class ELFFile: @unchecked Sendable {
  package struct Section: Sendable { package let name: String; package let type: UInt32; package let flags: UInt64; package let address: UInt64; package let offset: UInt64; package let size: UInt64 }
  package struct Segment: Sendable { package let type: UInt32; package let flags: UInt32; package let offset: UInt64; package let address: UInt64; package let fileSize: UInt64; package let memorySize: UInt64 }
  package let path: String
  package let sections: [Section] = []
  package let segments: [Segment] = []
  package init(path: String) throws(ImageError) { self.path = path }
  package func section(named name: String) -> Section? { nil }
  package func bytes(of section: Section) -> UnsafeRawBufferPointer? { nil }
  package func bytes(at address: UInt64, count: Int) -> UnsafeRawBufferPointer? { nil }
  package var buildID: [UInt8] { [] }
  package var buildIDHex: String { "" }
  package var interpreter: String? { nil }
  package var needed: [String] { [] }
  package var runPath: String? { nil }
  package var isDynamic: Bool { false }
  package var isSwift: Bool { false }
  package var isStaticallyLinkedSwift: Bool { false }
  package var compiler: CompilerEvidence? { nil }
}
package enum CompilerEvidence: Sendable, Equatable {
  /// DW_AT_producer, e.g. "Swift version 6.3.1 (swift-6.3.1-RELEASE) …".
  case producer(String)
  /// The llvm-project commit named in `.comment`.
  case llvmCommit(String)
}
package struct LaunchFacts: Sendable, Equatable {
  package let isSetUserID: Bool
  package let isSetGroupID: Bool
  package let hasFileCapabilities: Bool
  package let isExecutable: Bool
  package init(path: String) throws(ImageError) { isSetUserID = false; isSetGroupID = false; hasFileCapabilities = false; isExecutable = false }
}
/// One function symbol. `name` points into the mapped file of the table it came from: valid while that table lives.
package struct ImageSymbol: @unchecked Sendable {
  package enum Source: UInt8, Sendable { case symtab, dynsym, debugFile }
  package let name: UnsafeBufferPointer<UInt8>
  /// Virtual address without load bias.
  package let address: UInt64
  package let size: UInt32
  package let isLocal: Bool
  package let source: Source
}
package final class SymbolTable: @unchecked Sendable {
  package struct Options: Sendable { package var debugDirectories: [String] = []; package var indexDirectory: String? = nil; package init() {} }
  package let file: ELFFile
  package init(_ file: ELFFile, options: Options = Options()) { self.file = file }
  /// Function symbols in executable sections, sorted by address.
  package var count: Int { 0 }
  package subscript(index: Int) -> ImageSymbol { fatalError() }
  package func symbol(containing address: UInt64) -> ImageSymbol? { nil }
  package func symbols(at address: UInt64) -> [ImageSymbol] { [] }
  /// The first symbol address greater than `address`; nil after the last.
  package func nextSymbolAddress(after address: UInt64) -> UInt64? { nil }
  /// Swift functions in whose mangled name every word occurs. Words are `IdentifierWords.split` results.
  package func candidates(words: [[UInt8]]) -> [ImageSymbol] { [] }
  /// Swift functions whose mangled name starts with `prefix`.
  package func candidates(prefix: [UInt8]) -> [ImageSymbol] { [] }
}
package enum IdentifierWords {
  /// The words the mangler would see in an identifier ("prettyPrintJSON" is pretty, Print, JSON); words of one letter are left out.
  package static func split(_ identifier: String) -> [[UInt8]] { [] }
}
package struct LoadedImage: Sendable {
  package enum FileState: Sendable, Equatable { case verified, unverified, fileReplaced, fileMissing }
  package let path: String
  package let isMainProgram: Bool
  /// What to add to a virtual address of the file to get an address in this process.
  package let bias: UInt
  /// [lowest, highest) address the image occupies in this process.
  package let range: Range<UInt>
  package let buildID: [UInt8]
  package let fileState: FileState
  package let file: ELFFile?
}
package struct LoadedImages: Sendable {
  package let images: [LoadedImage]
  package static func snapshot() -> LoadedImages { .init(images: []) }
  /// Changes whenever an image is loaded or unloaded; costs about a microsecond.
  package static var changeCount: UInt64 { 0 }
  package func image(containing address: UInt) -> LoadedImage? { nil }
}
package struct SwiftTypes: Sendable {
  package let types: [TypeRecord]
  package let protocols: [ProtocolRecord]
  package let conformances: [ConformanceRecord]
  /// From the file alone: applies relocations itself.
  package init(file: ELFFile) { types = []; protocols = []; conformances = [] }
  /// From this process's memory.
  package init(image: LoadedImage) { types = []; protocols = []; conformances = [] }
}
package struct TypeRecord: Sendable {
  package enum Kind: Sendable { case `class`, `struct`, `enum` }
  package let kind: Kind
  /// "Shop.Cart.Line"
  package let name: String
  package let isGeneric: Bool
  package let descriptor: UInt64
  package let accessor: UInt64?
  package let superclass: String?
  package let hasResilientSuperclass: Bool
  package let privateDiscriminator: String?
  package let fields: [FieldRecord]
  package let vtable: [VTableEntry]
}
package struct FieldRecord: Sendable {
  package let name: String
  package let isVar: Bool
  package let isIndirect: Bool
  package let type: MangledTypeReference?
}
package struct MangledTypeReference: Sendable {
  /// The mangled bytes; a symbolic reference is one control byte and four (or eight) address bytes.
  package let bytes: [UInt8]
  package let symbolic: [SymbolicReference]
}
package struct SymbolicReference: Sendable {
  package let offset: Int
  package let kind: UInt8
  package let name: String?
  package let target: UInt64?
}
package struct VTableEntry: Sendable {
  package enum Kind: UInt8, Sendable { case method, initializer, getter, setter, modify, read }
  package enum Target: Sendable, Equatable { case address(UInt64), deleted, null, external(String) }
  package let kind: Kind
  package let isInstance: Bool
  package let isAsync: Bool
  package let isDynamic: Bool
  package let descriptor: UInt64
  package let implementation: Target
}
package struct ProtocolRecord: Sendable {
  package let name: String
  package let requirementCount: Int
  package let isClassConstrained: Bool
  package let descriptor: UInt64
}
package struct ConformanceRecord: Sendable {
  package let type: String?
  package let protocolName: String?
  package let descriptor: UInt64
  package let witnessTable: UInt64?
}
package final class InlineTable: @unchecked Sendable {
  package enum Copies: Sendable, Equatable { case known(Int), noDebugInfo }
  package init(_ symbols: SymbolTable, indexDirectory: String? = nil) {}
  package func copies(ofMangledName name: [UInt8]) -> Copies { .noDebugInfo }
  package func sourceFile(discriminator: String, module: String) -> String? { nil }
}
