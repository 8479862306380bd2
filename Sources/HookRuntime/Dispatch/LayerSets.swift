// LayerSets — a selector's layers as calls run through them: one set for its type, one for each object with hooks of its own.
//
// Sets are made whole, then published; what was published before is retired, and freed when no call is in it any more.
// An object's set holds the type's layers, too, inside its own.
internal import CHookTrampoline

/// Guarded by the engine's lock. Reads of calls need none.
final class LayerSets {
  typealias Set = UnsafeMutablePointer<HKTLayers>
  typealias Record = UnsafeMutablePointer<HKTBodyRecord>
  // Where sets are published: records are never freed. Most selectors have one.
  private var firstRecord: Record?
  private var otherRecords: [Record] = []
  /// The layers of the type and of subclasses, outermost first.
  private(set) var layers: [InstalledLayer] = []
  private(set) var objects: [UInt64: HookedObject] = [:]
  private var published: Set?
  private var table: UnsafeMutablePointer<HKTObjects>?

  var isEmpty: Bool { layers.isEmpty && objects.isEmpty }

  /// How many enabled layers there are, by how their calls have to come.
  private var enabled = InlineArray<8, Int32>(repeating: 0)  // by route
  func isEnabled(_ backEnd: BackEnd) -> Bool { enabled[Int(backEnd.route.rawValue)] > 0 }
  /// Those whose calls come by the entries, and would again if they were switched on.
  private var entryLayers = 0
  var needsEntries: Bool { entryLayers > 0 }
  var everyLayer: [InstalledLayer] { layers + objects.values.flatMap(\.layers) }

  /// A place where the selector's calls arrive from now on.
  func add(_ record: Record) {
    if firstRecord == nil { firstRecord = record } else { otherRecords.append(record) }
    if published == nil, table == nil { return }
    _ = hkt_record_publish_objects(record, table)
    _ = hkt_record_publish(record, published)
  }

  private func forEachRecord(_ body: (Record) -> Void) {
    if let firstRecord { body(firstRecord) }
    for record in otherRecords { body(record) }
  }

  // MARK: Changing

  /// What has to be published anew.
  enum Change { case type, object(HookedObject) }

  func insert(_ layer: InstalledLayer) -> Change {
    count(layer, 1)
    if layer.backEnd == .entry { entryLayers += 1 }
    guard let object = layer.object else {
      change { $0.insert(layer) }
      return .type
    }
    object.layers.insert(layer)
    return .object(object)
  }

  /// Taken out and put back: a property that is changed in place is checked for other accesses each time it is read.
  private func change<R>(_ body: (inout [InstalledLayer]) -> R) -> R {
    var all = layers
    layers = []
    defer { layers = all }
    return body(&all)
  }

  /// Nil when it is not there.
  func remove(_ layer: InstalledLayer) -> Change? {
    var change: Change?
    if let object = layer.object {
      if object.layers.remove(layer) { change = .object(object) }
    } else if self.change({ $0.remove(layer) }) {
      change = .type
    }
    if change != nil {
      count(layer, -1)
      if layer.backEnd == .entry { entryLayers -= 1 }
    }
    return change
  }

  /// A layer keeps its place while it is off.
  func set(_ isEnabled: Bool, _ layer: InstalledLayer) -> Change {
    count(layer, -1)
    layer.isEnabled = isEnabled
    count(layer, 1)
    return Self.change(of: layer)
  }

  private func count(_ layer: InstalledLayer, _ change: Int32) {
    if layer.isEnabled { enabled[Int(layer.backEnd.route.rawValue)] += change }
  }

  private static func change(of layer: InstalledLayer) -> Change {
    layer.object.map { .object($0) } ?? .type
  }

  /// An object that is about to get its first layer here.
  func adopt(_ object: HookedObject) { objects[object.address] = object }
  /// One that did not get it.
  func forget(_ object: HookedObject) {
    if object.layers.isEmpty, objects[object.address] === object { objects[object.address] = nil }
  }

  // MARK: Publishing

  /// Makes what the layers are now what later calls run through. False when memory ran out; nothing changed then.
  func publish(_ change: Change) -> Bool {
    switch change {
    case .object(let object): publish(object)
    case .type: publishAll()
    }
  }

