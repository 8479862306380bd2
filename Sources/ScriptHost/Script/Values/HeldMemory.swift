// HeldMemory — memory of the program that is there because of a script: what its handles alone keep, and what functions it called keep of
// what it gave them. Both count for the patch's limit of memory, as Lua's own does.
//
// Small values are left out: a handle's own size in Lua stands for them. What is counted are texts, lists and the objects with such fields.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
private import Synchronization

enum HeldMemory {
  /// Less is not worth a look.
  static let least = 512
  // What scripts make beside values, about: a hook on one function, the statement that asked for hooks, and the like.
  static let ofHook: Int64 = 128, ofBatch: Int64 = 4096, ofClosure: Int64 = 512, ofObservation: Int64 = 2048, ofClass: Int64 = 64 << 10,
    ofSelector: Int64 = 256
  /// How far is looked: fields and elements in all, and one in another.
  private static let mostParts = 64, deepest = 4

  /// Bytes that end with the value at `memory`: its texts and lists, and objects, as far as it alone refers to them.
  static func bytes(in memory: UnsafeRawPointer, _ info: TypeInfo) -> Int {
    var look = Look(parts: mostParts)
    return look.bytes(memory, info, depth: 0)
  }

  /// A handle was made of what a call returned, which nobody else had: it weighs that.
  static func weigh(_ handle: SHLValue, _ bytes: Int, _ scope: UnsafeMutablePointer<SHLScope>) {
    guard bytes >= least else { return }
    withUnsafePointer(to: handle) { shl_weigh(scope, $0, UInt64(bytes)) }
  }

  private struct Look {
    var parts: Int

    /// The bytes outside of the value at `memory` that it alone keeps, as far as is looked.
    mutating func bytes(_ memory: UnsafeRawPointer, _ info: TypeInfo, depth: Int) -> Int {
      guard !info.isTrivial, depth < deepest, parts > 0 else { return 0 }
      parts -= 1
      switch info.kind {
      case .string: return Buffer(text: memory)?.ownBytes ?? 0
      case .object: return bytes(ofObject: memory.loadUnaligned(as: UInt.self), depth)
      case .optional(let payload): return info.metadata.enumTag(memory) == 0 ? bytes(memory, payload, depth: depth + 1) : 0
      case .existential where info.metadata.existentialForm == .reference:
        return bytes(ofObject: memory.loadUnaligned(as: UInt.self), depth)
      case .structure:
        if let collection = CollectionType.of(info) { return bytes(of: collection, memory, info, depth) }
        return bytes(ofFields: info.fields, memory, depth)
      case .tuple: return bytes(ofFields: info.fields, memory, depth)
      default: return 0
      }
    }

    private mutating func bytes(ofFields fields: [StoredField], _ memory: UnsafeRawPointer, _ depth: Int) -> Int {
      var sum = 0
      for field in fields {
        guard case .value = field.reference, case .success(let type) = field.type else { continue }
        sum += bytes(memory + field.offset, type, depth: depth + 1)
      }
      return sum
    }

    private mutating func bytes(ofObject address: UInt, _ depth: Int) -> Int {
      guard let object = UnsafeRawPointer(bitPattern: address), hkt_retain_count(object) == 1, !hkt_is_in_frame(object) else { return 0 }
      let type = Instance.type(object)
      let fields = (try? TypeResolver.shared.type(of: type).get().fields) ?? []
      return type.instanceSize + bytes(ofFields: fields, object, depth)
    }

    private mutating func bytes(of collection: CollectionType, _ memory: UnsafeRawPointer, _ info: TypeInfo, _ depth: Int) -> Int {
      guard let buffer = Buffer(list: memory, info, collection) else { return 0 }
      guard buffer.ownBytes > 0, !collection.element.isTrivial, !collection.isBytes else { return buffer.ownBytes }
      // The first ones stand for all.
      let count = collection.count(memory), looked = min(count, 8)
      var sum = 0
      for index in 0..<looked {
        sum += collection.withElement(memory, index) { bytes($0, collection.element, depth: depth + 1) } ?? 0
      }
      return buffer.ownBytes + (looked == 0 ? 0 : sum / looked * count)
    }
  }

