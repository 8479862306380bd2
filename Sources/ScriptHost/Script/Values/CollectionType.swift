// CollectionType — arrays, sets, dictionaries and bytes, by the standard library's own operations for the element type.
//
// The type's metadata names its elements; the operations are generic classes opened over them, so nothing here knows how
// a collection is stored, but for an array in a frame, whose maker may have left it unstored. Keys are hashed and compared by
// the program's own code, which hooks do not see.
private import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
private import Synchronization

/// What scripts do with collections of one type. Immutable. Elements and keys are of general form.
class CollectionType: @unchecked Sendable {
  // Subclasses hold types alone.
  let element: TypeInfo
  /// Dictionaries: the keys' type.
  let key: TypeInfo?

  init(element: TypeInfo, key: TypeInfo? = nil) {
    self.element = element
    self.key = key
  }

  var isList: Bool { false }
  var isBytes: Bool { false }
  /// How many elements or entries there are. `memory` holds a collection of this type, here and below.
  func count(_ memory: UnsafeRawPointer) -> Int { 0 }
  /// False of one that its maker did not store, as it saw that nobody looks at it: there is nothing to count.
  func isStored(_ memory: UnsafeRawPointer) -> Bool { true }
  /// Gives `body` the element at a 0-based position (lists), nil beyond the end. It stays as long as the collection's buffer.
  func withElement<R>(_ memory: UnsafeRawPointer, _ index: Int, _ body: (UnsafeRawPointer) -> R) -> R? { nil }
  /// Gives `body` the value of a key (dictionaries), or the member itself (sets).
  func withValue<R>(_ memory: UnsafeRawPointer, key: UnsafeRawPointer, _ body: (UnsafeRawPointer) -> R) -> R? { nil }
  /// Gives `body` the entry after that of `key` (of none: the first): its key and its value (sets: the member twice).
  func withEntry<R>(_ memory: UnsafeRawPointer, after key: UnsafeRawPointer?, _ body: (UnsafeRawPointer, UnsafeRawPointer) -> R) -> R? {
    nil
  }
  /// Gives `body` each entry until it answers false.
  func forEach(_ memory: UnsafeRawPointer, _ body: (UnsafeRawPointer, UnsafeRawPointer) -> Bool) {}
  /// Gives `body` the collection's bytes, valid only inside; nil where its elements are no bytes.
  func withBytes<R>(_ memory: UnsafeRawPointer, _ body: (UnsafeRawBufferPointer) -> R) -> R? { nil }
  /// Initialises `memory` with a list of `count` elements, each made by `make`.
  func makeList(_ count: Int, at memory: UnsafeMutableRawPointer, _ make: (Int, UnsafeMutableRawPointer) throws(BridgeError) -> Void)
    throws(BridgeError)
  {}
  /// Initialises `memory` with a collection of entries; `next` makes one (sets: the key alone) and answers false at the end.
  func makeEntries(
    at memory: UnsafeMutableRawPointer, _ next: (UnsafeMutableRawPointer, UnsafeMutableRawPointer) throws(BridgeError) -> Bool
  ) throws(BridgeError) {}
  /// Initialises `memory` from bytes; false when its elements are no bytes.
  func makeBytes(_ bytes: UnsafeRawBufferPointer, at memory: UnsafeMutableRawPointer) -> Bool { false }

  // MARK: Finding

  private static let known = Mutex<[Metadata: CollectionType?]>([:])

  /// The operations for a type; nil for a type that is no collection we know, or whose elements are unknown.
  static func of(_ info: TypeInfo) -> CollectionType? {
    guard case .structure = info.kind else { return nil }
    let note = TypeNote(of: info)
    return note.isCollection ? note.collection : nil
  }

  /// By a look into tables: `of` remembers what it says.
  static func find(_ info: TypeInfo) -> CollectionType? {
    guard case .structure = info.kind, let form = Form.of(info) else { return nil }
    if let found = known.withLock({ $0[info.metadata] }) { return found }
    let made = make(form, info)
    known.withLock { $0[info.metadata] = made }
    return made
  }

  private enum Form {
    case array, contiguousArray, arraySlice, set, dictionary, data

    private static let byDescriptor: [TypeDescriptor: Form] = [
      Metadata([Int].self).descriptor!: .array, Metadata(ContiguousArray<Int>.self).descriptor!: .contiguousArray,
      Metadata(ArraySlice<Int>.self).descriptor!: .arraySlice, Metadata(Set<Int>.self).descriptor!: .set,
      Metadata([Int: Int].self).descriptor!: .dictionary,
    ]
    static func of(_ info: TypeInfo) -> Form? {
      if let found = info.metadata.descriptor.flatMap({ byDescriptor[$0] }) { return found }
      return info.name == "FoundationEssentials.Data" || info.name == "Foundation.Data" ? .data : nil
    }
  }

