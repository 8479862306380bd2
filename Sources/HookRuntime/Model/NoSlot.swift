// NoSlot — why a method has no word in a virtual table.

/// Why a method has no slot.
package enum NoSlot: Error, Equatable, Sendable {
  /// It is no member of a class.
  case noClass
  case inExtension
  /// It is final, private, or compiled so that nobody calls it through a table.
  case notVirtual
  /// The slot holds the runtime's "deleted method" function: no call of the program goes through it.
  case deleted
  /// One function fills several slots of the class, and no symbol tells them apart.
  case ambiguous
}
