// DeletedMethods — names that have lost their code.
//
// Where every call of a method was inlined or goes to a clone, the optimiser leaves `swift_deletedMethodError()` behind:
// calling it ends the program, so nobody does. It is no body of the selector.

/// Tells deleted methods of one image. Immutable after init.
final class DeletedMethods: Sendable {
  private let file: ELFFile
  private let imports: MetadataReader

  init(_ file: ELFFile) {
    self.file = file
    imports = MetadataReader(file: file)
  }

  /// The function of `size` bytes at the file's `address` does nothing but report the deletion.
  func contains(_ address: UInt64, size: Int) -> Bool {
    guard size <= Self.longest, let code = file.bytes(at: address, count: size) else { return false }
    var at = 0
    for prologue in Self.prologues where code[at...].starts(with: prologue) { at += prologue.count }
    // A call, or a jump where the frame is left out.
    guard at + 5 <= code.count, code[at] == 0xE8 || code[at] == 0xE9 else { return false }
    let distance = code.loadUnaligned(fromByteOffset: at + 1, as: Int32.self)
    let target = address &+ UInt64(at) &+ 5 &+ UInt64(bitPattern: Int64(distance))
    return imports.importStub(at: target)?.elementsEqual("swift_deletedMethodError".utf8) ?? false
  }

  /// endbr64; push rbp, mov rbp rsp; push rax
  private static let prologues: [[UInt8]] = [[0xF3, 0x0F, 0x1E, 0xFA], [0x55, 0x48, 0x89, 0xE5], [0x50]]
  private static let longest = 24
}