  private static func make(_ form: Form, _ info: TypeInfo) -> CollectionType? {
    if form == .data {
      // Data is known by what it conforms to: its library is not linked here.
      guard let type = info.metadata.type as? any (RandomAccessCollection & RangeReplaceableCollection).Type,
        let byte = try? TypeResolver.shared.type(of: Metadata(UInt8.self)).get()
      else { return nil }
      func open<C: RandomAccessCollection & RangeReplaceableCollection>(_: C.Type) -> CollectionType? {
        C.Element.self == UInt8.self ? BytesType<C>(element: byte) : nil
      }
      return open(type)
    }
    guard let arguments = info.metadata.genericArguments else { return nil }
    let first = Metadata(arguments.load(as: UnsafeRawPointer.self))
    guard first.isCopyable, case .success(let element) = TypeResolver.shared.general(of: first) else { return nil }
    switch form {
    case .array, .contiguousArray, .arraySlice:
      func open<T>(_: T.Type) -> CollectionType {
        switch form {
        case .array: ListType<[T]>(element: element)
        case .contiguousArray: ListType<ContiguousArray<T>>(element: element)
        default: ListType<ArraySlice<T>>(element: element)
        }
      }
      return _openExistential(first.type, do: open)
    case .set:
      func open<T: Hashable>(_: T.Type) -> CollectionType { SetType<T>(element: element) }
      return (first.type as? any Hashable.Type).map { open($0) }
    case .dictionary:
      let second = Metadata(arguments.load(fromByteOffset: 8, as: UnsafeRawPointer.self))
      guard second.isCopyable, case .success(let value) = TypeResolver.shared.general(of: second) else { return nil }
      func open<K: Hashable>(_: K.Type) -> CollectionType {
        func open<V>(_: V.Type) -> CollectionType { DictionaryType<K, V>(element: value, key: element) }
        return _openExistential(second.type, do: open)
      }
      return (first.type as? any Hashable.Type).map { open($0) }
    case .data: return nil
    }
  }
}

/// The lists of the standard library, which lie in one buffer each.
private protocol BufferList: RandomAccessCollection, RangeReplaceableCollection {
  func withUnsafeBufferPointer<R>(_ body: (UnsafeBufferPointer<Element>) throws -> R) rethrows -> R
  /// A list of at most `count` elements, which `fill` initialises and counts; where it throws, those it counted are ended.
  static func made(_ count: Int, _ fill: (UnsafeMutablePointer<Element>, inout Int) throws -> Void) rethrows -> Self
}
extension Array: BufferList {
  fileprivate static func made(_ count: Int, _ fill: (UnsafeMutablePointer<Element>, inout Int) throws -> Void) rethrows -> Self {
    try Array(unsafeUninitializedCapacity: count) { buffer, made in if let start = buffer.baseAddress { try fill(start, &made) } }
  }
}
extension ContiguousArray: BufferList {
  fileprivate static func made(_ count: Int, _ fill: (UnsafeMutablePointer<Element>, inout Int) throws -> Void) rethrows -> Self {
    try ContiguousArray(unsafeUninitializedCapacity: count) { buffer, made in if let start = buffer.baseAddress { try fill(start, &made) } }
  }
}
extension ArraySlice: BufferList {
  fileprivate static func made(_ count: Int, _ fill: (UnsafeMutablePointer<Element>, inout Int) throws -> Void) rethrows -> Self {
    try Array.made(count, fill)[...]
  }
}

private final class ListType<L: BufferList>: CollectionType, @unchecked Sendable {
  override var isList: Bool { true }
  override var isBytes: Bool { L.Element.self == UInt8.self }

  // The metadata that chose this class says that the memory holds an L.
  /// The list at `memory`, with a reference of its own.
  private func list(_ memory: UnsafeRawPointer) -> L { memory.assumingMemoryBound(to: L.self).pointee }

