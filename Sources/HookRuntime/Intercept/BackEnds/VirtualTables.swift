// VirtualTables — the vtable back end: the words of class metadata through which a method is called virtually.
//
// Every class has a copy of the words it inherits. So a hook on a class's method changes the words of the class and of each
// subclass that has the same implementation there; a hook on a subclass alone changes that class's and its subclasses'. Subclasses that
// come to be later copy their superclass's words when the runtime makes their metadata, and have to be looked for when their
// metadata lies in an image that is loaded later (HookEngine+Images).
private import Glibc
private import SwiftMangling

enum VirtualTables {
  /// The words to be changed for calls of the family's method on its class and subclasses, or on `subclass` and its subclasses.
  static func plan(_ family: Family, in image: ImageCatalog, subclass: Metadata? = nil) -> Result<SlotPlan, BackEndRefusal> {
    do throws(BackEndRefusal) {
      if family.declaration.hasCoroutineRecord { throw .coroutineRecord }
      let slots: [MethodSlot]
      do throws(NoSlot) { slots = try image.methodSlots(of: family).get() } catch { throw .noSlot(error) }
      let owner = try metadata(of: family, in: image)
      let images = ProcessCatalog.shared.current()
      var plan = SlotPlan(backEnd: .vtable)
      for slot in slots {
        guard let table = Table(slot, family, image) else { throw .metadataNotKnown(family.declaration.contextName) }
        try add(table, owner, subclass, family, image, images, to: &plan)
      }
      return .success(plan)
    } catch { return .failure(error) }
  }

  /// The words in the table of `type`, which inherits the family's method or has it.
  static func words(
    of family: Family, in image: ImageCatalog, for type: Metadata
  ) throws(BackEndRefusal) -> [(index: Int, planned: SlotPlan.Entry)] {
    if family.declaration.hasCoroutineRecord { throw .coroutineRecord }
    let slots: [MethodSlot]
    do throws(NoSlot) { slots = try image.methodSlots(of: family).get() } catch { throw .noSlot(error) }
    return try slots.map { slot throws(BackEndRefusal) in
      guard let table = Table(slot, family, image) else { throw .metadataNotKnown(family.declaration.contextName) }
      let word = table.word(in: type)
      guard SlotPatcher.former(of: word.value) == table.implementation else {
        throw .notInherited(by: type.name, from: family.declaration.contextName)
      }
      let changed = SlotWord(address: word.address, former: table.implementation, isAsync: table.isAsync)
      return (table.index, SlotPlan.Entry(word: changed, body: table.body))
    }
  }

  private static func metadata(of family: Family, in image: ImageCatalog) throws(BackEndRefusal) -> Metadata {
    guard let record = image.classRecord(of: family) else { throw .noSlot(.inExtension) }
    let own = ImageClass(record, in: image)
    switch own.state {
    case .used(let metadata): return metadata
    case .generic: throw .genericClass(own.name)
    case .unfinished, .notMade, .unknown:
      // A selector names the class, so its accessor may run.
      guard let metadata = own.descriptor.metadata() else { throw .metadataNotKnown(own.name) }
      return metadata
    }
  }

  private static func add(
    _ table: Table, _ owner: Metadata, _ subclass: Metadata?, _ family: Family, _ image: ImageCatalog, _ images: [ImageCatalog],
    to plan: inout SlotPlan
  ) throws(BackEndRefusal) {
    let former = SlotPatcher.former(of: table.word(in: owner).value)
    guard former == table.implementation else {
      if former == deletedMethod { throw .noSlot(.deleted) }
      throw .foreignWord(address: table.word(in: owner).address, found: former, expected: table.implementation)
    }
    var base = owner
    if let subclass {
      guard subclass.isSubclass(of: owner) else { throw .noSubclass(subclass.name, of: owner.name) }
      guard SlotPatcher.former(of: table.word(in: subclass).value) == former else {
        throw .notInherited(by: subclass.name, from: owner.name)
      }
      base = subclass
    }
    let name = TypeCatalog.shared.name(of: base.descriptor!) ?? base.name  // a class has a descriptor
    plan.entries.append(
      .init(word: SlotWord(address: table.word(in: base).address, former: former, isAsync: table.isAsync), body: table.body))
    for subclass in ClassHierarchy(images).subclasses(of: base, named: name) {
      switch subclass.state {
      case .used(let metadata), .unfinished(let metadata):
        let word = table.word(in: metadata)
        guard SlotPatcher.former(of: word.value) == former else { continue }  // it overrides the method
        plan.entries.append(.init(word: SlotWord(address: word.address, former: former, isAsync: table.isAsync), body: table.body))
      case .notMade: break  // it will copy our word
      case .generic: plan.mayMiss.append("objects of generic subclass '\(subclass.name)' that was used before")
      case .unknown: plan.mayMiss.append("objects of subclass '\(subclass.name)', whose metadata cannot be found")
      }
    }
    for subclass in RuntimeTypes.subclasses(of: base) {
      let word = table.word(in: subclass)
      guard SlotPatcher.former(of: word.value) == former else { continue }
      plan.entries.append(.init(word: SlotWord(address: word.address, former: former, isAsync: table.isAsync), body: table.body))
    }
    for (copy, own) in IsaSwitch.shared.copies(below: base) where !own.contains(table.index) {
      let word = table.word(in: copy)
      guard SlotPatcher.former(of: word.value) == former else { continue }
      plan.entries.append(.init(word: SlotWord(address: word.address, former: former, isAsync: table.isAsync), body: table.body))
    }
  }

