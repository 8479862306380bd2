// ValuePrinter+Collections — arrays, sets and dictionaries of the standard library by their elements.
//
// Read from their native storage (swift 6.3), without running any code: the count behind the object's header; of an array the
// elements behind the count and the capacity; of a set or dictionary a table with one bit for each bucket that is in use.

extension ValuePrinter {
  private enum Collection { case array, set, dictionary }

  private static func collection(_ name: String) -> Collection? {
    guard name.hasPrefix("Swift."), endsWithArguments(name) else { return nil }
    if name.hasPrefix("Swift.Array<") || name.hasPrefix("Swift.ContiguousArray<") { return .array }
    if name.hasPrefix("Swift.Set<") { return .set }
    return name.hasPrefix("Swift.Dictionary<") ? .dictionary : nil
  }

  /// Shows `[1, 2, …] (70)`, or `Array<Int>(70)` where no elements are wanted; false when `info` is no collection.
  func collection(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ room: PrintRoom, _ text: inout String) -> Bool {
    guard let kind = Self.collection(info.name), let storage = UnsafeRawPointer(bitPattern: memory.load(as: UInt.self)) else { return false }
    let count = storage.load(fromByteOffset: 16, as: Int.self)
    let capacity = storage.load(fromByteOffset: 24, as: Int.self)
    // What was never initialised is no collection.
    if count < 0 || count > (kind == .array ? capacity >> 1 : capacity) { text += "<\(Self.short(info.name))>"; return true }
    let types = info.metadata.genericArgumentMetadata.map { metadata in metadata.flatMap { try? TypeResolver.shared.type(of: $0).get() } }
    guard limits.elements > 0, room.depth > 0, types.count == (kind == .dictionary ? 2 : 1), !types.contains(where: { $0 == nil }) else {
      text += "\(Self.short(info.name))(\(count))"
      return true
    }
    if count == 0 {
      text += kind == .dictionary ? "[:]" : "[]"
      return true
    }
    text += "["
    var shown = 0
    func next(_ body: () -> Void) -> Bool {
      if shown > 0 { text += ", " }
      if shown == limits.elements || room.isFull(text) { return false }
      body()
      shown += 1
      return true
    }
    switch kind {
    case .array:
      let element = types[0]!
      let start = storage + (32 + element.alignment - 1) / element.alignment * element.alignment
      for index in 0..<count {
        guard next({ print(start + index * element.metadata.stride, element, room.inside, &text) }) else { break }
      }
    case .set, .dictionary:
      forEachBucket(storage, bits: kind == .set ? 56 : 64) { bucket in
        next {
          let key = types[0]!
          print(storage.load(fromByteOffset: 48, as: UnsafeRawPointer.self) + bucket * key.metadata.stride, key, room.inside, &text)
          guard kind == .dictionary, let value = types[1] else { return }
          text += ": "
          // A text that stands for a name says whether the value behind it is secret.
          if Self.isSecretKey(storage, bucket, key, isSecret) { text += "<masked>"; return }
          print(storage.load(fromByteOffset: 56, as: UnsafeRawPointer.self) + bucket * value.metadata.stride, value, room.inside, &text)
        }
      }
    }
    text += shown < count ? "…] (\(count))" : "]"
    return true
  }

  /// The key in that bucket of a dictionary is a text that names a secret.
  private static func isSecretKey(_ storage: UnsafeRawPointer, _ bucket: Int, _ key: TypeInfo, _ isSecret: (String) -> Bool) -> Bool {
    guard case .string = key.kind else { return false }
    let words = storage.load(fromByteOffset: 48, as: UnsafeRawPointer.self) + 16 * bucket
    return StringBits.withUTF8(words.loadUnaligned(as: UInt64.self), words.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) {
      $0.count < 100 && isSecret(String(decoding: $0, as: UTF8.self))
    }
  }

  /// The buckets in use of the hash table in `storage`, whose bits begin at that offset, until `body` answers false.
  private func forEachBucket(_ storage: UnsafeRawPointer, bits: Int, _ body: (Int) -> Bool) {
    let scale = storage.load(fromByteOffset: 32, as: Int8.self)
    guard (0..<48).contains(scale) else { return }
    let buckets = 1 << Int(scale)
    for word in 0..<max(1, buckets / 64) {
      var left = storage.load(fromByteOffset: bits + 8 * word, as: UInt.self)
      while left != 0 {
        let bucket = 64 * word + left.trailingZeroBitCount
        left &= left - 1
        // Tables with fewer buckets than bits have ones behind their end.
        if bucket >= buckets || !body(bucket) { return }
      }
    }
  }
}