  /// Of an array in a frame: its elements lie there, too. Behind the header of 16 bytes are its count and its capacity (ArrayBody.swift).
  override func isStored(_ memory: UnsafeRawPointer) -> Bool {
    // A slice is four words.
    guard MemoryLayout<L>.size == MemoryLayout<UInt>.size, let buffer = memory.load(as: UnsafeRawPointer?.self), hkt_is_in_frame(buffer) else {
      return true
    }
    let count = buffer.load(fromByteOffset: 16, as: Int.self)
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<L.Element>.stride)
    return count == 0 || count > 0 && !overflow && bytes < 1 << 30 && hkt_lies_in_frame(buffer + 31 + bytes)
  }
  override func count(_ memory: UnsafeRawPointer) -> Int { isStored(memory) ? list(memory).count : 0 }
  override func withElement<R>(_ memory: UnsafeRawPointer, _ index: Int, _ body: (UnsafeRawPointer) -> R) -> R? {
    if !isStored(memory) { return nil }
    return list(memory).withUnsafeBufferPointer { $0.indices.contains(index) ? body(UnsafeRawPointer($0.baseAddress! + index)) : nil }
  }
  override func withBytes<R>(_ memory: UnsafeRawPointer, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
    isBytes && isStored(memory) ? list(memory).withUnsafeBufferPointer { body(UnsafeRawBufferPointer($0)) } : nil
  }
  override func makeList(
    _ count: Int, at memory: UnsafeMutableRawPointer, _ make: (Int, UnsafeMutableRawPointer) throws(BridgeError) -> Void
  )
    throws(BridgeError)
  {
    do {
      let made = try L.made(count) { start, made in
        while made < count {
          try make(made, UnsafeMutableRawPointer(start + made))
          made += 1
        }
      }
      memory.initializeMemory(as: L.self, to: made)
    } catch {
      // Nothing above throws but `make`.
      throw error as! BridgeError
    }
  }
  override func makeBytes(_ bytes: UnsafeRawBufferPointer, at memory: UnsafeMutableRawPointer) -> Bool {
    guard isBytes else { return false }
    memory.initializeMemory(
      as: L.self,
      to: L.made(bytes.count) { start, made in
        UnsafeMutableRawPointer(start).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
        made = bytes.count
      })
    return true
  }
}

/// Any other collection of bytes that can be made from bytes: Data.
private final class BytesType<C: RandomAccessCollection & RangeReplaceableCollection>: CollectionType, @unchecked Sendable {
  override var isList: Bool { true }
  override var isBytes: Bool { true }
  /// What the metadata that chose this class says the memory holds.
  private func collection(_ memory: UnsafeRawPointer) -> C { memory.assumingMemoryBound(to: C.self).pointee }

  override func count(_ memory: UnsafeRawPointer) -> Int { HostWork.run { collection(memory).count } }
  override func withElement<R>(_ memory: UnsafeRawPointer, _ index: Int, _ body: (UnsafeRawPointer) -> R) -> R? {
    HostWork.run {
      let all = collection(memory)
      guard index >= 0, index < all.count else { return nil }
      return withUnsafePointer(to: all[all.index(all.startIndex, offsetBy: index)]) { body(UnsafeRawPointer($0)) }
    }
  }
  override func withBytes<R>(_ memory: UnsafeRawPointer, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
    HostWork.run {
      collection(memory).withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
        ?? Array(collection(memory)).withUnsafeBytes(body)
    }
  }
  override func makeList(
    _ count: Int, at memory: UnsafeMutableRawPointer, _ make: (Int, UnsafeMutableRawPointer) throws(BridgeError) -> Void
  )
    throws(BridgeError)
  {
    var bytes = [UInt8](repeating: 0, count: count)
    for index in 0..<count {
      var byte: UInt8 = 0
      try make(index, &byte)
      bytes[index] = byte
    }
    _ = bytes.withUnsafeBytes { makeBytes($0, at: memory) }
  }
  override func makeBytes(_ bytes: UnsafeRawBufferPointer, at memory: UnsafeMutableRawPointer) -> Bool {
    // The element type was compared with UInt8 when this class was chosen.
    _ = HostWork.run { memory.initializeMemory(as: C.self, to: C(bytes.bindMemory(to: C.Element.self))) }
    return true
  }
}

private final class SetType<T: Hashable>: CollectionType, @unchecked Sendable {
  /// What the metadata that chose this class says the memory holds.
  private func set(_ memory: UnsafeRawPointer) -> Set<T> { memory.assumingMemoryBound(to: Set<T>.self).pointee }

