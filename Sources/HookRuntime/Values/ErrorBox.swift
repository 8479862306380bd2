// ErrorBox — an error as `any Error` holds it: one reference to a box.

/// In a struct: a bare `any Error` would be opened by a generic call.
package struct ErrorBox {
  private let error: any Error
  package init(_ error: any Error) { self.error = error }

  /// An owned reference to the box.
  package var word: UInt {
    // One reference to a native object.
    UInt(bitPattern: unsafeBitCast(self, to: Unmanaged<AnyObject>.self).retain().toOpaque())
  }

  /// The address of the box, valid as long as the error is kept.
  var borrowedWord: UInt {
    // One reference to a native object.
    unsafeBitCast(self, to: UInt.self)
  }

  /// The error in a box that somebody else owns; the copy is retained.
  static func error(in word: UInt) -> any Error {
    // One reference, which is all an ErrorBox is.
    withUnsafePointer(to: word) { UnsafeRawPointer($0).load(as: ErrorBox.self).error }
  }

  /// The error is in the box at this address.
  func isSame(as word: UInt) -> Bool { borrowedWord == word }

  /// An owned `any Error` with a copy of the value at `memory`; nil where its type is no error, or not copyable.
  static func copying(_ memory: UnsafeRawPointer, _ info: TypeInfo) -> OwnedValue? {
    guard info.isCopyable, case .success(let existential) = TypeResolver.shared.type(of: Metadata((any Error).self)) else {
      return nil
    }
    let made = OwnedValue(uninitialized: existential)
    if info.metadata == existential.metadata {
      existential.metadata.initialize(made.memory, copying: memory)
      return made
    }
    func box<E: Error>(_: E.Type) {
      made.memory.storeBytes(of: ErrorBox(memory.assumingMemoryBound(to: E.self).pointee).word, as: UInt.self)
    }
    guard let type = info.metadata.type as? any Error.Type else {
      made.forget()
      return nil
    }
    box(type)
    return made
  }
}
