// ImportSlots — the back end for C functions: words of importing images that lead to our stub.
//
// One family for each function, with one site for each image that imports it, so that hooks can be for some images. Images
// that appear later are added when they do.
private import CHookTrampoline

extension HookEngine {
  /// The function's family; its words are looked for with each hook. To be called under the lock.
  func prepareImport(_ family: Family, in image: ImageCatalog) -> Result<HookedFamily, HookRefusal> {
    if let known = importFamilies[family.key] {
      guard let asked = family.imported?.prototype, asked != known.family.imported?.prototype else { return .success(known) }
      if let there = known.family.imported?.prototype { return .failure(.otherPrototype(there.description)) }
      // Its records cannot tell values. Calls may still be in them.
      if !known.sets.isEmpty { return .failure(.otherPrototype(known.family.selector)) }
      replacedFamilies.append(known)
    }
    let hooked = HookedFamily(family: family, image: image, siblings: [])
    importFamilies[family.key] = hooked
    return .success(hooked)
  }
}

extension ImportedFunction {
  /// Why a layer cannot stand before the function, whoever calls it.
  func refusal(of spec: LayerSpec) -> HookRefusal? {
    switch CFunctions.trait(name) {
    case .ordinary: nil
    case .never(let reason): .notHookable(reason)
    case .allocation: spec.isSafeInAllocator ? nil : .allocation
    case .beforeOnly(let reason): spec.needsResult ? .beforeOnly(reason) : nil
    }
  }
}

extension Family {
  /// Keeps the images in memory whose words may be written; leaves out those that are gone. Never under a lock of ours.
  mutating func pinImporters() {
    guard let imported else { return }
    bodies.removeAll { body in
      // Nobody writes words that are refused.
      guard let place = body.place, imported.refusal(at: place, safe: true) == nil else { return false }
      return !ImagePins.pin(place.importer)
    }
  }
}

extension HookedFamily {
  /// The words of the images that a request means, with their sites. Nothing of the program changes.
  func importDiversion(_ asked: Family, for spec: LayerSpec) -> Result<SlotDiversion, HookRefusal> {
    guard let function = family.imported else { return .failure(.noBody) }
    let wish = ImporterBits.Wish(images: asked.imported?.importer, isSafe: spec.isSafeInAllocator)
    guard let bit = importers.bit(of: wish) else {
      return .failure(.notHookable("hooks for 64 different sets of images are there already"))
    }
    var slots: [Slot] = []
    for body in asked.bodies {
      guard let place = body.place, ImporterBits.isMet(wish, function, place) else { continue }
      switch importSlot(body, at: place) {
      case .success(let slot): slots.append(slot)
      case .failure(let reason): return .failure(.code(reason))
      }
    }
    if bit.isNew { updateImporters() }
    if slots.isEmpty {
      let reasons = asked.bodies.compactMap(\.place).lazy.compactMap { function.refusal(at: $0, safe: wish.isSafe) }
      return .failure(reasons.first ?? .noBody)
    }
    let diversion = SlotDiversion(.importSlot, self, slots, mayMiss: [], importers: bit.mask)
    diversion.lookedAt = asked.imported?.lookedAt ?? []
    return .success(diversion)
  }

  /// Words of images that appeared, for a hook that was there before. Answers why some cannot be written.
  func extend(_ diversion: SlotDiversion, by bodies: [Body]) -> InterceptRefusal? {
    guard let function = family.imported else { return nil }
    var slots: [Slot] = []
    for body in bodies {
      guard let place = body.place, importers.mask(function, place) & (diversion.importers ?? 0) != 0 else { continue }
      switch importSlot(body, at: place) {
      case .success(let slot): if !diversion.has(slot) { slots.append(slot) }
      case .failure(let reason): return reason
      }
    }
    return slots.isEmpty ? nil : diversion.extend(by: slots)
  }

  /// The word's record, made once, and its image's site among the places where the function's calls arrive.
  private func importSlot(_ body: Body, at place: ImportPlace) -> Result<Slot, InterceptRefusal> {
    let key = SlotKey(address: place.word, backEnd: .importSlot), word = SlotWord(place)
    // While nobody has it written the function may be bound, or the image opened anew.
    if let known = slots[key], known.users > 0 || known.former == word.former { return .success(known) }
    return SlotPatcher.prepare(word, group: importers.group(of: place.importer)).map { slot in
      slots[key] = slot
      slot.importer = place.importer
      if !arrivals.contains(where: { $0.site == slot.site }) {
        let arrival = HookedBody(body: body, site: slot.site, isAsync: body.isAsync, by: .importSlot)
        if let function = family.imported {
          // Before the first call: where calls allocate memory, no plan can be made.
          arrival.give(function.plan(at: place))
          arrival.record.pointee.importer = importers.mask(function, place)
        }
        add(arrival: arrival)
      }
      return slot
    }
  }

  /// Gives all records the bits of a wish that is new.
  private func updateImporters() {
    guard let function = family.imported else { return }
    for arrival in arrivals {
      guard let place = arrival.body.place else { continue }
      // A call that reads it meanwhile is one from before the hook.
      arrival.record.pointee.importer = importers.mask(function, place)
    }
  }
}

extension SlotWord {
  /// What the word holds now, or held before a hook of ours.
  fileprivate init(_ place: ImportPlace) {
    let value = UnsafePointer<UInt64>(bitPattern: UInt(place.word))?.pointee ?? 0
    self.init(address: place.word, former: hkt_slot_former(value))
    switch place.binding {
    case .lazy(let function) where former != function:
      // The call must not go by the loader, which would write over the word.
      original = function
      isBoundLate = true
    case .relayed(let function):
      // Nor by the program's own word, where it would be seen a second time.
      original = function
    case .lazy, .bound, .onDisk: break
    }
  }
}