  /// The runtime's function in slots that nobody calls through.
  private static let deletedMethod = dlsym(nil, "swift_deletedMethodError").map { UInt64(UInt(bitPattern: $0)) }
}

extension VirtualTables {
  /// One slot of the tables that have it.
  fileprivate struct Table {
    /// Where the word is, in words from the metadata.
    let index: Int
    let implementation: UInt64
    let isAsync: Bool
    let body: Body

    /// nil where the introducing class cannot be found.
    init?(_ slot: MethodSlot, _ family: Family, _ image: ImageCatalog) {
      guard let (owner, introducer) = slot.introducer.resolved(in: image),
        let descriptor = UnsafeRawPointer(bitPattern: UInt(introducer &+ owner.bias)), case .address(let code) = slot.implementation,
        let (_, entry) = slot.entry.resolved(in: image)
      else { return nil }
      // Read in memory: where the tables of subclasses of evolving libraries begin is known there only.
      guard let table = TypeDescriptor(descriptor).virtualTable,
        let place = UnsafeRawPointer(bitPattern: UInt(entry &+ owner.bias)), let position = table.index(of: place)
      else { return nil }
      index = table.offset + position
      implementation = code &+ image.bias
      isAsync = family.declaration.functionType.isAsync
      guard slot.isThunk else {
        guard let own = family.bodies.first(where: { $0.isOwn && $0.form != .initialising }) else { return nil }
        body = own
        return
      }
      guard let thunk = Body(vtableThunk: slot, at: code, overriding: owner, entry, in: image) else { return nil }
      body = thunk
    }

    func word(in metadata: Metadata) -> (address: UInt64, value: UInt64) {
      let place = metadata.pointer + 8 * index
      return (UInt64(UInt(bitPattern: place)), place.load(as: UInt64.self))
    }
  }
}

extension Body {
  /// A thunk in a virtual table: its calls have the convention of the method that is overridden.
  fileprivate init?(
    vtableThunk slot: MethodSlot, at address: UInt64, overriding owner: ImageCatalog, _ entry: UInt64, in image: ImageCatalog
  ) {
    var parser = SymbolParser()
    let names = owner.metadataSymbols.names(at: entry).filter { $0.hasSuffix("Tq") }
    guard let overridden = names.lazy.compactMap({ parser.declaration(String($0.dropLast(2))) }).first else { return nil }
    let code = image.asyncEntries.code(of: address) ?? address
    let symbol = image.symbols.symbols(at: code).first { $0.nameText.hasSuffix("TV") }
    self.init(
      form: .thunk("of \(overridden.selectorName)"), declaration: overridden, mangledName: symbol?.nameText ?? names[0],
      address: code &+ image.bias,
      size: Int(symbol?.size ?? 0), available: Int(symbol?.size ?? 0))
  }
}

extension Metadata {
  /// The word of the class's metadata, counted from its start, where it keeps the method with this body; nil where it has none.
  func virtualSlot(of body: UInt) -> Int? {
    guard let descriptor else { return nil }
    if let table = descriptor.virtualTable {
      for index in 0..<table.count where table.implementation(index) == body { return table.offset + index }
    }
    for override in descriptor.overrides where override.implementation == body {
      // The overridden entry lies in the table of the class that introduced it.
      guard let table = TypeDescriptor(override.introducer).virtualTable, let index = table.index(of: override.entry) else { continue }
      return table.offset + index
    }
    return nil
  }
}
