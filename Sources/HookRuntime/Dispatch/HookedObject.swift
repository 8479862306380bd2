// HookedObject — one object with hooks of its own on one selector.
//
// An object is known by its address and by its second word, which names the runtime's side table of it from the moment
// there is a weak reference to it. We keep one: as long as it is there the side table is no other object's, so that an object
// made later at the same address is not taken for this one (swift/stdlib/public/SwiftShims/RefCount.h: an object that got
// a side table keeps it until it is freed; the side table lives until the last weak reference to it is gone).
internal import CHookTrampoline

/// Guarded by the engine's lock.
final class HookedObject {
  let address: UInt64
  let identity: UInt64
  private weak var object: AnyObject?
  /// Outermost first.
  var layers: [InstalledLayer] = []
  /// Its layers are to be published: noted by the installation of that number.
  var changed: UInt64 = 0
  /// What calls on the object run through; nil before the first publication.
  var published: UnsafeMutablePointer<HKTLayers>?
  /// It was found dead once. Its `deinit` may still have been running then.
  private var wasDead = false

  /// Nil when the object is ending, and for objects that cannot be distinguished from others.
  init?(_ object: AnyObject) {
    let memory = Unmanaged.passUnretained(object).toOpaque()
    // Making a weak reference to an object that is ending stops the process.
    if hkt_is_ending(memory) { return nil }
    self.object = object
    address = UInt64(UInt(bitPattern: memory))
    // Swift objects begin with their class and their reference counts, a word each.
    identity = memory.load(fromByteOffset: 8, as: UInt64.self)
  }

  /// The object, nil once its `deinit` has begun.
  /// - Parameter kept: takes the reference too: dropping the last one runs the program's code.
  func alive(_ kept: inout [AnyObject]) -> AnyObject? {
    guard let object else { return nil }
    kept.append(object)
    return object
  }

  /// Its memory belongs to somebody else by now, or soon: true from the second time that it is asked after the end.
  func isOver(_ kept: inout [AnyObject]) -> Bool {
    if alive(&kept) != nil { return false }
    defer { wasDead = true }
    return wasDead
  }
}
