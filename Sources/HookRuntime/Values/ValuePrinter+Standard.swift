// ValuePrinter+Standard — types of the standard library whose stored fields say little: parts of texts, characters, what an AnyHashable holds.
//
// Read where they lie, without a reference of our own: Substring is a Slice<String> (two indices, whose upper 48 bits are an offset in UTF-8,
// and the whole text), Character a String (stdlib/public/core/Substring.swift, Character.swift).

private let (substring, character) = (Metadata(Substring.self), Metadata(Character.self))
private let (scalar, anyHashable) = (Metadata(Unicode.Scalar.self), Metadata(AnyHashable.self))

extension TypeInfo {
  /// A Substring or a Character.
  package var isPieceOfText: Bool { metadata == substring || metadata == character }

  /// Gives `body` the UTF-8 bytes of the Substring or the Character at `memory`; nil of other values.
  package func withPieceOfText<R>(_ memory: UnsafeRawPointer, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
    if metadata == character { return bytes(of: memory, body) }
    guard metadata == substring else { return nil }
    let start = memory.loadUnaligned(as: UInt64.self) >> 16, end = memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self) >> 16
    guard start <= end else { return nil }
    return bytes(of: memory + 16) { body(UnsafeRawBufferPointer(rebasing: $0[(Int(start)..<Int(end)).clamped(to: 0..<$0.count)])) }
  }

  private func bytes<R>(of memory: UnsafeRawPointer, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    StringBits.withUTF8(memory.loadUnaligned(as: UInt64.self), memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self), body)
  }
}

extension ValuePrinter {
  /// Shows such a value; false, with nothing added, for all others.
  func standard(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ room: PrintRoom, _ text: inout String) -> Bool {
    if info.isPieceOfText { return info.withPieceOfText(memory) { quote($0, &text, atMost: room.end - text.utf8.count) } != nil }
    switch info.metadata {
    case scalar:
      guard let scalar = Unicode.Scalar(memory.loadUnaligned(as: UInt32.self)) else { return false }
      var character = String(Character(scalar))
      character.withUTF8 { quote(UnsafeRawBufferPointer($0), &text) }
    case anyHashable:
      guard let box = Part(memory: memory, info: info).field("_box"), let (held, type) = box.info.openExistential(box.memory),
        // Of what the library has boxes of its own for, numbers, texts and collections, the field has another name.
        let base = Part(memory: held, info: type).field("_baseHashable") ?? Part(memory: held, info: type).field("_value")
      else { return false }
      print(base.memory, base.info, room, &text)
    default: return false
    }
    return true
  }
}