  /// The one object that a long text or a list keeps its bytes in.
  struct Buffer {
    let object: UnsafeRawPointer
    let bytes: Int

    /// nil where the text lies elsewhere.
    init?(text memory: UnsafeRawPointer) {
      let word1 = memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      // Bit 63: nothing is counted, as of literals.
      guard word1 >> 63 == 0, let bytes = StringBits.inObject(memory.loadUnaligned(as: UInt64.self), word1),
        let object = UnsafeRawPointer(bitPattern: UInt(word1 & 0x0FFF_FFFF_FFFF_FFFF))
      else { return nil }
      self.object = object
      self.bytes = bytes.count + 32
    }

    /// nil where the list lies elsewhere, or is empty.
    init?(list memory: UnsafeRawPointer, _ info: TypeInfo, _ collection: CollectionType) {
      // Arrays are one reference; slices and Data begin with other words.
      guard collection.isList, info.size == 8, let object = UnsafeRawPointer(bitPattern: memory.loadUnaligned(as: UInt.self)) else { return nil }
      let count = collection.count(memory)
      guard count > 0 else { return nil }
      self.object = object
      bytes = 32 + count * max(1, collection.element.metadata.stride)
    }

    /// 0 where others refer to it, too.
    var ownBytes: Int { hkt_retain_count(object) == 1 && !hkt_is_in_frame(object) ? bytes : 0 }
  }
}

/// What one call into the program is given, looked at again when it is over.
struct GivenMemory {
  private var items: [(buffer: HeldMemory.Buffer, references: Int)] = []
  /// Less is let go by.
  private static let least = 256

  /// Notes the argument at `memory`, which is made and not yet passed.
  mutating func note(_ memory: UnsafeRawPointer, _ info: TypeInfo) {
    let buffer: HeldMemory.Buffer?
    switch info.kind {
    case .string: buffer = HeldMemory.Buffer(text: memory)
    case .structure: buffer = CollectionType.of(info).flatMap { HeldMemory.Buffer(list: memory, info, $0) }
    case .optional(let payload): return info.metadata.enumTag(memory) == 0 ? note(memory, payload) : ()
    default: return
    }
    guard let buffer, buffer.bytes >= Self.least, !hkt_is_in_frame(buffer.object) else { return }
    // A reference of ours, so that it is there when the call is over.
    _ = Unmanaged<AnyObject>.fromOpaque(buffer.object).retain()
    items.append((buffer, hkt_retain_count(buffer.object)))
  }

  /// The call is over and its arguments are ended: what has as many references as before, somebody keeps. With the state's lock.
  mutating func end(_ patch: Environment) {
    for (buffer, references) in items {
      // The argument's own reference is gone.
      if hkt_retain_count(buffer.object) >= references { patch.givenAway.add(buffer, patch.state) }
      ProgramCall.release(UInt(bitPattern: buffer.object))
    }
    items = []
  }
}

/// What the program keeps of what one script gave it. Guarded by the state's lock.
struct GivenAway {
  private final class Item {
    weak var object: AnyObject?
    let bytes: Int
    init(_ object: AnyObject, _ bytes: Int) {
      self.object = object
      self.bytes = bytes
    }
  }
  private var items: [Item] = []
  private var bytes = 0
  private var nextSweep = 1 << 20
  /// Smaller ones count while the outermost call lasts.
  private static let least = 4096

  mutating func add(_ buffer: HeldMemory.Buffer, _ state: OpaquePointer) {
    shl_gave(state, UInt64(buffer.bytes))
    guard buffer.bytes >= Self.least else { return }
    // Alive: the caller has a reference.
    let item = Item(Unmanaged<AnyObject>.fromOpaque(buffer.object).takeUnretainedValue(), buffer.bytes)
    items.append(item)
    bytes += buffer.bytes
    shl_outside(state, Int64(buffer.bytes))
    if bytes > nextSweep { sweep(state) }
  }

  /// Takes out what is gone.
  mutating func sweep(_ state: OpaquePointer) {
    var ended = 0
    items.removeAll { item in
      guard item.object == nil else { return false }
      ended += item.bytes
      return true
    }
    bytes -= ended
    shl_outside(state, -Int64(ended))
    nextSweep = max(1 << 20, bytes + bytes / 4)
  }
}
