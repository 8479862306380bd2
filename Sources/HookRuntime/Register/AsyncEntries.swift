// AsyncEntries — which code of an image is the entry of an async function, and how large a context it wants.
//
// Every async function has an async function pointer, symbol `…Tu`: {32-bit relative address of the entry, 32-bit size
// of the context its caller allocates}. A getter's own name does not say that it is async; its record does. The records
// hold no relocations, so the file's bytes tell.

struct AsyncEntries {
  package struct Record: Sendable {
    /// The file's address of the async function pointer.
    package let address: UInt64
    package let contextSize: UInt32
  }
  /// The key is the file's address of the entry.
  private let records: [UInt64: Record]
  /// The keys are the file's addresses of async function pointers, the values those of the entries.
  private let entries: [UInt64: UInt64]

  init(_ file: ELFFile, _ symbols: SymbolTable) {
    var records: [UInt64: Record] = [:]
    for table in symbols.tables {
      for index in 0..<table.count {
        let entry = table[index]
        guard !entry.isFunction, entry.isDefined, entry.size >= 8, table.name(entry, endsWith: "Tu"),
          let record = file.bytes(at: entry.value, count: 8)?.baseAddress
        else { continue }
        let code = entry.value &+ UInt64(bitPattern: Int64(record.loadUnaligned(as: Int32.self)))
        records[code] = Record(address: entry.value, contextSize: record.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
      }
    }
    self.records = records
    pointers = records.values.map(\.address).sorted()
    entries = Dictionary(records.map { ($1.address, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The file's addresses of all async function pointers, ascending.
  let pointers: [UInt64]

  /// The entry of the async function whose pointer is at the file's address.
  func code(of pointer: UInt64) -> UInt64? { entries[pointer] }

  /// The record of the async function that starts at the file's address; nil when none is known there.
  func record(at address: UInt64) -> Record? { records[address] }
}
