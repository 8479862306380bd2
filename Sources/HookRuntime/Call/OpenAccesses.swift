// OpenAccesses — which parts of an object are being read or changed on this thread.
//
// Swift stops the process when two accesses to one stored property overlap and one of them changes it. A hook may run in
// the middle of an access, so calls into an object are checked first. The runtime keeps a list of the open accesses of
// each thread: an access of ours, begun on a byte of our own, has the list behind it in its record
// ({address, code address, next | 1 for modify}: swift/Runtime/Exclusivity; docs/abi-notes.md says how it was seen).
//
// Accesses that the optimiser proved harmless for the code it saw are not in the list.
private import CHookTrampoline
private import Glibc

package enum OpenAccesses {
  package enum Kind: Comparable { case reading, modifying }

  private typealias Begin = @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer, UInt, UnsafeRawPointer?) -> Void
  private typealias End = @convention(c) (UnsafeMutableRawPointer) -> Void

  private struct Functions: Sendable {
    let begin: Begin
    let end: End
    /// A byte nobody else accesses through the runtime.
    let place: UInt
  }

  /// nil where the runtime does not check exclusivity.
  private static let functions: Functions? = {
    guard let begin = dlsym(nil, "swift_beginAccess"), let end = dlsym(nil, "swift_endAccess") else { return nil }
    // The runtime's own entry points, as compilers call them: C convention, four words and one.
    return Functions(
      begin: unsafeBitCast(begin, to: Begin.self), end: unsafeBitCast(end, to: End.self),
      place: UInt(bitPattern: UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)))
  }()

  private static let tracked: UInt = 0x20

  /// The strongest access open on this thread to a byte of the range; nil for none.
  package static func strongest(in range: Range<UInt>) -> Kind? {
    guard let functions, let place = UnsafeRawPointer(bitPattern: functions.place) else { return nil }
    return withUnsafeTemporaryAllocation(of: UInt.self, capacity: 3) { record in
      let record = UnsafeMutableRawPointer(record.baseAddress!)
      functions.begin(place, record, tracked, nil)
      // 0: checking is switched off, and nothing is open.
      guard record.load(as: UInt.self) != 0 else { return nil }
      defer { functions.end(record) }
      var found: Kind?
      var next = record.load(fromByteOffset: 16, as: UInt.self) & ~1
      while let access = UnsafeRawPointer(bitPattern: next) {
        let link = access.load(fromByteOffset: 16, as: UInt.self)
        if range.contains(access.load(as: UInt.self)) {
          let kind: Kind = link & 1 == 1 ? .modifying : .reading
          found = max(found ?? kind, kind)
        }
        next = link & ~1
      }
      return found
    }
  }
}
