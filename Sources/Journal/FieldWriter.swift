// FieldWriter — builds the payload of one record in memory borrowed from the caller.
//
// Nothing is allocated. What rules call on every event is public, and so written into their code: the compiler inlines nothing that is
// `package` into another module. The payload is the record's name and then fields:
//
//     u8 length, name of the record
//     per field: u8 tag, u8 length, name, value
//
// Elements of a list have an empty name. What does not fit is left out and the
// record says so. Keep in step with FieldReader.

/// The tags of the payload.
@usableFromInline
package enum FieldTag: UInt8 {
  case null = 1
  case no = 2
  case yes = 3
  /// Int64, 8 bytes.
  case integer = 4
  /// UInt64, 8 bytes.
  case unsigned = 5
  /// Double, 8 bytes.
  case double = 6
  /// u32 length, bytes.
  case string = 7
  /// u32 length, u32 length before it was cut, bytes.
  case cutString = 8
  /// Fields up to `end`; elements of a list have empty names.
  case list = 9
  case object = 10
  case end = 11
  /// A value that is masked; it was never stored.
  case masked = 12
  /// An identifier of 8 bytes, shown in hexadecimal.
  case identifier = 13
  /// An identifier of 16 bytes, the high word first.
  case longIdentifier = 14
}

/// A number or a Bool as records have it.
public struct FieldWord {
  @usableFromInline let tag: FieldTag
  @usableFromInline let size: Int
  @usableFromInline let bits: UInt64

  @inlinable @inline(__always)
  init(_ tag: FieldTag, _ bits: UInt64, size: Int = 8) { (self.tag, self.bits, self.size) = (tag, bits, size) }

  @inlinable @inline(__always)
  public static func integer(_ value: Int64) -> FieldWord { FieldWord(.integer, UInt64(bitPattern: value)) }
  @inlinable @inline(__always)
  public static func unsigned(_ value: UInt64) -> FieldWord { FieldWord(.unsigned, value) }
  @inlinable @inline(__always)
  public static func double(_ value: Double) -> FieldWord { FieldWord(.double, value.bitPattern) }
  @inlinable @inline(__always)
  public static func bool(_ value: Bool) -> FieldWord { FieldWord(value ? .yes : .no, 0, size: 0) }
}

/// The name of a field, made once per rule, not once per event: its bytes as the record has them, and whether its
/// values are masked.
public struct FieldName: Sendable, ExpressibleByStringLiteral {
  /// Length, UTF-8 (at most 255 bytes), and zeros up to a multiple of 16: copied without asking for the length.
  @usableFromInline let encoded: [UInt8]
  /// Whether values of this name are replaced by `<masked>`.
  public let isMasked: Bool

  /// Whether values of the name are masked is the caller's to know.
  package init(_ name: String, masked: Bool) {
    var name = name
    encoded = name.withUTF8 { text in
      let length = min(text.count, 255), size = (length / 16 + 1) * 16
      // All of them are zero at first.
      return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
        count = size
        bytes.initialize(repeating: 0)
        bytes[0] = UInt8(length)
        for index in 0..<length { bytes[index + 1] = text[index] }
      }
    }
    isMasked = masked
  }

  /// A name whose values are masked.
  init(masking name: FieldName) {
    encoded = name.encoded
    isMasked = true
  }

  /// A name that code of ours spells out: its values are shown.
  public init(stringLiteral name: String) { self.init(name, masked: false) }

  /// A name in memory that its user keeps: owns nothing, so that passing it on costs nothing.
  public struct Borrowed: @unchecked Sendable {  // points to bytes that never change
    @usableFromInline let encoded: UnsafeRawPointer
    public let isMasked: Bool

    @inlinable
    init(encoded: UnsafeRawPointer, isMasked: Bool) {
      self.encoded = encoded
      self.isMasked = isMasked
    }
  }

  /// Gives `body` the name; not for longer than that.
  @inlinable @inline(__always)
  public func withBorrowed<R>(_ body: (Borrowed) -> R) -> R {
    encoded.withUnsafeBytes { body(Borrowed(encoded: $0.baseAddress!, isMasked: isMasked)) }
  }

  /// A copy that is given back with `Borrowed.free()`.
  package func copied() -> Borrowed {
    let copy = UnsafeMutableRawPointer.allocate(byteCount: encoded.count, alignment: 16)
    encoded.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    return Borrowed(encoded: copy, isMasked: isMasked)
  }
}

/// The name of records that one owner writes, whose values are shown.
package struct RecordName: ~Copyable, Sendable {
  package let borrowed: FieldName.Borrowed

  package init(_ name: String) { borrowed = FieldName(name, masked: false).copied() }
  deinit { borrowed.free() }
}

extension FieldName.Borrowed {
  /// A name that code of ours spells out, kept for ever: for what is made once.
  package init(_ name: StaticString) { self = FieldName("\(name)", masked: false).copied() }

  /// Only for what `FieldName.copied` made.
  package func free() { encoded.deallocate() }

