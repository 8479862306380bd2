// Uncaught — what is said of a value of the program that a script raised and nobody caught: at load, in a handler, a test or the console.
internal import CLuaShim
internal import LuaBridge

enum Uncaught {
  /// For the classes of handles: writes the words, and answers how many bytes they are.
  static let words:
    @convention(c) (
      _ context: UnsafeMutableRawPointer?, _ raised: UnsafePointer<SHLValue>?, _ text: UnsafeMutablePointer<CChar>?, _ room: Int
    ) -> Int = { context, raised, text, room in
      guard let context, let raised, let text else { return 0 }
      // The context is the patch, which outlives its state.
      var words = Unmanaged<Environment>.fromOpaque(context)._withUnsafeGuaranteedRef { sentence(raised.pointee, $0) }
      return words.withUTF8 { bytes in
        let kept = bytes.prefix(room)
        UnsafeMutableRawBufferPointer(start: text, count: kept.count).copyBytes(from: kept)
        return kept.count
      }
    }

  /// Runs no code of the program. Empty where the kind of the handle is all that is known.
  private static func sentence(_ raised: SHLValue, _ patch: Environment) -> String {
    if patch.classes.isError(raised) {
      guard let box = patch.classes.errorBox(raised), box != 0 else { return "a Swift error of a call that is over was not caught" }
      return "a Swift error was not caught: \(ErrorAPI.text(box))"
    }
    let isKnown = patch.classes.borrowedValue(raised) != nil || patch.classes.object(raised) != nil
    return isKnown ? "error object is \(ValueBridge(classes: patch.classes, serial: 0).describe(raised))" : ""
  }
}
