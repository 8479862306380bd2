import Glibc

// SymbolIndex — the order of the symbols by address, and which words they spell.
//
// Payload, all UInt32, in memory and on disk alike; keep in step with `build`:
//   0  number of symbols   1  number of postings   2, 3  zero
//   order[symbols]                 references, sorted by address
//   starts[buckets + 1]            where each bucket's postings begin
//   postings[postings]             references, ascending within a bucket
//
// A reference is table << 30 | entry. A bucket holds the symbols that spell a word
// whose hash falls into it. References are only hints: SymbolTable verifies each.

/// What a SymbolTable knows beyond the ELF file. A value; its memory belongs to `payload`.
package struct SymbolIndex: Sendable {
  /// How an index was come by.
  package enum Origin: Sendable, Equatable {
    /// It came from disk.
    case read
    /// It was built now and written to disk.
    case builtAndWritten
    /// It was built now; there is no build-id, no directory, or it cannot be written.
    case built
  }

  package let origin: Origin
  private let payload: IndexDirectory.Payload

  private static let bucketCount = 1 << 16
  private static let headerWords = 4
  /// Part of the key: raise when the layout, the words or the indexed kinds change.
  private static let format: UInt32 = 3

  private init(_ payload: IndexDirectory.Payload, _ origin: Origin) {
    self.payload = payload
    self.origin = origin
  }

  @inline(__always)
  private static func bucket(_ hash: UInt32) -> Int {
    Int(hash >> 16 ^ hash & 0xffff)
  }

  /// `count` words of the index from word `start` on. The file was checked to have them.
  private func words(_ start: Int, _ count: Int) -> UnsafeBufferPointer<UInt32> {
    UnsafeBufferPointer(
      start: (payload.bytes.base + start * 4).assumingMemoryBound(to: UInt32.self), count: count)
  }

  private var symbolCount: Int { Int(words(0, 1)[0]) }
  private var postingCount: Int { Int(words(1, 1)[0]) }

  /// References sorted by address.
  var order: UnsafeBufferPointer<UInt32> { words(Self.headerWords, symbolCount) }

  /// The symbols whose names have an identifier of that bucket, ascending.
  private func postings(_ bucket: Int) -> UnsafeBufferPointer<UInt32> {
    let starts = words(Self.headerWords + symbolCount, Self.bucketCount + 1)
    let start = Int(starts[bucket]), end = Int(starts[bucket + 1])
    // Checked at every use, so that a damaged table costs an answer and not the process.
    guard start <= end, end <= postingCount else { return UnsafeBufferPointer(start: nil, count: 0) }
    return words(Self.headerWords + symbolCount + Self.bucketCount + 1 + start, end - start)
  }

  /// The symbols that fall into the buckets of all `hashes`, each once.
  func forEachReference(withAll hashes: [UInt32], _ body: (UInt32) -> Void) {
    let lists = Set(hashes.map(Self.bucket)).map(postings).sorted { $0.count < $1.count }
    guard let shortest = lists.first else { return }
    var previous: UInt32?
    for reference in shortest where reference != previous {
      previous = reference
      if lists.dropFirst().allSatisfy({ Self.contains($0, reference) }) { body(reference) }
    }
  }

  /// Whether an ascending list holds the value.
  private static func contains(_ list: UnsafeBufferPointer<UInt32>, _ value: UInt32) -> Bool {
    var low = 0
    var high = list.count
    while low < high {
      let middle = (low + high) / 2
      if list[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low < list.count && list[low] == value
  }
}

// MARK: On disk

extension SymbolIndex {
  private static func fileName(_ table: SymbolTable) -> String? {
    table.file.buildID.isEmpty ? nil : table.file.buildIDHex + ".symbols"
  }

  /// Everything the payload depends on.
  private static func key(_ table: SymbolTable) -> [UInt8] {
    var key = Array("symbols".utf8) + table.file.buildID
    var numbers = [UInt64(format), UInt64(bucketCount), table.file.sectionTableSum]
    for raw in table.tables {
      numbers += [UInt64(raw.source.rawValue), UInt64(raw.count), UInt64(raw.strings.count)]
    }
    numbers.withUnsafeBytes { key += $0 }
    return key
  }

  /// The index from disk, if a sound one is there.
  static func open(for table: SymbolTable) -> SymbolIndex? {
    guard let name = fileName(table), let payload = table.indexDirectory.read(name, key: key(table)) else { return nil }
    let index = SymbolIndex(payload, .read)
    guard payload.bytes.count >= headerWords * 4 else { return nil }
    let needed = headerWords + index.symbolCount + bucketCount + 1 + index.postingCount
    guard payload.bytes.count >= needed * 4 else { return nil }
    return index
  }
}

// MARK: Building

extension SymbolIndex {
  /// Walks the symbols once, and writes the result to disk where that is possible.
  static func build(for table: SymbolTable) -> SymbolIndex {
    let base = table.file.segments.lazy.filter(\.isLoaded).map(\.address).min() ?? 0
    let total = table.tables.reduce(0) { $0 + $1.count }
    // address - base in the upper half, reference in the lower
    let keys = GrowingBuffer<UInt64>(capacity: total / 2)
    let tokens = Tokens(capacity: total)
    for (number, raw) in table.tables.enumerated() {
      for at in 0..<raw.count {
        let entry = raw[at]
        guard raw.isCode(entry) else { continue }
        let offset = entry.value &- base
        guard offset <= UInt64(UInt32.max) else { continue }
        let reference = UInt32(number) << 30 | UInt32(at)
        keys.append(offset << 32 | UInt64(reference))
        guard entry.isFunction else { continue }
        let start = raw.namePointer(entry)
        // Most of what is not Swift is sorted out before its length is asked for.
        guard start[0] == UInt8(ascii: "$") else { continue }
        tokens.add(ImageSymbol(entry, in: raw).name, reference)
      }
    }
    radixSort(keys)
    let symbols = table.tables.count > 1 ? withoutDuplicates(keys, table) : keys.count
    let bytes = assemble(keys, symbols, tokens)
    let payload = IndexDirectory.Payload(bytes: bytes.view, owner: bytes)
    let written = fileName(table).map { name in
      table.indexDirectory.write(name, key: key(table), payload: UnsafeRawBufferPointer(bytes.bytes))
    }
    return SymbolIndex(payload, written == true ? .builtAndWritten : .built)
  }

  /// The words of all symbols, in symbol order.
  private final class Tokens {
    let buckets: GrowingBuffer<UInt16>
    let references: GrowingBuffer<UInt32>
    let counts: GrowingBuffer<UInt16>

    init(capacity: Int) {
      buckets = GrowingBuffer(capacity: capacity * 4)
      references = GrowingBuffer(capacity: capacity / 2)
      counts = GrowingBuffer(capacity: capacity / 2)
    }

    @inline(__always)
    func add(_ name: UnsafeBufferPointer<UInt8>, _ reference: UInt32) {
      guard SwiftNames.isIndexed(name) else { return }
      let before = buckets.count
      MangledIdentifiers.forEach(name) { identifier in
        IdentifierWords.forEach(identifier) { _, _, hash in
          // A hostile name of a million words must not overflow its count.
          if buckets.count - before < Int(UInt16.max) { buckets.append(UInt16(truncatingIfNeeded: SymbolIndex.bucket(hash))) }
        }
      }
      references.append(reference)
      counts.append(UInt16(buckets.count - before))
    }
  }

  /// Lays the payload out; see the top of this file.
  private static func assemble(_ keys: GrowingBuffer<UInt64>, _ symbols: Int, _ tokens: Tokens) -> HeapBytes {
    let memory = HeapBytes(count: (headerWords + symbols + bucketCount + 1 + tokens.buckets.count) * 4)
    let words = memory.bytes.bindMemory(to: UInt32.self).baseAddress!
    words[0] = UInt32(symbols)
    words[1] = UInt32(tokens.buckets.count)
    words[2] = 0
    words[3] = 0
    let order = words + headerWords
    for at in 0..<symbols { order[at] = UInt32(truncatingIfNeeded: keys.base[at]) }
    // Counting sort by bucket; starts[b + 1] serves as the write cursor of bucket b until it has become its end.
    let starts = order + symbols
    for at in 0...bucketCount { starts[at] = 0 }
    let postings = starts + bucketCount + 1
    for bucket in tokens.buckets.elements where Int(bucket) + 2 <= bucketCount { starts[Int(bucket) + 2] += 1 }
    for at in 1...bucketCount { starts[at] += starts[at - 1] }
    var at = 0
    for symbol in 0..<tokens.references.count {
      let reference = tokens.references.base[symbol]
      for _ in 0..<Int(tokens.counts.base[symbol]) {
        let cursor = starts + (Int(tokens.buckets.base[at]) + 1)
        postings[Int(cursor.pointee)] = reference
        cursor.pointee += 1
        at += 1
      }
    }
    return memory
  }

  /// Sorts by the upper 32 bits, eleven at a time; equal addresses stay in table order.
  private static func radixSort(_ keys: GrowingBuffer<UInt64>) {
    let count = keys.count
    guard count > 1 else { return }
    let scratch = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
    defer { scratch.deallocate() }
    var from = keys.base
    var to = scratch
    for shift in [UInt64(32), 43, 54] {
      withUnsafeTemporaryAllocation(of: Int.self, capacity: 2048) { cursors in
        cursors.initialize(repeating: 0)
        for at in 0..<count { cursors[Int(from[at] >> shift & 2047)] += 1 }
        var sum = 0
        for at in 0..<2048 { (cursors[at], sum) = (sum, sum + cursors[at]) }
        for at in 0..<count {
          let digit = Int(from[at] >> shift & 2047)
          to[cursors[digit]] = from[at]
          cursors[digit] += 1
        }
      }
      swap(&from, &to)
    }
    // Three passes: the result lies in the scratch memory.
    keys.base.update(from: scratch, count: count)
  }

  /// Drops .dynsym entries that repeat one of the same name and address; the number that stay, at the front.
  private static func withoutDuplicates(_ keys: GrowingBuffer<UInt64>, _ table: SymbolTable) -> Int {
    var kept = 0
    var groupStart = 0
    for at in 0..<keys.count {
      let key = keys.base[at]
      if kept > 0, keys.base[kept - 1] >> 32 != key >> 32 { groupStart = kept }
      let reference = UInt32(truncatingIfNeeded: key)
      var isDuplicate = false
      if reference >> 30 != 0, let symbol = table.symbol(reference) {
        for other in groupStart..<kept where !isDuplicate {
          guard let earlier = table.symbol(UInt32(truncatingIfNeeded: keys.base[other])), earlier.source != symbol.source
          else { continue }
          isDuplicate =
            earlier.name.count == symbol.name.count
            && memcmp(earlier.namePointer, symbol.namePointer, symbol.name.count) == 0
        }
      }
      if !isDuplicate {
        keys.base[kept] = key
        kept += 1
      }
    }
    return kept
  }
}