  private func publishAll() -> Bool {
    var made: [(HookedObject, Set)] = []
    guard let type = makeSet(layers) else { return false }
    for object in objects.values where object.published != nil {
      guard case let set?? = makeSet(object.layers + layers) else {
        for (_, set) in made { LayerSet.retire(set) }
        LayerSet.retire(type)
        return false
      }
      made.append((object, set))
    }
    for (object, set) in made { _ = put(object, set) }
    forEachRecord { _ = hkt_record_publish($0, type) }
    LayerSet.retire(published)
    published = type
    return true
  }

  private func publish(_ object: HookedObject) -> Bool {
    guard object.layers.contains(where: \.isEnabled) else {
      take(object)
      return true
    }
    guard case let set?? = makeSet(object.layers + layers) else { return false }
    guard put(object, set) else {
      LayerSet.retire(set)
      return false
    }
    return true
  }

  /// Nil when memory ran out; a nil set when there is nothing to run.
  private func makeSet(_ layers: [InstalledLayer]) -> Set?? {
    let layers = layers.allSatisfy(\.isEnabled) ? layers : layers.filter(\.isEnabled)
    if layers.isEmpty { return .some(nil) }
    return LayerSet.make(layers).map { .some($0) }
  }

  /// Enters the object's set in the table. False when memory ran out.
  private func put(_ object: HookedObject, _ set: Set) -> Bool {
    var former: Set?
    while true {
      if let table, hkt_objects_set(table, object.address, object.identity, set, &former) { break }
      guard growTable() else { return false }
    }
    LayerSet.retire(former)
    object.published = set
    return true
  }

  private func growTable() -> Bool {
    let count = UInt64(objects.count + 1)
    guard let bigger = table.map({ hkt_objects_copy($0, count) }) ?? hkt_objects_new(count) else { return false }
    replaceTable(by: bigger)
    return true
  }

  /// Has calls ask the new table for their object's layers; the old one is freed when no call uses it.
  private func replaceTable(by new: UnsafeMutablePointer<HKTObjects>?) {
    forEachRecord { _ = hkt_record_publish_objects($0, new) }
    // A table begins with what it is retired by.
    hkt_retire(UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: HKTKept.self))
    table = new
  }

  /// Takes the object's set out; its entry, too, when it has no layers any more.
  private func take(_ object: HookedObject) {
    if object.published != nil, let table { LayerSet.retire(hkt_objects_take(table, object.address)) }
    object.published = nil
    forget(object)
    if objects.isEmpty, table != nil { replaceTable(by: nil) }
  }

  /// Where there is no memory for a set without the layer: it does nothing in those there are.
  func mute(_ layer: InstalledLayer) {
    if let published { hkt_layers_mute(published, layer.order.rawValue) }
    for object in objects.values { if let set = object.published { hkt_layers_mute(set, layer.order.rawValue) } }
  }
}

/// Making and freeing one set.
enum LayerSet {
  /// A set of these layers, outermost first, not yet published. Nil when memory ran out.
  static func make(_ layers: [InstalledLayer]) -> LayerSets.Set? {
    guard let set = hkt_layers_new(UInt32(layers.count)) else { return nil }
    for (index, layer) in layers.enumerated() { hkt_layers_set(set, UInt32(index), layer.entry) }
    // A layer that is alone needs nothing around it.
    let owner: AnyObject = layers.count == 1 ? layers[0].lifetime : Owner(layers.map(\.lifetime))
    set.pointee.kept.owner = Unmanaged.passRetained(owner).toOpaque()
    set.pointee.kept.on_free = { Unmanaged<AnyObject>.fromOpaque($0!).release() }
    return set
  }

  /// Has the set freed at a later hkt_reclaim, when no call is in it. It must be unpublished.
  static func retire(_ set: LayerSets.Set?) {
    // A set begins with what it is retired by.
    hkt_retire(UnsafeMutableRawPointer(set)?.assumingMemoryBound(to: HKTKept.self))
  }

  /// Keeps the layers of one set alive.
  private final class Owner {
    private let lifetimes: [LayerLifetime]
    init(_ lifetimes: [LayerLifetime]) { self.lifetimes = lifetimes }
  }
}

extension [InstalledLayer] {
  /// Keeps the nesting order.
  fileprivate mutating func insert(_ layer: InstalledLayer) {
    if isEmpty {
      self = [layer]
      return
    }
    insert(layer, at: firstIndex { $0.order < layer.order } ?? endIndex)
  }
  fileprivate mutating func remove(_ layer: InstalledLayer) -> Bool {
    guard let index = firstIndex(where: { $0 === layer }) else { return false }
    remove(at: index)
    return true
  }
}