  override func count(_ memory: UnsafeRawPointer) -> Int { set(memory).count }
  override func withValue<R>(_ memory: UnsafeRawPointer, key: UnsafeRawPointer, _ body: (UnsafeRawPointer) -> R) -> R? {
    let set = set(memory)
    guard HostWork.run({ set.contains(key.assumingMemoryBound(to: T.self).pointee) }) else { return nil }
    return body(key)
  }
  override func withEntry<R>(_ memory: UnsafeRawPointer, after key: UnsafeRawPointer?, _ body: (UnsafeRawPointer, UnsafeRawPointer) -> R)
    -> R?
  {
    let set = set(memory)
    var index = set.startIndex
    if let key {
      guard let found = HostWork.run({ set.firstIndex(of: key.assumingMemoryBound(to: T.self).pointee) }) else { return nil }
      index = set.index(after: found)
    }
    guard index != set.endIndex else { return nil }
    return withUnsafePointer(to: set[index]) { body(UnsafeRawPointer($0), UnsafeRawPointer($0)) }
  }
  override func forEach(_ memory: UnsafeRawPointer, _ body: (UnsafeRawPointer, UnsafeRawPointer) -> Bool) {
    for member in set(memory) {
      guard withUnsafePointer(to: member, { body(UnsafeRawPointer($0), UnsafeRawPointer($0)) }) else { return }
    }
  }
  override func makeEntries(
    at memory: UnsafeMutableRawPointer, _ next: (UnsafeMutableRawPointer, UnsafeMutableRawPointer) throws(BridgeError) -> Bool
  ) throws(BridgeError) {
    var made: Set<T> = []
    let room = UnsafeMutablePointer<T>.allocate(capacity: 1)
    defer { room.deallocate() }
    while try next(UnsafeMutableRawPointer(room), UnsafeMutableRawPointer(room)) {
      let member = room.move()
      HostWork.run { _ = made.insert(member) }
    }
    memory.initializeMemory(as: Set<T>.self, to: made)
  }
}

private final class DictionaryType<K: Hashable, V>: CollectionType, @unchecked Sendable {
  /// What the metadata that chose this class says the memory holds.
  private func dictionary(_ memory: UnsafeRawPointer) -> [K: V] { memory.assumingMemoryBound(to: [K: V].self).pointee }

  override func count(_ memory: UnsafeRawPointer) -> Int { dictionary(memory).count }
  override func withValue<R>(_ memory: UnsafeRawPointer, key: UnsafeRawPointer, _ body: (UnsafeRawPointer) -> R) -> R? {
    let all = dictionary(memory)
    guard let index = HostWork.run({ all.index(forKey: key.assumingMemoryBound(to: K.self).pointee) }) else { return nil }
    return withUnsafePointer(to: all[index].value) { body(UnsafeRawPointer($0)) }
  }
  override func withEntry<R>(_ memory: UnsafeRawPointer, after key: UnsafeRawPointer?, _ body: (UnsafeRawPointer, UnsafeRawPointer) -> R)
    -> R?
  {
    let all = dictionary(memory)
    var index = all.startIndex
    if let key {
      guard let found = HostWork.run({ all.index(forKey: key.assumingMemoryBound(to: K.self).pointee) }) else { return nil }
      index = all.index(after: found)
    }
    guard index != all.endIndex else { return nil }
    let entry = all[index]
    return withUnsafePointer(to: entry.key) { key in
      withUnsafePointer(to: entry.value) { body(UnsafeRawPointer(key), UnsafeRawPointer($0)) }
    }
  }
  override func forEach(_ memory: UnsafeRawPointer, _ body: (UnsafeRawPointer, UnsafeRawPointer) -> Bool) {
    for (key, value) in dictionary(memory) {
      let goesOn = withUnsafePointer(to: key) { key in
        withUnsafePointer(to: value) { body(UnsafeRawPointer(key), UnsafeRawPointer($0)) }
      }
      guard goesOn else { return }
    }
  }
  override func makeEntries(
    at memory: UnsafeMutableRawPointer, _ next: (UnsafeMutableRawPointer, UnsafeMutableRawPointer) throws(BridgeError) -> Bool
  ) throws(BridgeError) {
    var made: [K: V] = [:]
    let key = UnsafeMutablePointer<K>.allocate(capacity: 1)
    let value = UnsafeMutablePointer<V>.allocate(capacity: 1)
    defer {
      key.deallocate()
      value.deallocate()
    }
    while try next(UnsafeMutableRawPointer(key), UnsafeMutableRawPointer(value)) {
      let (k, v) = (key.move(), value.move())
      let isFirst = HostWork.run { made.updateValue(v, forKey: k) == nil }
      // A table has no order: which of the two was meant does not show.
      guard isFirst else { throw .equalKeys(type: _typeName(K.self, qualified: true)) }
    }
    memory.initializeMemory(as: [K: V].self, to: made)
  }
}