  /// Bytes of length and name.
  @inlinable @inline(__always)
  var size: Int { 1 &+ Int(encoded.load(as: UInt8.self)) }
}

/// Writes one record's name and fields. Used by one thread, for one record at a time.
public struct FieldWriter {
  /// Where the payload is written.
  @usableFromInline package let base: UnsafeMutableRawPointer
  /// Bytes that may be used; 8 are kept back for the padding.
  @usableFromInline let room: Int
  /// Bytes written.
  @usableFromInline package internal(set) var count = 0
  /// Whether something was left out.
  @usableFromInline package internal(set) var isCut = false
  /// Bytes of the largest payload: a unit of the journal without what it keeps for itself and for the record's header.
  @inlinable static var largest: Int { 32 * 1024 - 512 - 40 }
  /// Longest string stored, in bytes of UTF-8; a longer one is cut and says so.
  public var maximumString = 4096

  /// The name is cut at 255 bytes. The buffer needs 300 bytes for a name alone and must outlive
  /// the writer; 512 to 4,096 are usual.
  package init(_ name: FieldName, into buffer: UnsafeMutableRawBufferPointer) {
    self = name.withBorrowed { FieldWriter($0, into: buffer) }
  }

  @inlinable @inline(__always)
  public init(_ name: FieldName.Borrowed, into buffer: UnsafeMutableRawBufferPointer) {
    precondition(buffer.count >= 300)
    base = buffer.baseAddress!
    room = Swift.min(buffer.count, Self.largest) - 8
    put(name)
  }

  /// A record whose name and fields were written before, by a writer of this format.
  package init(copying payload: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) {
    base = buffer.baseAddress!
    room = Swift.min(buffer.count, Self.largest) - 8
    addEncoded(payload)
  }

