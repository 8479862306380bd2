// HookEngine+Images — what installed hooks divert in images that appear later.
internal import CHookTrampoline
private import SwiftMangling

extension HookEngine {
  /// Words of new images that are part of what installed hooks divert. Never under `lock`.
  func divertNewImages() {
    divertNewImports()
    locked { divertNewTables() }
  }

  /// A class was made whose table may be part of what hooks divert.
  func tablesAppeared() { locked { divertNewTables() } }

  /// Tables of classes and conformances that were not there when the hooks were made.
  private func divertNewTables() {
    for family in everyFamily {
      for diversion in family.diversions {
        if let reason = diversion.refresh() { tellMissed(family, reason) }
      }
      if !family.diversions.isEmpty { family.updateSites() }
    }
  }

  private func tellMissed(_ family: HookedFamily, _ reason: HookRefusal) {
    ImageTrouble.tell("hooks on '\(family.family.selector)' miss calls in an image that appeared: \(reason)")
  }

  /// Import slots of images that were not there when the hooks were made.
  func divertNewImports() {
    let imports = ProcessCatalog.shared.currentImports()
    // What they lead to the loader is asked, which may wait for a thread that waits for the lock.
    for (family, function, new) in lock.withLock({ unseenImporters(imports) }) {
      var asked = family.family
      asked.bodies = imports.bodies(of: function, in: new)
      asked.pinImporters()
      locked { extend(family, by: asked.bodies, of: Set(new.map(\.place))) }
    }
  }

  /// The images that hooks on C functions have not been notified of. To be called under the lock.
  private func unseenImporters(_ imports: Imports) -> [(HookedFamily, ImportedFunction, [Importer])] {
    importFamilies.values.compactMap { family in
      guard let function = family.family.imported else { return nil }
      let unseen = family.diversions.reduce(into: Set<String>()) { $0.formUnion(imports.places.subtracting($1.lookedAt)) }
      return unseen.isEmpty ? nil : (family, function, imports.importers.filter { unseen.contains($0.place) })
    }
  }

  /// To be called under the lock.
  private func extend(_ family: HookedFamily, by bodies: [Body], of places: Set<String>) {
    for diversion in family.diversions where !places.isSubset(of: diversion.lookedAt) {
      diversion.lookedAt.formUnion(places)
      if let reason = family.extend(diversion, by: bodies) { tellMissed(family, .code(reason)) }
    }
    family.updateSites()
  }
}
