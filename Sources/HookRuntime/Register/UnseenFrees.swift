// UnseenFrees — functions that free an object without a look at who else refers to it.
//
// Where the optimiser shows that an object does not leave a function, and has no room for it in the frame, it allocates it as usual and ends it
// by the compiler's own code: the runtime is told that it is being deallocated, and its memory goes, whatever its count of references
// says. In such a function's code there is a call of `swift_setDeallocating` and a reference to the class. Who keeps such an object while the
// function runs has freed memory later.
private import CHookTrampoline
private import Synchronization

package enum UnseenFrees {
  /// A function that runs on this thread may free the object so.
  package static func threaten(_ object: UnsafeRawPointer) -> Bool {
    let metadata = object.load(as: UnsafeRawPointer.self)
    let functions = functions(freeing: Metadata(metadata))
    // Somebody else has a reference, too: the compiler saw that it leaves.
    guard !functions.isEmpty, hkt_retain_count(object) == 1 else { return false }
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 256) { addresses in
      let count = hkt_return_addresses(addresses.baseAddress, addresses.count)
      return addresses[..<count].contains { address in functions.contains { address - 1 >= $0.lowerBound && address - 1 < $0.upperBound } }
    }
  }

  private static let known = Mutex<[Metadata: [Range<UInt64>]]>([:])

  /// Where in memory the functions lie that free objects of the class.
  private static func functions(freeing type: Metadata) -> [Range<UInt64>] {
    if let found = known.withLock({ $0[type] }) { return found }
    let found = find(type)
    known.withLock { $0[type] = found }
    return found
  }

  private static func find(_ type: Metadata) -> [Range<UInt64>] {
    guard let descriptor = type.descriptor, let image = CallSites.image(of: UInt64(UInt(bitPattern: descriptor.pointer))) else { return [] }
    return image.lock.withLock {
      // Metadata of generic classes is made when the program runs: the code names it by its spelling, which is not looked for.
      let places = descriptor.isGeneric ? [] : [type.pointer, descriptor.accessor].compactMap { $0 }.map { UInt64(UInt(bitPattern: $0)) &- image.bias }
      return image.unseenFrees.functions.filter { places.isEmpty || image.unseenFrees.refer($0, to: places) }.map {
        $0.lowerBound &+ image.bias..<$0.upperBound &+ image.bias
      }
    }
  }
}

/// Those of one image, by the file's addresses.
final class ImageUnseenFrees {
  let functions: [Range<UInt64>]
  private let file: ELFFile

  init(_ file: ELFFile, _ symbols: SymbolTable) {
    self.file = file
    let words = Set(ImportTable(file).slots(of: ["swift_setDeallocating"]).map(\.word))
    var found: Set<Range<UInt64>> = []
    if !words.isEmpty {
      for address in Self.calls(file, words) {
        guard let function = symbols.symbol(containing: address), function.size > 0 else { continue }
        found.insert(function.address..<function.address &+ UInt64(function.size))
      }
    }
    functions = found.sorted { $0.lowerBound < $1.lowerBound }
  }

  /// Calls through one of the words, straight or by a stub of the linker's.
  private static func calls(_ file: ELFFile, _ words: Set<UInt64>) -> [UInt64] {
    let code = file.sections.filter(\.isExecutable).compactMap { section in file.bytes(of: section).map { (section.address, $0) } }
    var stubs: Set<UInt64> = []
    // jmp *word(%rip), with endbr64 before it or without.
    for (base, bytes) in code {
      each(bytes, 0xFF, 0x25) { at, distance in
        let place = base &+ UInt64(at)
        guard words.contains(place &+ 6 &+ distance) else { return }
        stubs.formUnion([place, place &- 4, place &- 5])
      }
    }
    var found: [UInt64] = []
    for (base, bytes) in code {
      each(bytes, 0xFF, 0x15) { at, distance in
        if words.contains(base &+ UInt64(at) &+ 6 &+ distance) { found.append(base &+ UInt64(at)) }
      }
      each(bytes, 0xE8, nil) { at, distance in
        if stubs.contains(base &+ UInt64(at) &+ 5 &+ distance) { found.append(base &+ UInt64(at)) }
      }
    }
    return found
  }

  /// Wherever the bytes are, with the 32 bits behind them; an instruction may begin elsewhere, and then leads nowhere that is looked for.
  private static func each(_ bytes: UnsafeRawBufferPointer, _ first: UInt8, _ second: UInt8?, _ body: (Int, UInt64) -> Void) {
    let length = second == nil ? 1 : 2
    guard bytes.count >= length + 4 else { return }
    for at in 0...bytes.count - length - 4 where bytes[at] == first && (second == nil || bytes[at + 1] == second) {
      body(at, UInt64(bitPattern: Int64(bytes.loadUnaligned(fromByteOffset: at + length, as: Int32.self))))
    }
  }

  /// The function's code has the address of one of the places, relative to itself.
  func refer(_ function: Range<UInt64>, to places: [UInt64]) -> Bool {
    guard let bytes = file.bytes(at: function.lowerBound, count: Int(function.upperBound - function.lowerBound)), bytes.count >= 4 else { return false }
    return (0...bytes.count - 4).contains { at in
      let distance = UInt64(bitPattern: Int64(bytes.loadUnaligned(fromByteOffset: at, as: Int32.self)))
      return places.contains(function.lowerBound &+ UInt64(at) &+ 4 &+ distance)
    }
  }
}