  /// The bytes of the fields written since `count` had this value.
  package func encoded(from start: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base + start, count: count - start) }

  /// Adds fields that were written before, as `encoded(from:)` has them; all or, when there is no room, none.
  package mutating func addEncoded(_ fields: UnsafeRawBufferPointer) {
    guard count + fields.count <= room else { return isCut = true }
    if let start = fields.baseAddress { (base + count).copyMemory(from: start, byteCount: fields.count) }
    count += fields.count
  }

  // MARK: Fields

  package mutating func add(_ name: FieldName, _ value: Int) { add(name, Int64(value)) }
  package mutating func add(_ name: FieldName, _ value: Int64) { name.withBorrowed { add($0, value) } }
  package mutating func add(_ name: FieldName, _ value: UInt64) { name.withBorrowed { add($0, value) } }
  package mutating func add(_ name: FieldName, _ value: Double) { name.withBorrowed { add($0, value) } }
  package mutating func add(_ name: FieldName, _ value: Bool) { name.withBorrowed { add($0, value) } }
  package mutating func addNull(_ name: FieldName) { name.withBorrowed { addNull($0) } }
  package mutating func add(_ name: FieldName, _ value: String) {
    var value = value
    value.withUTF8 { add(name, utf8: UnsafeRawBufferPointer($0)) }
  }
  /// Adds text as bytes; the reader shows what is not UTF-8 as U+FFFD. `fullLength` tells the
  /// length of the whole text when the caller has cut it already.
  package mutating func add(_ name: FieldName, utf8 text: UnsafeRawBufferPointer, fullLength: Int? = nil) {
    name.withBorrowed { add($0, utf8: text, fullLength: fullLength) }
  }

  package mutating func add(_ name: FieldName, identifier low: UInt64) { name.withBorrowed { add($0, identifier: low) } }
  package mutating func add(_ name: FieldName, identifier low: UInt64, high: UInt64) {
    name.withBorrowed { add($0, identifier: low, high: high) }
  }

  // Takes a name that owns nothing.

  @inlinable @inline(__always)
  public mutating func add(_ name: FieldName.Borrowed, _ value: Int64) {
    guard begin(name, .integer, size: 8) else { return }
    put(UInt64(bitPattern: value))
  }

  @inlinable @inline(__always)
  public mutating func add(_ name: FieldName.Borrowed, _ value: UInt64) {
    guard begin(name, .unsigned, size: 8) else { return }
    put(value)
  }

  @inlinable @inline(__always)
  public mutating func add(_ name: FieldName.Borrowed, _ value: Double) {
    guard begin(name, .double, size: 8) else { return }
    put(value.bitPattern)
  }

  @inlinable @inline(__always)
  public mutating func add(_ name: FieldName.Borrowed, _ value: Bool) { _ = begin(name, value ? .yes : .no, size: 0) }

  /// Adds a number or a Bool by what the record has of it: for who finds out its type at each call.
  @inlinable @inline(__always)
  public mutating func add(_ name: FieldName.Borrowed, _ value: FieldWord) {
    guard begin(name, value.tag, size: value.size) else { return }
    // Eight bytes are kept back behind what may be used.
    base.storeBytes(of: value.bits, toByteOffset: count, as: UInt64.self)
    count &+= value.size
  }

  @inlinable @inline(__always)
  public mutating func addNull(_ name: FieldName.Borrowed) { _ = begin(name, .null, size: 0) }

  /// An identifier that people read in hexadecimal: of a span, or with its high word of a trace.
  @inlinable @inline(__always)
  public mutating func add(_ name: FieldName.Borrowed, identifier low: UInt64) {
    guard begin(name, .identifier, size: 8) else { return }
    put(low)
  }

  @inlinable @inline(__always)
  public mutating func add(_ name: FieldName.Borrowed, identifier low: UInt64, high: UInt64) {
    guard begin(name, .longIdentifier, size: 16) else { return }
    put(high)
    put(low)
  }

  /// Adds a text, cut to what the record has room for. `fullLength` is reported where the bytes are a part of a longer text already.
  package mutating func add(_ name: FieldName.Borrowed, utf8 text: UnsafeRawBufferPointer, fullLength: Int? = nil) {
    let header = 1 + name.size + 8
    let limit = Swift.min(maximumString, room - count - header)
    guard limit >= 0 else { return isCut = true }
    let whole = fullLength ?? text.count
    let kept = text.count <= limit ? text.count : Self.boundary(in: text, atOrBefore: limit)
    guard begin(name, kept < whole ? .cutString : .string, size: kept + (kept < whole ? 8 : 4)) else { return }
    put(UInt32(truncatingIfNeeded: kept))
    if kept < whole { put(UInt32(clamping: whole)) }
    if kept > 0 { (base + count).copyMemory(from: text.baseAddress!, byteCount: kept) }
    count += kept
  }

  /// Starts a list, whose elements are added with the name "" until `end()`.
  package mutating func beginList(_ name: FieldName) { _ = name.withBorrowed { begin($0, .list, size: 0) } }

  /// Starts a group of named fields, until `end()`.
  package mutating func beginObject(_ name: FieldName) { _ = name.withBorrowed { begin($0, .object, size: 0) } }

  /// Takes a name that owns nothing.
  package mutating func beginObject(_ name: FieldName.Borrowed) { _ = begin(name, .object, size: 0) }

  /// Ends the innermost list or group.
  package mutating func end() { _ = FieldWriter.noName.withBorrowed { begin($0, .end, size: 0) } }

  /// The name of list elements.
  package static let noName = FieldName("", masked: false)

  /// The fields written since `count` had this value.
  package func fields(from start: Int) -> [Field] {
    var reader = FieldReader(UnsafeRawBufferPointer(start: base + start, count: count - start))
    return reader.fields()
  }

  // MARK: Bytes

  /// Writes tag and name and answers whether the caller may write `size` bytes of value.
  /// A masked name writes that the value is masked, and answers no.
  @inlinable @inline(__always)
  mutating func begin(_ name: FieldName.Borrowed, _ tag: FieldTag, size: Int) -> Bool {
    // Without checks for overflow, here and below: what is written is at most 32 KiB, and what is given a value in memory.
    guard !isCut, count &+ 1 &+ name.size &+ size <= room else {
      isCut = true
      return false
    }
    // A group with a secret name keeps its shape; its fields decide for themselves.
    var masked = false
    if name.isMasked {
      switch tag {
      case .list, .object, .null: break
      default: masked = true
      }
    }
    base.storeBytes(of: masked ? FieldTag.masked.rawValue : tag.rawValue, toByteOffset: count, as: UInt8.self)
    count &+= 1
    put(name)
    return !masked
  }

  /// Copies sixteen bytes at a time, zeros beyond the name among them, because a call of memcpy costs more; near the end
  /// of the buffer, where the zeros would not fit, only the name.
  @inlinable @inline(__always)
  mutating func put(_ name: FieldName.Borrowed) {
    let size = name.size
    if count &+ size &+ 15 <= room &+ 8 {
      var done = 0
      repeat {
        let chunk = name.encoded.loadUnaligned(fromByteOffset: done, as: SIMD2<UInt64>.self)
        (base + count).storeBytes(of: chunk, toByteOffset: done, as: SIMD2<UInt64>.self)
        done &+= 16
      } while done < size
    } else {
      (base + count).copyMemory(from: name.encoded, byteCount: size)
    }
    count &+= size
  }

  @inlinable @inline(__always)
  mutating func put(_ value: some FixedWidthInteger & BitwiseCopyable) {
    base.storeBytes(of: value.littleEndian, toByteOffset: count, as: type(of: value))
    count &+= value.bitWidth / 8
  }

  /// The last place at or before `limit` where no UTF-8 sequence is split.
  private static func boundary(in text: UnsafeRawBufferPointer, atOrBefore limit: Int) -> Int {
    var end = limit
    while end > 0, limit - end < 4, text[end] & 0xc0 == 0x80 { end -= 1 }
    return end
  }

  /// The payload as whole words; the last one is filled up with zeros.
  @inlinable @inline(__always)
  public func words() -> (start: UnsafeRawPointer, count: Int) {
    base.storeBytes(of: 0, toByteOffset: count, as: UInt64.self)
    return (UnsafeRawPointer(base), (count + 7) / 8)
  }
}
