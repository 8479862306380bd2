// LayerSets — a selector's layers as calls run through them: one set for its type, one for each object with hooks of its own.
//
// Sets are made whole, then published; what was published before is retired, and freed when no call is in it any more.
// An object's set holds the type's layers, too, inside its own.
internal import CHookTrampoline

/// Guarded by the engine's lock. Reads of calls need none.
final class LayerSets {
  typealias Set = UnsafeMutablePointer<HKTLayers>
  /// Where sets are published: records are never freed.
  private(set) var records: [UnsafeMutablePointer<HKTBodyRecord>]
  /// Of the type and of subclasses, outermost first.
  private(set) var layers: [InstalledLayer] = []
  private(set) var objects: [UInt64: HookedObject] = [:]
  private var published: Set?
  private var table: UnsafeMutablePointer<HKTObjects>?

  init(_ records: [UnsafeMutablePointer<HKTBodyRecord>]) { self.records = records }

  var isEmpty: Bool { layers.isEmpty && objects.isEmpty }
  /// Calls have something to run through.
  var hasEnabled: Bool { layers.contains(where: \.isEnabled) || objects.values.contains { $0.layers.contains(where: \.isEnabled) } }

  /// A place where the selector's calls arrive from now on.
  func add(_ record: UnsafeMutablePointer<HKTBodyRecord>) {
    records.append(record)
    _ = hkt_record_publish_objects(record, table)
    _ = hkt_record_publish(record, published)
  }

  // MARK: Changing

  /// What has to be published anew.
  enum Change { case type, object(HookedObject) }

  func insert(_ layer: InstalledLayer) -> Change {
    guard case .object(let object) = layer.scope else {
      layers.insert(layer)
      return .type
    }
    object.layers.insert(layer)
    return .object(object)
  }

  /// Nil when it is not there.
  func remove(_ layer: InstalledLayer) -> Change? {
    guard case .object(let object) = layer.scope else { return layers.remove(layer) ? .type : nil }
    return object.layers.remove(layer) ? .object(object) : nil
  }

  static func change(of layer: InstalledLayer) -> Change {
    if case .object(let object) = layer.scope { .object(object) } else { .type }
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
        for (_, set) in made { retire(set) }
        retire(type)
        return false
      }
      made.append((object, set))
    }
    for (object, set) in made { _ = put(object, set) }
    for record in records { _ = hkt_record_publish(record, type) }
    retire(published)
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
      retire(set)
      return false
    }
    return true
  }

  /// Nil when memory ran out; a nil set when there is nothing to run.
  private func makeSet(_ layers: [InstalledLayer]) -> Set?? {
    let layers = layers.filter(\.isEnabled)
    if layers.isEmpty { return .some(nil) }
    guard let set = hkt_layers_new(UInt32(layers.count)) else { return nil }
    for (index, layer) in layers.enumerated() { hkt_layers_set(set, UInt32(index), layer.entry) }
    set.pointee.kept.owner = Unmanaged.passRetained(LayerSetOwner(layers.map(\.lifetime))).toOpaque()
    set.pointee.kept.on_free = { Unmanaged<LayerSetOwner>.fromOpaque($0!).release() }
    return set
  }

  /// Enters the object's set in the table. False when memory ran out.
  private func put(_ object: HookedObject, _ set: Set) -> Bool {
    var former: Set?
    while true {
      if let table, hkt_objects_set(table, object.address, object.identity, set, &former) { break }
      guard growTable() else { return false }
    }
    retire(former)
    object.published = set
    return true
  }

  private func growTable() -> Bool {
    let count = UInt64(objects.count + 1)
    guard let bigger = table.map({ hkt_objects_copy($0, count) }) ?? hkt_objects_new(count) else { return false }
    replaceTable(by: bigger)
    return true
  }

  private func replaceTable(by new: UnsafeMutablePointer<HKTObjects>?) {
    for record in records { _ = hkt_record_publish_objects(record, new) }
    // A table begins with what it is retired by.
    hkt_retire(UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: HKTKept.self))
    table = new
  }

  /// Takes the object's set out; its entry, too, when it has no layers any more.
  private func take(_ object: HookedObject) {
    if object.published != nil, let table { retire(hkt_objects_take(table, object.address)) }
    object.published = nil
    forget(object)
    if objects.isEmpty, table != nil { replaceTable(by: nil) }
  }

  /// Where there is no memory for a set without the layer: it does nothing in those there are.
  func mute(_ layer: InstalledLayer) {
    if let published { hkt_layers_mute(published, layer.order.rawValue) }
    for object in objects.values { if let set = object.published { hkt_layers_mute(set, layer.order.rawValue) } }
  }

  private func retire(_ set: Set?) {
    // A set begins with what it is retired by.
    hkt_retire(UnsafeMutableRawPointer(set)?.assumingMemoryBound(to: HKTKept.self))
  }
}

/// Keeps the layers of one published set alive.
private final class LayerSetOwner {
  private let lifetimes: [LayerLifetime]
  init(_ lifetimes: [LayerLifetime]) { self.lifetimes = lifetimes }
}

extension [InstalledLayer] {
  /// Keeps the nesting order.
  fileprivate mutating func insert(_ layer: InstalledLayer) {
    insert(layer, at: firstIndex { $0.order < layer.order } ?? endIndex)
  }
  fileprivate mutating func remove(_ layer: InstalledLayer) -> Bool {
    guard let index = firstIndex(where: { $0 === layer }) else { return false }
    remove(at: index)
    return true
  }
}
