// RuntimeReferences — weak slots of the program, read and written as compiled code does.
private import Glibc

enum RuntimeReferences {
  private typealias Load = @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
  private typealias Assign = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer
  // Entry points of the runtime that compilers call: C convention.
  private static let load = unsafeBitCast(dlsym(nil, "swift_weakLoadStrong"), to: Load.self)
  private static let assign = unsafeBitCast(dlsym(nil, "swift_weakAssign"), to: Assign.self)

  /// An owned reference to the object of a weak slot.
  static func loadWeak(_ slot: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? { load(slot) }
  /// Makes the slot refer to another object. Other threads may read it meanwhile.
  static func assignWeak(_ slot: UnsafeMutableRawPointer, _ object: UnsafeMutableRawPointer?) { _ = assign(slot, object) }
}
